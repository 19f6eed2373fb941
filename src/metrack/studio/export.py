"""Taking results away: single files, everything as a zip, and the video with boxes drawn into it."""

from __future__ import annotations

import os
import shlex
import tempfile
import threading
import zipfile
from itertools import islice
from pathlib import Path
from typing import Any

from metrack.draw.marks import Mark, draw
from metrack.files import replacing
from metrack.frames import VideoWriter, open_source
from metrack.frames.formats import Record
from metrack.runs.report import write_page
from metrack.runs.results import VIDEO
from metrack.studio.book import NOTE, Book, command
from metrack.studio.library import RECORDING

COMMAND = "rerun.sh"
HIDDEN = {NOTE}


def files(folder: Path) -> list[dict[str, Any]]:
    """List the results that can be taken away one by one."""
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and _is_result(path)]
    return [{"name": path.name, "bytes": path.stat().st_size} for path in found]


def one_file(folder: Path, name: str) -> Path:
    """Return the path of one result."""
    if name not in {each["name"] for each in files(folder)}:
        raise LookupError(f"There is no result {name[:60]!r} in this run.")
    return folder / name


def zip_folder(folder: Path, job: dict[str, Any]) -> Path:
    """Pack all results into a file, which the caller removes."""
    handle, name = tempfile.mkstemp(suffix=".zip", prefix="metrack-")
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in files(folder):
            packed = zipfile.ZIP_STORED if each["name"].endswith(".mp4") else zipfile.ZIP_DEFLATED
            archive.write(folder / each["name"], f"{folder.name}/{each['name']}", packed)
        archive.writestr(f"{folder.name}/{COMMAND}", shell_script(job))
    return Path(name)


def write_report(book: Book, name: str) -> str:
    """Write the page that tells of a run, as ``metrack track`` leaves one, and return its name."""
    run = book.find(name)
    if run is not None and run.over is None:
        raise ValueError("The report tells of the whole run: let it end, or stop it, first.")
    return write_page(book.folder_of(name)).name


def shell_script(job: dict[str, Any]) -> str:
    """Return a script that does the same job on the command line."""
    return f"#!/bin/sh\n{shlex.join(command(job))}\n"


class Drawing:
    """The annotated videos that are being drawn, one thread for each."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._lock = threading.Lock()
        self._progress: dict[str, dict[str, Any]] = {}

    def begin(self, name: str) -> dict[str, Any]:
        """Draw the video of a run, unless that is being done."""
        note, frames = self._book.results(name)
        if not frames:
            raise ValueError("Nothing has been followed yet, so there is no video to draw.")
        with self._lock:
            if self._progress.get(name, {}).get("state") != "drawing":
                self._progress[name] = {"state": "drawing", "done": 0, "total": len(frames)}
                source = self._book.folder_of(name) / RECORDING
                path = str(source) if source.is_file() else note["job"]["source"]
                start = 0 if source.is_file() else note["job"]["start"]
                threading.Thread(target=self._draw, args=(name, path, start, frames), daemon=True).start()
        return self.progress(name)

    def progress(self, name: str) -> dict[str, Any]:
        """Say how far the drawing is."""
        there = (self._book.folder_of(name) / VIDEO).is_file()
        progress = self._progress.get(name, {"state": "ready" if there else "none"})
        return {"state": "none"} if progress["state"] == "ready" and not there else progress

    def _draw(self, name: str, path: str, start: int, frames: list[list[Record]]) -> None:
        folder, progress = self._book.folder_of(name), self._progress[name]
        try:
            with (
                replacing(folder / VIDEO) as part,
                open_source(path) as source,
                VideoWriter(part, source.size, source.fps) as video,
            ):
                for frame, records in zip(islice(source, start, None), frames, strict=False):
                    marks = [
                        Mark(each.box, each.target, each.score, each.state, name=each.identity) for each in records
                    ]
                    video.write(draw(frame.image, marks), frame.time)
                    progress["done"] += 1
            self._progress[name] = {"state": "ready"}
        except (ValueError, OSError) as error:
            self._progress[name] = {"state": "failed", "error": str(error)}


def _is_result(path: Path) -> bool:
    return path.name not in HIDDEN and not path.name.startswith(".") and path.suffix != ".part"
