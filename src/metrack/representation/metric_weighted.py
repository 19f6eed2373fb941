"""Least squares in the learned metric: how well samples explain a candidate.

For a candidate y, the samples P of one class as columns, and the metric M,

    theta(y) = min over x of (y - P x)' M (y - P x) + ridge |x|^2,

reached at ``x = (P' M P + ridge I)^-1 P' M y`` (paper: Algorithm 1, where the ridge is 0 and a singular matrix is
pseudo-inverted; docs/deviations.md says why there is a ridge). All candidates of a frame share one factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import blas, eigh, lapack

from metrack.arrays import Floats

ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Triangle:
    """Cholesky factor of a positive definite Gram matrix: ``matrix = lower lower'``."""

    lower: Floats

    def explained(self, products: Floats) -> Floats:
        """``b' matrix^-1 b`` for each row b of products ``(N, n)``, which is overwritten."""
        solved = blas.strsm(1.0, self.lower, products.T, lower=1, overwrite_b=1)  # (n, N)
        energy: Floats = np.einsum("kn,kn->n", solved, solved)
        return energy

    def form(self, rows: Floats) -> Floats:
        """``rows' matrix^-1 rows`` of rows ``(n, D)``: explaining as a quadratic form ``(D, D)`` of the candidate."""
        solved = blas.strsm(1.0, self.lower, np.array(rows, order="F"), lower=1, overwrite_b=1)  # (n, D)
        form: Floats = solved.T @ solved
        return form


@dataclass(frozen=True, slots=True)
class PseudoInverse:
    """Pseudo-inverse of any other symmetric matrix: ``half diag(signs) half'``."""

    half: Floats
    signs: Floats

    def explained(self, products: Floats) -> Floats:
        """``b' matrix^+ b`` for each row b of products ``(N, n)``."""
        energy: Floats = np.square(products @ self.half) @ self.signs
        return energy

    def form(self, rows: Floats) -> Floats:
        """``rows' matrix^+ rows`` of rows ``(n, D)``: explaining as a quadratic form ``(D, D)`` of the candidate."""
        seen = self.half.T @ rows
        form: Floats = (seen * self.signs[:, None]).T @ seen
        return form


def factorise(weighted: Floats, ridge: float) -> Triangle | PseudoInverse:
    """Factorise the metric-weighted Gram matrix ``(n, n)`` of a class, the ridge added to its diagonal.

    Directions that rounding could have made are left out.
    """
    damped, tolerance = _damped(weighted, ridge)
    lower, failed = lapack.spotrf(damped, lower=1, clean=0, overwrite_a=1)
    if not failed and float(np.diagonal(lower).min()) ** 2 > tolerance:
        return Triangle(lower)
    damped, tolerance = _damped(weighted, ridge)
    values, vectors = eigh(damped.astype(np.float64), driver="evd", check_finite=False)
    kept = np.abs(values) > tolerance
    half = vectors[:, kept] / np.sqrt(np.abs(values[kept]))
    return PseudoInverse(half.astype(np.float32), np.sign(values[kept]).astype(np.float32))


def _damped(weighted: Floats, ridge: float) -> tuple[Floats, float]:
    """Copy the symmetric matrix in LAPACK's order and add the ridge; tell what rounding could make of a zero in it."""
    damped = np.array(weighted.T, order="F")
    diagonal = damped.ravel("K")[:: len(damped) + 1]
    diagonal += np.float32(ridge)
    return damped, float(np.finfo(np.float32).eps) * len(damped) * float(np.abs(diagonal).max())


def quadratic(form: Floats, rows: Floats) -> Floats:
    """``y' form y`` for each row y of ``(N, D)``; of the symmetric form one triangle is read, which halves the work."""
    diagonal, energy = np.diagonal(form).copy(), np.empty(len(rows), np.float32)
    for start in range(0, len(rows), ROWS_AT_ONCE):  # in pieces that stay in the cache
        piece = slice(start, start + ROWS_AT_ONCE)
        seen = blas.strmm(1.0, form.T, rows[piece].T, lower=1, trans_a=1).T  # (rows, D)
        _sum_pairs(rows[piece], seen, diagonal, energy[piece])
    return energy


@njit(cache=True, nogil=True, fastmath=True)
def _sum_pairs(rows: Floats, seen: Floats, diagonal: Floats, energy: Floats) -> None:
    """Complete quadratic forms: with one triangle seen, every pair of numbers counts twice and each by itself once."""
    for n in range(len(rows)):
        y, z = rows[n], seen[n]
        total = np.float32(0.0)
        for d in range(len(y)):
            total += y[d] * (z[d] + z[d] - y[d] * diagonal[d])
        energy[n] = total


def residual_energy(templates: Floats, candidates: Floats, metric: Floats, ridge: float) -> Floats:
    """Return theta, the residual energy of each candidate against the templates, at least 0.

    Parameters
    ----------
    templates : (n, D)      one remembered appearance per row
    candidates : (N, D)     one descriptor per row
    metric : (D, D)         M, symmetric
    ridge : float           absolute

    Returns
    -------
    theta : (N,)            0 means that a mixture of templates explains the candidate exactly
    """
    P, Y, M = templates, candidates, metric
    YM = Y @ M  # (N, D)
    explained = factorise(P @ M @ P.T, ridge).explained(YM @ P.T)
    theta: Floats = np.maximum(np.einsum("nd,nd->n", YM, Y) - explained, 0.0)
    return theta


def score(theta_f: Floats, theta_b: Floats, gamma_f: float, gamma_b: float, rho: float) -> NDArray[np.float64]:
    """Return the score: similarity to the foreground rather than the background, in [0, 1] (paper: eq. 3).

    >>> score(np.array([0.0]), np.array([np.inf]), 1, 1, 0.1).round(3)
    array([0.731])
    """
    foreground = np.exp(-np.asarray(theta_f, np.float64) / gamma_f)
    background = np.exp(-np.asarray(theta_b, np.float64) / gamma_b)
    similarity: NDArray[np.float64] = 1.0 / (1.0 + np.exp(rho * background - foreground))
    return similarity
