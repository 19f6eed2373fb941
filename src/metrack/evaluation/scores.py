"""Scores of a trajectory: pure functions of overlaps, distances and times.

Overlaps and distances are ``(N,)``, one number per frame (``metrack.box.iou``, ``metrack.box.centre_distance``,
``normalised_distance`` below). A frame without truth is NaN and counts neither as a hit nor as a miss; a frame
in which a tracker gave no box is a miss, which whoever ran it states as overlap 0 and infinite distance. Where
nothing is known the answer is NaN.

Success is strict, as the field plots it: a frame counts at threshold t if its overlap is greater than t.
Precision is not: a centre exactly t away counts. Every area under a curve is the mean of its points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrack.arrays import Floats, as_floats
from metrack.checks import check_number, check_whole

SUCCESS_THRESHOLDS = np.linspace(0.0, 1.0, 21)
PRECISION_THRESHOLDS = np.arange(51.0)  # pixels
NORMALISED_THRESHOLDS = np.arange(51) / 100  # sizes of the target


def mean_overlap(overlap: Floats) -> float:
    """Average overlap with the truth (VOR).

    >>> mean_overlap(np.array([1.0, 0.5, np.nan]))
    0.75
    """
    return _mean(_known(overlap))


def mean_centre_error(distance: Floats) -> float:
    """Average distance between the centres of box and truth, in pixels (CLE)."""
    return _mean(_known(distance))


def success_curve(overlap: Floats) -> NDArray[np.float64]:
    """Share of frames whose overlap exceeds each of 21 thresholds from 0 to 1."""
    known = _known(overlap)
    return _shares(known[:, None] > SUCCESS_THRESHOLDS)


def success_auc(overlap: Floats) -> float:
    """Area under the success curve: the mean of its 21 points.

    >>> success_auc(np.array([1.0, 0.0]))
    0.47619047619047616
    """
    return float(success_curve(overlap).mean())


def success_rate(overlap: Floats, threshold: float = 0.5) -> float:
    """Share of frames whose overlap exceeds a threshold."""
    return _mean(_known(overlap) > check_number("threshold", threshold))


def precision_curve(distance: Floats) -> NDArray[np.float64]:
    """Share of frames whose centre lies within 0, 1, ... 50 pixels of the truth."""
    known = _known(distance)
    return _shares(known[:, None] <= PRECISION_THRESHOLDS)


def precision(distance: Floats, threshold: float = 20.0) -> float:
    """Share of frames whose centre lies within so many pixels of the truth."""
    return _mean(_known(distance) <= check_number("threshold", threshold))


def normalised_distance(boxes: ArrayLike, truth: ArrayLike) -> NDArray[np.float64]:
    """Distance between centres counted in widths and heights of the true box, as LaSOT measures it.

    Parameters
    ----------
    boxes, truth : (N, 4)   x, y, w, h

    Returns
    -------
    distance : (N,)         NaN where a coordinate is NaN or the true box has no area
    """
    given, wanted = as_floats("boxes", boxes, columns=4), as_floats("truth", truth, columns=4)
    if len(given) != len(wanted):
        raise ValueError(f"truth must have as many boxes as there are, {len(given)}, got {len(wanted)}")
    size = np.where((wanted[:, 2:] > 0).all(axis=1, keepdims=True), wanted[:, 2:], np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = (given[:, :2] + given[:, 2:] / 2 - wanted[:, :2] - wanted[:, 2:] / 2) / size
        distance: NDArray[np.float64] = np.hypot(offset[:, 0], offset[:, 1])
    return distance


def normalised_precision_curve(distance: Floats) -> NDArray[np.float64]:
    """Share of frames whose normalised distance is at most 0, 0.01, ... 0.5."""
    known = _known(distance)
    return _shares(known[:, None] <= NORMALISED_THRESHOLDS)


def normalised_precision_auc(distance: Floats) -> float:
    """Area under the normalised precision curve: the mean of its 51 points."""
    return float(normalised_precision_curve(distance).mean())


def robustness(overlap: Floats, threshold: float = 0.1, patience: int = 10) -> float:
    """Share of frames before the target is lost for good.

    It is lost for good with the first of ``patience`` frames in a row whose overlap is at most ``threshold``: the
    numbers of VOT since 2020. A shorter lapse is forgiven, at the end of the sequence too; coming back after a
    longer one earns nothing. Frames without truth are left out: the count of frames in a row goes on after them.

    >>> robustness(np.array([1.0, 0.8, 0.0, 0.0]), patience=2)
    0.5
    """
    known, threshold = _known(overlap), check_number("threshold", threshold)
    patience = check_whole("patience", patience, 1)
    if not len(known):
        return float("nan")
    in_a_row = 0
    for frame, low in enumerate(known <= threshold):
        in_a_row = in_a_row + 1 if low else 0
        if in_a_row == patience:
            return (frame + 1 - patience) / len(known)
    return 1.0


def frames_per_second(seconds: Floats) -> float:
    """Frames over the time they took together, NaN if it is none; frames whose time is not known (NaN) are left out.

    >>> frames_per_second(np.array([0.1, 0.3, np.nan]))
    5.0
    """
    known = _known(seconds)
    if (known < 0).any():
        raise ValueError(f"seconds must be at least 0, got {known.min():g}")
    total = float(known.sum())
    return len(known) / total if total > 0 else float("nan")


def _known(values: Floats) -> NDArray[np.float64]:
    array = as_floats("values", values)
    known: NDArray[np.float64] = array[~np.isnan(array)]
    return known


def _mean(values: NDArray[np.float64] | NDArray[np.bool_]) -> float:
    if not len(values):
        return float("nan")
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else float((values / len(values)).sum())  # the sum of huge ones is not finite


def _shares(counts: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Share of frames (rows) per threshold (columns)."""
    share: NDArray[np.float64] = counts.mean(axis=0) if len(counts) else np.full(counts.shape[1], np.nan)
    return share
