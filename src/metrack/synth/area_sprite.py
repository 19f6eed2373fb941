"""Sprites averaged over exact pixel areas by a summed-area table.

How much of each pixel such a sprite covers, and with it the visible fraction of a target, is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metrack.box import Box
from metrack.synth.picture import Place, Reals


@dataclass(frozen=True, slots=True)
class AreaSprite:
    """A picture with coverage as its summed-area table ``(H + 1, W + 1, 4)``."""

    table: Reals

    @classmethod
    def of(cls, texels: Reals) -> AreaSprite:
        """Sum up a picture ``(H, W, 4)``."""
        return cls(np.pad(texels, ((1, 0), (1, 0), (0, 0))).cumsum(axis=0).cumsum(axis=1))

    def stamp(self, box: Box, shape: tuple[int, ...]) -> tuple[Place, Reals]:
        """Scale the sprite to a box; return the pixels of a frame it touches and their paint ``(h, w, 4)``."""
        return _stamp(self.table, box, shape)

    def coverage(self, box: Box, shape: tuple[int, ...]) -> tuple[Place, Reals]:
        """Return the pixels of a frame that the sprite touches, and how much it covers of each ``(h, w, 1)``."""
        return _stamp(self.table[..., 3:], box, shape)

    def area(self, box: Box) -> float:
        """Return how many pixels the sprite covers in a box, as if the frame had no borders."""
        tall, wide = self.table.shape[0] - 1, self.table.shape[1] - 1
        return float(self.table[-1, -1, 3] / tall / wide * box.area)


def _stamp(table: Reals, box: Box, shape: tuple[int, ...]) -> tuple[Place, Reals]:
    x0, y0, x1, y1 = box.to_xyxy()
    rows = np.arange(np.clip(np.floor(y0), 0, shape[0]), np.clip(np.ceil(y1), 0, shape[0]) + 1)
    cols = np.arange(np.clip(np.floor(x0), 0, shape[1]), np.clip(np.ceil(x1), 0, shape[1]) + 1)
    tall, wide = table.shape[0] - 1, table.shape[1] - 1
    sums = _interpolated(table, (rows - y0) * tall / box.h)
    sums = _interpolated(sums.swapaxes(0, 1), (cols - x0) * wide / box.w).swapaxes(0, 1)
    stamp = np.diff(np.diff(sums, axis=0), axis=1) * (box.area / (tall * wide))
    return np.s_[int(rows[0]) : int(rows[-1]), int(cols[0]) : int(cols[-1])], stamp


def _interpolated(values: Reals, at: Reals) -> Reals:
    """Look rows up at fractional positions."""
    at = np.clip(at, 0, len(values) - 1)
    low = np.minimum(at.astype(int), len(values) - 2)
    share = (at - low)[:, None, None]
    return np.asarray(values[low] * (1 - share) + values[low + 1] * share)
