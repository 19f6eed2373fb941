"""What happened to a target, and when: changes of its state and of its identity, each with a reason.

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
    """A change of one target's state or identity."""

    frame: int
    time: float
    target: int
    event: str
    reason: str

    def to_json_line(self) -> str:
        """Write it as one line of ``events.jsonl``."""
        return json.dumps(asdict(self), allow_nan=False)


class EventDetector:
    """Turns the records of consecutive frames into events."""

    def __init__(self) -> None:
        self._states: dict[int, str] = {}  # of every target in the frame before
        self._unseen: dict[int, int] = {}  # for how many frames it has not been seen
        self._names: dict[int, str] = {}  # whom it was last taken for

    def update(self, records: Iterable[Record]) -> list[Event]:
        """Take the records of the next frame, or of several in order, and return the events in them."""
        return [event for record in records for event in self._events(record)]

    def _events(self, record: Record) -> Iterator[Event]:
        target, state, name = record.target, record.state, record.identity
        before, unseen = self._states.get(target, TRACKING), self._unseen.get(target, 0)
        if state != before:
            kind = {LOST: RECOVERED, OCCLUDED: REAPPEARED}[before] if state == TRACKING else state
            yield Event(record.frame, record.time, target, kind, reason(kind, record, unseen))
        if name is not None and name != self._names.get(target):
            before_that = self._names.get(target, "unknown")
            why = f"all frames so far together look most like {name} (before: {before_that})"
            yield Event(record.frame, record.time, target, RENAMED, why)
            self._names[target] = name
        self._states[target] = state
        self._unseen[target] = 0 if state == TRACKING else unseen + 1


def reason(kind: str, record: Record, unseen: int) -> str:
    """Say why the state changed: by which rule, value and limit, and with which score."""
    what = {OCCLUDED: "no longer seen", LOST: f"not seen for {unseen} frames"}.get(
        kind, f"seen again after {unseen} frame{'' if unseen == 1 else 's'}"
    )
    score = f"score {record.score:.2f}"
    if record.verdict is None:
        return f"{what}: {score}"
    decided = record.verdict.reason
    return f"{what}: {decided}" if record.verdict.rule == "probability" else f"{what}: {decided}, {score}"
