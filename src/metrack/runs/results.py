"""The folder in which a run leaves its results, written as they come.

After any frame, also when the process is killed there, every finished line is on disk. A folder is ours if
its ``summary.json`` says so; ours are written over file by file, anybody else's are refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, TextIO

from metrack.files import replace_text, write_json
from metrack.frames.formats import CSV_HEADER, FORMATS, Record, read_jsonl, to_csv_line, to_json_line, to_otb_line
from metrack.identity import Gallery
from metrack.runs.events import Witness
from metrack.tracking.several import MultiTracker

TRAJECTORY, TABLE, EVENTS = "trajectory.jsonl", "boxes.csv", "events.jsonl"
SUMMARY, VIDEO = "summary.json", "tracked.mp4"
PAGE, PICTURES = "report.html", ("events.png", "occlusion.png", "identification.png")
RESUME = "resume"  # a folder inside ours, gone when the run is done


def check_folder(path: Path) -> None:
    """Refuse an output folder that cannot be written or is somebody else's, without touching anything."""
    if path.is_dir():
        if not os.access(path, os.W_OK | os.X_OK):
            raise ValueError(f"--out must be a folder that can be written, got {str(path)!r}")
        if any(path.iterdir()) and not _is_ours(path):
            raise ValueError(f"--out must be new, empty or an earlier metrack result, but {str(path)!r} is neither")
        return
    parent = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ValueError(f"--out must be a folder that can be made, but {str(parent)!r} does not allow it")


def claim_folder(path: Path, status: str = "running") -> None:
    """Make the folder and mark it as ours."""
    check_folder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_summary(path, {"status": status})
    except OSError as error:
        raise ValueError(f"--out must be a folder that can be made, got {str(path)!r} ({error.strerror})") from None


def write_summary(folder: Path, values: Mapping[str, Any]) -> None:
    """Replace ``summary.json`` in one step."""
    write_json(folder / SUMMARY, {"program": "metrack", **values})


class ResultFolder:
    """The growing text results of a run: one call of :meth:`add` per frame."""

    def __init__(self, path: Path, targets: int, formats: Sequence[str] = (), witness: Witness | None = None) -> None:
        self.path = path
        self._witness = witness or Witness()
        self._events = _appending(path / EVENTS)
        self._trajectory = _appending(path / TRAJECTORY)
        self._table = _appending(path / TABLE)
        self._boxes = [_appending(path / name) for name in box_files(targets)]
        self._others = [(_appending(path / FORMATS[name].file), FORMATS[name].line) for name in formats]

    @classmethod
    def create(cls, path: Path, targets: int, formats: Sequence[str] = ()) -> Self:
        """Claim a folder and begin anew in it; files of ours from an earlier run go, all others stay."""
        claim_folder(path)
        others = [each.file for each in FORMATS.values()]
        names = (TRAJECTORY, TABLE, EVENTS, VIDEO, PAGE, *PICTURES, *others)
        for old in [*(path / name for name in names), *path.glob("boxes*.txt")]:
            old.unlink(missing_ok=True)
        (path / TABLE).write_text(CSV_HEADER + "\n")
        return cls(path, targets, formats)

    @classmethod
    def reopen(cls, path: Path, targets: int, frames: int, formats: Sequence[str] = ()) -> tuple[Self, list[Record]]:
        """Cut the results back to their first frames, to go on from there; also return what they hold."""
        line_per_record = [TRAJECTORY, *(FORMATS[name].file for name in formats)]
        for name, lines in [*((name, frames * targets) for name in line_per_record), (TABLE, frames * targets + 1)]:
            _keep_lines(path / name, lines)
        for name in box_files(targets):
            _keep_lines(path / name, frames)
        records, witness = read_jsonl(path / TRAJECTORY), Witness()
        replace_text(path / EVENTS, "".join(f"{event.to_json_line()}\n" for event in witness.take(records)))
        return cls(path, targets, formats, witness), records

    def add(self, records: Sequence[Record]) -> None:
        """Write down one frame: one record per target, in the order of the targets."""
        self._trajectory.write("".join(f"{to_json_line(record)}\n" for record in records))
        self._table.write("".join(f"{to_csv_line(record)}\n" for record in records))
        for file, record in zip(self._boxes, records, strict=True):
            file.write(f"{to_otb_line(record.box)}\n")
        for file, to_line in self._others:
            file.write("".join(f"{to_line(record)}\n" for record in records))
        self._events.write("".join(f"{event.to_json_line()}\n" for event in self._witness.take(records)))
        for file in self._files():
            file.flush()

    def close(self) -> None:
        """Close the files."""
        for file in self._files():
            file.close()

    def _files(self) -> list[TextIO]:
        return [self._trajectory, self._table, self._events, *self._boxes, *(file for file, _ in self._others)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Tally:
    """What the summary says of every target: how often each state and event, and the mean score."""

    def __init__(self, targets: int) -> None:
        self._witness = Witness()
        self._events: list[Counter[str]] = [Counter() for _ in range(targets)]
        self._states: list[Counter[str]] = [Counter() for _ in range(targets)]
        self._scores = [0.0] * targets

    def add(self, records: Sequence[Record]) -> None:
        """Count one frame."""
        for record in records:
            self._states[record.target - 1][record.state] += 1
            self._scores[record.target - 1] += record.score
        for event in self._witness.take(records):
            self._events[event.target - 1][event.event] += 1

    def targets(self, boxes: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
        """Return one entry per target, beside the box it was given."""
        return [
            {
                "target": number,
                "box": list(box),
                "states": dict(states),
                "events": dict(events),
                "mean_score": round(total / states.total(), 4) if states else None,
            }
            for number, (box, states, events, total) in enumerate(
                zip(boxes, self._states, self._events, self._scores, strict=True), 1
            )
        ]


def box_files(targets: int) -> list[str]:
    """Name the OTB files: a format that knows one target per file."""
    return ["boxes.txt"] if targets == 1 else [f"boxes_{number + 1}.txt" for number in range(targets)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a run stood: a small JSON file beside the state of the tracker, in the folder ``resume``.

    The state is written first, under a name that holds the frame number, and counts only once the JSON file
    names that number, so that a kill at any moment leaves the last whole checkpoint.

    ``job`` are its options, ``frames`` how many frames it had followed, ``busy`` the seconds its tracker had
    taken, ``first_frame`` a checksum of the frame it began with.
    """

    job: dict[str, Any]
    frames: int
    busy: float
    first_frame: int

    def save(self, out: Path, tracker: MultiTracker) -> None:
        """Write the checkpoint, then drop the one before it."""
        folder = out / RESUME
        folder.mkdir(exist_ok=True)
        tracker.save(self._state(folder))
        write_json(folder / "checkpoint.json", asdict(self))
        for old in set(folder.glob("state_*")) - {self._state(folder)}:
            old.unlink()

    @classmethod
    def load(cls, out: Path) -> Self:
        """Read the checkpoint of a result folder."""
        try:
            return cls(**json.loads((out / RESUME / "checkpoint.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            raise ValueError(f"--resume needs an interrupted run, but there is none in {str(out)!r}") from None

    def tracker(self, out: Path, gallery: Gallery | None = None) -> MultiTracker:
        """Bring the tracker back as it was."""
        return MultiTracker.load(self._state(out / RESUME), gallery=gallery)

    def _state(self, folder: Path) -> Path:
        return folder / f"state_{self.frames}.npz"


def discard_checkpoint(out: Path) -> None:
    """Remove what only a resumed run would need."""
    shutil.rmtree(out / RESUME, ignore_errors=True)


def _appending(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8", newline="\n")


def _is_ours(path: Path) -> bool:
    try:
        summary = json.loads((path / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and summary.get("program") == "metrack"


def _keep_lines(path: Path, count: int) -> None:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        lines = []
    if len(lines) < count:
        raise ValueError(f"--resume needs the results so far, but {str(path)!r} has {len(lines)} of {count} lines")
    replace_text(path, "".join(f"{line}\n" for line in lines[:count]))
