"""Exact line search for the Huber function of a residual.

The derivative along a line is piecewise linear and grows. Newton's method finds its zero from 1, where it is if no
pixel passes the limit; it is kept between points known to lie on either side.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

MOST_PROBES = 60  # two are usual
PRECISION = 1e-6  # derivative left at the minimum, relative to that at the start
SUMS = {"reassoc", "contract", "arcp", "nsz"}  # fast sums in which infinity keeps its meaning

Vector = NDArray[np.float64]


@njit(cache=True, nogil=True, fastmath=SUMS)
def lowest_point(r: Vector, way: Vector, limit: float, price: float, length: float) -> float:
    """Return the step, from 0 to ``length``, that minimises ``huber(r - step * way) + step * price``."""
    start, _ = _rise(r, way, limit, price, 0.0)
    near, far = 0.0, math.inf
    stride = min(1.0, length)
    for _ in range(MOST_PROBES):
        rise, growth = _rise(r, way, limit, price, stride)
        if abs(rise) <= PRECISION * abs(start) or (rise < 0 and stride == length):
            return stride
        if rise < 0:
            near = stride
        else:
            far = stride
        guess = stride - rise / growth if growth > 0 else math.inf
        if not near < guess < far:
            guess = (near + far) / 2 if far < math.inf else 2 * near
        stride = min(guess, length)
    return near


@njit(cache=True, nogil=True, fastmath=SUMS)
def _rise(r: Vector, way: Vector, limit: float, price: float, stride: float) -> tuple[float, float]:
    """Derivative and second derivative of the objective at a point of the line."""
    rise, growth = price, 0.0
    for p in range(len(r)):
        rest = r[p] - stride * way[p]
        clipped = min(max(rest, -limit), limit)
        rise -= way[p] * clipped
        growth += way[p] * way[p] if rest == clipped else 0.0
    return rise, growth
