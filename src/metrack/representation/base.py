"""What every linear representation has in common: residual energies of candidates against two classes of samples.

A representation says how badly candidates are explained by the samples of a class, :meth:`residual_energy`. The samples
live in a :class:`SampleSpace`; every change of it goes through the representation, which may keep something up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints
from metrack.config import TrackerConfig
from metrack.files import Expectations
from metrack.metric.sample_space import SampleSpace


class Representation:
    """Compares candidates with the samples of each class, and keeps nothing of its own."""

    def __init__(self, config: TrackerConfig, space: SampleSpace) -> None:
        self.config = config
        self.space = space

    def residual_energy(self, samples: Floats, candidates: Floats) -> Floats:
        """Return theta ``(N,)``, at least 0, of candidates ``(N, D)`` against samples ``(n, D)`` of one class."""
        raise NotImplementedError

    def energies(self, candidates: Floats) -> tuple[Floats, Floats]:
        """Return theta ``(N,)`` of candidates ``(N, D)`` against foreground and background."""
        foreground, background = (self.space.samples[block] for block in self.space.blocks)
        return self.residual_energy(foreground, candidates), self.residual_energy(background, candidates)

    def put(self, slots: tuple[Ints, Ints], samples: tuple[Floats, Floats]) -> None:
        """Write samples into slots of both classes of the space."""
        self.space.put(slots, samples)

    def change_metric(self, push: Floats, pull: Floats, seen_push: Floats, seen_pull: Floats) -> None:
        """Change the metric of the space, as :meth:`SampleSpace.change_metric` does."""
        self.space.change_metric(push, pull, seen_push, seen_pull)

    def prepare(self) -> None:
        """Compute what the next frame needs, so that scoring candidates changes nothing."""
        self.space.catch_up()

    def forget(self) -> None:
        """Start anew from the space as it is."""

    @staticmethod
    def expected(dimension: int) -> Expectations:
        """Say what saved arrays must be."""
        return {}

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return what is kept from frame to frame as named arrays."""
        return {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the state that :meth:`to_arrays` returned."""
