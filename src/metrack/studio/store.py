"""All runs: those under way, and those that a folder remembers.

Every run has a folder of its own, the same that ``metrack track`` would leave, with one file more, ``studio.json``,
that says what was asked for. A run whose folder says that it is running, though nobody runs it, was interrupted.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from metrack.files import load_json, write_json
from metrack.frames.formats import FORMATS, Record
from metrack.runs.checkpoint import Checkpoint
from metrack.runs.events import Event, EventDetector
from metrack.runs.job import Job
from metrack.runs.lock import LOCK
from metrack.runs.results import by_frame, claim_folder, read_records, read_summary
from metrack.runs.resuming import clear_leftovers
from metrack.runs.summary import DONE, ENDED_EARLY, status_of, stored_status
from metrack.studio.camera import Cameras
from metrack.studio.loaded import LoadedRuns
from metrack.studio.media import LONGEST_NAME, Library
from metrack.studio.protocol import MOST_TARGETS, event_values, series
from metrack.studio.run_thread import RunThread
from metrack.studio.threads import RunQueue

NOTE = "studio.json"
DAMAGED = "damaged"
LAST_SECOND = 1e11  # since 1970 that a page can show

MOST_FRAMES = 2**31  # numbers of frames that make sense: two years at 30 a second
Box = Annotated[list[FiniteFloat], Field(min_length=4, max_length=4)]
Whole = Annotated[int, Field(ge=0, le=MOST_FRAMES)]
Small = Annotated[int, Field(ge=-(2**31), le=2**31)]
Name = Annotated[str, Field(max_length=100)]


class RunRequest(BaseModel):
    """What a page asks to be followed."""

    source: str = Field(max_length=LONGEST_NAME)
    boxes: list[Box] = Field(max_length=MOST_TARGETS)
    start: Whole = 0
    stop: Whole | None = None
    preset: Name = "default"
    changes: dict[Name, bool | Small | float | Name] = Field({}, max_length=200)
    seed: int = Field(0, ge=0, lt=2**63)
    fast: bool = True


class AskedFor(BaseModel):
    """The options of a run, as its note has them."""

    model_config = ConfigDict(extra="forbid", strict=True)
    source: str
    boxes: list[Box] = Field(min_length=1)
    preset: str = "default"
    changes: dict[str, bool | int | FiniteFloat | str] = {}
    seed: int = Field(0, ge=0)
    start: int = Field(0, ge=0)
    stop: int | None = None
    video: bool = True
    gallery: str | None = None
    formats: list[str] = []


class Note(BaseModel):
    """What ``studio.json`` says of a run."""

    model_config = ConfigDict(strict=True)
    source: str
    title: str
    created: Annotated[float, Field(ge=0, le=LAST_SECOND)]
    job: AskedFor

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the note of a run; ValueError, naming the file, where it is damaged."""
        try:
            return cls.model_validate(load_json(path))
        except ValidationError:
            raise ValueError(f"{NOTE} must be as it was written, but {str(path)!r} is damaged") from None


class RunStore:
    """Starts runs, finds them again, and lists them."""

    def __init__(self, folder: Path, library: Library, gallery: str | None = None) -> None:
        self.folder, self.library = folder, library
        self._gallery_path = gallery
        self._gallery = Job(source="", boxes=(), gallery=gallery).known_targets()
        self._queue, self._lock = RunQueue(), threading.Lock()
        self._loaded = LoadedRuns()
        self._clear_leftovers()

    @property
    def known_names(self) -> list[str]:
        """Who is in the gallery."""
        return [] if self._gallery is None else list(self._gallery.names)

    def start(self, request: RunRequest, cameras: Cameras | None = None) -> str:
        """Begin a run and return its name; what is wrong with the request is told before anything is written."""
        path = self.library.checked(request.source).path
        job = Job(
            source=request.source.partition(":")[2] if path is None else str(path),
            boxes=request.boxes,
            preset=request.preset,
            changes=request.changes,
            seed=request.seed,
            start=request.start,
            stop=request.stop,
            video=False,
            gallery=self._gallery_path,
            formats=list(FORMATS),
        )
        _check(job)
        camera = cameras.hand_over(request.source) if cameras else None
        opened = None if camera is None else (camera.source, chain([camera.frame], camera.following()))
        with self._lock:
            self._loaded.check_room()
            name = self._new_folder()
            note = {"source": request.source, "title": _title(request.source), "created": time.time()}
            write_json(self.folder / name / NOTE, {**note, "job": job.to_dict()})
            folder = self.folder / name
            run = RunThread(job, folder, path, self._queue, self._gallery, fast=request.fast, opened=opened)
            self._loaded.put(name, run)
        run.start()
        return name

    def go_on(self, name: str) -> RunThread:
        """Take an interrupted run up again from its checkpoint, or from its first frame if that comes to the same."""
        folder, note = self.folder_of(name), self._note(name)
        with self._lock:
            self._loaded.wait_for(name)
            if run := self._loaded.get(name):
                return run
            self._loaded.check_room()
            job, checkpoint = self._where_it_was(name)
            path = self.library.checked(note.source).path
            run = RunThread(job, folder, path, self._queue, self._gallery, checkpoint=checkpoint)
            self._loaded.put(name, run)
        run.start()
        return run

    def find(self, name: str) -> RunThread | None:
        """Return a run that is in memory; None for one that only its folder remembers."""
        self.folder_of(name)
        return self._loaded.get(name)

    def running(self, name: str) -> RunThread:
        """Return a run that is in memory, or say that it is not."""
        run = self.find(name)
        if run is None:
            raise ValueError("This run is from an earlier session or was put away: its tracker's memory is gone.")
        return run

    def listing(self) -> list[dict[str, Any]]:
        """List all runs, newest first; one whose files are damaged is listed as that."""
        names = [path.parent.name for path in self.folder.glob(f"*/{NOTE}") if _is_run(path)]
        return sorted((self._line_or_damage(name) for name in names), key=lambda line: -float(line["created"]))

    def describe(self, name: str) -> dict[str, Any]:
        """Say everything a page needs to show a run."""
        run, note = self.find(name), self._note(name)
        job, frames = self.results(name)
        return {
            **self._line(name),
            "epoch": run.revision if run else 0,
            "source": f"run:{name}" if note.source.startswith("camera") else note.source,
            "job": note.job.model_dump(),
            "series": series(frames),
            "events": [event_values(each) for each in (run.events if run else _events(frames))],
            "command": job.command,
            "known": self.known_names,
        }

    def folder_of(self, name: str) -> Path:
        """Return where a run has its results."""
        path = self.folder / name
        if Path(name).name != name or not _is_run(path / NOTE):
            raise LookupError(f"There is no run {name[:60]!r}.")
        return path

    def job(self, name: str) -> Job:
        """Return what was asked for."""
        return Job(**self._note(name).job.model_dump())

    def results(self, name: str) -> tuple[Job, list[list[Record]]]:
        """Return what was asked for and what came of it, frame by frame."""
        run, job = self.find(name), self.job(name)
        return job, run.records(0) if run else _stored_records(self.folder_of(name), len(job.boxes))

    def close(self) -> None:
        """Stop all runs; those that are not over can be taken up later."""
        self._loaded.close()

    def _line(self, name: str) -> dict[str, Any]:
        run, note, job = self._loaded.get(name), self._note(name), self.job(name)
        stored = {"before": 0, "fast": True}
        return {
            "id": name,
            "title": note.title,
            "created": note.created,
            "source": note.source,
            "targets": len(job.boxes),
            "active": run is not None,
            "status": run.status() if run else stored_status(self.folder_of(name), job) | stored,
        }

    def _line_or_damage(self, name: str) -> dict[str, Any]:
        try:
            return self._line(name)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            status = status_of(Job(source="", boxes=()), None)
            return {
                "id": name,
                "title": name,
                "created": _changed(self.folder / name),
                "source": "",
                "targets": 0,
                "active": False,
                "status": {**status, "state": DAMAGED, "notice": str(error), "live": True, "before": 0, "fast": True},
            }

    def _where_it_was(self, name: str) -> tuple[Job, Checkpoint | None]:
        folder = self.folder_of(name)
        try:
            checkpoint = Checkpoint.load(folder)
        except ValueError:
            job = self.job(name)
            if not stored_status(folder, job)["can_go_on"]:
                raise
            return job, None
        return Job(**checkpoint.job), checkpoint

    def _clear_leftovers(self) -> None:
        """Clear the folders of runs that were done when a studio was killed."""
        for folder in (path.parent for path in self.folder.glob(f"*/{NOTE}")):
            with suppress(ValueError, OSError):  # damaged, or alive in another studio
                if (folder / LOCK).exists() and read_summary(folder).get("status") in (DONE, ENDED_EARLY):
                    clear_leftovers(folder)

    def _new_folder(self) -> str:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for number in range(1, 1000):
            path = self.folder / f"{stamp}-{number}"
            if not path.exists():
                claim_folder(path)
                return path.name
        raise ValueError("Too many runs were started in this second; please try again.")

    def _note(self, name: str) -> Note:
        return Note.read(self.folder_of(name) / NOTE)


def _is_run(note: Path) -> bool:
    """Whether a folder with this note is that of a run, and its name one that a page can have."""
    name = note.parent.name
    return not name.startswith(".") and name.isprintable() and os.path.isfile(note)


def _changed(folder: Path) -> float:
    try:
        return min(max(folder.stat().st_mtime, 0.0), LAST_SECOND)
    except OSError:
        return 0.0


def _check(job: Job) -> None:
    if not job.boxes:
        raise ValueError("Draw a box around what should be followed first.")
    for box in job.boxes:
        if len(box) != 4 or not all(abs(side) < 1e6 for side in box) or min(box[2:]) <= 0:
            raise ValueError(f"A box must have a width and a height above 0, got {[round(side, 2) for side in box]}.")
    job.check()


def _title(source: str) -> str:
    kind, _, rest = source.partition(":")
    return {"clip": "Built-in clip", "camera": f"Camera {rest}"}.get(kind, rest.rpartition("/")[2])


def _stored_records(folder: Path, targets: int) -> list[list[Record]]:
    try:
        return by_frame(read_records(folder), targets)
    except OSError:
        return []


def _events(frames: list[list[Record]]) -> list[Event]:
    return EventDetector().update(record for records in frames for record in records)
