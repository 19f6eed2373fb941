"""Histograms of oriented gradients for many overlapping regions at once.

A region is described by five blocks of 3 x 3 cells with 9 orientations each: 405 numbers. The orientations of the whole
window are summed once into an integral histogram. A cell of any region is then four look-ups; borders between pixels
are interpolated, so that a shift by a fraction of a pixel changes the descriptor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.features.gradients import ORIENTATIONS, bin_orientations
from metrack.features.window import Window

BINS = ORIENTATIONS
CELLS = 3  # a block is CELLS x CELLS cells
NOISE_LEVEL = 1.0  # grey levels: gradients of this size count as no structure

DIVISIONS: dict[str, tuple[tuple[float, float, float, float], ...]] = {  # blocks: left, top, right, bottom
    "quadrants": ((0, 0, 1, 1), (0, 0, 0.5, 0.5), (0.5, 0, 1, 0.5), (0, 0.5, 0.5, 1), (0.5, 0.5, 1, 1)),
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
    """Return descriptors ``(N, D)`` of image boxes ``(N, 4)``, each of squared length ``energy``.

    ``integral`` is the :func:`integral_histogram` of the window. Every block is normalised by itself, so that a
    shadow over half of the target leaves the other half's blocks alone. Before that, a gradient of
    :data:`NOISE_LEVEL` in every orientation is added to every cell: a block without structure becomes the uniform
    vector rather than zero, which any set of samples would explain perfectly.
    """
    placed = np.ascontiguousarray(window.to_window(boxes), np.float64)
    blocks = len(grid.cells) // grid.cells_per_block
    scale = math.sqrt(energy / blocks)
    return _describe(integral, placed, grid.x_edges, grid.y_edges, grid.cells, grid.cells_per_block, scale)


def integral_histogram(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum gradient magnitudes by orientation over every rectangle that starts at the top-left corner.

    Entry ``[y, x, b]`` of the ``(h + 1, w + 1, 9)`` result is the sum over pixels above and left of the corner
    ``(x, y)``. A gradient is shared between its two nearest orientations.
    """
    return _integrate(*bin_orientations(grey))


@njit(cache=True, nogil=True, fastmath=True)
def _integrate(magnitude: NDArray[np.float32], place: NDArray[np.float32]) -> NDArray[np.float32]:
    height, width = magnitude.shape
    integral = np.empty((height + 1, width + 1, BINS), np.float32)
    integral[0] = 0.0
    row_sum = np.empty(BINS, np.float32)
    for y in range(height):
        strengths, places = magnitude[y], place[y]
        row_sum[:] = 0.0
        integral[y + 1, 0, :] = 0.0
        for x in range(width):
            low = int(places[x])
            share = places[x] - low
            low = low - BINS if low >= BINS else low  # the angle is at most half a turn, so once is enough
            high = low + 1 if low + 1 < BINS else 0
            row_sum[low] += strengths[x] * (1 - share)
            row_sum[high] += strengths[x] * share
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
    corners = np.empty((len(y_edges), len(x_edges) * BINS), np.float32)
    out = np.empty((len(boxes), len(cells) * BINS), np.float32)
    left, u = np.empty(len(x_edges), np.int64), np.empty(len(x_edges), np.float32)
    for n in range(len(boxes)):
        _read_corners(integral, boxes[n], x_edges, y_edges, left, u, corners)
        line = out[n]
        for c in range(len(cells)):
            x0, x1 = cells[c, 0] * BINS, cells[c, 1] * BINS
            top_row, bottom_row = corners[cells[c, 2]], corners[cells[c, 3]]
            for b in range(BINS):
                strip = bottom_row[x1 + b] - top_row[x1 + b]
                line[c * BINS + b] = strip - bottom_row[x0 + b] + top_row[x0 + b]
        for first in range(0, len(cells), cells_per_block):
            cell_w = (x_edges[cells[first, 1]] - x_edges[cells[first, 0]]) * boxes[n, 2]
            cell_h = (y_edges[cells[first, 3]] - y_edges[cells[first, 2]]) * boxes[n, 3]
            noise = np.float32(NOISE_LEVEL / BINS * cell_w * cell_h)
            _normalise(line[first * BINS : (first + cells_per_block) * BINS], noise, scale)
    return out


# Inlined: otherwise the process that compiles them rounds differently from those that load them from the cache.
@njit(nogil=True, inline="always")
def _read_corners(
    integral: NDArray[np.float32],
    box: Floats,
    x_edges: Floats,
    y_edges: Floats,
    left: NDArray[np.int64],
    u: NDArray[np.float32],
    corners: NDArray[np.float32],
) -> None:
    """Fill ``corners`` with the integral histogram at the crossings of cell borders; ``left`` and ``u`` are scratch."""
    height, width = integral.shape[0] - 1, integral.shape[1] - 1
    flat = integral.reshape(height + 1, (width + 1) * BINS)
    for j in range(len(x_edges)):
        x = min(max(box[0] + x_edges[j] * box[2], 0.0), float(width))
        at = min(int(x), width - 1)
        left[j] = at * BINS
        u[j] = x - at
    for i in range(len(y_edges)):
        y = min(max(box[1] + y_edges[i] * box[3], 0.0), float(height))
        top = min(int(y), height - 1)
        v = np.float32(y - top)
        upper, lower, made = flat[top], flat[top + 1], corners[i]
        for j in range(len(x_edges)):
            a00, a01 = (1 - u[j]) * (1 - v), u[j] * (1 - v)
            a10, a11 = (1 - u[j]) * v, u[j] * v
            s, c = left[j], j * BINS
            for b in range(BINS):
                above = a00 * upper[s + b] + a01 * upper[s + BINS + b]
                made[c + b] = above + a10 * lower[s + b] + a11 * lower[s + BINS + b]


@njit(nogil=True, inline="always")
def _normalise(block: NDArray[np.float32], noise: np.floating[Any], scale: float) -> None:
    """Add the noise level to a block and bring it to length ``scale``."""
    total = np.float32(1e-30)
    for d in range(len(block)):
        value = max(block[d], np.float32(0.0)) + noise
        block[d] = value
        total += value * value
    factor = np.float32(scale) / math.sqrt(total)
    for d in range(len(block)):
        block[d] *= factor
