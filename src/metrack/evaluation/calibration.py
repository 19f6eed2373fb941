"""Calibration: whether scores are the probabilities they claim to be.

A score is a probability that the box is right: that it overlaps the truth by more than half. Scores and overlaps
are ``(N,)``, one number per frame; frames without truth (NaN overlap) do not count. Where nothing is known the
answer is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from metrack.arrays import Floats, Ints, as_floats
from metrack.checks import check_whole

RIGHT = 0.5  # a box is right if its overlap is greater
BINS = 10
MOST_BINS = 10_000


@dataclass(frozen=True, slots=True)
class Reliability:
    """A reliability diagram: frames grouped by score into equal bins of [0, 1]."""

    frames: Ints
    """Number of frames ``(bins,)``; a score on a border belongs to the upper bin, 1 to the last."""
    score: NDArray[np.float64]
    """Their average score ``(bins,)``, NaN where there are none."""
    right: NDArray[np.float64]
    """The share of them that was right ``(bins,)``, NaN where there are none."""


def reliability(score: Floats, overlap: Floats, bins: int = BINS) -> Reliability:
    """Group frames by score and compare the average score of a bin with its share of right boxes.

    >>> reliability(np.array([0.9, 0.8, 0.1]), np.array([0.7, 0.3, 0.0]), bins=2).right
    array([0. , 0.5])
    """
    bins = check_whole("bins", bins, 1, MOST_BINS)
    known, right = _known(score, overlap)
    if len(known) and not (known.min() >= 0 and known.max() <= 1):
        raise ValueError(f"score must be between 0 and 1, got {known.min():g} to {known.max():g}")
    place = np.minimum((known * bins).astype(np.int64), bins - 1)
    frames = np.bincount(place, minlength=bins).astype(np.int64)
    promised, kept = np.bincount(place, known, bins), np.bincount(place, right.astype(float), bins)
    return Reliability(frames, _ratio(promised, frames), _ratio(kept, frames))


def expected_calibration_error(score: Floats, overlap: Floats, bins: int = BINS) -> float:
    """Expected calibration error (ECE): mean gap between score and share of right boxes, weighted by frames."""
    table = reliability(score, overlap, bins)
    filled = table.frames > 0
    if not filled.any():
        return float("nan")
    return float(np.average(np.abs(table.score - table.right)[filled], weights=table.frames[filled]))


def auroc(score: Floats, overlap: Floats) -> float:
    """Probability that a right box has a higher score than a wrong one; equal scores count half.

    NaN if all boxes are right or all are wrong.

    >>> auroc(np.array([0.9, 0.4, 0.4]), np.array([0.8, 0.6, 0.0]))
    0.75
    """
    known, right = _known(score, overlap)
    rights, wrongs = int(right.sum()), int((~right).sum())
    if not rights or not wrongs:
        return float("nan")
    ranks: NDArray[np.float64] = rankdata(known)
    beaten = float(ranks[right].sum()) - rights * (rights + 1) / 2
    return beaten / (rights * wrongs)


def _known(score: Floats, overlap: Floats) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores of the frames with truth, and whether their boxes are right."""
    scores, overlaps = as_floats("score", score), as_floats("overlap", overlap)
    if scores.shape != overlaps.shape:
        raise ValueError(f"score must be one number for each of {overlaps.shape} frames, got shape {scores.shape}")
    known = ~np.isnan(overlaps)
    if np.isnan(scores[known]).any():
        raise ValueError("score must be a number in every frame with truth, got NaN")
    return scores[known], overlaps[known] > RIGHT


def _ratio(total: NDArray[Any], count: Ints) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return ratio
