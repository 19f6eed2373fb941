"""The folder in which a run leaves its results, written as they come.

After any frame, also when the process is killed there, every finished line is on disk. A folder is ours if
its ``summary.json`` says so; ours are written over file by file, anybody else's are refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TextIO

from metrack.files import replace_text, write_json
from metrack.frames.formats import CSV_HEADER, FORMATS, Record, read_jsonl, to_csv_line, to_json_line, to_otb_line
from metrack.runs.events import Event

TRAJECTORY, TABLE, EVENTS = "trajectory.jsonl", "boxes.csv", "events.jsonl"
SUMMARY, VIDEO = "summary.json", "tracked.mp4"
PAGE, PICTURES = "report.html", ("events.png", "occlusion.png", "identification.png")


def check_folder(path: Path) -> None:
    """Refuse a result folder that cannot be written or is somebody else's, without touching anything."""
    if path.is_dir():
        if not os.access(path, os.W_OK | os.X_OK):
            raise ValueError(f"folder must be a folder that can be written, got {str(path)!r}")
        if any(path.iterdir()) and not read_summary(path):
            raise ValueError(f"folder must be new, empty or an earlier metrack result, but {str(path)!r} is neither")
        return
    parent = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ValueError(f"folder must be a folder that can be made, but {str(parent)!r} does not allow it")


def claim_folder(path: Path, status: str = "running") -> None:
    """Make a result folder and mark it as ours."""
    check_folder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_summary(path, {"status": status})
    except OSError as error:
        raise ValueError(f"folder must be a folder that can be made, got {str(path)!r} ({error.strerror})") from None


def write_summary(folder: Path, values: Mapping[str, Any]) -> None:
    """Replace ``summary.json`` in one step."""
    write_json(folder / SUMMARY, {"program": "metrack", **values})


def read_summary(folder: Path) -> dict[str, Any]:
    """Return what ``summary.json`` says; nothing where there is none of ours."""
    summary = read_json(folder / SUMMARY)
    return summary if summary.get("program") == "metrack" else {}


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one where there is none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


class ResultFolder:
    """The growing text files of a run: one call of :meth:`add` per frame."""

    def __init__(self, path: Path, targets: int, formats: Sequence[str] = ()) -> None:
        self.path = path
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

    def add(self, records: Sequence[Record], events: Iterable[Event]) -> None:
        """Write down one frame: one record per target, in the order of the targets, and its events."""
        self._trajectory.write("".join(f"{to_json_line(record)}\n" for record in records))
        self._table.write("".join(f"{to_csv_line(record)}\n" for record in records))
        for file, record in zip(self._boxes, records, strict=True):
            file.write(f"{to_otb_line(record.box)}\n")
        for file, to_line in self._others:
            file.write("".join(f"{to_line(record)}\n" for record in records))
        self._events.write("".join(f"{event.to_json_line()}\n" for event in events))
        for file in self._files():
            file.flush()

    def close(self) -> None:
        """Close the files."""
        for file in self._files():
            file.close()

    def _files(self) -> list[TextIO]:
        return [self._trajectory, self._table, self._events, *self._boxes, *(file for file, _ in self._others)]


def cut_results(path: Path, targets: int, frames: int, formats: Sequence[str] = ()) -> list[list[Record]]:
    """Cut the text files of a run back to its first frames, but for the events; return their records frame by frame."""
    line_per_record = [TRAJECTORY, *(FORMATS[name].file for name in formats)]
    for name, lines in [*((name, frames * targets) for name in line_per_record), (TABLE, frames * targets + 1)]:
        _keep_lines(path / name, lines)
    for name in box_files(targets):
        _keep_lines(path / name, frames)
    return by_frame(read_jsonl(path / TRAJECTORY), targets)


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Replace ``events.jsonl`` in one step."""
    replace_text(path / EVENTS, "".join(f"{event.to_json_line()}\n" for event in events))


def by_frame(records: Sequence[Record], targets: int) -> list[list[Record]]:
    """Group the records of all targets by frame; an unfinished last frame is left out."""
    return [list(records[n : n + targets]) for n in range(0, len(records) - targets + 1, targets)]


def box_files(targets: int) -> list[str]:
    """Name the OTB files: a format that knows one target per file."""
    return ["boxes.txt"] if targets == 1 else [f"boxes_{number + 1}.txt" for number in range(targets)]


def _appending(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8", newline="\n")


def _keep_lines(path: Path, count: int) -> None:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        lines = []
    if len(lines) < count:
        raise ValueError(f"resume needs the results so far, but {str(path)!r} has {len(lines)} of {count} lines")
    replace_text(path, "".join(f"{line}\n" for line in lines[:count]))
