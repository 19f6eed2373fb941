"""The channels of the feature map, from which the correlation filter is made.

A channel is one entry of :data:`CHANNELS`. Its ``fill`` writes what every block of the window contributes to its sums;
``finish`` turns those sums over the cells of a grid into planes of the map. Nothing else knows which channels there
are or in which order they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.features.gradients import DIRECTIONS, bin_directions
from metrack.features.window import Window
from metrack.regression.cells import BLOCK, Planes
from metrack.regression.colour_names import TYPICAL, block_colours, look_up, name_table
from metrack.regression.colour_odds import ColourOdds
from metrack.regression.hog_cells import GRADIENTS, normalise_gradients, sum_directions


@dataclass(frozen=True)
class Seen:
    """What channels are filled from: a window, the frame it was cut out of, and the target's colours if it has any."""

    window: Window
    frame: Frame
    odds: ColourOdds | None

    @cached_property
    def colours(self) -> NDArray[np.int32]:
        """Colour ``(rows, columns)`` of every block, as a row of the tables of colours."""
        rows, columns = (side // BLOCK for side in self.window.grey.shape)
        return block_colours(self.frame, self.window.left, self.window.top, self.window.zoom, rows, columns)


@dataclass(frozen=True, slots=True)
class Channel:
    """One kind of feature.

    ``fill(seen, blocks)`` writes block sums ``(rows, columns, sums)``. ``finish(sums, area, taper, planes)`` gets sums
    ``(n + 2, n + 2, sums)`` over the cells of a grid and one ring around it, the area of a cell in pixels and the taper
    ``(n, n)``, and writes ``(planes, n, n)``.
    """

    name: str
    sums: int
    planes: int
    fill: Callable[[Seen, Planes], None]
    finish: Callable[[Planes, float, NDArray[np.float32], Planes], None]
    needs_colour: bool = False
    """Whether it is left out for grey frames."""
    votes_on_size: bool = True
    """Whether it takes part in choosing the size of the target, and not only its place."""


def channels_for(coloured: bool) -> list[Channel]:
    """Return the channels for a target in coloured or grey frames."""
    return [channel for channel in CHANNELS if coloured or not channel.needs_colour]


def slices(lengths: Sequence[int]) -> Iterator[slice]:
    """Yield consecutive slices of these lengths.

    >>> list(slices([2, 3]))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    start = 0
    for length in lengths:
        yield slice(start, start + length)
        start += length


def _fill_gradients(seen: Seen, blocks: Planes) -> None:
    sum_directions(*bin_directions(seen.window.grey), blocks)


def _finish_gradients(sums: Planes, area: float, taper: NDArray[np.float32], planes: Planes) -> None:
    normalise_gradients(sums, taper, planes)


def _fill_light(seen: Seen, blocks: Planes) -> None:
    sum_light(seen.window.grey, blocks)


def _finish_light(sums: Planes, area: float, taper: NDArray[np.float32], planes: Planes) -> None:
    average(sums, 1 / (255 * area), 0.5, taper, planes)


def _fill_names(seen: Seen, blocks: Planes) -> None:
    look_up(seen.colours, name_table(), blocks)


def _fill_odds(seen: Seen, blocks: Planes) -> None:
    assert seen.odds is not None
    look_up(seen.colours, seen.odds.table, blocks)


def finish_average(sums: Planes, area: float, taper: NDArray[np.float32], planes: Planes) -> None:
    """Fill planes with the mean of every cell: the usual way to finish a channel."""
    average(sums, 1 / area, 0.0, taper, planes)


@njit(cache=True, nogil=True, fastmath=True)
def sum_light(grey: NDArray[np.float32], blocks: Planes) -> None:
    """Fill ``blocks`` ``(rows, columns, 1)`` with the sums of grey values ``(h, w)``."""
    for i in range(blocks.shape[0]):
        for j in range(blocks.shape[1]):
            upper = grey[i * BLOCK, j * BLOCK] + grey[i * BLOCK, j * BLOCK + 1]
            blocks[i, j, 0] = upper + grey[i * BLOCK + 1, j * BLOCK] + grey[i * BLOCK + 1, j * BLOCK + 1]


@njit(cache=True, nogil=True, fastmath=True)
def average(sums: Planes, factor: float, offset: float, taper: NDArray[np.float32], planes: Planes) -> None:
    """Fill planes ``(k, n, n)`` with ``(sums * factor - offset) * taper``, from sums ``(n + 2, n + 2, k)``."""
    scale, zero = np.float32(factor), np.float32(offset)
    for i in range(planes.shape[1]):
        for c in range(planes.shape[0]):
            made, weight = planes[c, i], taper[i]
            for j in range(len(made)):
                made[j] = (sums[i + 1, j + 1, c] * scale - zero) * weight[j]


CHANNELS: tuple[Channel, ...] = (
    Channel("gradients", DIRECTIONS, GRADIENTS, _fill_gradients, _finish_gradients),
    Channel("light", 1, 1, _fill_light, _finish_light),
    Channel("colour names", len(TYPICAL), len(TYPICAL), _fill_names, finish_average, needs_colour=True),
    # A blob of colour has no clear edges: it tells where the target is better than how large.
    Channel("colour odds", 1, 1, _fill_odds, finish_average, needs_colour=True, votes_on_size=False),
)
