"""Image gradients, prepared for a histogram of their angles.

The HOG descriptor counts *orientations*: directions half a turn apart are the same. The correlation filter counts
*directions* over the full turn. :func:`bin_orientations` and :func:`bin_directions` take a grey image ``(h, w)`` and
return the magnitude ``(h, w)`` of every gradient and its position ``(h, w)`` among the bins, by which it is shared
between the two nearest. An angle of 0 lies in the first direction, and between the last orientation and the first. The
arc tangent is a polynomial with an error below 1.2e-5 radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

ORIENTATIONS, DIRECTIONS = 9, 18
QUARTER_TURN, HALF_TURN, TURN = np.float32(math.pi / 2), np.float32(math.pi), np.float32(2 * math.pi)
SUMS = {"nnan", "ninf", "nsz", "reassoc", "contract"}  # fast, but divisions and roots stay exact

Plane = NDArray[np.float32]


def _binning(signed: bool) -> Callable[[Plane], tuple[Plane, Plane]]:
    """Compile the kernel for directions (signed) or orientations."""

    @njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
    def bin_gradients(grey: Plane) -> tuple[Plane, Plane]:
        height, width = grey.shape
        magnitude, position = np.empty((height, width), np.float32), np.empty((height, width), np.float32)
        g_cols = np.empty(width, np.float32)
        for y in range(height):
            above, row, below = grey[max(y - 1, 0)], grey[y], grey[min(y + 1, height - 1)]
            strengths, places = magnitude[y], position[y]
            for x in range(1, width - 1):
                g_cols[x] = row[x + 1] - row[x - 1]
            g_cols[0], g_cols[width - 1] = row[min(1, width - 1)] - row[0], row[width - 1] - row[max(width - 2, 0)]
            for x in range(width):
                g_col, g_row = g_cols[x], below[x] - above[x]
                wide, tall = abs(g_col), abs(g_row)
                strengths[x] = math.sqrt(wide * wide + tall * tall)
                angle = _arc_tangent(wide, tall)
                if signed:
                    angle = QUARTER_TURN - angle if tall > wide else angle
                    angle = HALF_TURN - angle if g_col < 0 else angle
                    angle = TURN - angle if g_row < 0 else angle
                    places[x] = angle * (np.float32(DIRECTIONS) / TURN)
                else:
                    angle = HALF_TURN / 2 - angle if tall > wide else angle  # in double precision
                    angle = HALF_TURN - angle if (g_col < 0) != (g_row < 0) else angle
                    places[x] = angle * (np.float32(ORIENTATIONS) / HALF_TURN) + np.float32(ORIENTATIONS - 0.5)
        return magnitude, position

    kernel: Callable[[Plane], tuple[Plane, Plane]] = bin_gradients
    return kernel


# Inlined: otherwise the process that compiles it rounds differently from those that load it from the cache.
@njit(nogil=True, inline="always")
def _arc_tangent(wide: Any, tall: Any) -> Any:
    """Angle between a gradient with these sides and the axis nearest to it."""
    ratio = min(wide, tall) / (max(wide, tall) + np.float32(1e-20))
    square = ratio * ratio
    return ratio * (
        np.float32(0.9998660)
        + square
        * (
            np.float32(-0.3302995)
            + square * (np.float32(0.1801410) + square * (np.float32(-0.0851330) + square * np.float32(0.0208351)))
        )
    )


bin_orientations, bin_directions = _binning(signed=False), _binning(signed=True)
