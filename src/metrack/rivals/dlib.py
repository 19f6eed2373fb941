"""dlib's correlation tracker: the DSST of Danelljan et al."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from metrack.arrays import Frame
from metrack.box import Box
from metrack.rivals.base import Rival, RivalTracker, to_rgb


class CorrelationTracker(RivalTracker):
    """dlib's tracker; the edges of its rectangles are the centres of border pixels."""

    def __init__(self, dlib: Any) -> None:
        self._dlib = dlib

    def _start(self, frame: Frame, box: Box) -> None:
        left, top, right, bottom = box.to_xyxy()
        self._tracker = self._dlib.correlation_tracker()
        self._tracker.start_track(to_rgb(frame), self._dlib.drectangle(left, top, right - 1, bottom - 1))

    def _find(self, frame: Frame) -> Box | None:
        self._tracker.update(to_rgb(frame))
        place = self._tracker.get_position()
        return Box(place.left(), place.top(), place.width(), place.height())


def _load() -> Callable[[int], CorrelationTracker]:
    dlib = import_module("dlib")
    return lambda seed: CorrelationTracker(dlib)


DSST = Rival("dsst", "dlib-bin", _load)
