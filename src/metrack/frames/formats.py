"""Boxes as text: one line per frame and target.

``trajectory.jsonl`` holds every number exactly. ``boxes.csv`` (for spreadsheets) and ``boxes.txt`` (for OTB
toolkits, whose first pixel is number one) are rounded to a thousandth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from metrack.box import Box
from metrack.estimate import Evidence, Verdict
from metrack.frames.checked_lines import damaged, verified

VERDICT = ("rule", "value", "limit")  # its state is that of the record
CSV_HEADER = "frame,target,time,x,y,w,h,score,state"


@dataclass(frozen=True, slots=True)
class Record:
    """Where one target was in one frame, and what its state was decided by.

    The first frame, whose box is given, has no verdict. ``distances`` are those of this frame by itself to every
    target of the gallery, in its order; ``identity`` follows from all frames so far. Frames in which nobody is looked
    for have none.
    """

    frame: int
    time: float
    target: int
    box: Box
    score: float
    state: str
    identity: str | None = None  # where a gallery knows it
    evidence: Evidence | None = None
    verdict: Verdict | None = None
    distances: tuple[float, ...] | None = None


def to_json_line(record: Record) -> str:
    """Write a record as one line of ``trajectory.jsonl``."""
    fields = {
        "frame": record.frame,
        "time": record.time,
        "target": record.target,
        "box": record.box.to_xywh(),
        "score": record.score,
        "state": record.state,
    }
    verdict = record.verdict
    known = {
        "identity": record.identity,
        "evidence": None if record.evidence is None else asdict(record.evidence),
        "verdict": None if verdict is None else {name: getattr(verdict, name) for name in VERDICT},
        "distances": record.distances,
    }
    return json.dumps(fields | {name: value for name, value in known.items() if value is not None}, allow_nan=False)


def from_json_line(line: str) -> Record:
    """Read one line of ``trajectory.jsonl``; lines of earlier versions lack some of the fields."""
    fields = json.loads(line)
    fields["box"] = Box(*fields["box"])
    if "evidence" in fields:
        fields["evidence"].pop("scale", None)  # of version 0.1
        fields["evidence"] = Evidence(**fields["evidence"])
    if "verdict" in fields:
        fields["verdict"] = Verdict(fields["state"], **fields["verdict"])
    if "distances" in fields:
        fields["distances"] = tuple(fields["distances"])
    return Record(**fields)


def to_csv_line(record: Record) -> str:
    """Write a record as one line of ``boxes.csv``."""
    numbers = (record.time, *record.box.to_xywh(), record.score)
    return f"{record.frame},{record.target},{','.join(map(_rounded, numbers))},{record.state}"


def to_otb_line(box: Box) -> str:
    """Write a box as one line of an OTB result file.

    >>> to_otb_line(Box(9, 19, 30.5, 40))
    '10,20,30.5,40'
    """
    return ",".join(map(_rounded, box.to_otb()))


def from_otb_line(line: str) -> Box:
    """Read one line of an OTB file; commas, tabs and blanks all separate."""
    return Box.from_otb([float(value) for value in re.split(r"[,\s]+", line.strip())])


def to_mot_line(record: Record) -> str:
    """Write a record as one line of a MOTChallenge result: frames, targets and pixels count from one.

    Every target has a line in every frame, also while it is hidden; the score is the seventh number, by which lines
    can be left out.

    >>> to_mot_line(Record(0, 0.0, 2, Box(9, 19, 30.5, 40), 0.75, "tracking"))
    '1,2,10,20,30.5,40,0.75,-1,-1,-1'
    """
    return f"{record.frame + 1},{record.target},{to_otb_line(record.box)},{_rounded(record.score)},-1,-1,-1"


class Line(NamedTuple):
    """One line of ``trajectory.jsonl``: as it stands there, its checksum, and what it says."""

    text: str
    check: int
    record: Record


def read_lines(path: Path) -> Iterator[Line]:
    """Read ``trajectory.jsonl`` line by line; raise ValueError at the first line that is damaged, naming it."""
    for number, (text, body, check) in enumerate(verified(path), 1):
        try:
            yield Line(text, check, from_json_line(body))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise damaged(path, number) from None


def read_jsonl(path: Path) -> list[Record]:
    """Read the records of ``trajectory.jsonl``; raise ValueError where a line is damaged, naming it."""
    return [line.record for line in read_lines(path)]


def _rounded(value: float) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(frozen=True, slots=True)
class Format:
    """A results file written on request: its name, and how a record becomes a line of it."""

    file: str
    line: Callable[[Record], str]


FORMATS = {"mot": Format("mot.txt", to_mot_line)}
