"""Taking results away: single files, everything as a zip, and the video with boxes drawn into it."""

from __future__ import annotations

import os
import tempfile
import threading
import zipfile
from itertools import islice
from pathlib import Path
from typing import Any

from metrack.draw.marks import draw
from metrack.files import replacing
from metrack.frames import VideoWriter, open_source
from metrack.frames.formats import Record
from metrack.runs.follow import mark_of
from metrack.runs.job import Job
from metrack.runs.lock import LOCK
from metrack.runs.report import write_page
from metrack.runs.results import VIDEO
from metrack.studio.answers import RefusedError, one_sentence
from metrack.studio.media import RECORDING
from metrack.studio.store import NOTE, RunStore

COMMAND = "rerun.sh"
HIDDEN = {NOTE, LOCK}
MOST_DRAWN = 2  # videos at a time


def files(folder: Path) -> list[dict[str, Any]]:
    """List the results that can be taken away one by one."""
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink() and _is_result(path)]
    return [{"name": path.name, "bytes": path.stat().st_size} for path in found]


def one_file(folder: Path, name: str) -> Path:
    """Return the path of one result."""
    if name not in {each["name"] for each in files(folder)}:
        raise LookupError(f"There is no result {name[:60]!r} in this run.")
    return folder / name


def zip_folder(folder: Path, job: Job) -> Path:
    """Pack all results into a file, which the caller removes."""
    handle, name = tempfile.mkstemp(suffix=".zip", prefix="metrack-")
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in files(folder):
            packed = zipfile.ZIP_STORED if each["name"].endswith(".mp4") else zipfile.ZIP_DEFLATED
            archive.write(folder / each["name"], f"{folder.name}/{each['name']}", packed)
        archive.writestr(f"{folder.name}/{COMMAND}", shell_script(job))
    return Path(name)


def make_report(store: RunStore, name: str) -> str:
    """Write the report of a run, as ``metrack track`` leaves one, and return the name of its page."""
    run = store.find(name)
    if run is not None and run.over is None:
        raise ValueError("The report tells of the whole run: let it end, or stop it, first.")
    return write_page(store.folder_of(name)).name


def shell_script(job: Job) -> str:
    """Return a script that does the same job on the command line."""
    return f"#!/bin/sh\n{job.command}\n"


class VideoExport:
    """The annotated videos that are being drawn, one thread for each."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._progress: dict[str, dict[str, Any]] = {}

    def begin(self, name: str) -> dict[str, Any]:
        """Draw the video of a run, unless that is being done."""
        job, frames = self._store.results(name)
        if not frames:
            raise ValueError("Nothing has been followed yet, so there is no video to draw.")
        with self._lock:
            if self._progress.get(name, {}).get("state") != "drawing":
                if sum(each["state"] == "drawing" for each in self._progress.values()) >= MOST_DRAWN:
                    raise RefusedError(429, f"At most {MOST_DRAWN} videos are drawn at a time; wait for one of them.")
                self._progress[name] = {"state": "drawing", "done": 0, "total": len(frames)}
                recording = self._store.folder_of(name) / RECORDING
                source, start = (str(recording), 0) if recording.is_file() else (job.source, job.start)
                threading.Thread(target=self._draw, args=(name, source, start, frames), daemon=True).start()
        return self.progress(name)

    def progress(self, name: str) -> dict[str, Any]:
        """Say how far the drawing is."""
        there = (self._store.folder_of(name) / VIDEO).is_file()
        progress = self._progress.get(name, {"state": "ready" if there else "none"})
        return {"state": "none"} if progress["state"] == "ready" and not there else progress

    def _draw(self, name: str, path: str, start: int, frames: list[list[Record]]) -> None:
        progress = self._progress[name]
        try:
            with (
                replacing(self._store.folder_of(name) / VIDEO) as part,
                open_source(path) as source,
                VideoWriter(part, source.size, source.fps) as video,
            ):
                for frame, records in zip(islice(source, start, None), frames, strict=False):
                    video.write(draw(frame.image, [mark_of(record) for record in records]), frame.time)
                    progress["done"] += 1
            self._progress[name] = {"state": "ready"}
        except (ValueError, OSError) as error:
            self._progress[name] = {"state": "failed", "error": str(error)}
        except Exception as error:  # of the libraries, or else it would be drawn for ever, in the way of others
            sentence = f"The video cannot be drawn ({type(error).__name__}: {error})."
            self._progress[name] = {"state": "failed", "error": one_sentence(sentence)}


def _is_result(path: Path) -> bool:
    return path.name not in HIDDEN and not path.name.startswith(".") and path.suffix != ".part"
