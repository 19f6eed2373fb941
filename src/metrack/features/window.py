"""The search window: a part of a frame, scaled so that the target has its normal size.

It is cut out, turned grey and resized once per frame, and serves every region described in that frame. Where it reaches
beyond the frame, the border pixels are repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame
from metrack.box import Box

LARGEST_SIDE = 1024  # window pixels: bounds time and memory however far the particles have spread


@dataclass(frozen=True, slots=True)
class Window:
    """A grey, resized piece of a frame.

    ``grey`` is ``(h, w)`` float32 in [0, 255]; window pixel ``i`` covers ``[i, i + 1)`` of window coordinates,
    which are ``(image - origin) * zoom``.
    """

    grey: NDArray[np.float32]
    left: float
    top: float
    zoom: float

    def to_window(self, boxes: Floats) -> Floats:
        """Transform image boxes ``(N, 4)`` to window coordinates."""
        placed: Floats = (boxes - np.array([self.left, self.top, 0.0, 0.0])) * self.zoom
        return placed


def cut_window(frame: Frame, region: Box, zoom: float) -> Window:
    """Cut ``region`` out of the frame, ``zoom`` window pixels to an image pixel.

    The resampling filter is a triangle one source pixel wide when enlarging and one window pixel wide when
    shrinking, so that shrinking averages instead of skipping pixels. A region too large for
    :data:`LARGEST_SIDE` is shown at a smaller zoom.
    """
    zoom = min(zoom, LARGEST_SIDE / max(region.w, region.h))
    width, height = (max(2, int(np.ceil(side * zoom))) for side in (region.w, region.h))
    return cut_pixels(frame, (region.x, region.y), zoom, (width, height))


def cut_pixels(frame: Frame, corner: tuple[float, float], zoom: float, size: tuple[int, int]) -> Window:
    """Cut a window of ``size`` (width, height) in its own pixels, whose top-left corner lies there in the frame."""
    columns, column_weights = _taps(size[0], corner[0], zoom, frame.shape[1])
    rows, row_weights = _taps(size[1], corner[1], zoom, frame.shape[0])
    left, right = _inside(columns, len(column_weights), frame.shape[1])
    top, bottom = _inside(rows, len(row_weights), frame.shape[0])
    lines = np.ascontiguousarray(frame[top:bottom, left:right]).reshape(bottom - top, -1)  # colours side by side
    channels = 1 if frame.ndim == 2 else frame.shape[2]
    source = _to_grey(lines, channels)
    return Window(_resample(source, columns - left, column_weights, rows - top, row_weights), *corner, zoom)


@njit(cache=True, nogil=True)
def _taps(count: int, origin: float, zoom: float, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return which source pixels make window pixels 0 .. count - 1 along one axis, and their weights.

    Returns the first source pixel ``(count,)``, which may lie outside ``[0, limit)``, and the weights
    ``(taps, count)``. A window pixel far outside the frame only ever sees the repeated border.
    """
    reach = max(1.0, 1.0 / zoom)
    taps = int(np.ceil(2 * reach))
    start = np.empty(count, np.int64)
    weights = np.empty((taps, count), np.float32)
    for i in range(count):
        centre = min(max(origin + (i + 0.5) / zoom - 0.5, -reach - 1), limit + reach)
        start[i] = int(np.floor(centre - reach)) + 1
        total = 0.0
        for k in range(taps):
            total += max(1.0 - abs(start[i] + k - centre) / reach, 0.0)
        for k in range(taps):
            weights[k, i] = max(1.0 - abs(start[i] + k - centre) / reach, 0.0) / total
    return start, weights


def _inside(start: NDArray[np.int64], taps: int, limit: int) -> tuple[int, int]:
    """Return the first source pixel needed and the one after the last, of those there are."""
    return min(max(int(start[0]), 0), limit - 1), min(max(int(start[-1]) + taps, 1), limit)


@njit(cache=True, nogil=True, fastmath=True)
def _resample(
    source: NDArray[np.float32],
    column_start: NDArray[np.int64],
    column_weights: NDArray[np.float32],
    row_start: NDArray[np.int64],
    row_weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Apply the two sets of taps, rows first; source pixels that fall outside are the nearest inside ones."""
    x_taps, width = column_weights.shape
    y_taps, height = row_weights.shape
    bottom, columns = source.shape[0] - 1, source.shape[1]
    # where each window column reads its row of sums, which has the border repeated on either side
    margin = max(-column_start[0], 0)
    padded = np.empty(margin + columns + max(column_start[-1] + x_taps - columns, 0), np.float32)
    at = column_start + margin
    grey = np.empty((height, width), np.float32)
    row = padded[margin : margin + columns]
    for i in range(height):
        row[:] = 0.0
        for k in range(y_taps):
            line = source[min(max(row_start[i] + k, 0), bottom)]
            weight = row_weights[k, i]
            for x in range(len(row)):
                row[x] += weight * line[x]
        padded[:margin] = row[0]
        padded[margin + len(row) :] = row[-1]
        sums = grey[i]
        sums[:] = 0.0
        for k in range(x_taps):
            weights = column_weights[k]
            for j in range(width):
                sums[j] += weights[j] * padded[at[j] + k]
    return grey


@njit(cache=True, nogil=True, fastmath=True)
def _to_grey(lines: Frame, channels: int) -> NDArray[np.float32]:
    """Turn rows ``(h, w * channels)`` of grey or RGB pixels into ``(h, w)``.

    It is called from Python: a compiled caller could inline it in the process that compiles it but not in those that
    load it from the cache, and sums and products that are fused round differently.
    """
    height, width = lines.shape[0], lines.shape[1] // channels
    grey = np.empty((height, width), np.float32)
    for y in range(height):
        line, out = lines[y], grey[y]
        if channels == 3:
            for x in range(width):
                red, green, blue = np.float32(line[3 * x]), np.float32(line[3 * x + 1]), np.float32(line[3 * x + 2])
                out[x] = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
        else:
            for x in range(width):
                out[x] = line[x]
    return grey
