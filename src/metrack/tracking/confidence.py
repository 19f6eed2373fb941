"""How sure the tracker is, and whether the target is visible.

The evidence of a frame becomes one number: the probability that the estimate overlaps the target by more than half. It
is a logistic function of four errors: the residual against the foreground memory, the distance to the nearest template
of the first frame, the distance to its colours, and the lack of response of the correlation filter. No weight is
negative, so a larger error never means more confidence. ``python benchmarks/confidence.py`` fitted the weights on the
development sequences and tells what they are worth on sequences left out: once for trackers with a filter, once for
those without. The setting ``confidence.weights`` names the ones a preset uses.

:class:`Presence` turns evidence into a state, with hysteresis. It averages the errors of a followed target. The target
is taken to be hidden when its residual is far above that average while response and probability are low, or when the
response has halved and the colours differ, as behind a pole. A target that stays hidden is lost.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from metrack.estimate import LOST, OCCLUDED, TRACKING, Evidence, Verdict

# offset, and weights of the errors below in their order: benchmarks/confidence.py, --preset paper for the second
WEIGHTS = {
    "regression": (1.04, (0.00, 5.75, 1.07, 2.93)),
    "particles": (0.63, (2.34, 2.34, 9.26, 0.00)),
}
LEAST_ERROR = 0.01  # so that its logarithm stays finite

SUSPICIOUS = 2.0  # times the usual error, above which the target may be hidden
FAMILIAR = 1.75  # times the usual errors, up to which a hidden target is seen again
LEAST_COLOUR = 0.05  # colour distance below which differences mean nothing
UNLIKELY = 0.5  # probability below which a target can be hidden
LIKELY, SURE = 0.75, 0.9  # probabilities above which a lost target, and an occluded one, is seen again
HALVED = 0.55  # times the running mean of the response, below which a target in other colours is covered
FAINT, FIRM = 0.75, 0.9  # responses below which a target can be hidden, and from which it is seen again
PATIENCE = 30  # frames hidden before the target counts as lost
AVERAGED = 20  # frames over which the usual errors are averaged
SETTLING = 10  # frames at the start that are not judged


def log_odds(evidence: Evidence, weights: str) -> float:
    """Return the log odds that the estimate overlaps the target by more than half.

    >>> log_odds(Evidence(0.3, 0.2, 0.1, 1.0), "regression") > log_odds(Evidence(0.3, 1.0, 0.1, 1.0), "regression")
    True
    """
    offset, factors = WEIGHTS[weights]
    return offset - sum(factor * error for factor, error in zip(factors, errors(evidence), strict=True))


def probability(odds: float) -> float:
    """Return the probability of log odds.

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + math.exp(min(max(-odds, -50.0), 50.0)))


def errors(evidence: Evidence) -> tuple[float, float, float, float]:
    """Return the inputs of the logistic function: each grows with the doubt about an estimate."""
    return (
        math.log(evidence.foreground + LEAST_ERROR),
        math.log(evidence.template + LEAST_ERROR),
        evidence.colour,
        0.0 if evidence.response is None else -math.log(max(evidence.response, LEAST_ERROR)),
    )


@dataclass(slots=True)
class Presence:
    """Running averages of the errors of a followed target, and for how many frames it has been hidden."""

    foreground: float = 0.0
    template: float = 0.0
    colour: float = 0.0
    response: float = 0.0
    seen: int = 0
    missing: int = 0

    def judge(self, evidence: Evidence, sure: float) -> Verdict:
        """Decide the state of the target by the evidence of a frame and its probability, and take the frame in."""
        hidden, rule, value, limit = self._decide(evidence, sure)
        if hidden:
            return self._hide(rule, value, limit)
        self.missing = 0
        self.seen += 1
        for name in ("foreground", "template", "colour", "response"):
            usual, now = getattr(self, name), getattr(evidence, name)
            if now is not None:
                setattr(self, name, usual + (now - usual) / min(self.seen, AVERAGED))
        return Verdict(TRACKING, rule, value, limit)

    def displace(self, overlap: float, limit: float) -> Verdict:
        """Take the target to be hidden, because another one has the better claim to its place."""
        return self._hide("overlap", overlap, limit)

    def is_hidden(self, evidence: Evidence, sure: float) -> bool:
        """Whether the evidence is that of a hidden target."""
        return self._decide(evidence, sure)[0]

    def _hide(self, rule: str, value: float, limit: float) -> Verdict:
        self.missing += 1
        return Verdict(OCCLUDED if self.missing <= PATIENCE else LOST, rule, value, limit)

    def _decide(self, evidence: Evidence, sure: float) -> tuple[bool, str, float, float]:
        """Return whether the target is hidden, and the rule, value and limit that decide it."""
        if self.seen < SETTLING:
            return False, "settling", float(self.seen), SETTLING
        return self._reappears(evidence, sure) if self.missing else self._vanishes(evidence, sure)

    def _vanishes(self, evidence: Evidence, sure: float) -> tuple[bool, str, float, float]:
        """Decide whether a target that was visible is hidden now."""
        response = evidence.response
        if response is not None:
            covered = evidence.colour > SUSPICIOUS * self._usual_colour
            if response < HALVED * self.response and covered:
                return True, "response", response, HALVED * self.response
        limit = SUSPICIOUS * self.foreground
        if not evidence.foreground > limit:
            return False, "residual", evidence.foreground, limit
        if sure >= UNLIKELY:
            return False, "probability", sure, UNLIKELY
        if response is not None and response >= FAINT:
            return False, "response", response, FAINT
        return True, "residual", evidence.foreground, limit

    def _reappears(self, evidence: Evidence, sure: float) -> tuple[bool, str, float, float]:
        """Decide whether a hidden target is still hidden: it takes more to come back than it takes to stay."""
        response = evidence.response
        if sure > LIKELY and self.missing > PATIENCE:
            return False, "probability", sure, LIKELY
        if sure > SURE and (response is None or response > FAINT):
            return False, "probability", sure, SURE
        if response is not None and response >= FIRM:
            return False, "response", response, FIRM
        change = self._change(evidence)
        return change > FAMILIAR, "change", change, FAMILIAR

    def _change(self, evidence: Evidence) -> float:
        """Return the largest error relative to the usual one."""
        now = (evidence.foreground, evidence.template, evidence.colour)
        usual = (self.foreground, self.template, self._usual_colour)
        return max(error / max(average, 1e-9) for error, average in zip(now, usual, strict=True))

    @property
    def _usual_colour(self) -> float:
        return max(self.colour, LEAST_COLOUR)

    def to_dict(self) -> dict[str, float]:
        """Return the fields, for saving."""
        return dataclasses.asdict(self)
