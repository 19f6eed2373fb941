"""What pages get to see of the newest frame."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from metrack.estimate import Info
from metrack.frames import VideoFrame
from metrack.studio.reader import to_jpeg

NARROWEST, WIDEST = 64, 1280  # pixels of a picture sent to a page


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """The newest frame, and how the estimates of those targets came about that were followed just now."""

    frame: VideoFrame
    targets: tuple[Info | None, ...]


class Picture:
    """The newest shot as JPEG files, each made when the first page wants one of that width and once for all pages."""

    def __init__(self, shot: Shot) -> None:
        self.shot = shot
        self._lock = threading.Lock()
        self._files: dict[int, bytes] = {}

    def data(self, width: int = WIDEST) -> bytes:
        """Return the file that is as wide as asked for, or as the frame where that is narrower."""
        width = min(max(width, NARROWEST), WIDEST, self.shot.frame.image.shape[1])
        with self._lock:
            if width not in self._files:
                self._files[width] = to_jpeg(self.shot.frame.image, width)
            return self._files[width]
