"""Frames as pictures for pages: made smaller, and encoded as JPEG files."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numba import njit
from PIL import Image as Pillow

from metrack.arrays import Frame
from metrack.draw.pictures import QUALITY, encode
from metrack.estimate import Info
from metrack.frames import VideoFrame

NARROWEST, WIDEST = 64, 1280  # pixels of a picture sent to a page


class Picture:
    """The newest frame as JPEG files, each made when the first page wants one of that width and once for all pages.

    ``targets`` says how the estimates of those targets were made that were followed just now.
    """

    def __init__(self, frame: VideoFrame, targets: Sequence[Info | None]) -> None:
        self.frame, self.targets = frame, targets
        self._lock = threading.Lock()
        self._files: dict[int, bytes] = {}

    def data(self, width: int = WIDEST) -> bytes:
        """Return the file that is as wide as asked for, or as the frame where that is narrower."""
        width = min(max(width, NARROWEST), WIDEST, self.frame.image.shape[1])
        with self._lock:
            if width not in self._files:
                self._files[width] = to_jpeg(self.frame.image, width)
            return self._files[width]


def to_jpeg(image: Frame, width: int = 0) -> bytes:
    """Encode an RGB image, made smaller where it is wider than asked for."""
    return encode(fit(image, width), "JPEG", quality=QUALITY)


def fit(image: Frame, width: int) -> Frame:
    """Return an RGB image no wider than asked for, in its own proportions; 0 leaves it as it is."""
    if not 0 < width < image.shape[1]:
        return image
    height = max(round(image.shape[0] * width / image.shape[1]), 1)
    whole = min(image.shape[1] // width, image.shape[0])
    if whole >= 2:  # more than one pixel of every four would be passed over
        image = np.asarray(Pillow.fromarray(image).reduce(whole))
    return _blend(np.ascontiguousarray(image), height, width)


@njit(cache=True, nogil=True)
def _blend(image: Frame, height: int, width: int) -> Frame:
    """Take every pixel from the four around its place, in shares of 256."""
    rows, columns, _ = image.shape
    lines = image.reshape(rows, columns * 3)
    line = np.empty(columns * 3, np.int32)  # one row of the result before it is narrowed
    made = np.empty((height, width, 3), np.uint8)
    before, share = _places(columns, width)
    above, part = _places(rows, height)
    for row in range(height):
        top, below, weight = above[row], min(above[row] + 1, rows - 1), part[row]
        for n in range(columns * 3):
            line[n] = np.int32(lines[top, n]) * (256 - weight) + np.int32(lines[below, n]) * weight
        for column in range(width):
            left, right = before[column] * 3, min(before[column] + 1, columns - 1) * 3
            for tint in range(3):
                blended = line[left + tint] * (256 - share[column]) + line[right + tint] * share[column]
                made[row, column, tint] = (blended + 32768) >> 16
    return made


@njit(cache=True, nogil=True)
def _places(count: int, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Say for every new pixel which old one is before its middle, and how much of the next one it takes."""
    at = np.minimum(np.maximum((np.arange(wanted) + 0.5) * count / wanted - 0.5, 0), count - 1)
    before = at.astype(np.int32)
    return before, ((at - before) * 256).astype(np.int32)
