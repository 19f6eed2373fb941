"""All runs: those under way, and those that a folder remembers.

Every run has a folder of its own, the same that ``metrack track`` would leave, with one file more, ``studio.json``,
that says what was asked for. A run whose folder says that it is running, though nobody runs it, was interrupted.
"""

from __future__ import annotations

import threading
import time
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from metrack.files import write_json
from metrack.frames.formats import FORMATS, Record
from metrack.runs.checkpoint import Checkpoint
from metrack.runs.events import Event, EventDetector
from metrack.runs.job import Job
from metrack.runs.results import by_frame, claim_folder, read_json, read_records
from metrack.runs.summary import stored_status
from metrack.studio.camera import Cameras
from metrack.studio.loaded import LoadedRuns
from metrack.studio.media import LONGEST_NAME, Library
from metrack.studio.protocol import MOST_TARGETS, event_values, series
from metrack.studio.run_thread import RunThread
from metrack.studio.threads import RunQueue

NOTE = "studio.json"


MOST_FRAMES = 2**31  # numbers of frames that make sense: two years at 30 a second
Box = Annotated[list[float], Field(min_length=4, max_length=4)]
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


class RunStore:
    """Starts runs, finds them again, and lists them."""

    def __init__(self, folder: Path, library: Library, gallery: str | None = None) -> None:
        self.folder, self.library = folder, library
        self._gallery_path = gallery
        self._gallery = Job(source="", boxes=(), gallery=gallery).known_targets()
        self._queue, self._lock = RunQueue(), threading.Lock()
        self._loaded = LoadedRuns()

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
        """Take an interrupted run up again from its checkpoint."""
        folder, note = self.folder_of(name), self._note(name)
        with self._lock:
            self._loaded.wait_for(name)
            if run := self._loaded.get(name):
                return run
            self._loaded.check_room()
            checkpoint = Checkpoint.load(folder)
            path = self.library.checked(note["source"]).path
            run = RunThread(Job(**checkpoint.job), folder, path, self._queue, self._gallery, checkpoint=checkpoint)
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
        """List all runs, newest first."""
        names = [path.parent.name for path in self.folder.glob(f"*/{NOTE}")]
        return sorted((self._line(name) for name in names), key=lambda line: -float(line["created"]))

    def describe(self, name: str) -> dict[str, Any]:
        """Say everything a page needs to show a run."""
        run, note = self.find(name), self._note(name)
        job, frames = self.results(name)
        return {
            **self._line(name),
            "epoch": run.revision if run else 0,
            "source": f"run:{name}" if note["source"].startswith("camera") else note["source"],
            "job": note["job"],
            "series": series(frames),
            "events": [event_values(each) for each in (run.events if run else _events(frames))],
            "command": job.command,
            "known": self.known_names,
        }

    def folder_of(self, name: str) -> Path:
        """Return where a run has its results."""
        path = self.folder / name
        try:
            known = Path(name).name == name and not name.startswith(".") and (path / NOTE).is_file()
        except OSError:  # a name that is too long
            known = False
        if not known:
            raise LookupError(f"There is no run {name[:60]!r}.")
        return path

    def job(self, name: str) -> Job:
        """Return what was asked for."""
        return Job(**self._note(name)["job"])

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
            "title": note["title"],
            "created": note["created"],
            "source": note["source"],
            "targets": len(job.boxes),
            "active": run is not None,
            "status": run.status() if run else stored_status(self.folder_of(name), job) | stored,
        }

    def _new_folder(self) -> str:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for number in range(1, 1000):
            path = self.folder / f"{stamp}-{number}"
            if not path.exists():
                claim_folder(path)
                return path.name
        raise ValueError("Too many runs were started in this second; please try again.")

    def _note(self, name: str) -> dict[str, Any]:
        return read_json(self.folder_of(name) / NOTE)


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
