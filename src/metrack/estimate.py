"""What the tracker says about a frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box

TRACKING, OCCLUDED, LOST = "tracking", "occluded", "lost"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a frame says for and against its estimate.

    ``foreground`` is the residual against the foreground memory and ``template`` the distance to the nearest sample of
    the first frame, both in units of the energy of a descriptor; ``colour`` is the squared distance of its colours to
    those of the first box, from 0 to 2; ``scale`` is the log-scale relative to the first box; ``response`` is how high
    the regression's answer is relative to the usual one in frames learned from, None where there is no regression.
    """

    foreground: float
    template: float
    colour: float
    scale: float
    response: float | None = None


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
    likelihood: float
    """The paper's score of the estimate (its equation 3), between 0 and 1 but no probability."""
    evidence: Evidence
    """What the score, which is one, was made from."""
    effective_size: float
    """How many equally weighted particles the cloud is worth."""
    steps_taken: int
    """Triplets that changed the metric in this frame."""
    seconds: dict[str, float]
    """Time spent in each stage."""


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Who was followed, judged by all frames so far."""

    name: str | None
    """Of the nearest known target; None where even that one is too far."""
    nearest: str
    """Of the nearest known target, however far."""
    distances: NDArray[np.float64]
    """Of this frame by itself to each known target ``(K,)``, in the gallery's order."""
    cumulative: NDArray[np.float64]
    """H ``(K,)``: distances summed over the frames so far, each weighted by its score."""
    error: float
    """How badly the nearest target's templates explain this frame, in units of the gallery's usual distance."""
    abnormal: bool
    """Whether this frame is explained much worse than is usual and than the frames before it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where the target is, how sure that is, whether it is there at all and, with a gallery, who it is."""

    box: Box
    score: float
    state: str
    info: Info | None = field(default=None, repr=False, compare=False)
    identity: Identity | None = field(default=None, repr=False, compare=False)
