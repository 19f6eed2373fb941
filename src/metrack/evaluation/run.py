"""Running trackers over sequences, into a folder of results that can be taken up again.

``OUT/evaluation.json`` says what was asked; ``OUT/<protocol>/<tracker>/`` has the files of every run (see
:mod:`metrack.evaluation.outcome`). Runs that are finished there are not made again; trackers and sequences may be
added later, but what is there must have been made with the same settings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from metrack.evaluation.crew import Crew
from metrack.evaluation.entrants import Entrant
from metrack.evaluation.outcome import is_finished, write_outcome
from metrack.evaluation.plan import Run, RunProtocol, plan
from metrack.evaluation.sequences import Sequence
from metrack.files import write_json
from metrack.runs.results import check_folder, claim_folder, write_summary

ASKED = "evaluation.json"


@dataclass(frozen=True, slots=True)
class Asked:
    """What an evaluation consists of: where the data is, how it is run, and the settings of every tracker."""

    data: str
    layout: str | None
    protocol: RunProtocol
    sequences: tuple[str, ...]
    trackers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def save(self, out: Path) -> None:
        """Write it into the folder of results."""
        write_json(out / ASKED, asdict(self))

    @classmethod
    def load(cls, out: Path) -> Self:
        """Read it from a folder of results."""
        try:
            values = json.loads((out / ASKED).read_text(encoding="utf-8"))
            protocol, sequences = RunProtocol(**values.pop("protocol")), tuple(values.pop("sequences"))
            return cls(protocol=protocol, sequences=sequences, **values)
        except (OSError, ValueError, TypeError, KeyError):
            raise ValueError(f"RESULTS must be a folder made by metrack evaluate, but {str(out)!r} is not") from None

    def joined(self, earlier: Asked) -> Asked:
        """Return both together, or say in one sentence why they do not fit."""
        for name, was, now in _differences(earlier, self):
            raise ValueError(f"--out holds results with {name} {was}, which {now} would not fit; choose another folder")
        sequences = tuple(dict.fromkeys([*earlier.sequences, *self.sequences]))
        return Asked(self.data, self.layout, self.protocol, sequences, {**earlier.trackers, **self.trackers})


@dataclass(frozen=True, slots=True)
class Advance:
    """How far an evaluation is; ``left`` is the estimated time in seconds, None while nothing is known."""

    done: int
    total: int
    what: str
    left: float | None
    error: str | None = None


def evaluate(
    asked: Asked,
    entrants: list[Entrant],
    sequences: list[Sequence],
    out: Path,
    crew: Crew,
    watch: Callable[[Advance], None] = lambda advance: None,
) -> None:
    """Make every run that is not finished yet; whatever ends this, what was finished stays and is not made again."""
    check_folder(out)
    if (out / ASKED).is_file():
        asked = asked.joined(Asked.load(out))
    runs = plan(entrants, sequences, asked.protocol)
    claim_folder(out)
    asked.save(out)
    folders = {entrant.label: tracker_folder(out, asked.protocol, entrant.label) for entrant in entrants}
    missing = [run for run in runs if not is_finished(folders[run.entrant.label], run.name, len(run.sequence))]
    missing.sort(key=lambda run: -len(run.sequence))  # so that no long one is left for the end
    status = "interrupted"
    try:
        _make(missing, len(runs), folders, crew, watch)
        status = "done"
    finally:
        write_summary(out, {"status": status, "kind": "evaluation"})


def tracker_folder(out: Path, protocol: RunProtocol, label: str) -> Path:
    """Return where the files of all runs of a tracker are."""
    return out / protocol.kind / label


def _make(
    missing: list[Run], total: int, folders: Mapping[str, Path], crew: Crew, watch: Callable[[Advance], None]
) -> None:
    began, frames, wanted = time.monotonic(), 0, sum(len(run.sequence) for run in missing)
    done = total - len(missing)
    watch(Advance(done, total, "", None))
    for run, outcome in crew.perform(missing):
        write_outcome(folders[run.entrant.label], run.name, outcome)
        done, frames = done + 1, frames + len(run.sequence)
        left = (time.monotonic() - began) / frames * (wanted - frames)
        watch(Advance(done, total, f"{run.entrant.label} on {run.name}", left, outcome.error))


def _differences(earlier: Asked, now: Asked) -> list[tuple[str, Any, Any]]:
    pairs: list[tuple[str, Any, Any]] = [
        ("data", earlier.data, now.data),
        ("protocol", earlier.protocol, now.protocol),
    ]
    for label in earlier.trackers.keys() & now.trackers.keys():
        was, wanted = dict(earlier.trackers[label]), dict(now.trackers[label])
        for key in sorted(was.keys() | wanted.keys()):
            pairs.append((f"{label}'s {key}", was.get(key), wanted.get(key)))
    return [pair for pair in pairs if pair[1] != pair[2]]
