"""How sure the tracker is, and whether the target is there.

The evidence of a frame becomes one number: the probability that the estimate overlaps the target by more than half. It
is a logistic function of four things that get worse when a box goes wrong: what the foreground memory leaves
unexplained, how far shape and colours are from those of the first frame, which are never forgotten, and how low the
regression's answer is. Weights are such that more of any of them never means more confidence. They were fitted on the
development sequences by ``python benchmarks/confidence.py``, which also says what they are worth on sequences left out:
once for trackers with a regression, whose answer is the best witness there is, and once for those without.

The state follows with hysteresis. The errors of a followed target settle around levels of their own. It is taken to be
hidden when the foreground residual is far above its level, the regression's answer is faint and the probability is low;
or when that answer has fallen to half of its level and the colours are not its own, as behind a pole. When that lasts,
it is lost.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from metrack.estimate import LOST, OCCLUDED, TRACKING, Evidence

# offset, and weights of the signs below in their order: benchmarks/confidence.py, --preset paper for the second
WITH_REGRESSION = 1.04, (0.00, 5.75, 1.07, 2.93)
WITHOUT_REGRESSION = 0.63, (2.34, 2.34, 9.26, 0.00)
LEAST = 0.01  # of an error, so that its logarithm stays finite

SUSPICIOUS = 2.0  # times the usual error: from here on the target may be hidden
FAMILIAR = 1.75  # times the usual errors: up to here it is seen again
SAME_COLOUR = 0.05  # colours are no farther apart than this anyway
UNLIKELY = 0.5  # probability: hidden only below it
SURE, LIKELY = 0.9, 0.75  # probabilities from which it is seen again, familiar or not; the latter once it was lost
HALVED = 0.55  # times the usual response: below it, and in other colours, the target is covered
FAINT, FIRM = 0.75, 0.9  # responses: hidden only below the one, seen again from the other
PATIENCE = 30  # frames hidden before the target counts as lost
MEMORY = 20  # frames over which the usual residual is averaged
SETTLING = 10  # frames at the start in which no judgement is passed


def probability(evidence: Evidence) -> float:
    """Return how likely the estimate is to overlap the target by more than half.

    >>> probability(Evidence(0.3, 0.2, 0.1, 0.0)) > probability(Evidence(0.3, 1.0, 0.1, 0.0))
    True
    """
    return 1 / (1 + math.exp(min(max(-log_odds(evidence), -50.0), 50.0)))


def log_odds(evidence: Evidence) -> float:
    """Return the same as the logarithm of its odds."""
    offset, weights = WITHOUT_REGRESSION if evidence.response is None else WITH_REGRESSION
    return offset - sum(weight * sign for weight, sign in zip(weights, signs(evidence), strict=True))


def signs(evidence: Evidence) -> tuple[float, float, float, float]:
    """Return what speaks against an estimate, each ready to be weighed: the more, the worse."""
    return (
        math.log(evidence.foreground + LEAST),
        math.log(evidence.template + LEAST),
        evidence.colour,
        0.0 if evidence.response is None else -math.log(max(evidence.response, LEAST)),
    )


@dataclass(slots=True)
class Presence:
    """The usual errors so far, and for how many frames the target has been hidden."""

    foreground: float = 0.0
    template: float = 0.0
    colour: float = 0.0
    response: float = 0.0
    seen: int = 0
    missing: int = 0

    def judge(self, evidence: Evidence) -> str:
        """Take in the evidence of a frame and name the state of the target."""
        if self.is_hidden(evidence):
            return self.hide()
        self.missing = 0
        self.seen += 1
        for name in ("foreground", "template", "colour", "response"):
            usual, now = getattr(self, name), getattr(evidence, name)
            if now is not None:
                setattr(self, name, usual + (now - usual) / min(self.seen, MEMORY))
        return TRACKING

    def hide(self) -> str:
        """Take the target to be hidden in a frame, and name its state."""
        self.missing += 1
        return OCCLUDED if self.missing <= PATIENCE else LOST

    def is_hidden(self, evidence: Evidence) -> bool:
        """Whether that is how a hidden target looks; it takes more to come back than it takes to stay."""
        if self.seen < SETTLING:
            return False
        return self._stays_hidden(evidence) if self.missing else self._vanishes(evidence)

    def _vanishes(self, evidence: Evidence) -> bool:
        """Whether a target that was there is strange altogether, or covered by something else."""
        response = evidence.response
        strange = evidence.foreground > SUSPICIOUS * self.foreground and probability(evidence) < UNLIKELY
        if response is None:
            return strange
        covered = response < HALVED * self.response and evidence.colour > SUSPICIOUS * self._usual_colour
        return covered or (strange and response < FAINT)

    def _stays_hidden(self, evidence: Evidence) -> bool:
        """Whether a hidden target is still so: not likely enough, not answered to firmly, and not familiar."""
        response, sure = evidence.response, probability(evidence)
        if sure > LIKELY and self.missing > PATIENCE:
            return False
        if sure > SURE and (response is None or response > FAINT):
            return False
        return (response is None or response < FIRM) and (
            evidence.foreground > FAMILIAR * self.foreground
            or evidence.template > FAMILIAR * self.template
            or evidence.colour > FAMILIAR * self._usual_colour
        )

    @property
    def _usual_colour(self) -> float:
        return max(self.colour, SAME_COLOUR)

    def to_dict(self) -> dict[str, float]:
        """Return the fields, for saving."""
        return dataclasses.asdict(self)
