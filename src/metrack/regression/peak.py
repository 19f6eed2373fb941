"""The peak of a response map, with subcell precision.

Between cells the response is the trigonometric polynomial that its spectrum stands for. From the highest cell a few
steps of Newton's method lead to the peak nearby. With an even number of cells the highest frequency is taken with one
sign only: exact at the cells, and between them as far as the response has next to nothing at that frequency, which the
smooth label ensures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.fft import irfft2

NEWTON_STEPS = 5  # at most
CLOSE = 1e-3  # cells: the step after one that short would be a thousand times shorter


class Peak(NamedTuple):
    """Height of a response at its peak, and by how many cells the peak lies below and right of the middle."""

    height: float
    down: float
    right: float

    def cells_from(self, other: Peak) -> float:
        """Return how far apart two peaks are, down and right added up."""
        return abs(self.down - other.down) + abs(self.right - other.right)


def find_peak(spectrum: NDArray[np.complex64]) -> Peak:
    """Find the peak of a response given by its spectrum ``(n, n // 2 + 1)``."""
    count = len(spectrum)
    response = irfft2(spectrum, s=(count, count))
    row, column = divmod(int(np.argmax(response)), count)
    return _from_middle(count, *_climb(spectrum, float(row), float(column)))


def climb_from(spectrum: NDArray[np.complex64], place: Peak) -> Peak:
    """Find the peak of a response within a cell of a place, or take the middle of that cell if there is none."""
    count = len(spectrum)
    row, column = (float(round(cells) % count) for cells in (place.down, place.right))
    return _from_middle(count, *_climb(spectrum, row, column))


def _from_middle(count: int, height: float, y: float, x: float) -> Peak:
    """Count cells from the middle of a response, which wraps around."""
    down, right = ((place + count / 2) % count - count / 2 for place in (y, x))
    return Peak(height, down, right)


@njit(cache=True, nogil=True)
def _climb(spectrum: NDArray[np.complex64], row: float, column: float) -> tuple[float, float, float]:
    """Return height and place of the peak near a cell; the cell itself where Newton's method leads away from it."""
    y, x = row, column
    height, dy, dx, dyy, dyx, dxx = _expand(spectrum, y, x)
    first = height
    for _ in range(NEWTON_STEPS):
        determinant = dyy * dxx - dyx * dyx
        if determinant <= 0 or dyy >= 0:
            break
        down, right = (dyx * dx - dxx * dy) / determinant, (dyx * dy - dyy * dx) / determinant
        y, x = y + down, x + right
        if abs(y - row) > 1 or abs(x - column) > 1:
            return first, row, column
        height, dy, dx, dyy, dyx, dxx = _expand(spectrum, y, x)
        if abs(down) + abs(right) < CLOSE:
            break
    if height < first:
        return first, row, column
    return height, y, x


@njit(nogil=True, inline="always")  # otherwise the process that compiles rounds differently from later ones
def _expand(spectrum: NDArray[np.complex64], y: float, x: float) -> tuple[float, float, float, float, float, float]:
    """Value, gradient and second derivatives (yy, yx, xx) of the polynomial at a point, in cells."""
    count, half = spectrum.shape
    turn = 2 * math.pi / count
    waves = np.empty(count, np.complex128)
    for i in range(count):
        fy = turn * (i if 2 * i < count else i - count)
        waves[i] = complex(math.cos(fy * y), math.sin(fy * y))
    value = dy = dx = dyy = dyx = dxx = 0.0
    for j in range(half):
        fx = turn * j
        once = 1.0 if j == 0 or 2 * j == count else 2.0  # other frequencies stand for their mirror images too
        phase = complex(math.cos(fx * x), math.sin(fx * x)) * once
        s0, s1, s2 = 0j, 0j, 0j
        for i in range(count):
            fy = turn * (i if 2 * i < count else i - count)
            term = spectrum[i, j] * waves[i]
            s0 += term
            s1 += term * fy
            s2 += term * fy * fy
        s0, s1, s2 = s0 * phase, s1 * phase, s2 * phase
        value += s0.real
        dy -= s1.imag
        dx -= fx * s0.imag
        dyy -= s2.real
        dyx -= fx * s1.real
        dxx -= fx * fx * s0.real
    area = float(count * count)
    return value / area, dy / area, dx / area, dyy / area, dyx / area, dxx / area
