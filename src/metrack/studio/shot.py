"""What pages get to see of the newest frame."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from metrack.estimate import Info
from metrack.frames import Frame
from metrack.studio.reader import to_jpeg

WIDEST = 1280  # pixels of a picture sent to a page


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """The newest frame, and how the estimates of those targets came about that were followed just now."""

    frame: Frame
    targets: tuple[Info | None, ...]


class Picture:
    """The newest shot as a JPEG file, made when the first page wants it and once for all pages."""

    def __init__(self, shot: Shot) -> None:
        self.shot = shot
        self._lock = threading.Lock()
        self._data: bytes | None = None

    def data(self) -> bytes:
        """Return the file."""
        with self._lock:
            if self._data is None:
                self._data = to_jpeg(self.shot.frame.image, WIDEST)
            return self._data
