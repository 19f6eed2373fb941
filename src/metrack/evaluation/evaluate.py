"""Running trackers over sequences, into a folder of results that can be continued later.

``FOLDER/evaluation.json`` has the setup; ``FOLDER/<protocol>/<tracker>/`` the files of every run (see
:mod:`metrack.evaluation.result`). Finished runs are not made again; trackers and sequences may be added later, but
results made with other settings are refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from metrack.evaluation.plan import PlannedRun, RunProtocol, plan
from metrack.evaluation.result import is_finished, write_result
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import LABEL, TrackerSpec
from metrack.evaluation.workers import Workers
from metrack.files import is_intact, load_json, with_checksum, write_json
from metrack.runs.lock import FolderLock
from metrack.runs.results import check_folder, claim_folder, write_summary

SETUP_FILE = "evaluation.json"


@dataclass(frozen=True, slots=True)
class EvaluationSetup:
    """What an evaluation consists of: where the data is, the protocol, and the settings of every tracker."""

    data: str
    layout: str | None
    protocol: RunProtocol
    sequences: tuple[str, ...]
    trackers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        specs: Iterable[TrackerSpec],
        sequences: Iterable[Sequence],
        protocol: RunProtocol,
        data: str,
        layout: str | None = None,
    ) -> Self:
        """Describe the evaluation of these trackers on these sequences."""
        names = tuple(sequence.name for sequence in sequences)
        return cls(data, layout, protocol, names, {spec.label: spec.settings() for spec in specs})

    def save(self, folder: Path) -> None:
        """Write it into a folder of results."""
        write_json(folder / SETUP_FILE, with_checksum(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read it from a folder of results."""
        path = folder / SETUP_FILE
        if not os.path.exists(path):
            raise ValueError(f"folder must be made by metrack evaluate, but {str(folder)!r} is not")
        values = load_json(path)
        try:
            if not is_intact(values):
                raise ValueError
            protocol, sequences, trackers = values["protocol"], values["sequences"], values["trackers"]
            if not all(isinstance(name, str) for name in (values["data"], values["layout"] or "", *sequences)):
                raise TypeError
            if not all(LABEL.fullmatch(label) and isinstance(each, dict) for label, each in trackers.items()):
                raise TypeError
            return cls(values["data"], values["layout"], RunProtocol(**protocol), tuple(sequences), trackers)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ValueError(f"{SETUP_FILE} must be as it was written, but {str(path)!r} is damaged") from None

    def joined(self, earlier: EvaluationSetup) -> EvaluationSetup:
        """Return both together; raise ValueError where they differ in data, protocol or settings of a tracker."""
        for name, was, now in _differences(earlier, self):
            raise ValueError(f"folder holds results with {name} {was}, which {now} would not fit; choose another one")
        sequences = tuple(dict.fromkeys([*earlier.sequences, *self.sequences]))
        return EvaluationSetup(self.data, self.layout, self.protocol, sequences, {**earlier.trackers, **self.trackers})


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How many runs are finished; ``left`` is the estimated time in seconds, None while nothing is known."""

    done: int
    total: int
    what: str
    left: float | None
    error: str | None = None


Watch = Callable[[RunProgress], None]


def evaluate(
    setup: EvaluationSetup,
    specs: list[TrackerSpec],
    sequences: list[Sequence],
    folder: Path,
    workers: Workers,
    watch: Watch = lambda progress: None,
) -> None:
    """Execute every run that is not finished in a folder; whatever ends this, finished runs are kept."""
    check_folder(folder)
    if (folder / SETUP_FILE).is_file():
        setup = setup.joined(EvaluationSetup.load(folder))
    runs = plan(specs, sequences, setup.protocol)
    claim_folder(folder)
    with FolderLock(folder):
        _execute_missing(setup, runs, folder, workers, watch)


def _execute_missing(
    setup: EvaluationSetup, runs: list[PlannedRun], folder: Path, workers: Workers, watch: Watch
) -> None:
    setup.save(folder)
    folders = {run.spec.label: tracker_folder(folder, setup.protocol, run.spec.label) for run in runs}
    missing = [run for run in runs if not is_finished(folders[run.spec.label], run.name, len(run.sequence))]
    missing.sort(key=lambda run: -len(run.sequence))  # so that no long one is left for the end
    status = "interrupted"
    try:
        _execute_all(missing, len(runs), folders, workers, watch)
        status = "done"
    finally:
        write_summary(folder, {"status": status, "kind": "evaluation"})


def tracker_folder(folder: Path, protocol: RunProtocol, label: str) -> Path:
    """Return the folder with the files of all runs of a tracker."""
    return folder / protocol.kind / label


def _execute_all(
    missing: list[PlannedRun], total: int, folders: Mapping[str, Path], workers: Workers, watch: Watch
) -> None:
    began, frames, wanted = time.monotonic(), 0, sum(len(run.sequence) for run in missing)
    done = total - len(missing)
    watch(RunProgress(done, total, "", None))
    for run, result in workers.execute(missing):
        write_result(folders[run.spec.label], run.name, result)
        done, frames = done + 1, frames + len(run.sequence)
        left = (time.monotonic() - began) / frames * (wanted - frames)
        watch(RunProgress(done, total, f"{run.spec.label} on {run.name}", left, result.error))


def _differences(earlier: EvaluationSetup, now: EvaluationSetup) -> list[tuple[str, Any, Any]]:
    pairs: list[tuple[str, Any, Any]] = [
        ("data", earlier.data, now.data),
        ("protocol", earlier.protocol, now.protocol),
    ]
    for label in earlier.trackers.keys() & now.trackers.keys():
        was, wanted = dict(earlier.trackers[label]), dict(now.trackers[label])
        for key in sorted(was.keys() | wanted.keys()):
            pairs.append((f"{label}'s {key}", was.get(key), wanted.get(key)))
    return [pair for pair in pairs if pair[1] != pair[2]]
