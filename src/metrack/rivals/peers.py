"""Rivals behind the interface of our tracker: OpenCV's, dlib's, and a box that never moves.

They come with the extra ``peers``. Each gives its box whatever happens: where it says that the target is lost, or fails
inside, the last box stands and the state is "lost". None of them offers a probability, so their score is NaN.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import check_box, check_frame
from metrack.estimate import LOST, TRACKING, Estimate

INSTALL = "pip install 'metrack[peers]'"


class PeerTracker(ABC):
    """The common part: keep the last box, and say so when a rival loses its target."""

    def init(self, frame: Frame, box: Box) -> None:
        """Start on the target marked in a frame."""
        self._box = check_box(box, check_frame(frame).shape)
        self._start(frame, self._box)

    def update(self, frame: Frame) -> Estimate:
        """Find the target in the next frame."""
        found = self._follow(check_frame(frame))
        if found is not None and np.all(np.isfinite(found.to_xywh())):
            self._box = found
        return Estimate(self._box, math.nan, LOST if found is None else TRACKING)

    @abstractmethod
    def _start(self, frame: Frame, box: Box) -> None: ...

    @abstractmethod
    def _follow(self, frame: Frame) -> Box | None: ...


class StaticBox(PeerTracker):
    """The first box for ever: what every tracker has to beat."""

    def _start(self, frame: Frame, box: Box) -> None:
        pass

    def _follow(self, frame: Frame) -> Box | None:
        return self._box


class OpenCVPeer(PeerTracker):
    """One of OpenCV's trackers, on one thread; started on whole pixels (a fraction kills Boosting's process)."""

    def __init__(self, create: Callable[[], Any], seed: int) -> None:
        self._cv2 = import_module("cv2")
        self._cv2.setNumThreads(1)
        self._cv2.setRNGSeed(seed % 2**31)
        self._tracker = create()

    def _start(self, frame: Frame, box: Box) -> None:
        given = tuple(round(value) for value in box.to_xywh())
        try:
            self._tracker.init(_to_bgr(frame), given)
        except self._cv2.error as error:
            raise ValueError(f"OpenCV cannot start on the box {given}: {error.err}") from None

    def _follow(self, frame: Frame) -> Box | None:
        try:
            found, box = self._tracker.update(_to_bgr(frame))
        except self._cv2.error:
            return None
        return Box(*(float(value) for value in box)) if found else None


class DlibPeer(PeerTracker):
    """dlib's correlation tracker, the DSST of Danelljan et al.; its edges are the centres of border pixels."""

    def __init__(self) -> None:
        self._dlib = import_module("dlib")
        self._tracker = self._dlib.correlation_tracker()

    def _start(self, frame: Frame, box: Box) -> None:
        left, top, right, bottom = box.to_xyxy()
        self._tracker.start_track(_to_rgb(frame), self._dlib.drectangle(left, top, right - 1, bottom - 1))

    def _follow(self, frame: Frame) -> Box | None:
        self._tracker.update(_to_rgb(frame))
        place = self._tracker.get_position()
        return Box(place.left(), place.top(), place.width(), place.height())


@dataclass(frozen=True, slots=True)
class Peer:
    """How to make a rival, and what must be installed for it."""

    name: str
    package: str
    create: str

    def check(self) -> None:
        """Say what to install where it is missing."""
        self._creator()

    def make(self, seed: int) -> PeerTracker:
        """Return a fresh tracker."""
        if not self.package:
            return StaticBox()
        creator = self._creator()
        return DlibPeer() if self.package == "dlib-bin" else OpenCVPeer(creator, seed)

    def version(self) -> str:
        """Return the version of the package it comes from."""
        return version(self.package) if self.package else version("metrack")

    def _creator(self) -> Any:
        if not self.package:
            return None
        module, *names = self.create.split(".")
        try:
            found: Any = import_module(module)
            for name in names:
                found = getattr(found, name)
        except (ImportError, AttributeError):
            raise ValueError(f"--tracker {self.name} needs {self.package}, which is not here: {INSTALL}") from None
        return found


CONTRIB = "opencv-contrib-python-headless"
PEERS = {
    "csrt": Peer("csrt", CONTRIB, "cv2.TrackerCSRT_create"),
    "kcf": Peer("kcf", CONTRIB, "cv2.TrackerKCF_create"),
    "mil": Peer("mil", CONTRIB, "cv2.TrackerMIL_create"),
    "oab": Peer("oab", CONTRIB, "cv2.legacy.TrackerBoosting_create"),
    "tld": Peer("tld", CONTRIB, "cv2.legacy.TrackerTLD_create"),
    "medianflow": Peer("medianflow", CONTRIB, "cv2.legacy.TrackerMedianFlow_create"),
    "mosse": Peer("mosse", CONTRIB, "cv2.legacy.TrackerMOSSE_create"),
    "dsst": Peer("dsst", "dlib-bin", "dlib.correlation_tracker"),
    "static": Peer("static", "", ""),
}


def _to_bgr(frame: Frame) -> Frame:
    return np.ascontiguousarray(_to_rgb(frame)[:, :, ::-1])


def _to_rgb(frame: Frame) -> Frame:
    return np.ascontiguousarray(frame if frame.ndim == 3 else np.repeat(frame[:, :, None], 3, axis=2))
