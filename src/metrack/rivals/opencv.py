"""OpenCV's trackers, those of its contrib modules included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.rivals.base import Rival, RivalTracker, to_rgb

PACKAGE = "opencv-contrib-python-headless"
CONSTRUCTORS = {
    "csrt": "TrackerCSRT_create",
    "kcf": "TrackerKCF_create",
    "mil": "TrackerMIL_create",
    "oab": "legacy.TrackerBoosting_create",
    "tld": "legacy.TrackerTLD_create",
    "medianflow": "legacy.TrackerMedianFlow_create",
    "mosse": "legacy.TrackerMOSSE_create",
}
SMALLEST_BOX = {"mil": 10, "oab": 10}  # pixels: below, their search for features never ends
SMALLEST_FRAME = {"tld": 32}  # pixels: below, a box that fills the frame kills the process


class OpenCVTracker(RivalTracker):
    """One of OpenCV's trackers, on one thread; started on whole pixels (a fraction kills Boosting's process)."""

    def __init__(self, name: str, create: Callable[[], Any], seed: int) -> None:
        self._name, self._create, self._seed = name, create, seed % 2**31

    def _start(self, frame: Frame, box: Box) -> None:
        self._check_size("box", min(box.w, box.h), SMALLEST_BOX)
        self._check_size("frame", min(frame.shape[:2]), SMALLEST_FRAME)
        self._cv2 = import_module("cv2")
        self._cv2.setNumThreads(1)
        self._cv2.setRNGSeed(self._seed)
        self._tracker = self._create()
        given = tuple(round(value) for value in box.to_xywh())
        try:
            self._tracker.init(_to_bgr(frame), given)
        except self._cv2.error as error:
            raise ValueError(f"OpenCV cannot start on the box {given}: {error.err}") from None

    def _check_size(self, what: str, side: float, smallest: dict[str, int]) -> None:
        if side < (least := smallest.get(self._name, 0)):
            raise ValueError(f"{what} must be at least {least} pixels on each side for {self._name}, got {side:g}")

    def _find(self, frame: Frame) -> Box | None:
        try:
            found, box = self._tracker.update(_to_bgr(frame))
        except self._cv2.error:
            return None
        return Box(*(float(value) for value in box)) if found else None


def constructor(name: str) -> Callable[[], Any]:
    """Return OpenCV's own function that makes a tracker; an OpenCV without it raises ImportError or AttributeError."""
    create: Callable[[], Any] = attrgetter(CONSTRUCTORS[name])(import_module("cv2"))
    return create


def _load(name: str) -> Callable[[int], OpenCVTracker]:
    return partial(OpenCVTracker, name, constructor(name))


def _to_bgr(frame: Frame) -> Frame:
    return np.ascontiguousarray(to_rgb(frame)[:, :, ::-1])


RIVALS = {name: Rival(name, PACKAGE, partial(_load, name)) for name in CONSTRUCTORS}
