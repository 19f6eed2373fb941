"""A point from which an interrupted run can go on: a small JSON file beside the state of its trackers.

Both lie in the folder ``resume`` inside the result folder. The state is written first, under a name that holds the
frame number, and counts only once the JSON file names that number: a kill at any moment leaves the last whole
checkpoint.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from metrack.files import write_json
from metrack.frames import Source, VideoFrame
from metrack.identity import Gallery
from metrack.runs.opening import checksum
from metrack.runs.results import read_summary
from metrack.tracking.several import MultiTracker

if TYPE_CHECKING:
    from metrack.runs.job import Job

FOLDER, FILE = "resume", "checkpoint.json"
VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a run stood.

    ``job`` are its options, ``frames`` how many frames it had followed, ``busy`` the seconds its trackers had taken,
    ``first_frame`` a checksum of the frame it began with, ``corrections`` the boxes that were corrected by hand.
    """

    job: dict[str, Any]
    frames: int
    busy: float
    first_frame: int
    corrections: list[dict[str, Any]] = field(default_factory=list)

    def save(self, out: Path, trackers: MultiTracker) -> None:
        """Write the checkpoint into a result folder, then drop the one before it."""
        folder = out / FOLDER
        folder.mkdir(exist_ok=True)
        trackers.save(self._state(out))
        write_json(folder / FILE, {"version": VERSION, "metrack": version("metrack"), **asdict(self)})
        for old in set(folder.glob("state_*")) - {self._state(out)}:
            old.unlink()

    @classmethod
    def load(cls, out: Path) -> Self:
        """Read the checkpoint of a result folder; one of an earlier version is migrated."""
        try:
            values = json.loads((out / FOLDER / FILE).read_text(encoding="utf-8"))
            found = values.get("version", 1)
        except (OSError, ValueError, AttributeError):
            raise ValueError(f"resume needs an interrupted run, but there is none in {str(out)!r}") from None
        if found != VERSION and found not in MIGRATIONS:
            raise ValueError(
                f"{str(out / FOLDER / FILE)!r} was written by metrack {values.get('metrack', '(unknown)')} "
                f"(checkpoint version {found}), this version reads {', '.join(map(str, (*MIGRATIONS, VERSION)))}"
            )
        if found in MIGRATIONS:
            values = MIGRATIONS[found](values, out)
        try:
            return cls(**{each.name: values[each.name] for each in fields(cls)})
        except KeyError as error:
            raise ValueError(f"resume needs a whole checkpoint, but that in {str(out)!r} lacks {error}") from None

    def trackers(self, out: Path, gallery: Gallery | None) -> MultiTracker:
        """Load the trackers as they were."""
        return MultiTracker.load(self._state(out), gallery=gallery)

    def check(self, job: Job, source: Source, first: VideoFrame) -> None:
        """Refuse a job or a source with which the run cannot go on."""
        if source.live:
            raise ValueError(f"resume needs a recording, but {source.name} is live")
        if job.stop is not None and job.stop - job.start < self.frames:
            raise ValueError(f"stop must leave the {self.frames} frames followed so far, got {job.stop}")
        if self.first_frame != checksum(first):
            raise ValueError(f"resume needs the source it began with, but {source.name} begins with another frame")

    def _state(self, out: Path) -> Path:
        return out / FOLDER / f"state_{self.frames}.npz"


def has_checkpoint(out: Path) -> bool:
    """Whether a run can go on from what is in its result folder."""
    return (out / FOLDER / FILE).is_file()


def discard_checkpoint(out: Path) -> None:
    """Remove what only a resumed run would need."""
    shutil.rmtree(out / FOLDER, ignore_errors=True)


def _from_1(values: dict[str, Any], out: Path) -> dict[str, Any]:
    """Version 1 had no number, and left corrections to the summary."""
    return {**values, "corrections": read_summary(out).get("corrections", [])}


MIGRATIONS: dict[int, Callable[[dict[str, Any], Path], dict[str, Any]]] = {1: _from_1}
