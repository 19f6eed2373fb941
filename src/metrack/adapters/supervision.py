"""Estimates as ``supervision.Detections``: one adapter opens that library's annotators and sinks.

Its boxes are ``left, top, right, bottom`` in the coordinates of this package, so they are only written differently.
Needs the extra ``interop``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metrack.arrays import shown
from metrack.checks import check_whole
from metrack.estimate import Estimate

if TYPE_CHECKING:
    from supervision import Detections


LARGEST_ID = 2**31 - 1


def to_detections(estimates: Estimate | Sequence[Estimate], ids: Sequence[int] | None = None) -> Detections:
    """Return the estimates of one frame as detections, in their order.

    ``confidence`` is the score, ``tracker_id`` the number of the target (counted from 1 unless ``ids`` are given),
    ``data["state"]`` the state. ``class_id`` is 0 throughout: by default annotators choose colours by class and
    refuse detections without one; ``color_lookup=ColorLookup.TRACK`` gives each target its own.

    >>> from metrack import Box
    >>> detections = to_detections(Estimate(Box(10, 20, 30, 40), 0.75, "tracking"))
    >>> detections.xyxy.tolist(), detections.confidence.tolist(), detections.data["state"].tolist()
    ([[10.0, 20.0, 40.0, 60.0]], [0.75], ['tracking'])
    """
    given = [estimates] if isinstance(estimates, Estimate) else _listed("estimates", estimates)
    for each in given:
        if not isinstance(each, Estimate):
            raise ValueError(f"estimates must be Estimates, got {shown(each)}")
    numbers = (
        list(range(1, len(given) + 1))
        if ids is None
        else [check_whole("ids", number, 0, LARGEST_ID) for number in _listed("ids", ids)]
    )
    if len(numbers) != len(given):
        raise ValueError(f"ids must have one number for each of {len(given)} estimates, got {len(numbers)}")
    try:
        from supervision import Detections
    except ImportError:
        raise ValueError("to_detections must have supervision: pip install 'metrack[interop]', got none") from None
    return Detections(
        xyxy=np.array([estimate.box.to_xyxy() for estimate in given], np.float32).reshape(-1, 4),
        confidence=np.array([estimate.score for estimate in given], np.float32),
        class_id=np.zeros(len(given), int),
        tracker_id=np.array(numbers, int),
        data={"state": np.array([estimate.state for estimate in given], "<U8")},
    )


def _listed(name: str, values: object) -> list[Any]:
    if not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a sequence, got {shown(values)}")
    return list(values)
