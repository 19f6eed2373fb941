"""Stretches of equal values: where a state, a name or a gap begins and ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

Item = TypeVar("Item")


def stretches(frames: Sequence[float], values: Sequence[Item]) -> Iterator[tuple[Item, float, float]]:
    """Yield every value with the first and the last frame of a stretch of it; a gap in the frames ends one.

    >>> list(stretches([3, 4, 5, 9], ["a", "a", "b", "b"]))
    [('a', 3, 4), ('b', 5, 5), ('b', 9, 9)]
    """
    numbered = enumerate(zip(frames, values, strict=True))
    for (value, _), group in groupby(numbered, key=lambda each: (each[1][1], each[1][0] - each[0])):
        held = [frame for _, (frame, _) in group]
        yield value, held[0], held[-1]


def stretches_where(flags: ArrayLike) -> list[tuple[int, int]]:
    """Return the first and the last index of every stretch of set flags.

    >>> stretches_where([False, True, True, False, True])
    [(1, 2), (4, 4)]
    """
    held = np.asarray(flags, bool).tolist()
    return [(int(first), int(last)) for flag, first, last in stretches(range(len(held)), held) if flag]
