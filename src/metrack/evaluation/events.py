"""Scores of reported events and names.

An event is the number of the frame in which something begins (the target is hidden, say). A true event and a
reported one match if they are at most ``tolerance`` frames apart; each is used for one match at most, and as many
are matched as can be. A share of nothing is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from metrack.arrays import Ints, as_floats, shown
from metrack.checks import check_whole

TOLERANCE = 15  # frames: half a second of the usual video


def onsets(flags: ArrayLike) -> Ints:
    """Return the frames in which runs of set flags begin.

    >>> onsets([False, True, True, False, True])
    array([1, 4])
    """
    on = as_floats("flags", flags) != 0
    before = np.concatenate([[False], on[:-1]])
    return np.flatnonzero(on & ~before[: len(on)]).astype(np.int64)


def matches(reported: ArrayLike, true: ArrayLike, tolerance: int = TOLERANCE) -> int:
    """Count the pairs of a reported and a true event, each in one pair at most.

    Pairing the latest that fit, backwards in time, gives as many pairs as any other way.

    >>> matches([10, 12, 90], [11, 50], tolerance=3)
    1
    """
    tolerance = check_whole("tolerance", tolerance, 0)
    ours, theirs = np.sort(_frames(reported)).tolist(), np.sort(_frames(true)).tolist()
    count = 0
    while ours and theirs:
        if abs(ours[-1] - theirs[-1]) <= tolerance:
            count += 1
            ours.pop()
            theirs.pop()
        elif ours[-1] > theirs[-1]:
            ours.pop()
        else:
            theirs.pop()
    return count


def event_precision(reported: ArrayLike, true: ArrayLike, tolerance: int = TOLERANCE) -> float:
    """Share of the reported events that happened."""
    count = len(_frames(reported))
    return matches(reported, true, tolerance) / count if count else float("nan")


def event_recall(reported: ArrayLike, true: ArrayLike, tolerance: int = TOLERANCE) -> float:
    """Share of the events that were reported."""
    count = len(_frames(true))
    return matches(reported, true, tolerance) / count if count else float("nan")


def identification_accuracy(named: Sequence[str | None], true: Sequence[str | None]) -> float:
    """Share of frames with the right name; frames without a true name (None) do not count.

    >>> identification_accuracy(["ann", None, "bob"], ["ann", "ann", None])
    0.5
    """
    for argument, names in (("named", named), ("true", true)):
        if not isinstance(names, Sequence | np.ndarray):
            raise ValueError(f"{argument} must be a sequence of names, got {shown(names)}")
    if len(named) != len(true):
        raise ValueError(f"named must have a name for each of {len(true)} frames, got {len(named)}")
    right = [ours == theirs for ours, theirs in zip(named, true, strict=True) if theirs is not None]
    return sum(right) / len(right) if right else float("nan")


def _frames(events: ArrayLike) -> Ints:
    try:
        array = np.asarray(events)
    except Exception:  # a value's own conversion may raise anything
        array = np.asarray("")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"events must be numbers of frames, got {shown(events)}")
    return array.astype(np.int64)
