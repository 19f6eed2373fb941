"""The interface of every painted clip: frames on demand, with the exact ground truth of each."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from metrack.arrays import Frame, shown
from metrack.box import Box

LONGEST = 20_000  # frames: their boxes take a second


@dataclass(frozen=True, slots=True)
class Truth:
    """Where the target is in one frame, and how much of it can be seen."""

    box: Box  # of the whole target, also where it is hidden or outside the frame
    visible: float  # fraction of its area that is in the frame and not covered


class Clip(ABC):
    """A painted video: ``clip[i]`` is an RGB frame made on demand, ``clip.truth[i]`` its ground truth.

    Frame ``i`` depends on the arguments of the clip and on ``i`` alone, in any order of access.
    """

    fps = 30.0

    def __init__(self, frames: int, size: tuple[int, int]) -> None:
        self._frames = frames
        self.size = size  # width, height

    @abstractmethod
    def paint(self, index: int, with_target: bool = True) -> Frame:
        """Paint frame ``index``, on request without the target."""

    @abstractmethod
    def _truth_at(self, index: int) -> Truth:
        """Return the ground truth of one frame."""

    @cached_property
    def truth(self) -> tuple[Truth, ...]:
        """The ground truth of every frame."""
        return tuple(self._truth_at(index) for index in range(len(self)))

    @property
    def first_box(self) -> Box:
        """The box to start a tracker with."""
        return self.truth[0].box

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, index: int) -> Frame:
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame must be between {-len(self)} and {len(self) - 1}, got {shown(index)}")
        return self.paint(index % len(self))

    def __iter__(self) -> Iterator[Frame]:
        return (self[i] for i in range(len(self)))
