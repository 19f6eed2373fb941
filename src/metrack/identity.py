"""Who is it: a followed target compared with sets of templates, one set per known target.

A frame's distance to a target is the residual with which that target's templates explain what was seen, in a metric or
plainly. One frame may mislead; summed over frames, each weighted by the tracker's score, distances settle (paper:
section 5). T frames, K known targets, D features; templates are rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints
from metrack.config import MetricConfig
from metrack.metric.projection import raise_eigenvalues
from metrack.metric.proximity import draw_triplets, learn_round
from metrack.representation.metric_weighted import residual_energy


def distances(
    templates: Sequence[Floats], observations: Floats, ridge: float, metric: Floats | None = None
) -> NDArray[np.float64]:
    """How badly each target's templates explain each frame by itself.

    Parameters
    ----------
    templates : K arrays (n, D)    at least one template each
    observations : (T, D)          descriptors of the target as followed
    ridge : float                  in units of the trace of the Gram matrix
    metric : (D, D)                symmetric; None measures plainly

    Returns
    -------
    distance : (T, K)              at least 0

    >>> distances([np.eye(1, 3), np.eye(1, 3, 1)], np.array([[0.0, 2.0, 0.0]]), 0.0)
    array([[4., 0.]])
    """
    if not templates or not all(len(each) for each in templates):
        raise ValueError("templates must hold at least one descriptor of every target")
    seen = np.asarray(observations, np.float32)
    measure = np.eye(seen.shape[1], dtype=np.float32) if metric is None else np.asarray(metric, np.float32)
    each = [residual_energy(np.asarray(known, np.float32), seen, measure, ridge) for known in templates]
    return np.stack(each, axis=1).astype(np.float64)


def cumulative(frame_distances: Floats, scores: Floats) -> NDArray[np.float64]:
    """Sum distances ``(T, K)`` over the frames so far, each weighted by its score ``(T,)``: the paper's H.

    >>> cumulative(np.array([[1.0, 2.0], [4.0, 0.0]]), np.array([1.0, 0.5]))
    array([[1., 2.],
           [3., 2.]])
    """
    weighted = np.asarray(scores, np.float64)[:, None] * np.asarray(frame_distances, np.float64)
    return np.cumsum(weighted, axis=0)


def nearest(frame_distances: Floats) -> Ints:
    """Return the number of the nearest target in each frame ``(T,)``; of equals, the first."""
    chosen: Ints = np.argmin(frame_distances, axis=1).astype(np.int64)
    return chosen


def learn_metric(rng: np.random.Generator, templates: Sequence[Floats], settings: MetricConfig) -> Floats:
    """Learn from triplets of templates in which every target is nearer to itself than to others: ``(D, D)``."""
    rows = np.concatenate([np.asarray(each, np.float32) for each in templates])
    owner = np.repeat(np.arange(len(templates)), [len(each) for each in templates])
    share = -(-settings.triplets // len(templates))
    triplets = rng.permutation(
        np.concatenate(
            [draw_triplets(rng, *_split(owner == target), share) for target in range(len(templates))],
        )
    )
    gram = rows @ rows.T
    steps = learn_round(gram, gram, triplets, settings.margin, settings.step_limit)
    push, pull = steps.push(rows), steps.pull(rows)
    return raise_eigenvalues(np.eye(rows.shape[1], dtype=np.float32) + push.T @ push - pull.T @ pull, settings.floor)


def _split(own: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    return np.flatnonzero(own).astype(np.int64), np.flatnonzero(~own).astype(np.int64)
