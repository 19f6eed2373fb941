"""How much a colour speaks for the target: how often it occurs on the target and around it.

With the share f of the target's pixels that have a colour and the share b of the pixels around it, the odds are

    (f - b) / (f + b + doubt),

which is 1 for colours of the target alone, -1 for those of its surroundings, and near 0 for what both have or neither.
Both shares are running averages. A map of the odds stays a blob on the target however it turns or bends.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.box import Box
from metrack.regression.colour_names import LEVELS

COARSE = 16  # levels per channel of RGB that are told apart here
SHARES = (2, COARSE**3)  # shape: of each colour on the target and around it
RATE = 0.04  # learning rate of the running averages
DOUBT = 0.002  # share below which a colour is too rare to count
SAMPLES = 64  # pixels sampled along either side of target and surroundings
INNER, BESIDE = 0.8, 1.1  # of the target's size: what counts as the target, and where its surroundings begin
AROUND = 1.0  # of the target's side: how far they reach beyond it


class ColourOdds:
    """The colours of a target and of its surroundings, learned online.

    Attributes
    ----------
    shares : (2, 16 ** 3) float32   of each colour on the target and around it; zero until something is learned
    table : (32 ** 3, 1) float32    odds of each colour, by red, green and blue in steps of eight
    """

    def __init__(self, shares: NDArray[np.float32] | None = None) -> None:
        self.shares = np.zeros(SHARES, np.float32) if shares is None else shares
        self.table = np.empty((LEVELS**3, 1), np.float32)
        self._tabulate()

    def learn(self, frame: Frame, box: Box) -> None:
        """Learn from a box on a frame ``(h, w, 3)`` and its surroundings."""
        seen = count_colours(frame, *box.centre, box.w, box.h)
        self.shares = self.shares + (seen - self.shares) * np.float32(RATE if self.shares.any() else 1.0)
        self._tabulate()

    def _tabulate(self) -> None:
        on, around = self.shares
        spread((on - around) / (on + around + np.float32(DOUBT)), self.table[:, 0])


@njit(cache=True, nogil=True)
def count_colours(frame: Frame, x: float, y: float, w: float, h: float) -> NDArray[np.float32]:
    """Return the shares ``(2, 16 ** 3)`` of colours in a box with centre ``(x, y)`` and around it, on a grid."""
    reach = AROUND * np.sqrt(w * h)
    across, down = w / 2 + reach, h / 2 + reach
    shares = np.zeros(SHARES, np.float32)
    counts = np.zeros(2)
    step = 256 // COARSE
    for i in range(SAMPLES):
        off_y = ((i + 0.5) / SAMPLES * 2 - 1) * down
        row = min(max(int(np.floor(y + off_y)), 0), frame.shape[0] - 1)
        for j in range(SAMPLES):
            off_x = ((j + 0.5) / SAMPLES * 2 - 1) * across
            far = max(abs(off_x) / (w / 2), abs(off_y) / (h / 2))  # 1 on the border of the box
            if INNER <= far < BESIDE:
                continue
            column = min(max(int(np.floor(x + off_x)), 0), frame.shape[1] - 1)
            red, green, blue = frame[row, column, 0], frame[row, column, 1], frame[row, column, 2]
            colour = (red // step * COARSE + green // step) * COARSE + blue // step
            where = 0 if far < INNER else 1
            shares[where, colour] += 1
            counts[where] += 1
    for where in range(2):
        shares[where] /= max(counts[where], 1.0)
    return shares


@njit(cache=True, nogil=True)
def spread(coarse: NDArray[np.float32], fine: NDArray[np.float32]) -> None:
    """Copy values ``(16 ** 3,)`` of coarse colours to all finer ones ``(32 ** 3,)`` that belong to them."""
    ratio = LEVELS // COARSE
    for red in range(LEVELS):
        for green in range(LEVELS):
            start, row = (red * LEVELS + green) * LEVELS, (red // ratio * COARSE + green // ratio) * COARSE
            for blue in range(LEVELS):
                fine[start + blue] = coarse[row + blue // ratio]
