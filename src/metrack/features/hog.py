"""Histograms of oriented gradients for many overlapping regions at once.

A region is described by five blocks of 3 x 3 cells with 9 orientations each: 405 numbers. The orientations of
the whole window are summed once into an integral histogram; a cell of any region is then four look-ups, with
borders between pixels interpolated, so that moving a region by a fraction of a pixel moves its descriptor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.features.window import Window

BINS = 9
CELLS = 3  # a block is CELLS x CELLS cells
NOISE_LEVEL = 1.0  # grey levels: gradients of this size count as no structure

DIVISIONS: dict[str, tuple[tuple[float, float, float, float], ...]] = {
    "quadrants": ((0, 0, 1, 1), (0, 0, 0.5, 0.5), (0.5, 0, 1, 0.5), (0, 0.5, 0.5, 1), (0.5, 0.5, 1, 1)),
    "halves": ((0, 0, 1, 1), (0, 0, 0.5, 1), (0.5, 0, 1, 1), (0, 0, 1, 0.5), (0, 0.5, 1, 1)),
    "corners": (
        (0, 0, 1, 1),
        (0, 0, 2 / 3, 2 / 3),
        (1 / 3, 0, 1, 2 / 3),
        (0, 1 / 3, 2 / 3, 1),
        (1 / 3, 1 / 3, 1, 1),
    ),
}


@dataclass(frozen=True, slots=True)
class CellGrid:
    """The cells of all blocks, as corners of one grid in unit coordinates of a region.

    ``x_edges`` and ``y_edges`` are the distinct cell borders; cell ``c`` of the descriptor lies between columns
    ``cells[c, 0]`` and ``cells[c, 1]`` and rows ``cells[c, 2]`` and ``cells[c, 3]`` of that grid.
    """

    x_edges: Floats
    y_edges: Floats
    cells: NDArray[np.int64]
    cells_per_block: int

    @property
    def dimension(self) -> int:
        """Length of a descriptor."""
        return len(self.cells) * BINS


def cell_grid(divisions: str) -> CellGrid:
    """Lay the cells of a named block division out on one grid."""
    rows = []
    for left, top, right, bottom in DIVISIONS[divisions]:
        xs, ys = np.linspace(left, right, CELLS + 1), np.linspace(top, bottom, CELLS + 1)
        rows += [(xs[j], xs[j + 1], ys[i], ys[i + 1]) for i in range(CELLS) for j in range(CELLS)]
    borders = np.round(np.array(rows, np.float64), 12)  # (cells, 4): equal borders of different blocks must be equal
    x_edges, y_edges = np.unique(borders[:, :2]), np.unique(borders[:, 2:])
    cells = np.hstack([np.searchsorted(x_edges, borders[:, :2]), np.searchsorted(y_edges, borders[:, 2:])])
    return CellGrid(x_edges, y_edges, cells.astype(np.int64), CELLS * CELLS)


def describe(
    window: Window, integral: NDArray[np.float32], boxes: Floats, grid: CellGrid, energy: float
) -> NDArray[np.float32]:
    """Descriptors ``(N, D)`` of image boxes ``(N, 4)``, each of squared length ``energy``.

    ``integral`` is the :func:`integral_histogram` of the window. Every block is normalised by itself, so that a
    shadow over half of the target leaves the other half's blocks alone. Before that, a gradient of
    :data:`NOISE_LEVEL` in every orientation is added to every cell: a block without structure becomes the uniform
    vector rather than zero, which any set of samples would explain perfectly.
    """
    placed = np.ascontiguousarray(window.to_window(boxes), np.float64)
    blocks = len(grid.cells) // grid.cells_per_block
    scale = math.sqrt(energy / blocks)
    return _describe(integral, placed, grid.x_edges, grid.y_edges, grid.cells, grid.cells_per_block, scale)


@njit(cache=True, nogil=True, fastmath=True)
def integral_histogram(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum gradient magnitudes by orientation over every rectangle that starts at the top-left corner.

    Entry ``[y, x, b]`` of the ``(h + 1, w + 1, 9)`` result is the sum over pixels above and left of the corner
    ``(x, y)``. A gradient is shared between its two nearest orientations, directions half a turn apart being
    the same; the arc tangent is a polynomial with an error below 1.2e-5 radians.
    """
    height, width = grey.shape
    integral = np.empty((height + 1, width + 1, BINS), np.float32)
    integral[0] = 0.0
    g_cols = np.empty(width, np.float32)
    magnitude = np.empty(width, np.float32)
    position = np.empty(width, np.float32)
    row_sum = np.empty(BINS, np.float32)
    half_turn = np.float32(math.pi)
    for y in range(height):
        above, row, below = grey[max(y - 1, 0)], grey[y], grey[min(y + 1, height - 1)]
        for x in range(1, width - 1):
            g_cols[x] = row[x + 1] - row[x - 1]
        g_cols[0], g_cols[width - 1] = row[min(1, width - 1)] - row[0], row[width - 1] - row[max(width - 2, 0)]
        for x in range(width):
            g_col, g_row = g_cols[x], below[x] - above[x]
            wide, tall = abs(g_col), abs(g_row)
            ratio = min(wide, tall) / (max(wide, tall) + np.float32(1e-20))
            square = ratio * ratio
            angle = ratio * (
                np.float32(0.9998660)
                + square
                * (
                    np.float32(-0.3302995)
                    + square
                    * (np.float32(0.1801410) + square * (np.float32(-0.0851330) + square * np.float32(0.0208351)))
                )
            )
            if tall > wide:
                angle = half_turn / 2 - angle
            if (g_col < 0) != (g_row < 0):
                angle = half_turn - angle
            magnitude[x] = math.sqrt(wide * wide + tall * tall)
            position[x] = angle * (np.float32(BINS) / half_turn) + np.float32(BINS - 0.5)
        row_sum[:] = 0.0
        integral[y + 1, 0, :] = 0.0
        for x in range(width):
            low = int(position[x])
            share = position[x] - low
            low = low - BINS if low >= BINS else low  # the angle is at most half a turn, so once is enough
            high = low + 1 if low + 1 < BINS else 0
            row_sum[low] += magnitude[x] * (1 - share)
            row_sum[high] += magnitude[x] * share
            for b in range(BINS):
                integral[y + 1, x + 1, b] = integral[y, x + 1, b] + row_sum[b]
    return integral


@njit(cache=True, nogil=True, fastmath=True)
def _describe(
    integral: NDArray[np.float32],
    boxes: NDArray[np.float64],
    x_edges: Floats,
    y_edges: Floats,
    cells: NDArray[np.int64],
    cells_per_block: int,
    scale: float,
) -> NDArray[np.float32]:
    height, width = integral.shape[0] - 1, integral.shape[1] - 1
    block_length = cells_per_block * BINS
    nx, ny = len(x_edges), len(y_edges)
    corners = np.empty((ny, nx * BINS), np.float32)
    out = np.empty((len(boxes), len(cells) * BINS), np.float32)
    left = np.empty(nx, np.int64)
    u = np.empty(nx, np.float32)
    flat = integral.reshape(height + 1, (width + 1) * BINS)
    for n in range(len(boxes)):
        for j in range(nx):
            x = min(max(boxes[n, 0] + x_edges[j] * boxes[n, 2], 0.0), float(width))
            at = min(int(x), width - 1)
            left[j] = at * BINS
            u[j] = x - at
        for i in range(ny):
            y = min(max(boxes[n, 1] + y_edges[i] * boxes[n, 3], 0.0), float(height))
            top = min(int(y), height - 1)
            v = np.float32(y - top)
            upper, lower, made = flat[top], flat[top + 1], corners[i]
            for j in range(nx):
                a00, a01 = (1 - u[j]) * (1 - v), u[j] * (1 - v)
                a10, a11 = (1 - u[j]) * v, u[j] * v
                s, c = left[j], j * BINS
                for b in range(BINS):
                    above = a00 * upper[s + b] + a01 * upper[s + BINS + b]
                    made[c + b] = above + a10 * lower[s + b] + a11 * lower[s + BINS + b]
        line = out[n]
        for c in range(len(cells)):
            x0, x1 = cells[c, 0] * BINS, cells[c, 1] * BINS
            top_row, bottom_row = corners[cells[c, 2]], corners[cells[c, 3]]
            for b in range(BINS):
                strip = bottom_row[x1 + b] - top_row[x1 + b]
                line[c * BINS + b] = strip - bottom_row[x0 + b] + top_row[x0 + b]
        for start in range(0, len(line), block_length):
            first = start // BINS
            cell_w = (x_edges[cells[first, 1]] - x_edges[cells[first, 0]]) * boxes[n, 2]
            cell_h = (y_edges[cells[first, 3]] - y_edges[cells[first, 2]]) * boxes[n, 3]
            noise = np.float32(NOISE_LEVEL / BINS * cell_w * cell_h)
            total = np.float32(1e-30)
            block = line[start : start + block_length]
            for d in range(block_length):
                value = max(block[d], np.float32(0.0)) + noise
                block[d] = value
                total += value * value
            factor = np.float32(scale) / math.sqrt(total)
            for d in range(block_length):
                block[d] *= factor
    return out
