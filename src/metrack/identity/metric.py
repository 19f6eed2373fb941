"""Learning the metric of a gallery from its templates, by passive-aggressive steps on triplets.

Templates of one target mostly come from one camera, so two of them say little about what another camera changes.
:func:`learn_from_families` therefore takes families: a template and copies of it in other light. A copy should be
nearer than a sample of another target by a margin, and that other target is a near miss: one of the most similar.
Margin and step limit are in the scale of the distances to near misses. The result is projected once at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints
from metrack.config import MetricConfig
from metrack.metric.projection import FLOOR, raise_eigenvalues
from metrack.metric.proximity import draw_triplets, learn_round

TRIPLETS = 1000
MARGIN = 0.5  # of the mean distance to a near miss
STEP_LIMIT = 1.0  # over the mean distance to a near miss
NEAR_MISSES = 5  # targets among which the far one of a triplet is drawn
MOST_TARGETS = 500  # from which the metric is learned; of more, some are drawn


def learn_from_families(rng: np.random.Generator, families: Sequence[Floats]) -> Floats | None:
    """Learn a metric ``(D, D)`` from K arrays ``(m, 1 + copies, D)``; None for fewer than two targets."""
    if len(families) < 2:
        return None
    chosen = rng.permutation(len(families))[:MOST_TARGETS]
    parts = [np.asarray(families[number], np.float32) for number in np.sort(chosen)]
    copies, dimension = parts[0].shape[1:]
    rows = np.concatenate([part.reshape(-1, dimension) for part in parts])
    counts = np.array([part.shape[0] * part.shape[1] for part in parts])
    gram = rows @ rows.T
    triplets, far = near_miss_triplets(rng, _squared_distances(gram), counts, copies)
    return _learned(rows, gram, triplets, MARGIN * far, STEP_LIMIT / far) if far > 0 else None


def near_miss_triplets(rng: np.random.Generator, apart: Floats, counts: Ints, copies: int) -> tuple[Ints, float]:
    """Draw triplets ``(T, 3)`` of a sample, another of its family and a near miss; and the mean distance to these.

    ``apart`` holds squared distances ``(n, n)`` of samples that are sorted by target, ``counts`` samples of each, and
    within a target by family, ``copies`` samples of each.
    """
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    target = rng.integers(0, len(counts), TRIPLETS)
    anchor = starts[target] + rng.integers(0, counts[target])
    relative = anchor // copies * copies + (anchor + rng.integers(1, copies, TRIPLETS)) % copies
    far = np.array([_near_miss(rng, apart[a], starts, k) for a, k in zip(anchor, target, strict=True)])
    return np.stack([anchor, relative, far], axis=1), float(apart[anchor, far].mean())


def _near_miss(rng: np.random.Generator, apart: Floats, starts: Ints, own: int) -> int:
    """Return the nearest sample of one of the nearest other targets."""
    by_target = np.minimum.reduceat(apart, starts)
    by_target[own] = np.inf
    count = min(NEAR_MISSES, len(starts) - 1)
    other = rng.choice(np.argpartition(by_target, count - 1)[:count])
    stop = starts[other + 1] if other + 1 < len(starts) else len(apart)
    return int(starts[other] + np.argmin(apart[starts[other] : stop]))


def _squared_distances(gram: Floats) -> NDArray[np.float32]:
    squares = np.diagonal(gram)
    return np.maximum(squares[:, None] + squares - 2 * gram, 0.0).astype(np.float32)


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
    return _learned(rows, rows @ rows.T, triplets, settings.margin, settings.step_limit)


def _learned(rows: Floats, gram: Floats, triplets: Ints, margin: float, step_limit: float) -> Floats:
    """Run one round from the plain metric, and project."""
    steps = learn_round(gram, gram, triplets, margin, step_limit)
    push, pull = steps.push(rows), steps.pull(rows)
    return raise_eigenvalues(np.eye(rows.shape[1], dtype=np.float32) + push.T @ push - pull.T @ pull, FLOOR)


def _split(own: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    return np.flatnonzero(own).astype(np.int64), np.flatnonzero(~own).astype(np.int64)
