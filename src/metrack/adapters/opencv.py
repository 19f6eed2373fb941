"""A tracker that can stand where one of OpenCV's stood; OpenCV itself is not needed."""

from __future__ import annotations

import numpy as np

from metrack.arrays import Frame
from metrack.checks import check_frame
from metrack.config import TrackerConfig
from metrack.estimate import LOST
from metrack.tracking.tracker import Tracker


class OpenCVTracker:
    """The methods of ``cv2.Tracker`` over a metrack tracker: BGR images, ``ok, (x, y, w, h)``.

    >>> tracker = OpenCVTracker("paper", seed=3)
    >>> image = np.random.default_rng(0).integers(0, 255, (90, 120, 3), np.uint8)
    >>> tracker.init(image, (40, 30, 30, 20))
    >>> ok, (x, y, w, h) = tracker.update(image)
    >>> ok
    True
    """

    def __init__(self, preset: str | TrackerConfig = "default", *, seed: int = 0) -> None:
        self.tracker = Tracker(preset, seed=seed)
        self._score = -1.0

    def init(self, image: Frame, bounding_box: tuple[float, float, float, float]) -> None:
        """Start on the target marked in an image whose channels are blue, green, red."""
        self.tracker.init(_to_rgb(image), bounding_box)
        self._score = 1.0

    def update(self, image: Frame) -> tuple[bool, tuple[float, float, float, float]]:
        """Return whether the target is there, and the best guess where: also when it is not."""
        estimate = self.tracker.update(_to_rgb(image))
        self._score = estimate.score
        return estimate.state != LOST, estimate.box.to_xywh()

    def getTrackingScore(self) -> float:  # noqa: N802  (OpenCV's name)
        """Return the score of the last frame, -1 before the first."""
        return self._score


def _to_rgb(image: Frame) -> Frame:
    frame = check_frame(image)
    return np.ascontiguousarray(frame[:, :, ::-1]) if frame.ndim == 3 else frame
