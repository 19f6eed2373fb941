"""Resampling: choosing which particles survive.

A scheme is called ``scheme(rng, weights, count)`` and returns the ``(count,)`` indices of the particles that
live on. ``weights`` is ``(N,)``, non-negative with a positive sum; it need not be normalised. What every
scheme promises, and what its test checks: particle ``i`` is returned ``count * weights[i] / sum(weights)``
times on average, and a particle of weight zero never.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats, Ints

_BELOW_ONE = float(np.nextafter(1.0, 0.0))


def systematic(rng: np.random.Generator, weights: Floats, count: int) -> Ints:
    """Resample with evenly spaced points and one random shift (systematic resampling): low variance, one draw.

    Each particle is returned its expected number of times, rounded down or up.
    """
    return _owners(weights, (rng.random() + np.arange(count)) / count)


def effective_size(weights: Floats) -> float:
    """Return the effective sample size: N if all weights are equal, 1 if one particle has all the weight.

    >>> effective_size(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    relative = weights / weights.max()  # squares of very small weights would vanish
    return float(relative.sum() ** 2 / (relative @ relative))


def _owners(weights: Floats, points: Floats) -> Ints:
    """Invert the cumulative distribution: return the particle on whose stretch of [0, 1) each point falls."""
    ends = np.cumsum(weights, dtype=np.float64)  # (N,)
    if not 0 < ends[-1] < np.inf:
        raise ValueError(f"weights must have a positive, finite sum, got {ends[-1]}")
    ends /= ends[-1]  # dividing by the last, not by another sum: the last live particle ends at exactly 1
    inside = np.minimum(points, _BELOW_ONE)  # the last point can round up to 1
    return np.searchsorted(ends, inside, side="right")  # right: steps over stretches of no length
