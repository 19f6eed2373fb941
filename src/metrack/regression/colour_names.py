"""Eleven colours that people have names for, and how much of each is in a pixel.

A pixel belongs to a name the more, the nearer it is to the name's typical colour in CIE Lab; shares sum to one. What is
kept is by how much a share exceeds the average over all colours, so that the usual colour counts for little.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from metrack.features.colour import to_lab

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
    """Shares ``(32 * 32 * 32, 11)`` by red, green and blue, each in steps of eight."""
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
