"""Points from which an interrupted run can go on.

Two of them lie in the folder ``resume`` inside the result folder, the newest and the one before: each a small JSON file
and the state of its trackers. Results are synced first, then the state is written, then the JSON file that names
the checksums of both: it counts only if all three agree. So a kill or a power cut at any moment leaves at least one
checkpoint that is whole, and one that was damaged later is found out and the older one taken.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from metrack.files import file_checksum, is_intact, load_json, sync_folder, with_checksum, write_json
from metrack.frames import Source, VideoFrame
from metrack.frames.checked_lines import NOTHING
from metrack.identity import Gallery
from metrack.runs.opening import checksum
from metrack.runs.results import Kept, read_beginning, read_summary, trajectory_lines
from metrack.runs.saved_values import CHECKPOINT, check_values
from metrack.tracking.several import MultiTracker

if TYPE_CHECKING:
    from metrack.runs.job import Job

FOLDER = "resume"
VERSION = 3
KEPT = 2  # generations
MOST_NOTE = 1 << 28  # bytes: targets that wait for a corrected one have 400 for each frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a run stood.

    ``job`` are its options, ``frames`` how many frames all targets had been followed through, ``busy`` the seconds its
    trackers had taken, ``first_frame`` a checksum of the frame it began with, ``corrections`` the boxes that were
    corrected by hand, and ``ahead`` for every target the lines of frames beyond, where others have to catch up.
    ``trajectory`` is the checksum of the results, ``state`` the name of the trackers' file and ``state_check``
    its checksum; earlier versions have no checksums.
    """

    job: dict[str, Any]
    frames: int
    busy: float
    first_frame: int
    corrections: list[dict[str, Any]] = field(default_factory=list)
    ahead: list[list[str]] = field(default_factory=list)
    trajectory: int | None = None
    state: str = ""
    state_check: str | None = None

    def save(self, out: Path, trackers: MultiTracker) -> None:
        """Write the checkpoint into a result folder, whose results must be synced; earlier ones stay."""
        folder = out / FOLDER
        folder.mkdir(exist_ok=True)
        sync_folder(out)
        earlier = [*_newest_first(out), *folder.glob("state_*.npz")]
        serial = max(map(_serial, earlier), default=0) + 1
        state = folder / f"state_{serial}.npz"
        trackers.save(state)
        values = {**asdict(self), "state": state.name, "state_check": file_checksum(state)}
        note = with_checksum({"version": VERSION, "metrack": version("metrack"), **values})
        write_json(folder / f"checkpoint_{serial}.json", note)

    @classmethod
    def load(cls, out: Path) -> Self:
        """Read the newest checkpoint of a result folder that is whole; raise ValueError, saying why, if none is."""
        reason = f"resume needs an interrupted run, but there is none in {str(out)!r}"
        for note in _newest_first(out):
            try:
                checkpoint = cls._read(note, out)
                checkpoint.verify(out)
                return checkpoint
            except ValueError as error:
                reason = str(error)
        raise ValueError(reason)

    def verify(self, out: Path) -> Kept:
        """Return the results so far; raise ValueError where they or the trackers are not those of this checkpoint."""
        path = out / FOLDER / self.state
        if not path.is_file() or self.state_check not in (None, file_checksum(path)):
            raise ValueError(f"resume needs a whole checkpoint, but {str(path)!r} is missing or damaged")
        kept = read_beginning(out, len(self.job["boxes"]), self.frames)
        if len(kept.frames) < self.frames or self.trajectory not in (None, kept.check):
            raise ValueError(
                f"resume needs the results of the first {self.frames} frames, but trajectory.jsonl in {str(out)!r} "
                f"is damaged or has other ones"
            )
        if self.trajectory is None:  # of a version without checksums
            return Kept(*trajectory_lines((record for each in kept.frames for record in each), NOTHING), kept.frames)
        return kept

    def trackers(self, out: Path, gallery: Gallery | None) -> MultiTracker:
        """Load the trackers as they were."""
        return MultiTracker.load(out / FOLDER / self.state, gallery=gallery)

    def check(self, job: Job, source: Source, first: VideoFrame) -> None:
        """Refuse a job or a source with which the run cannot go on."""
        if source.live:
            raise ValueError(f"resume needs a recording, but {source.name} is live")
        if job.stop is not None and job.stop - job.start < self.frames:
            raise ValueError(f"stop must leave the {self.frames} frames followed so far, got {job.stop}")
        if self.first_frame != checksum(first):
            raise ValueError(f"resume needs the source it began with, but {source.name} begins with another frame")

    @classmethod
    def _read(cls, note: Path, out: Path) -> Self:
        """Read one note; that of an earlier version is migrated."""
        try:
            values = load_json(note, most=MOST_NOTE, any_names=True)
            found = values.get("version", 1)
            if not is_intact(values):
                raise ValueError
        except ValueError:
            raise ValueError(f"resume needs a whole checkpoint, but {str(note)!r} is damaged") from None
        if type(found) is not int or (found != VERSION and found not in MIGRATIONS):
            raise ValueError(
                f"{str(note)!r} was written by metrack {values.get('metrack', '(unknown)')} "
                f"(checkpoint version {found}), this version reads {', '.join(map(str, (*MIGRATIONS, VERSION)))}"
            )
        try:
            if found in MIGRATIONS:
                values = MIGRATIONS[found](values, out)
            check_values(values, CHECKPOINT)
            return cls(**{each.name: values[each.name] for each in fields(cls)})
        except KeyError as error:
            raise ValueError(f"resume needs a whole checkpoint, but {str(note)!r} lacks {error}") from None
        except ValueError as error:
            raise ValueError(f"resume needs a whole checkpoint, but {str(note)!r} is damaged: {error}") from None


def has_checkpoint(out: Path) -> bool:
    """Whether there is something from which a run could go on."""
    return bool(_newest_first(out))


def drop_checkpoints(out: Path, *, kept: int = KEPT) -> None:
    """Remove all checkpoints but those written last; a note goes before its state."""
    notes = _newest_first(out)
    for note in notes[kept:]:
        _remove(note)
    if any(not _serial(note) for note in notes[:kept]):
        return  # that of an earlier version, whose state has a number of its own
    states = {f"state_{_serial(note)}.npz" for note in notes[:kept]}
    for old in (out / FOLDER).glob("state_*"):
        if old.name not in states:
            _remove(old)


def _remove(path: Path) -> None:
    """Remove a file, or a folder that somebody put in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def discard_checkpoints(out: Path) -> None:
    """Remove what only a resumed run would need."""
    drop_checkpoints(out, kept=0)
    shutil.rmtree(out / FOLDER, ignore_errors=True)


def _newest_first(out: Path) -> list[Path]:
    """Return the notes of all checkpoints; that of earlier versions has no number and comes last."""
    return sorted((out / FOLDER).glob("checkpoint*.json"), key=lambda note: -_serial(note))


def _serial(note: Path) -> int:
    number = note.stem.partition("_")[2]
    return int(number) if number.isdecimal() and number.isascii() else 0


def _from_1(values: dict[str, Any], out: Path) -> dict[str, Any]:
    """Version 1 had no number, and left corrections to the summary."""
    return _from_2({**values, "corrections": read_summary(out).get("corrections", [])}, out)


def _from_2(values: dict[str, Any], _: Path) -> dict[str, Any]:
    """Version 2 kept one generation, without checksums, and none while targets had to catch up."""
    return {**values, "ahead": [], "trajectory": None, "state": f"state_{values['frames']}.npz", "state_check": None}


MIGRATIONS: dict[int, Callable[[dict[str, Any], Path], dict[str, Any]]] = {1: _from_1, 2: _from_2}
