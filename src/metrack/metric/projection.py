"""Projecting a metric back to positive definite matrices.

A passive-aggressive step subtracts as well as adds, so nothing stops the metric from becoming indefinite, and then
distances are negative and reconstruction errors have no minimum. The paper's two remedies: :func:`raise_eigenvalues`
repairs afterwards, which costs an eigendecomposition; :func:`learn_round_projected` repairs after every single step.
A third way is much cheaper and prevents it: :mod:`metrack.metric.guard`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lapack

from metrack.arrays import Floats, Ints
from metrack.metric.proximity import SMALLEST_DIRECTION

FLOOR = 0.02  # smallest eigenvalue of a metric that is kept positive definite


def raise_eigenvalues(matrix: Floats, floor: float) -> Floats:
    """Return the nearest symmetric matrix (Frobenius norm) whose eigenvalues are at least ``floor``.

    >>> raise_eigenvalues(np.diag([2.0, -1.0]).astype("f4"), 0.5).round(3).tolist()
    [[2.0, 0.0], [0.0, 0.5]]
    """
    symmetric = (matrix + matrix.T) / 2
    values, vectors = eigh(symmetric, driver="evd", check_finite=False)
    low = values < floor
    missing = vectors[:, low] * np.sqrt(floor - values[low])  # (D, number of low eigenvalues)
    raised: Floats = symmetric + missing @ missing.T
    return raised


def learn_round_projected(
    metric: Floats, samples: Floats, triplets: Ints, margin: float, step_limit: float, floor: float
) -> tuple[Floats, int]:
    """Run the passive-aggressive steps of one round with a projection after each; slow, for comparison.

    Returns the new metric and the number of steps taken. Takes the same triplets as
    :func:`metrack.metric.proximity.learn_round`, but needs the samples (n, D) themselves.
    """
    taken = 0
    for p, q, r in triplets:
        a_near, a_far = samples[p] - samples[q], samples[p] - samples[r]
        hinge = margin + a_near @ metric @ a_near - a_far @ metric @ a_far
        size = (a_far @ a_far) ** 2 - 2 * (a_far @ a_near) ** 2 + (a_near @ a_near) ** 2
        if hinge > 0 and size > SMALLEST_DIRECTION and step_limit > 0:
            step = np.float32(min(step_limit, hinge / size))
            metric = metric + step * (np.outer(a_far, a_far) - np.outer(a_near, a_near))
            if not _is_above(metric, floor):
                metric = raise_eigenvalues(metric, floor)
            taken += 1
    return metric, taken


def _is_above(matrix: Floats, floor: float) -> bool:
    """Whether all eigenvalues exceed ``floor``: whether a Cholesky factorisation exists, the cheapest way to know."""
    shifted = np.array(matrix, order="F")
    shifted.flat[:: len(shifted) + 1] -= np.float32(floor)
    return not lapack.spotrf(shifted, lower=1, clean=0, overwrite_a=1)[1]
