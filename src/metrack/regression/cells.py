"""Sums over the cells of a grid, for a grid of any size anywhere in the window.

What every block of two by two pixels contributes to each plane is summed once into an integral image. After that a cell
takes four look-ups, so one look at the window serves every scale and the learning.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 2  # pixels along the side of a block

Planes = NDArray[np.float32]


@njit(cache=True, nogil=True, fastmath=True)
def integrate(integral: Planes) -> None:
    """Turn the blocks in ``integral[1:, 1:]`` ``(rows, columns, planes)`` into sums from the top-left corner."""
    running = np.empty(integral.shape[2], np.float32)
    integral[0] = 0.0
    for i in range(1, integral.shape[0]):
        running[:] = 0.0
        integral[i, 0] = 0.0
        for j in range(1, integral.shape[1]):
            for c in range(integral.shape[2]):
                running[c] += integral[i, j, c]
                integral[i, j, c] = integral[i - 1, j, c] + running[c]


@njit(cache=True, nogil=True, fastmath=True)
def sum_cells(integral: Planes, left: float, top: float, size: float, count: int) -> Planes:
    """Return sums ``(count + 2, count + 2, planes)`` over cells of ``size`` pixels: a grid and one ring around it.

    The first cell of the grid begins at ``(left, top)``, in pixels of the window; what lies outside it is empty.
    """
    rows, columns, planes = integral.shape[0] - 1, integral.shape[1] - 1, integral.shape[2]
    sums = np.empty((count + 2, count + 2, planes), np.float32)
    before = np.empty((count + 3, planes), np.float32)
    across = np.empty(planes, np.float32)
    for i in range(count + 3):
        y = min(max((top + (i - 1) * size) / BLOCK, 0.0), float(rows))
        upper = min(int(y), rows - 1)
        v = np.float32(y - upper)
        for j in range(count + 3):
            x = min(max((left + (j - 1) * size) / BLOCK, 0.0), float(columns))
            start = min(int(x), columns - 1)
            u = np.float32(x - start)
            a00, a01, a10, a11 = (1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v
            p00, p01 = integral[upper, start], integral[upper, start + 1]
            p10, p11 = integral[upper + 1, start], integral[upper + 1, start + 1]
            for c in range(planes):
                value = a00 * p00[c] + a01 * p01[c] + a10 * p10[c] + a11 * p11[c]
                strip = value - before[j, c]  # between this edge and the one above
                if i and j:
                    sums[i - 1, j - 1, c] = strip - across[c]
                across[c] = strip
                before[j, c] = value
    return sums
