"""What the tracker says about a frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box

TRACKING, OCCLUDED, LOST = "tracking", "occluded", "lost"


@dataclass(frozen=True, slots=True)
class Info:
    """How an estimate came about, for the curious; the axis of N runs over particles."""

    particles: Floats
    """Boxes ``(N, 4)`` of the candidates."""
    weights: NDArray[np.float64]
    """Posterior weights ``(N,)``, summing to one."""
    theta_f: NDArray[np.float32]
    """Residual energies ``(N,)`` against the foreground."""
    theta_b: NDArray[np.float32]
    """Residual energies ``(N,)`` against the background."""
    effective_size: float
    """How many equally weighted particles the cloud is worth."""
    steps_taken: int
    """Triplets that changed the metric in this frame."""
    seconds: dict[str, float]
    """Time spent in each stage."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where the target is, how well it fits, and whether it is there at all."""

    box: Box
    score: float
    state: str
    info: Info | None = field(default=None, repr=False, compare=False)
