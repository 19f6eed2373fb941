"""What the tracker says about a frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box

TRACKING, OCCLUDED, LOST = STATES = ("tracking", "occluded", "lost")

RULES = {
    "settling": "the first {limit:g} frames are not judged",
    "residual": "its residual against the memory is {value:.2f} (limit {limit:.2f})",
    "response": "the filter's response is {value:.2f} of the usual one (limit {limit:.2f})",
    "change": "its errors are {value:.2f} times the usual ones (limit {limit:.2f})",
    "probability": "its score is {value:.2f} (limit {limit:.2f})",
    "overlap": "another target has the better claim to this place (overlap {value:.2f}, limit {limit:.2f})",
}
HIDDEN_BELOW = ("response", "probability")  # rules whose value speaks for the target; the others' speak against it


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a target, and the rule, value and limit it was decided by."""

    state: str
    rule: str
    value: float
    limit: float

    @property
    def margin(self) -> float:
        """How far the value is beyond its limit: above 1 the target is hidden, whatever the rule."""
        worse, better = (self.limit, self.value) if self.rule in HIDDEN_BELOW else (self.value, self.limit)
        return worse / max(better, 1e-9)

    @property
    def reason(self) -> str:
        """What decided, as part of a sentence."""
        return RULES[self.rule].format(value=self.value, limit=self.limit)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Measurements that speak for and against the estimate of a frame.

    ``foreground`` is the residual against the foreground memory and ``template`` the distance to the nearest sample of
    the first frame, both in units of the energy of a descriptor; ``colour`` is the squared distance of its colours to
    those of the first box, from 0 to 2; ``response`` is the height of the filter's response relative to the usual one
    in frames learned from, None where there is no filter.
    """

    foreground: float
    template: float
    colour: float
    response: float | None = None


@dataclass(frozen=True, slots=True)
class Info:
    """How an estimate was made; arrays have one row per particle."""

    particles: Floats
    """Boxes ``(N, 4)`` of the candidates."""
    weights: NDArray[np.float64]
    """Posterior weights ``(N,)``, summing to one."""
    theta_f: NDArray[np.float32]
    """Residual energies ``(N,)`` against the foreground."""
    theta_b: NDArray[np.float32]
    """Residual energies ``(N,)`` against the background."""
    chosen: int
    """Index of the particle that is the estimate."""
    likelihood: float
    """The paper's score of the chosen particle (its equation 3): between 0 and 1, but not a probability."""
    evidence: Evidence
    """Inputs of the probability in ``Estimate.score``."""
    effective_size: float
    """Effective sample size: how many equally weighted particles the cloud is worth."""
    steps_taken: int
    """Triplets that changed the metric in this frame."""
    seconds: dict[str, float]
    """Time spent in each stage."""


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Who the target is, judged by all frames so far."""

    name: str | None
    """Name of the nearest known target; None where even that one is too far."""
    nearest: str
    """Name of the nearest known target, however far."""
    distances: NDArray[np.float64]
    """Distances ``(K,)`` of this frame alone to each known target, in the gallery's order."""
    cumulative: NDArray[np.float64]
    """H ``(K,)``: distances summed over the frames so far, each weighted by its score."""
    error: float
    """Residual of this frame against the nearest target's templates, in units of the gallery's usual distance."""
    abnormal: bool
    """Whether this frame is explained much worse than usual and than the frames before it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where the target is, how sure that is, whether it is visible and, with a gallery, who it is."""

    box: Box
    score: float
    state: str
    verdict: Verdict | None = field(default=None, repr=False, compare=False)
    info: Info | None = field(default=None, repr=False, compare=False)
    identity: Identity | None = field(default=None, repr=False, compare=False)
