"""Raw grey patches as descriptors, for comparing linear representations as in the literature."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.features.window import Window

SIDE = 20  # pixels of a patch; its square is the dimension
NOISE_LEVEL = 1.0  # grey levels: differences of this size count as no structure


def describe(window: Window, boxes: Floats, side: int, energy: float) -> NDArray[np.float32]:
    """Return patches ``(N, side * side)`` of image boxes ``(N, 4)``, each of squared length ``energy``.

    The mean is replaced by :data:`NOISE_LEVEL`: a patch without structure becomes the uniform vector instead of
    amplified noise, or of zero, which any set of samples would explain perfectly.
    """
    placed = np.ascontiguousarray(window.to_window(boxes), np.float64)
    patches = _sample(window.grey, placed, side)
    patches += np.float32(NOISE_LEVEL) - patches.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("nd,nd->n", patches, patches))
    patches *= (math.sqrt(energy) / length)[:, None]
    return patches


@njit(cache=True, nogil=True, fastmath=True)
def _sample(grey: NDArray[np.float32], boxes: NDArray[np.float64], side: int) -> NDArray[np.float32]:
    """Sample each box at the centres of a ``side`` x ``side`` grid, interpolating between pixels."""
    height, width = grey.shape
    patches = np.empty((len(boxes), side * side), np.float32)
    for n in range(len(boxes)):
        for i in range(side):
            y = boxes[n, 1] + boxes[n, 3] * (i + 0.5) / side - 0.5
            y = min(max(y, 0.0), height - 1.0)
            top = min(int(y), height - 2)
            v = np.float32(y - top)
            for j in range(side):
                x = boxes[n, 0] + boxes[n, 2] * (j + 0.5) / side - 0.5
                x = min(max(x, 0.0), width - 1.0)
                left = min(int(x), width - 2)
                u = np.float32(x - left)
                upper = (1 - u) * grey[top, left] + u * grey[top, left + 1]
                lower = (1 - u) * grey[top + 1, left] + u * grey[top + 1, left + 1]
                patches[n, i * side + j] = (1 - v) * upper + v * lower
    return patches
