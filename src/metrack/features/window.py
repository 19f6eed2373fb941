"""The part of a frame in which the tracker looks, brought to the target's normal size.

One window serves every region asked about in a frame: it is cut out, turned grey and resized once, so that the
target has the same size in it whatever its size in the image. Where the window reaches over the border of the
frame, the border pixels are repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box
from metrack.checks import Frame

LARGEST_SIDE = 1024  # window pixels: bounds time and memory however far the cloud has spread


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
        """Bring image boxes ``(N, 4)`` into window coordinates."""
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
    column_start, column_weights = _taps(size[0], corner[0], zoom, frame.shape[1])
    row_start, row_weights = _taps(size[1], corner[1], zoom, frame.shape[0])
    pixels = frame if frame.ndim == 3 else frame[:, :, None]
    grey = _resample(pixels, column_start, column_weights, row_start, row_weights)
    return Window(grey, *corner, zoom)


def _taps(count: int, origin: float, zoom: float, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Which source pixels make window pixels 0 .. count - 1 along one axis, and in which proportion.

    Returns the first source pixel ``(count,)``, which may lie outside ``[0, limit)``, and the weights
    ``(count, taps)``. A window pixel far outside the frame only ever sees the repeated border.
    """
    reach = max(1.0, 1.0 / zoom)
    centre = origin + (np.arange(count) + 0.5) / zoom - 0.5
    centre = np.clip(centre, -reach - 1, limit + reach)
    start = np.floor(centre - reach).astype(np.int64) + 1
    source = start[:, None] + np.arange(int(np.ceil(2 * reach)))
    weights = np.maximum(1.0 - np.abs(source - centre[:, None]) / reach, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return start, weights.astype(np.float32)


@njit(cache=True, nogil=True, fastmath=True)
def _resample(
    pixels: Frame,
    column_start: NDArray[np.int64],
    column_weights: NDArray[np.float32],
    row_start: NDArray[np.int64],
    row_weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Apply the two sets of taps, rows first; source pixels that fall outside are the nearest inside ones."""
    frame_h, frame_w, channels = pixels.shape
    width, x_taps = column_weights.shape
    height, y_taps = row_weights.shape
    first_row = min(max(row_start[0], 0), frame_h - 1)
    last_row = min(max(row_start[-1] + y_taps - 1, 0), frame_h - 1)
    first_column = min(max(column_start[0], 0), frame_w - 1)
    last_column = min(max(column_start[-1] + x_taps - 1, 0), frame_w - 1)
    source = np.empty((last_row - first_row + 1, last_column - first_column + 1), np.float32)
    if channels == 3:
        for y in range(source.shape[0]):
            for x in range(source.shape[1]):
                source[y, x] = (
                    np.float32(0.299) * pixels[first_row + y, first_column + x, 0]
                    + np.float32(0.587) * pixels[first_row + y, first_column + x, 1]
                    + np.float32(0.114) * pixels[first_row + y, first_column + x, 2]
                )
    else:
        for y in range(source.shape[0]):
            for x in range(source.shape[1]):
                source[y, x] = pixels[first_row + y, first_column + x, 0]
    # where each window column reads its row of sums, which has the border repeated on either side
    margin = max(first_column - column_start[0], 0)
    padded = np.empty(margin + source.shape[1] + max(column_start[-1] + x_taps - 1 - last_column, 0), np.float32)
    at = column_start - (first_column - margin)
    grey = np.empty((height, width), np.float32)
    row = padded[margin : margin + source.shape[1]]
    for i in range(height):
        row[:] = 0.0
        for k in range(y_taps):
            line = source[min(max(row_start[i] + k, first_row), last_row) - first_row]
            weight = row_weights[i, k]
            for x in range(len(row)):
                row[x] += weight * line[x]
        padded[:margin] = row[0]
        padded[margin + len(row) :] = row[-1]
        for j in range(width):
            total = np.float32(0.0)
            for k in range(x_taps):
                total += column_weights[j, k] * padded[at[j] + k]
            grey[i, j] = total
    return grey
