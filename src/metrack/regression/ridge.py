"""Training a correlation filter: ridge regression over every shift of the feature map.

The filter minimises, over all shifts at once,

    || sum over channels of map * filter - label ||^2  +  regularisation || filter - previous filter ||^2

among filters that are zero outside the target's own cells: the background is training data, but no part of the filter.
The first term is simple in frequencies and the constraint is simple in cells; a few rounds of the alternating direction
method of multipliers (ADMM) bring both together. All frequencies are solved at once, each in closed form: the matrix is
one outer product plus a multiple of the identity.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.fft import irfft2, rfft2

from metrack.arrays import Floats

Spectrum = NDArray[np.complex64]

TIGHTEN = 10.0  # factor of the penalty on leaving the target's cells from one round to the next


def fit(
    spectrum: Spectrum,
    label: Spectrum,
    own: NDArray[np.float32],
    before: Spectrum | None,
    regularisation: float,
    rounds: int,
) -> Spectrum:
    """Return the filter's spectrum ``(channels, n, n // 2 + 1)``.

    Parameters
    ----------
    spectrum : (channels, n, n // 2 + 1)   of the map
    label : (n, n // 2 + 1)                of the response wanted
    own : (n, n)                           1 in the cells of the target, 0 elsewhere
    before : like spectrum                 the filter so far, or None
    regularisation                         weight of the change of the filter, per cell of the map
    rounds                                 of the alternating method
    """
    cells = own.size
    regularisation = regularisation * cells if before is not None else 0.0
    penalty = float(cells)
    wanted, gap = np.zeros_like(spectrum), np.zeros_like(spectrum)
    filter_ = np.empty_like(spectrum)
    for remaining in reversed(range(rounds)):
        solve(spectrum, label, spectrum if before is None else before, regularisation, wanted, penalty, filter_)
        if remaining:
            inside = irfft2(np.add(filter_, gap, out=gap), s=own.shape)
            inside *= own
            tighten(to_spectrum(inside), gap, wanted)
            penalty *= TIGHTEN
    return filter_


def to_spectrum(maps: Floats) -> Spectrum:
    """Return the spectra ``(..., n, n // 2 + 1)`` of maps ``(..., n, n)``."""
    spectrum: Spectrum = rfft2(maps).astype(np.complex64, copy=False)
    return spectrum


def respond(filter_: Spectrum, spectrum: Spectrum, chosen: NDArray[np.bool_]) -> Spectrum:
    """Return the spectrum ``(n, n // 2 + 1)`` of the response of the chosen planes ``(planes,)`` at every shift."""
    response = np.zeros(filter_.shape[1:], np.complex64)
    correlate(filter_, spectrum, chosen, response)
    return response


@njit(cache=True, nogil=True, fastmath=True)
def solve(
    spectrum: Spectrum,
    label: Spectrum,
    before: Spectrum,
    regularisation: float,
    wanted: Spectrum,
    penalty: float,
    filter_: Spectrum,
) -> None:
    """Solve ``(x x^H + (m + p) I) f = x conj(y) + m * before + p * wanted`` for every frequency.

    x is the map, y the label, m the regularisation and p the penalty.
    """
    channels, rows, columns = spectrum.shape
    m, p = np.float32(regularisation), np.float32(penalty)
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
def correlate(filter_: Spectrum, spectrum: Spectrum, chosen: NDArray[np.bool_], response: Spectrum) -> None:
    """Add the correlation of the chosen planes to ``response``."""
    for c in range(len(spectrum)):
        if chosen[c]:
            for i in range(response.shape[0]):
                for j in range(response.shape[1]):
                    response[i, j] += np.conj(filter_[c, i, j]) * spectrum[c, i, j]


@njit(cache=True, nogil=True, fastmath=True)
def tighten(constrained: Spectrum, gap: Spectrum, wanted: Spectrum) -> None:
    """Update the scaled multipliers (``gap``, which holds their sum with the filter) and the filter wanted next."""
    share = np.float32(1 / TIGHTEN)
    for c in range(len(gap)):
        for i in range(gap.shape[1]):
            for j in range(gap.shape[2]):
                rest = (gap[c, i, j] - constrained[c, i, j]) * share
                gap[c, i, j] = rest
                wanted[c, i, j] = constrained[c, i, j] - rest
