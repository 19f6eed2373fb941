"""What happened to a target, and when: the turns of its state, each with a reason.

``occluded`` and ``lost`` say that it is no longer seen, ``reappeared`` and ``recovered`` that it is seen again after
the one or the other. A target is lost when it has been occluded for too long. With a gallery ``identity changed`` says
that it is taken for somebody, or for somebody else than before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from metrack.estimate import LOST, OCCLUDED, TRACKING
from metrack.frames.formats import Record

REAPPEARED, RECOVERED, RENAMED = "reappeared", "recovered", "identity changed"


@dataclass(frozen=True, slots=True)
class Event:
    """A turn in one target's state."""

    frame: int
    time: float
    target: int
    event: str
    reason: str

    def to_json_line(self) -> str:
        """Write it as one line of ``events.jsonl``."""
        return json.dumps(asdict(self), allow_nan=False)


class Witness:
    """Sees the records of one frame after another and tells the events in them."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}  # state of every target
        self._unseen: dict[int, int] = {}  # for how many frames it has not been seen
        self._names: dict[int, str] = {}  # whom it was last taken for

    def take(self, records: Iterable[Record]) -> Iterator[Event]:
        """Take in the records of a frame; give what happened in it."""
        for record in records:
            before, now = self._last.get(record.target, TRACKING), record.state
            unseen = self._unseen.get(record.target, 0)
            if now != before:
                kind = {LOST: RECOVERED, OCCLUDED: REAPPEARED}[before] if now == TRACKING else now
                yield Event(record.frame, record.time, record.target, kind, _reason(kind, record.score, unseen))
            if record.identity is not None and record.identity != self._names.get(record.target):
                before_that = self._names.get(record.target, "unknown")
                reason = f"all frames so far together look most like {record.identity} (before: {before_that})"
                yield Event(record.frame, record.time, record.target, RENAMED, reason)
                self._names[record.target] = record.identity
            self._last[record.target] = now
            self._unseen[record.target] = 0 if now == TRACKING else unseen + 1


def _reason(kind: str, score: float, unseen: int) -> str:
    if kind == OCCLUDED:
        return f"the best place looks much less like the target than usual (score {score:.2f})"
    if kind == LOST:
        return f"not seen for {unseen} frames (score {score:.2f})"
    return f"looks like the target again after {unseen} frames (score {score:.2f})"
