"""The feature map of the correlation filter: the planes of all channels over a grid of cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.features.window import Window
from metrack.regression.cells import Planes, integrate, sum_cells
from metrack.regression.channels import Seen, channels_for, slices
from metrack.regression.colour_odds import ColourOdds


class FeatureMap:
    """Makes maps of ``count`` by ``count`` cells anywhere in a window of ``blocks`` by ``blocks`` blocks.

    Attributes
    ----------
    planes : (planes, count, count)   the last map, which the next one overwrites
    votes_on_size : (planes,)         which planes take part in choosing the size of the target
    """

    def __init__(self, blocks: int, count: int, *, coloured: bool) -> None:
        self.blocks = blocks
        self.channels = channels_for(coloured)
        self._sums = list(slices([channel.sums for channel in self.channels]))
        self._planes = list(slices([channel.planes for channel in self.channels]))
        self._integral = np.empty((blocks + 1, blocks + 1, self._sums[-1].stop), np.float32)
        self.planes: Planes = np.empty((self._planes[-1].stop, count, count), np.float32)
        self.votes_on_size: NDArray[np.bool_] = np.repeat(
            [channel.votes_on_size for channel in self.channels], [channel.planes for channel in self.channels]
        )
        taper = np.hanning(count + 2)[1:-1]
        self._taper = np.outer(taper, taper).astype(np.float32)

    def look(self, window: Window, frame: Frame, odds: ColourOdds | None) -> None:
        """Sum the features of a window, from which maps are made until the next look."""
        seen = Seen(window, frame, odds)
        for channel, own in zip(self.channels, self._sums, strict=True):
            channel.fill(seen, self._integral[1:, 1:, own])
        integrate(self._integral)

    def around(self, left: float, top: float, cell: float) -> Planes:
        """Return the map with cells of that side, the first beginning at ``(left, top)``, in pixels of the window."""
        sums = sum_cells(self._integral, left, top, cell, len(self._taper))
        for channel, own, made in zip(self.channels, self._sums, self._planes, strict=True):
            channel.finish(sums[:, :, own], cell * cell, self._taper, self.planes[made])
        return self.planes
