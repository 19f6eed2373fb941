"""The folder in which a run leaves its results, written as they come.

After any frame, also when the process is killed there, every finished line is on disk. ``trajectory.jsonl`` is what
counts: each of its lines can be verified, and all other text files follow from it. A folder is ours if its
``summary.json`` says so; ours are written over file by file, anybody else's are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

from metrack.files import PART, is_intact, parse_json, replace_text, sync_folder, with_checksum, write_json
from metrack.frames.checked_lines import NOTHING, add_check
from metrack.frames.formats import CSV_HEADER, FORMATS, Record, read_lines, to_csv_line, to_json_line, to_otb_line
from metrack.runs.events import Event
from metrack.runs.lock import LOCK, check_unlocked

TRAJECTORY, TABLE, EVENTS = "trajectory.jsonl", "boxes.csv", "events.jsonl"
SUMMARY, VIDEO = "summary.json", "tracked.mp4"
PAGE, PICTURES = "report.html", ("events.png", "occlusion.png", "identification.png")


def check_folder(path: Path) -> None:
    """Refuse a result folder that cannot be written, is in use or is somebody else's, without touching anything."""
    if path.is_dir():
        if not os.access(path, os.W_OK | os.X_OK):
            raise ValueError(f"folder must be a folder that can be written, got {str(path)!r}")
        check_unlocked(path)
        begun = {LOCK, SUMMARY + PART}  # all that is there if a run is killed before it has a summary
        if any(each.name not in begun for each in path.iterdir()) and not read_summary(path):
            raise ValueError(f"folder must be new, empty or an earlier metrack result, but {str(path)!r} is neither")
        return
    parent = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ValueError(f"folder must be a folder that can be made, but {str(parent)!r} does not allow it")


def make_folder(path: Path) -> None:
    """Make a result folder, where there is none."""
    try:
        if not path.is_dir():
            path.mkdir(parents=True, exist_ok=True)
            sync_folder(path.parent)
    except OSError as error:
        raise ValueError(f"folder must be a folder that can be made, got {str(path)!r} ({error.strerror})") from None


def claim_folder(path: Path, status: str = "running") -> None:
    """Make a result folder and mark it as ours."""
    check_folder(path)
    make_folder(path)
    write_summary(path, {"status": status})


def remove_outdated(path: Path) -> None:
    """Remove what tells of a whole run, and what was half written when a process was killed."""
    for old in [*(path / name for name in (VIDEO, PAGE, *PICTURES)), *path.glob(f"*{PART}")]:
        old.unlink(missing_ok=True)


def write_summary(folder: Path, values: Mapping[str, Any]) -> None:
    """Replace ``summary.json`` in one step."""
    write_json(folder / SUMMARY, with_checksum({"program": "metrack", **values}))


def read_summary(folder: Path) -> dict[str, Any]:
    """Return what ``summary.json`` says; nothing where there is none of ours. Raise ValueError if it is damaged."""
    path = folder / SUMMARY
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    try:
        summary = parse_json(text, any_names=True)
    except ValueError:
        raise ValueError(f"{SUMMARY} must be JSON as it was written, but {str(path)!r} is damaged") from None
    if not isinstance(summary, dict) or summary.get("program") != "metrack":
        return {}
    if not is_intact(summary):
        raise ValueError(f"{SUMMARY} must be as it was written, but a value in {str(path)!r} has changed")
    return summary


def read_records(folder: Path) -> list[Record]:
    """Read the records of a run; raise ValueError where they are damaged, or not those its summary tells of."""
    told, check, records = read_summary(folder).get("trajectory"), NOTHING, []
    for line in read_lines(folder / TRAJECTORY):
        records.append(line.record)
        check = line.check
    if told not in (None, f"{check:08x}"):
        raise ValueError(f"{TRAJECTORY} must be that of the run, but {SUMMARY} in {str(folder)!r} tells of another")
    return records


class ResultFolder:
    """The growing text files of a run: one call of :meth:`add` per frame.

    ``check`` is the checksum of the last line of the trajectory, from which the next one follows.
    """

    def __init__(self, path: Path, targets: int, formats: Sequence[str] = (), *, check: int = NOTHING) -> None:
        self.path, self.check = path, check
        self._events = _appending(path / EVENTS)
        self._trajectory = _appending(path / TRAJECTORY)
        self._table = _appending(path / TABLE)
        self._boxes = [_appending(path / name) for name in box_files(targets)]
        self._others = [(_appending(path / FORMATS[name].file), FORMATS[name].line) for name in formats]

    @classmethod
    def create(cls, path: Path, targets: int, formats: Sequence[str] = ()) -> Self:
        """Begin anew in a folder of ours; files of an earlier run go, all others stay."""
        write_summary(path, {"status": "running"})
        names = (TRAJECTORY, TABLE, EVENTS, *(each.file for each in FORMATS.values()))
        for old in [*(path / name for name in names), *path.glob("boxes*.txt")]:
            old.unlink(missing_ok=True)
        remove_outdated(path)
        replace_text(path / TABLE, CSV_HEADER + "\n")
        return cls(path, targets, formats)

    def add(self, records: Sequence[Record], events: Iterable[Event]) -> None:
        """Write down one frame: one record per target, in the order of the targets, and its events."""
        lines, self.check = trajectory_lines(records, self.check)
        self._trajectory.write("".join(f"{line}\n" for line in lines))
        self._table.write("".join(f"{to_csv_line(record)}\n" for record in records))
        for file, record in zip(self._boxes, records, strict=True):
            file.write(f"{to_otb_line(record.box)}\n")
        for file, to_line in self._others:
            file.write("".join(f"{to_line(record)}\n" for record in records))
        self._events.write("".join(f"{event.to_json_line()}\n" for event in events))
        for file in self._files():
            file.flush()

    def sync(self) -> int:
        """Wait until all lines are on disk, and return their checksum."""
        for file in self._files():
            os.fsync(file.fileno())
        sync_folder(self.path)
        return self.check

    def close(self) -> None:
        """Sync and close the files."""
        self.sync()
        for file in self._files():
            file.close()

    def _files(self) -> list[TextIO]:
        return [self._trajectory, self._table, self._events, *self._boxes, *(file for file, _ in self._others)]


class Kept(NamedTuple):
    """The beginning of a trajectory: its lines, the checksum of the last one, and the records frame by frame."""

    lines: list[str]
    check: int
    frames: list[list[Record]]


def read_beginning(path: Path, targets: int, frames: int) -> Kept:
    """Read the first frames of a trajectory, or as many as are there before the first damaged line."""
    lines: list[str] = []
    checks: list[int] = [NOTHING]
    records: list[Record] = []
    try:
        for line in read_lines(path / TRAJECTORY):
            if len(records) == frames * targets:
                break
            lines.append(line.text)
            checks.append(line.check)
            records.append(line.record)
    except (OSError, ValueError):
        pass  # what comes after it is not needed, or is made again
    whole = len(records) // targets * targets
    return Kept(lines[:whole], checks[whole], by_frame(records[:whole], targets))


def trajectory_lines(records: Iterable[Record], check: int) -> tuple[list[str], int]:
    """Return the lines that follow a checksum, and the checksum of the last one."""
    lines = []
    for record in records:
        line, check = add_check(to_json_line(record), check)
        lines.append(line)
    return lines, check


def replace_trajectory(path: Path, lines: Iterable[str]) -> None:
    """Replace ``trajectory.jsonl`` in one step."""
    replace_text(path / TRAJECTORY, "".join(f"{line}\n" for line in lines))


def replace_tables(
    path: Path, frames: Sequence[Sequence[Record]], events: Iterable[Event], formats: Sequence[str]
) -> None:
    """Write all text files that follow from the records of a run anew, each in one step."""
    records = [record for each in frames for record in each]
    replace_text(path / TABLE, "".join(f"{line}\n" for line in (CSV_HEADER, *map(to_csv_line, records))))
    for name, track in zip(box_files(len(frames[0])), zip(*frames, strict=True), strict=True):
        replace_text(path / name, "".join(f"{to_otb_line(record.box)}\n" for record in track))
    for each in (FORMATS[name] for name in formats):
        replace_text(path / each.file, "".join(f"{each.line(record)}\n" for record in records))
    replace_text(path / EVENTS, "".join(f"{event.to_json_line()}\n" for event in events))


def by_frame(records: Sequence[Record], targets: int) -> list[list[Record]]:
    """Group the records of all targets by frame; an unfinished last frame is left out."""
    return [list(records[n : n + targets]) for n in range(0, len(records) - targets + 1, targets)]


def box_files(targets: int) -> list[str]:
    """Name the OTB files: a format that knows one target per file."""
    return ["boxes.txt"] if targets == 1 else [f"boxes_{number + 1}.txt" for number in range(targets)]


def _appending(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8", newline="\n")
