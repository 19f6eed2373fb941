"""A filter that answers one at the target and zero everywhere around it.

It minimises, over every shift of the map at once,

    || sum over channels of map * filter - label ||^2  +  inertia || filter - the one before ||^2

among filters that are zero outside the target's own cells: the background teaches what not to answer to, but takes no
part in the answer. The first term is simple in frequencies and the constraint is simple in cells; a few rounds of the
alternating direction method bring both together. All frequencies are solved at once, each in closed form: the matrix is
one outer product plus a multiple of the identity.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.fft import irfft2, rfft2

from metrack.arrays import Floats

Spectrum = NDArray[np.complex64]

TIGHTEN = 10.0  # how much dearer leaving the target's cells becomes from one round to the next


def fit(
    spectrum: Spectrum,
    label: Spectrum,
    own: NDArray[np.float32],
    before: Spectrum | None,
    inertia: float,
    rounds: int,
) -> Spectrum:
    """Return the filter's spectrum ``(channels, n, n // 2 + 1)``.

    Parameters
    ----------
    spectrum : (channels, n, n // 2 + 1)   of the map
    label : (n, n // 2 + 1)                of the answer wanted
    own : (n, n)                           1 in the cells of the target, 0 elsewhere
    before : like spectrum                 the filter so far, or None
    inertia                                how dear it is to leave it, per unit of map energy in all cells
    rounds                                 of the alternating method
    """
    cells = own.size
    inertia = inertia * cells if before is not None else 0.0
    price = float(cells)
    wanted, gap = np.zeros_like(spectrum), np.zeros_like(spectrum)
    filter_ = np.empty_like(spectrum)
    for remaining in reversed(range(rounds)):
        solve(spectrum, label, spectrum if before is None else before, inertia, wanted, price, filter_)
        if remaining:
            inside = irfft2(np.add(filter_, gap, out=gap), s=own.shape)
            inside *= own
            tighten(to_spectrum(inside), gap, wanted)
            price *= TIGHTEN
    return filter_


def to_spectrum(maps: Floats) -> Spectrum:
    """Spectra ``(..., n, n // 2 + 1)`` of maps ``(..., n, n)``."""
    spectrum: Spectrum = rfft2(maps).astype(np.complex64, copy=False)
    return spectrum


def respond(filter_: Spectrum, spectrum: Spectrum) -> Spectrum:
    """Spectrum ``(n, n // 2 + 1)`` of what a filter answers at every shift of a map."""
    answer = np.zeros(filter_.shape[1:], np.complex64)
    correlate(filter_, spectrum, answer)
    return answer


@njit(cache=True, nogil=True, fastmath=True)
def solve(
    spectrum: Spectrum,
    label: Spectrum,
    before: Spectrum,
    inertia: float,
    wanted: Spectrum,
    price: float,
    filter_: Spectrum,
) -> None:
    """Solve ``(x x^H + (inertia + price) I) f = x conj(y) + inertia * before + price * wanted`` for every frequency."""
    channels, rows, columns = spectrum.shape
    m, p = np.float32(inertia), np.float32(price)
    total = m + p
    dot = np.zeros((rows, columns), np.complex64)
    power = np.zeros((rows, columns), np.float32)
    for c in range(channels):
        for i in range(rows):
            for j in range(columns):
                x = spectrum[c, i, j]
                right = x * np.conj(label[i, j]) + m * before[c, i, j] + p * wanted[c, i, j]
                filter_[c, i, j] = right
                dot[i, j] += np.conj(x) * right
                power[i, j] += x.real * x.real + x.imag * x.imag
    for i in range(rows):
        for j in range(columns):
            dot[i, j] /= total + power[i, j]
    scale = 1 / total
    for c in range(channels):
        for i in range(rows):
            for j in range(columns):
                filter_[c, i, j] = (filter_[c, i, j] - spectrum[c, i, j] * dot[i, j]) * scale


@njit(cache=True, nogil=True, fastmath=True)
def correlate(filter_: Spectrum, spectrum: Spectrum, answer: Spectrum) -> None:
    """Add the correlation of all channels to ``answer``."""
    for c in range(len(spectrum)):
        for i in range(answer.shape[0]):
            for j in range(answer.shape[1]):
                answer[i, j] += np.conj(filter_[c, i, j]) * spectrum[c, i, j]


@njit(cache=True, nogil=True, fastmath=True)
def tighten(constrained: Spectrum, gap: Spectrum, wanted: Spectrum) -> None:
    """Turn the sum of filter and gap into the new gap, and say what filter is wanted next."""
    share = np.float32(1 / TIGHTEN)
    for c in range(len(gap)):
        for i in range(gap.shape[1]):
            for j in range(gap.shape[2]):
                rest = (gap[c, i, j] - constrained[c, i, j]) * share
                gap[c, i, j] = rest
                wanted[c, i, j] = constrained[c, i, j] - rest
