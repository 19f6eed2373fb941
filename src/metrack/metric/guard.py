"""Keeping a metric positive definite while it is learned, without an eigendecomposition.

A passive-aggressive round adds outer products to the metric and subtracts others, and nothing in it stops the
metric from becoming indefinite. The guard weakens what is subtracted, just enough. With
``P = metric + push' push - floor I`` positive definite, ``metric + push' push - pull' pull`` has its eigenvalues
above the floor if and only if all eigenvalues of the m x m matrix ``pull P^-1 pull'`` are below one. So the inverse
of ``metric - floor I`` is all that is needed, and a round changes that inverse by a low rank, as it does the metric.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh, lapack

from metrack.arrays import Floats
from metrack.metric.outer import add_outer

LARGEST_LOSS = 0.9  # share of its squared length (in the pushed metric, above the floor) that a direction may lose
FEW = 0.5  # times the dimension: up to this rank it is cheaper to update the inverse than to compute it anew


class Guard:
    """Keeps the eigenvalues of one metric above a floor.

    Parameters
    ----------
    floor : smallest eigenvalue the metric may have

    Attributes
    ----------
    inverse : (D, D) float64   of ``metric - floor I``, or None until it is needed
    """

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self.inverse: NDArray[np.float64] | None = None

    def limit(self, metric: Floats, push: Floats, pull: Floats) -> Floats:
        """Return how to weaken ``pull``; the metric must then be changed by that and by ``push``.

        Directions that would lose more than :data:`LARGEST_LOSS` lose exactly that, the others what they would.

        Parameters
        ----------
        metric : (D, D)    M, eigenvalues above the floor
        push : (m, D)      rows whose outer products are going to be added
        pull : (m, D)      rows whose outer products are to be subtracted

        Returns
        -------
        mix : (k, m)       subtract ``(mix pull)' (mix pull)`` instead; k is 0 where only adding is safe
        """
        if self.inverse is None:
            self.inverse = _inverse(metric, self.floor)
            if self.inverse is None:  # rounding has brought the metric down to the floor
                return np.zeros((0, len(pull)), np.float32)
        Q, m = self.inverse, len(push)
        U = np.concatenate([push, pull]).astype(np.float64)  # (2 m, D)
        Z = U @ Q  # (2 m, D)
        A = Z @ U.T  # (2 m, 2 m)
        L, failed = lapack.dpotrf(np.eye(m) + A[:m, :m], lower=1)
        if failed:  # rounding has made the inverse useless: add only, and form it anew next time
            self.inverse = None
            return np.zeros((0, m), np.float32)
        X = blas.dtrsm(1.0, L, Z[:m], lower=1)  # (m, D): P^-1 = Q - X'X
        B = blas.dtrsm(1.0, L, A[:m, m:], lower=1)  # (m, m)
        losses, vectors = eigh(A[m:, m:] - B.T @ B, driver="evd", check_finite=False)
        mix = vectors.T * np.sqrt(LARGEST_LOSS / np.maximum(losses, LARGEST_LOSS))[:, None]  # (m, m)
        if 2 * m <= FEW * len(Q):
            V = mix @ (Z[m:] - B.T @ X)  # (m, D): of orthogonal directions, each losing as much as it may
            V /= np.sqrt(1.0 - np.minimum(losses, LARGEST_LOSS))[:, None]
            add_outer(Q, V, X)
        else:
            self.inverse = None
        return mix.astype(np.float32)

    def refresh(self) -> None:
        """Drop accumulated rounding: the inverse is computed anew when it is needed next."""
        self.inverse = None


def _inverse(metric: Floats, floor: float) -> NDArray[np.float64] | None:
    """Return the inverse of ``metric - floor I``, or None where that is not positive definite."""
    above = np.array(metric, np.float64, order="F")
    above.flat[:: len(above) + 1] -= floor
    lower, failed = lapack.dpotrf(above, lower=1, overwrite_a=1)
    if failed:
        return None
    half, _ = lapack.dpotri(lower, lower=1, overwrite_c=1)
    inverse: NDArray[np.float64] = np.tril(half) + np.tril(half, -1).T
    return np.ascontiguousarray(inverse)
