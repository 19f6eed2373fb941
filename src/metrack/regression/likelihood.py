"""How likely a pixel is the target's, by its colour alone.

Colours on the target are counted, and colours around it; both counts follow the target slowly. A colour seen only on it
is likely, one seen only around it is not, one never seen is open. Nothing of shape is known here: that helps to find a
target that has changed its shape, and cannot tell two of one colour apart.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box
from metrack.checks import Frame
from metrack.regression.colour_names import LEVELS as FINE
from metrack.regression.ridge import Spectrum, to_spectrum

LEVELS = 16  # per channel of RGB
RATE = 0.04  # of what is counted in a frame
INNER = 0.8  # of the box's sides: nearer its border there is much that is not the target
UNSEEN = 1e-4  # share of a colour that is as good as none


class Likelihood:
    """Counts ``(2, 16 ** 3)`` of colours on the target and around it, as shares."""

    def __init__(self, shares: NDArray[np.float32] | None = None) -> None:
        self.shares = shares

    def learn(self, frame: Frame, box: Box, spacing: float) -> None:
        """Count the colours of a box and of what surrounds it, a pixel every so many."""
        counted = count_colours(frame, box.x, box.y, box.w, box.h, spacing)
        shares = counted / np.maximum(counted.sum(axis=1, keepdims=True), 1)
        self.shares = shares if self.shares is None else (1 - RATE) * self.shares + RATE * shares

    def write(self, column: NDArray[np.float32]) -> None:
        """Write how likely every colour is into a column ``(32 ** 3,)`` of a table by colour."""
        assert self.shares is not None
        own, around = self.shares + np.float32(UNSEEN)
        spread(own / (own + around), column)


def box_spectrum(count: int, height: float, width: float) -> Spectrum:
    """Spectrum that turns one of likelihoods by cell into one of their means over a box at every shift.

    The box has its sides in cells and lies in the middle of the map at shift 0; a cell counts as far as it covers it.
    """
    distance = np.abs(np.arange(count) + 0.5 - count / 2)
    down, across = (np.clip(side / 2 + 0.5 - distance, 0, 1) for side in (height, width))
    box: Floats = np.outer(down, across).astype(np.float32)
    return np.conj(to_spectrum(box / box.sum()))


@njit(cache=True, nogil=True)
def count_colours(frame: Frame, left: float, top: float, width: float, height: float, spacing: float) -> Floats:
    """Count colours ``(2, 16 ** 3)`` in the inner part of a box, and in a margin around it half a side wide."""
    counted = np.zeros((2, LEVELS**3), np.float32)
    margin = (width + height) / 4
    x, y = left + width / 2, top + height / 2
    rows, columns = int((height / 2 + margin) / spacing), int((width / 2 + margin) / spacing)
    shift = 8 - 4
    for i in range(-rows, rows + 1):
        down = abs(i * spacing) / (height / 2)
        row = min(max(int(np.floor(y + i * spacing)), 0), frame.shape[0] - 1)
        for j in range(-columns, columns + 1):
            aside = abs(j * spacing) / (width / 2)
            column = min(max(int(np.floor(x + j * spacing)), 0), frame.shape[1] - 1)
            farther = max(down, aside)  # 1 on the border of the box
            red, green, blue = frame[row, column, 0], frame[row, column, 1], frame[row, column, 2]
            colour = ((red >> shift) * LEVELS + (green >> shift)) * LEVELS + (blue >> shift)
            if farther < INNER:
                counted[0, colour] += 1
            elif farther > 1:
                counted[1, colour] += 1
    return counted


@njit(cache=True, nogil=True)
def spread(coarse: NDArray[np.float32], fine: NDArray[np.float32]) -> None:
    """Copy values ``(16 ** 3,)`` by colour to ``(32 ** 3,)``."""
    half = FINE // LEVELS
    for red in range(FINE):
        for green in range(FINE):
            for blue in range(FINE):
                known = ((red // half) * LEVELS + green // half) * LEVELS + blue // half
                fine[(red * FINE + green) * FINE + blue] = coarse[known]
