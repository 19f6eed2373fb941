"""A cloud of particles with their scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.motion.random_walk import States


@dataclass(frozen=True, slots=True)
class Cloud:
    """States ``(N, 3)``, their boxes ``(N, 4)``, residual energies, template errors and scores ``(N,)``, row by row."""

    states: States
    boxes: Floats
    theta_f: NDArray[np.float32]
    theta_b: NDArray[np.float32]
    template_error: Floats
    scores: NDArray[np.float64]

    def __add__(self, other: Self) -> Self:
        """Concatenate two clouds."""
        return type(self)(*map(np.concatenate, zip(self._columns(), other._columns(), strict=True)))

    def _columns(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, each.name) for each in fields(self))

    @property
    def best(self) -> int:
        """Number of the particle with the highest score."""
        return int(np.argmax(self.scores))

    def weights(self, sharpness: float) -> NDArray[np.float64]:
        """Return posterior weights ``(N,)``: the scores to a power, normalised to sum to one."""
        powers = (self.scores / self.scores.max()) ** sharpness
        weights: NDArray[np.float64] = powers / powers.sum()
        return weights
