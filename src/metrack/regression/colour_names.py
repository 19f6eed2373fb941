"""Colour names: how much of eleven basic colours is in a pixel.

The share of a name grows with the nearness to its typical colour in CIE Lab; shares sum to one. The mean over all
colours is subtracted, so that common colours count for little.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.features.colour import to_lab
from metrack.regression.cells import BLOCK, Planes

TYPICAL = {
    "black": (0, 0, 0),
    "blue": (20, 50, 200),
    "brown": (120, 70, 30),
    "grey": (128, 128, 128),
    "green": (30, 150, 40),
    "orange": (250, 140, 20),
    "pink": (250, 150, 180),
    "purple": (130, 40, 150),
    "red": (210, 20, 30),
    "white": (255, 255, 255),
    "yellow": (240, 225, 40),
}
SOFTNESS = 15.0  # distance in Lab over which one name gives way to another
LEVELS = 32  # per channel of RGB: neighbouring values share a row of the table
COLOURFUL, SHARE = 12, 0.02  # a frame is coloured if so many of its pixels have channels this far apart


@cache
def name_table() -> NDArray[np.float32]:
    """Return the shares ``(32 * 32 * 32, 11)`` by red, green and blue, each in steps of eight."""
    middle = (np.arange(LEVELS) * (256 // LEVELS) + 128 // LEVELS).astype(np.uint8)
    colours = np.stack(np.meshgrid(middle, middle, middle, indexing="ij"), axis=-1).reshape(1, -1, 3)
    typical = to_lab(np.array([list(TYPICAL.values())], np.uint8))[0]
    squares = np.square(to_lab(colours)[0][:, None] - typical).sum(axis=2)
    nearness = np.exp((squares.min(axis=1, keepdims=True) - squares) / (2 * SOFTNESS**2))
    shares = nearness / nearness.sum(axis=1, keepdims=True)
    table: NDArray[np.float32] = (shares - shares.mean(axis=0)).astype(np.float32)
    return table


def is_coloured(frame: NDArray[np.uint8]) -> bool:
    """Whether a frame shows colours, and not just grey in three channels."""
    if frame.ndim == 2:
        return False
    few = frame[::8, ::8].astype(np.int16)
    return bool((np.ptp(few, axis=2) > COLOURFUL).mean() > SHARE)


@njit(cache=True, nogil=True)
def block_colours(frame: Frame, left: float, top: float, zoom: float, rows: int, columns: int) -> NDArray[np.int32]:
    """Return the row of a table of colours for the frame's pixel at every block's centre ``(rows, columns)``.

    The window's corner lies at ``(left, top)`` in the frame, and ``zoom`` of its pixels make one of the frame.
    """
    colours = np.empty((rows, columns), np.int32)
    for i in range(rows):
        y = min(max(math.floor(top + (i + 0.5) * BLOCK / zoom), 0), frame.shape[0] - 1)
        for j in range(columns):
            x = min(max(math.floor(left + (j + 0.5) * BLOCK / zoom), 0), frame.shape[1] - 1)
            colours[i, j] = ((frame[y, x, 0] >> 3) * LEVELS + (frame[y, x, 1] >> 3)) * LEVELS + (frame[y, x, 2] >> 3)
    return colours


@njit(cache=True, nogil=True, fastmath=True)
def look_up(colours: NDArray[np.int32], table: NDArray[np.float32], blocks: Planes) -> None:
    """Fill ``blocks`` ``(rows, columns, k)`` with the entry of each block's colour in a table ``(LEVELS ** 3, k)``."""
    area = np.float32(BLOCK * BLOCK)
    for i in range(colours.shape[0]):
        for j in range(colours.shape[1]):
            entry, block = table[colours[i, j]], blocks[i, j]
            for k in range(len(entry)):
                block[k] = area * entry[k]
