"""Learning the metric from triplets: a positive sample should be nearer than a negative one, by a margin.

One round is a sequence of passive-aggressive steps, one per triplet ``(p, near, far)`` of remembered samples, each
changing the metric M by ``step * (a_far a_far' - a_near a_near')`` with ``a_near = p - near`` and
``a_far = p - far`` (paper: Algorithm 2). All these vectors are differences of remembered samples, so a step length
needs only look-ups in two Gram matrices, plain and metric-weighted, with the effect of the round's earlier steps
added on the fly: exactly the sequential algorithm, without any D x D matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints

SMALLEST_DIRECTION = 1e-12  # squared norm of a step's direction below which a triplet teaches nothing


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a round that were taken: sample numbers ``(m, 3)`` of p, near, far, and lengths ``(m,)``."""

    triplets: Ints
    lengths: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lengths)

    def push(self, rows: Floats) -> Floats:
        """Rows to add, ``sqrt(step) * (p - far)`` of each step, in the given rows (n, d) of the samples."""
        return self._differences(rows, 2)

    def pull(self, rows: Floats) -> Floats:
        """Rows to subtract, ``sqrt(step) * (p - near)`` of each step."""
        return self._differences(rows, 1)

    def _differences(self, rows: Floats, other: int) -> Floats:
        weights = np.sqrt(self.lengths).astype(np.float32)
        differences: Floats = rows[self.triplets[:, 0]] - rows[self.triplets[:, other]]
        return differences * weights[:, None]


def draw_triplets(rng: np.random.Generator, own: Ints, other: Ints, count: int) -> Ints:
    """Draw ``(count, 3)`` triplets: p and near are two different samples of ``own``, far one of ``other``."""
    if len(own) < 2 or not len(other):
        return np.empty((0, 3), np.int64)
    first = rng.integers(0, len(own), count)
    second = (first + rng.integers(1, len(own), count)) % len(own)
    far = rng.integers(0, len(other), count)
    return np.stack([own[first], own[second], other[far]], axis=1)


def learn_round(gram: Floats, weighted: Floats, triplets: Ints, margin: float, step_limit: float) -> Steps:
    """Run the passive-aggressive steps of one round.

    Parameters
    ----------
    gram : (n, n)         inner products of the remembered samples
    weighted : (n, n)     the same in the metric as it was before the round
    triplets : (T, 3)     sample numbers of p, near, far
    margin : float        by how much the negative sample must be farther
    step_limit : float    C, the longest step
    """
    lengths = _step_lengths(gram, weighted, triplets, margin, step_limit)
    taken = lengths > 0
    return Steps(triplets[taken], lengths[taken])


@njit(cache=True, nogil=True, fastmath=True)
def _step_lengths(K: Floats, G: Floats, triplets: Ints, margin: float, step_limit: float) -> NDArray[np.float64]:
    count = len(triplets)
    lengths = np.zeros(count)
    taken = np.empty(count, np.int64)
    n_taken = 0
    for i in range(count):
        p, q, r = triplets[i, 0], triplets[i, 1], triplets[i, 2]
        near = G[p, p] + G[q, q] - 2 * G[p, q]
        far = G[p, p] + G[r, r] - 2 * G[p, r]
        for t in range(n_taken):
            k = taken[t]
            pk, qk, rk = triplets[k, 0], triplets[k, 1], triplets[k, 2]
            # the two directions of step k seen from p, q and r
            pull_p, pull_q, pull_r = K[p, pk] - K[p, qk], K[q, pk] - K[q, qk], K[r, pk] - K[r, qk]
            push_p, push_q, push_r = K[p, pk] - K[p, rk], K[q, pk] - K[q, rk], K[r, pk] - K[r, rk]
            near += lengths[k] * ((push_p - push_q) ** 2 - (pull_p - pull_q) ** 2)
            far += lengths[k] * ((push_p - push_r) ** 2 - (pull_p - pull_r) ** 2)
        hinge = margin + near - far
        if hinge > 0:
            near_near = K[p, p] + K[q, q] - 2 * K[p, q]
            far_far = K[p, p] + K[r, r] - 2 * K[p, r]
            near_far = K[p, p] - K[p, r] - K[q, p] + K[q, r]
            size = far_far * far_far - 2 * near_far * near_far + near_near * near_near
            if size > SMALLEST_DIRECTION:
                lengths[i] = min(step_limit, hinge / size)
                taken[n_taken] = i
                n_taken += 1
    return lengths
