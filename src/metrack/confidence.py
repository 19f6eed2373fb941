"""Whether the target is there: a simple rule on how well the estimate is explained.

The foreground residual of a followed target settles around a level of its own. While a frame's residual is far
above that level the target is taken to be covered; when that lasts, to be lost.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from metrack.estimate import LOST, OCCLUDED, TRACKING

SUSPICIOUS = 2.0  # times the usual residual
PATIENCE = 30  # frames covered before the target counts as lost
MEMORY = 20  # frames over which the usual residual is averaged
SETTLING = 10  # frames at the start in which no judgement is passed


@dataclass(slots=True)
class Presence:
    """The usual residual so far, and for how many frames it has been exceeded."""

    usual: float = 0.0
    seen: int = 0
    missing: int = 0

    def judge(self, residual: float) -> str:
        """Take in the foreground residual of a frame's estimate and name the state of the target."""
        if self.seen >= SETTLING and residual > SUSPICIOUS * self.usual:
            self.missing += 1
            return OCCLUDED if self.missing <= PATIENCE else LOST
        self.missing = 0
        self.seen += 1
        self.usual += (residual - self.usual) / min(self.seen, MEMORY)
        return TRACKING

    def to_dict(self) -> dict[str, float]:
        """Return the fields, for saving."""
        return dataclasses.asdict(self)
