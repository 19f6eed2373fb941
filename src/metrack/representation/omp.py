"""Orthogonal matching pursuit: how well a fixed number of samples explains a candidate.

The templates are chosen one by one: each time the one most in line with what is still unexplained, whatever its
length, after which all chosen so far are fitted again by least squares. Theta, the residual energy, is what the
last fit leaves.

Everything happens in the Gram matrix of the templates. Each choice adds a column to the Cholesky factor of the
chosen part, and that column, kept for all templates and not only the chosen, also says how much of each is still
new: a template that lies in the span of the chosen, a copy of one of them or zero, is never chosen. Arithmetic is
double, so that a residual can be told from rounding down to what single-precision descriptors can hold.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.representation.base import Representation

ATOMS = 10  # samples by which the tracker explains a candidate
LEAST_NEW = 1e-6  # of a template's energy, below which it lies in the span of the chosen
LEAST_SEEN = 1e-6  # of a candidate's length: correlations below it are rounding, and the pursuit ends


class MatchingPursuit(Representation):
    """Least squares on the few samples that matching pursuit selects."""

    def residual_energy(self, samples: Floats, candidates: Floats) -> Floats:
        """Return theta ``(N,)`` of candidates ``(N, D)`` against samples ``(n, D)`` of one class."""
        return residual_energy(samples, candidates, ATOMS)


def residual_energy(templates: Floats, candidates: Floats, atoms: int) -> Floats:
    """Return theta, the residual energy of each candidate against a few templates, at least 0.

    Parameters
    ----------
    templates : (n, D)      one remembered appearance per row, of any length; n may be 0
    candidates : (N, D)     one descriptor per row
    atoms : int             how many templates may be mixed

    Returns
    -------
    theta : (N,)            0 means that a mixture of templates explains the candidate exactly
    """
    theta: Floats = _pursue(templates, candidates, atoms)[1].astype(candidates.dtype)
    return theta


def code(templates: Floats, candidates: Floats, atoms: int) -> Floats:
    """Return codes ``(N, n)`` of candidates ``(N, D)`` in templates ``(n, D)``, at most ``atoms`` of them not zero."""
    codes: Floats = _pursue(templates, candidates, atoms)[0].astype(candidates.dtype)
    return codes


def _pursue(templates: Floats, candidates: Floats, atoms: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    T, Y = templates.astype(np.float64), candidates.astype(np.float64)  # (n, D), (N, D)
    energy = np.einsum("nd,nd->n", Y, Y)
    return _pursue_in_gram(T @ T.T, Y @ T.T, energy, min(atoms, len(T)))


@njit(cache=True, nogil=True)
def _pursue_in_gram(
    G: NDArray[np.float64], products: NDArray[np.float64], energy: NDArray[np.float64], atoms: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Codes ``(N, n)`` and what they leave of the energy ``(N,)``, from the products ``(N, n)`` with the templates."""
    N, n = products.shape
    codes, left = np.zeros((N, n)), energy.copy()
    chosen, fitted = np.empty(atoms, np.int64), np.empty(atoms)  # templates; the candidate along what each added
    columns = np.empty((atoms, n))  # of the Cholesky factor: every template along what each chosen one added
    new = np.empty(n)  # energy of each template outside the span of the chosen
    for i in range(N):
        seen = products[i].copy()  # each template with the residual
        new[:] = np.diag(G)
        count = 0
        while count < atoms:
            best = _most_in_line(seen, new, G, LEAST_SEEN**2 * energy[i])
            if best < 0:
                break
            chosen[count] = best
            _add_column(columns, count, G[best], best, math.sqrt(new[best]))
            fitted[count] = seen[best] / columns[count, best]
            seen -= fitted[count] * columns[count]
            new -= columns[count] ** 2
            left[i] -= fitted[count] ** 2
            count += 1
        left[i] = max(left[i], 0.0)
        _write_code(codes[i], columns, chosen, fitted, count)
    return codes, left


@njit(cache=True, nogil=True)
def _most_in_line(seen: NDArray[np.float64], new: NDArray[np.float64], G: NDArray[np.float64], least: float) -> int:
    """Which template that has something new makes the smallest angle with the residual; -1 where none is in line."""
    best, most = -1, least
    for j in range(len(seen)):
        if new[j] > LEAST_NEW * G[j, j] and seen[j] ** 2 > most * G[j, j]:
            best, most = j, seen[j] ** 2 / G[j, j]
    return best


@njit(cache=True, nogil=True)
def _add_column(
    columns: NDArray[np.float64], count: int, products: NDArray[np.float64], best: int, pivot: float
) -> None:
    """Take from a template's products ``(n,)`` with all others what earlier columns hold, and normalise."""
    column = columns[count]
    column[:] = products
    for k in range(count):
        column -= columns[k, best] * columns[k]
    column /= pivot


@njit(cache=True, nogil=True)
def _write_code(
    code: NDArray[np.float64],
    columns: NDArray[np.float64],
    chosen: NDArray[np.int64],
    fitted: NDArray[np.float64],
    count: int,
) -> None:
    """Turn coefficients along the chosen directions into coefficients of the templates: substitute back."""
    for k in range(count - 1, -1, -1):
        rest = fitted[k]
        for later in range(k + 1, count):
            rest -= columns[k, chosen[later]] * code[chosen[later]]
        code[chosen[k]] = rest / columns[k, chosen[k]]
