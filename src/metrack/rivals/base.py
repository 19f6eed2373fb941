"""What a rival is: how it is made, and the interface it shares with our tracker.

A rival gives a box whatever happens: where it says that the target is lost, or fails inside, the last box is repeated
and the state is "lost". None offers a probability, so their score is NaN.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Protocol

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import check_box, check_frame
from metrack.estimate import LOST, TRACKING, Estimate

INSTALL = "pip install 'metrack[peers]'"


class TargetTracker(Protocol):
    """Any tracker of one target: ours and the rivals alike."""

    def init(self, frame: Frame, box: Box) -> None:
        """Start on the target marked in a frame."""

    def update(self, frame: Frame) -> Estimate:
        """Find the target in the next frame."""


class RivalTracker(ABC):
    """Common part of all rivals: check the input, and repeat the last box when the target is lost."""

    _shape: tuple[int, ...] | None = None

    def init(self, frame: Frame, box: Box) -> None:
        """Start on the target marked in a frame; may be called again at any time."""
        frame = check_frame(frame)
        first = check_box(box, frame.shape)
        self._start(frame, first)
        self._shape, self._box = frame.shape, first

    def update(self, frame: Frame) -> Estimate:
        """Find the target in the next frame."""
        if self._shape is None:
            raise ValueError("update needs a target: call init(frame, box) first")
        found = self._find(check_frame(frame, like=self._shape))
        if found is not None and np.all(np.isfinite(found.to_xywh())) and min(found.w, found.h) > 0:
            self._box = found
        return Estimate(self._box, math.nan, LOST if found is None else TRACKING)

    @abstractmethod
    def _start(self, frame: Frame, box: Box) -> None: ...

    @abstractmethod
    def _find(self, frame: Frame) -> Box | None: ...


@dataclass(frozen=True, slots=True)
class Rival:
    """A rival by name, the package it needs, and how to make one.

    ``load`` imports what is needed and returns the function that makes a tracker for a seed.
    """

    name: str
    package: str
    load: Callable[[], Callable[[int], TargetTracker]]

    def check(self) -> None:
        """Refuse a rival whose package is missing, with the command that installs it."""
        self._load()

    def make(self, seed: int) -> TargetTracker:
        """Return a fresh tracker."""
        return self._load()(seed)

    def version(self) -> str:
        """Return the version of the package it comes from."""
        return version(self.package)

    def _load(self) -> Callable[[int], TargetTracker]:
        try:
            return self.load()
        except (ImportError, AttributeError):
            raise ValueError(f"tracker {self.name} needs {self.package}, which is not here: {INSTALL}") from None


def to_rgb(frame: Frame) -> Frame:
    """Return a contiguous frame with three channels."""
    return np.ascontiguousarray(frame if frame.ndim == 3 else np.repeat(frame[:, :, None], 3, axis=2))
