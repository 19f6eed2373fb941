"""What a run left in its folder, as a report needs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrack.frames.formats import Record
from metrack.runs.events import RENAMED, Event, EventDetector
from metrack.runs.results import TRAJECTORY, read_records, read_summary

WANTED = "folder must be a folder made by metrack track, demo or evaluate"


@dataclass(frozen=True, slots=True)
class Known:
    """Known targets: names in the order of distances, and the mean distance above which the target is unknown."""

    names: tuple[str, ...]
    unknown_above: float


@dataclass(frozen=True, slots=True)
class RunData:
    """Results of one run: its summary, the records of every target in the order of frames, and the events."""

    folder: Path
    summary: dict[str, Any]
    records: dict[int, list[Record]]
    events: list[Event]

    @property
    def frames(self) -> list[int]:
        """Indices of the tracked frames, in order."""
        return sorted({record.frame for records in self.records.values() for record in records})

    @property
    def seconds(self) -> float:
        """Seconds of video from the first tracked frame to the last."""
        times = [record.time for records in self.records.values() for record in records]
        return max(times) - min(times)

    @property
    def known(self) -> Known | None:
        """Who could be identified, where there was a gallery."""
        gallery = self.summary.get("gallery")
        return None if gallery is None else Known(tuple(gallery["names"]), gallery["unknown_above"])

    def at(self, frame: int) -> list[Record]:
        """Return the records of one frame."""
        return [record for records in self.records.values() for record in records if record.frame == frame]

    def words(self, event: Event) -> str:
        """Say what happened in two or three words."""
        names = [record.identity for record in self.at(event.frame) if record.target == event.target]
        return f"named {names[0]}" if event.event == RENAMED and names and names[0] else event.event

    def numbers_of(self, target: int) -> NDArray[np.float64]:
        """Return the frames of a target as the axis of its curves."""
        return np.array([record.frame for record in self.records[target]], float)


def is_run(folder: Path) -> bool:
    """Tell whether a folder is what ``metrack track`` or ``metrack demo`` leaves."""
    return (folder / TRAJECTORY).is_file() and "source" in read_summary(folder)


def read_run(folder: Path) -> RunData:
    """Read a run, finished or not."""
    if not is_run(folder):
        raise ValueError(f"{WANTED}, but {str(folder)!r} is not")
    records = read_records(folder)
    if not records:
        raise ValueError(f"folder must have at least one followed frame, but {str(folder)!r} has none yet")
    by_target: dict[int, list[Record]] = {}
    for record in sorted(records, key=lambda each: (each.target, each.frame)):
        by_target.setdefault(record.target, []).append(record)
    return RunData(folder, read_summary(folder), by_target, EventDetector().update(records))
