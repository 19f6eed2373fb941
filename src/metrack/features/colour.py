"""Colour descriptor: soft histograms of colour in horizontal strips.

Colours are CIE Lab, in which light, redness and yellowness are apart. Each pixel is shared between the neighbouring
bins of colour and the neighbouring strips, so that small changes of light or place change the descriptor little. The
middle columns count most: at the sides of a box there is mostly background. Half of the difference between the mean
colour and a medium grey is subtracted: all of it would remove the colour of a large coat, none of it would leave the
tint of the camera.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.box import Box

SAMPLED = (36, 12)  # rows and columns of pixels by which a box on a frame is judged
STRIPS = 12
BINS = (3, 5, 5)  # lightness, green to red, blue to yellow
REACH = 60.0  # of the two colour axes on either side of grey; what lies beyond counts in the last bin
MIDDLE = 0.15  # standard deviation of the weight of a column, in widths
MEDIUM = 50.0  # lightness
TINT_REMOVED = 0.5
DIMENSION = STRIPS * BINS[0] * BINS[1] * BINS[2]

WHITE = (0.95047, 1.0, 1.08883)  # of the standard daylight D65
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
SMALLEST_CUBE = (6 / 29) ** 3  # below it CIE's root is a straight line


def linear_light() -> NDArray[np.float64]:
    """Return the linear light of each of the 256 values of an sRGB channel, in [0, 1]."""
    value = np.arange(256) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


NEUTRAL = np.array([MEDIUM, 0.0, 0.0], np.float32)
LOWEST = np.array([0.0, -REACH, -REACH], np.float32)
LAST_BIN = np.array(BINS, np.float32) - 1
PER_UNIT = LAST_BIN / np.array([100.0, 2 * REACH, 2 * REACH], np.float32)
LINEAR = linear_light().astype(np.float32)
TO_RELATIVE = (TO_XYZ / np.array(WHITE)[:, None]).astype(np.float32)


@njit(cache=True, nogil=True)
def to_lab(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Turn RGB pixels ``(h, w, 3)`` into L in [0, 100], a and b around 0."""
    lab = np.empty(picture.shape, np.float32)
    root = np.empty(3, np.float32)
    for i in range(picture.shape[0]):
        for j in range(picture.shape[1]):
            red, green, blue = LINEAR[picture[i, j, 0]], LINEAR[picture[i, j, 1]], LINEAR[picture[i, j, 2]]
            for k in range(3):
                light = TO_RELATIVE[k, 0] * red + TO_RELATIVE[k, 1] * green + TO_RELATIVE[k, 2] * blue
                root[k] = np.cbrt(light) if light > SMALLEST_CUBE else light * (841 / 108) + 4 / 29
            lab[i, j, 0] = 116 * root[1] - 16
            lab[i, j, 1] = 500 * (root[0] - root[1])
            lab[i, j, 2] = 200 * (root[1] - root[2])
    return lab


def colours_of(frame: Frame, box: Box) -> NDArray[np.float32]:
    """Describe a box on a frame by the colours of a grid of its pixels; what lies outside counts as the border."""
    rows, columns = (
        np.clip(np.floor(start + (np.arange(count) + 0.5) / count * length), 0, end - 1).astype(np.intp)
        for start, length, end, count in zip((box.y, box.x), (box.h, box.w), frame.shape, SAMPLED, strict=False)
    )
    picture = frame[rows[:, None], columns]
    return strips_of_colour(picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2))


def strips_of_colour(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Describe RGB pixels ``(h, w, 3)`` by :data:`DIMENSION` numbers of squared length 1.

    The square root of a histogram is taken: it makes plain distances compare shares rather than amounts.
    """
    lab, weights = to_lab(picture), _column_weights(picture.shape[1])
    _remove_tint(lab, weights)
    return _roots(_count(lab, weights, STRIPS, BINS))


@cache
def _column_weights(count: int) -> NDArray[np.float32]:
    columns = (np.arange(count) + 0.5) / count
    return np.exp(-0.5 * np.square((columns - 0.5) / MIDDLE)).astype(np.float32)


@njit(cache=True, nogil=True)
def _remove_tint(lab: NDArray[np.float32], weights: NDArray[np.float32]) -> None:
    """Subtract part of the difference between the mean colour, by the weights of columns, and medium grey."""
    height, width, _ = lab.shape
    for k in range(3):
        total = 0.0
        for y in range(height):
            for x in range(width):
                total += weights[x] * lab[y, x, k]
        lab[:, :, k] -= np.float32(TINT_REMOVED) * (np.float32(total / (weights.sum() * height)) - NEUTRAL[k])


@njit(cache=True, nogil=True)
def _count(
    lab: NDArray[np.float32], weights: NDArray[np.float32], strips: int, bins: tuple[int, int, int]
) -> NDArray[np.float32]:
    """Share every pixel between the bins around its colour and the two strips around its row."""
    height, width, _ = lab.shape
    counted = np.zeros((strips, bins[0], bins[1], bins[2]), np.float32)
    for y in range(height):
        place = (y + 0.5) / height * strips - 0.5  # in strips, from the centre of the first
        upper = int(np.floor(place))
        for x in range(width):
            light = _position(lab[y, x, 0], 0)
            red, yellow = _position(lab[y, x, 1], 1), _position(lab[y, x, 2], 2)
            i, j, k = min(int(light), bins[0] - 2), min(int(red), bins[1] - 2), min(int(yellow), bins[2] - 2)
            for corner in range(16):
                s, di, dj, dk = corner >> 3, (corner >> 2) & 1, (corner >> 1) & 1, corner & 1
                share = weights[x] * (place - upper if s else 1 - (place - upper))
                share *= light - i if di else 1 - (light - i)
                share *= red - j if dj else 1 - (red - j)
                share *= yellow - k if dk else 1 - (yellow - k)
                counted[min(max(upper + s, 0), strips - 1), i + di, j + dj, k + dk] += share
    return counted.reshape(strips, -1)


@njit(cache=True, nogil=True)
def _position(value: float, axis: int) -> float:
    """Where a colour lies between the centres of the first and the last bin of an axis."""
    place: float = min(max((value - LOWEST[axis]) * PER_UNIT[axis], np.float32(0.0)), LAST_BIN[axis])
    return place


@njit(cache=True, nogil=True)
def _roots(counted: NDArray[np.float32]) -> NDArray[np.float32]:
    """Square roots of the shares of bins in their strip, all strips counting alike."""
    strips, bins = counted.shape
    roots = np.empty(strips * bins, np.float32)
    for s in range(strips):
        per = np.float32(1 / (counted[s].sum() * strips))
        for b in range(bins):
            roots[s * bins + b] = np.sqrt(counted[s, b] * per)
    return roots
