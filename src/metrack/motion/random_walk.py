"""The motion model: a Gaussian random walk in x, y and log-scale.

A state is ``(centre x, centre y, log-scale)``, the scale being relative to the first box; many states are rows.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box
from metrack.checks import SMALLEST_SIDE

States = NDArray[np.float64]

REFINEMENT = 6.0  # how many times shorter the steps of refining particles are


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of states: centres in the frame, sizes from the smallest useful one to the frame's own."""

    width: float  # of the target at scale 1
    height: float
    frame_width: float
    frame_height: float

    @classmethod
    def around(cls, box: Box, frame_shape: tuple[int, ...]) -> Self:
        """Return the bounds for a target that starts as ``box`` in frames of that shape."""
        return cls(box.w, box.h, frame_shape[1], frame_shape[0])

    def to_dict(self) -> dict[str, float]:
        """Return the fields, for saving."""
        return dataclasses.asdict(self)

    @property
    def side(self) -> float:
        """Geometric mean of the target's sides at scale 1."""
        return math.sqrt(self.width * self.height)

    def clip(self, states: States) -> States:
        """Clip states to the bounds."""
        smallest = math.log(SMALLEST_SIDE / min(self.width, self.height))
        largest = math.log(min(self.frame_width / self.width, self.frame_height / self.height))
        low = np.array([0.0, 0.0, min(smallest, 0.0)])
        high = np.array([self.frame_width, self.frame_height, max(largest, 0.0)])
        clipped: States = np.minimum(np.maximum(states, low), high)
        return clipped

    def clip_box(self, box: Box) -> Box:
        """Clip a box of the target's shape to the bounds."""
        return Box(*self.to_boxes(self.clip(self.to_state(box)[None]))[0].tolist())

    def to_boxes(self, states: States) -> Floats:
        """Return the boxes ``(N, 4)`` of states ``(N, 3)``."""
        size = exp(states[:, 2])[:, None] * (self.width, self.height)
        return np.hstack([states[:, :2] - size / 2, size])

    def to_state(self, box: Box) -> States:
        """Return the state ``(3,)`` of a box; its scale is taken from the area."""
        return np.array([*box.centre, 0.5 * math.log(box.area / (self.width * self.height))])


def step(
    rng: np.random.Generator, states: States, spread: tuple[float, float], bounds: Bounds, base_size: float
) -> States:
    """Move every state by a random step of its own.

    ``spread`` holds the standard deviations in x and y, in pixels of the target scaled to ``base_size``, and in
    log-scale.
    """
    shift, scale = spread
    pixel = exp(states[:, 2])[:, None] * (bounds.side / base_size)  # (N, 1) in image pixels
    steps = rng.standard_normal(states.shape)
    steps[:, :2] *= shift * pixel
    steps[:, 2] *= scale
    return bounds.clip(states + steps)


@njit(cache=True, nogil=True)
def exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Raise e to the powers ``(N,)`` as the C library does.

    NumPy rounds otherwise on processors with AVX-512, and a box that differs in the last digit becomes another box.
    """
    powers = np.empty(len(values))
    for i in range(len(values)):
        powers[i] = math.exp(values[i])
    return powers
