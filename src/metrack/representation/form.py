"""The residual energy of a class as a quadratic form of the candidate, with low-rank updates.

With the samples of a class as columns of P, the metric M and a positive ridge,

    theta(y) = y' A y,   A = M - M P (P'MP + ridge I)^-1 P'M   and, the same,   A^-1 = M^-1 + P P' / ridge.

Read the second way, a sample that joins or leaves changes the inverse of A by one outer product, and so does a step of
metric learning. So A is updated by as many ranks as there are changes: the updates of the paper's section 3.3, for many
samples and steps at once, without inverting a Gram matrix or M. M must stay positive definite.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.linalg import blas

from metrack.arrays import Floats
from metrack.representation.metric_weighted import factorise, quadratic

SLACK = 1e-3  # of a squared length that rounding may add to it


class ResidualForm:
    """The quadratic form of one class.

    Attributes
    ----------
    matrix : (D, D) float32   A, symmetric but for rounding
    ridge : absolute, positive
    """

    def __init__(self, matrix: Floats, ridge: float) -> None:
        self.matrix = matrix
        self.ridge = ridge

    @classmethod
    def of(cls, samples: Floats, metric: Floats, weighted: Floats, ridge: float) -> Self:
        """Compute it from samples ``(n, D)``, the metric and the samples' Gram matrix ``(n, n)`` in the metric."""
        return cls(metric - factorise(weighted, ridge).form(samples @ metric), ridge)

    def energy(self, candidates: Floats) -> Floats:
        """Return theta ``(N,)`` of candidates ``(N, D)``."""
        return quadratic(self.matrix, candidates)

    def is_sound(self, metric: Floats) -> bool:
        """Check 0 <= diag(A) <= diag(M), which rounding may have spoilt."""
        own, whole = np.diagonal(self.matrix), np.diagonal(metric)
        return bool(((own >= 0) & (own <= (1 + SLACK) * whole)).all())

    def replace(self, leaving: Floats, joining: Floats) -> None:
        """Update A for samples ``(k, D)`` that leave and others ``(j, D)`` that join."""
        W = np.concatenate([joining, leaving])  # (j + k, D)
        signs = np.repeat([1.0, -1.0], [len(joining), len(leaving)])
        WA = self._times(W)
        self._add(WA, -(self.ridge * np.diag(signs) + _symmetric(WA @ W.T)))

    def change_metric(self, samples: Floats, push: Floats, pull: Floats, seen_push: Floats, seen_pull: Floats) -> None:
        """Update A when ``push' push - pull' pull`` is added to the metric.

        ``push`` and ``pull`` are ``(m, D)`` and ``(l, D)``; ``seen_*`` are their inner products with the class's
        samples ``(n, D)``.
        """
        r = self.ridge
        U, C = np.concatenate([push, pull]), np.concatenate([seen_push, seen_pull])  # (m + l, D), (m + l, n)
        signs = np.repeat([1.0, -1.0], [len(push), len(pull)])
        X = C @ samples  # (m + l, D)
        XA = self._times(X)
        self._add(U - XA / np.float32(r), np.diag(signs) + _symmetric(C @ C.T - XA @ X.T / np.float32(r)) / r)

    def _times(self, rows: Floats) -> Floats:
        """``rows A`` of a few rows ``(k, D)``; the other way round the product is faster."""
        return np.ascontiguousarray((self.matrix @ rows.T).T)

    def _add(self, rows: Floats, inner: Floats) -> None:
        """``A += rows' inner^-1 rows`` in place, of rows ``(k, D)``."""
        if len(rows):
            mixed = np.linalg.inv(inner).astype(np.float32) @ rows  # (k, D)
            blas.sgemm(1.0, mixed.T, rows.T, beta=1.0, c=self.matrix.T, trans_b=1, overwrite_c=1)


def _symmetric(matrix: Floats) -> Floats:
    """The symmetric part of a small matrix, in double precision."""
    exact = matrix.astype(np.float64)
    return (exact + exact.T) / 2
