"""All runs: those under way, and those that a folder remembers.

Every run has a folder of its own, the same that ``metrack track`` would leave, with one file more, ``studio.json``,
that says what was asked for. A run whose folder says that it is running, though nobody runs it, was interrupted.
"""

from __future__ import annotations

import json
import shlex
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from metrack.files import write_json
from metrack.frames.formats import FORMATS, Record, read_jsonl, whole_lines
from metrack.runs.job import Job
from metrack.runs.results import EVENTS, SUMMARY, TRAJECTORY, Checkpoint, claim_folder
from metrack.studio.camera import Cameras
from metrack.studio.library import Library
from metrack.studio.protocol import event_values, series
from metrack.studio.run import STOPPED, Run
from metrack.studio.shelf import Shelf
from metrack.studio.turns import Turns

NOTE = "studio.json"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a page asks to be followed."""

    source: str
    boxes: Sequence[tuple[float, float, float, float]]
    start: int = 0
    stop: int | None = None
    preset: str = "default"
    changes: dict[str, Any] | None = None
    seed: int = 0
    fast: bool = True


class Book:
    """Starts runs, finds them again, and lists them."""

    def __init__(self, folder: Path, library: Library, gallery: str | None = None) -> None:
        self.folder, self.library = folder, library
        self._gallery_path = gallery
        self._gallery = Job(source="", boxes=(), gallery=gallery).known_targets()
        self._turns, self._lock = Turns(), threading.Lock()
        self._shelf = Shelf()

    @property
    def known_names(self) -> list[str]:
        """Who is in the gallery."""
        return [] if self._gallery is None else list(self._gallery.names)

    def start(self, wish: Wish, cameras: Cameras | None = None) -> str:
        """Begin a run and return its name; what is wrong with the wish is told before anything is written."""
        place = self.library.place(wish.source)
        source = wish.source.partition(":")[2] if place.path is None else str(place.path)
        job = Job(
            source=source,
            boxes=wish.boxes,
            preset=wish.preset,
            changes=wish.changes or {},
            seed=wish.seed,
            start=wish.start,
            stop=wish.stop,
            video=False,
            gallery=self._gallery_path,
            formats=list(FORMATS),
        )
        _check(job)
        camera = cameras.hand_over(wish.source) if cameras else None
        with self._lock:
            name = self._new_folder()
            note = {"source": wish.source, "title": _title(wish.source), "created": time.time(), "job": job.to_dict()}
            write_json(self.folder / name / NOTE, note)
            run = Run(job, self.folder / name, place.path, self._turns, self._gallery, fast=wish.fast)
            if camera is not None:
                run.take_over(camera.source, chain([camera.frame], camera.following()))
            self._shelf.put(name, run)
        run.start()
        return name

    def go_on(self, name: str) -> Run:
        """Take an interrupted run up again from its checkpoint."""
        folder, note = self._folder(name), self._note(name)
        with self._lock:
            self._shelf.wait_for(name)
            if run := self._shelf.get(name):
                return run
            checkpoint = Checkpoint.load(folder)
            path = self.library.place(note["source"]).path
            run = Run(Job(**checkpoint.job), folder, path, self._turns, self._gallery)
            run.corrections = _read(folder / SUMMARY).get("corrections", [])
            run.resume_from(checkpoint)
            self._shelf.put(name, run)
        run.start()
        return run

    def find(self, name: str) -> Run | None:
        """Return a run that is in memory; None for one that only its folder remembers."""
        self._folder(name)
        return self._shelf.get(name)

    def running(self, name: str) -> Run:
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
        run, folder, note = self.find(name), self._folder(name), self._note(name)
        frames = run.records(0) if run else _by_frame(folder, len(note["job"]["boxes"]))
        events = [event_values(each) for each in run.events] if run else _lines(folder / EVENTS)
        return {
            **self._line(name),
            "epoch": run.epoch if run else 0,
            "source": f"run:{name}" if note["source"].startswith("camera") else note["source"],
            "job": note["job"],
            "series": series(frames),
            "events": events,
            "command": shlex.join(command(note["job"])),
            "known": self.known_names,
        }

    def folder_of(self, name: str) -> Path:
        """Return where a run has its results."""
        return self._folder(name)

    def results(self, name: str) -> tuple[dict[str, Any], list[list[Record]]]:
        """Return what was asked for and what came of it, frame by frame."""
        run, note = self.find(name), self._note(name)
        return note, run.records(0) if run else _by_frame(self._folder(name), len(note["job"]["boxes"]))

    def close(self) -> None:
        """Stop all runs; those that are not over can be taken up later."""
        self._shelf.close()

    def _line(self, name: str) -> dict[str, Any]:
        run, folder, note = self._shelf.get(name), self._folder(name), self._note(name)
        status = run.status() if run else _status(folder, note["job"])
        return {
            "id": name,
            "title": note["title"],
            "created": note["created"],
            "source": note["source"],
            "targets": len(note["job"]["boxes"]),
            "active": run is not None,
            "status": status,
        }

    def _new_folder(self) -> str:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for number in range(1, 1000):
            path = self.folder / f"{stamp}-{number}"
            if not path.exists():
                claim_folder(path)
                return path.name
        raise ValueError("Too many runs were started in this second; please try again.")

    def _folder(self, name: str) -> Path:
        path = self.folder / name
        if Path(name).name != name or name.startswith(".") or not (path / NOTE).is_file():
            raise LookupError(f"There is no run {name[:60]!r}.")
        return path

    def _note(self, name: str) -> dict[str, Any]:
        return _read(self._folder(name) / NOTE)


def command(job: dict[str, Any]) -> list[str]:
    """Return the words of the command line that does the same job."""
    words = ["metrack", "track", job["source"]]
    for box in job["boxes"]:
        words += ["--box", ",".join(repr(float(side)).removesuffix(".0") for side in box)]
    words += ["--start", str(job["start"])] if job["start"] else []
    words += ["--stop", str(job["stop"])] if job["stop"] is not None else []
    words += ["--preset", job["preset"]] if job["preset"] != "default" else []
    for name, value in job["changes"].items():
        words += ["--set", f"{name}={value}"]
    words += ["--seed", str(job["seed"])] if job["seed"] else []
    words += ["--gallery", job["gallery"]] if job["gallery"] else []
    for name in job["formats"]:
        words += ["--format", name]
    return [*words, "-o", "out"]


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


def _status(folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """Say how a run stands that nobody is running."""
    summary = _read(folder / SUMMARY)
    state = summary.get("status", STOPPED)
    interrupted = state in ("running", STOPPED)
    return {
        "state": STOPPED if interrupted else state,
        "before": 0,
        "start": job["start"],
        "frames": _count(folder, len(job["boxes"])),
        "total": None,
        "fps": summary.get("tracker_fps"),
        "notice": summary.get("notice") or ("the studio was closed while it ran" if state == "running" else None),
        "corrections": summary.get("corrections", []),
        "can_undo": False,
        "can_go_on": interrupted and (folder / "resume" / "checkpoint.json").is_file(),
        "fast": True,
        "live": job["source"].isdigit(),
    }


def _count(folder: Path, targets: int) -> int:
    try:
        return (folder / TRAJECTORY).read_bytes().count(b"\n") // targets
    except OSError:
        return 0


def _by_frame(folder: Path, targets: int) -> list[list[Record]]:
    try:
        records = read_jsonl(folder / TRAJECTORY)
    except OSError:
        return []
    return [records[n : n + targets] for n in range(0, len(records) - targets + 1, targets)]


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in whole_lines(path)]
    except OSError:
        return []


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
