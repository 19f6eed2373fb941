"""Where videos come from: the folder given on the command line, uploads, the built-in clip, cameras.

The page names a source by a short text that means the same after a restart: ``clip``, ``file:holiday/beach.mp4``,
``upload:beach.mp4``, ``camera:0``, ``run:20260102-1``. No such text can lead outside the folders it is about.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrack.files import replacing
from metrack.frames import VideoWriter
from metrack.frames.images import SUFFIXES as IMAGE_SUFFIXES
from metrack.runs.lock import try_lock
from metrack.studio.answers import RefusedError
from metrack.studio.reading import Reader
from metrack.synth import builtin_clip

VIDEO_SUFFIXES = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ogv", ".ts", ".webm", ".wmv")
BEGINNINGS = (  # how files of these kinds begin: a playlist, which could name other files, is none of them
    re.compile(rb".{4}(ftyp|moov|mdat|free|wide|skip)", re.DOTALL),
    re.compile(rb"\x1a\x45\xdf\xa3"),
    re.compile(rb"RIFF.{4}AVI ", re.DOTALL),
    re.compile(rb"OggS"),
    re.compile(rb"\x00\x00\x01[\xb3\xba]"),
    re.compile(rb"G.{187}G", re.DOTALL),
    re.compile(rb"\x30\x26\xb2\x75"),
)
CLIP = "balloon.mp4"
RECORDING = "recording.mp4"
MOST_LISTED = 500
LONGEST_NAME = 4096  # characters of a source's name
LONGEST_PART = 255  # bytes of a name of a file or folder, on most disks
LONGEST_UPLOAD_NAME = 120  # bytes, so that a number and an ending fit into what a disk allows
MOST_UPLOADS = 4  # at a time
KEPT_OPEN = 4  # readers
MEGABYTE = 1_000_000
SETTLED = 2_000_000_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class Place:
    """A source by name: what kind it is, and where it is on disk if it is a recording."""

    text: str
    kind: str
    path: Path | None


class Library:
    """Finds sources by name and keeps the last few open."""

    def __init__(self, runs: Path, folder: Path | None, upload_limit: int, uploads_limit: int) -> None:
        self.runs, self.folder, self.upload_limit, self.uploads_limit = runs, folder, upload_limit, uploads_limit
        self.uploads, self._uploading = runs / "uploads", 0
        self._lock, self._painting = threading.Lock(), threading.Lock()
        self._open: OrderedDict[Path, Reader] = OrderedDict()
        self._checked: dict[Path, int] = {}  # folders without links that lead out, and when they were changed, in ns
        self._forget_broken_uploads()

    def place(self, text: str) -> Place:
        """Say what a name stands for, or refuse it."""
        kind, _, rest = text.partition(":")
        if text == "clip":
            return Place(text, kind, self.runs / CLIP)
        if kind == "camera" and rest.isascii() and rest.isdigit() and len(rest) < 4:
            return Place(text, kind, None)
        if kind == "file" and self.folder is not None:
            return Place(text, kind, inside(self.folder, rest))
        if kind == "upload":
            return Place(text, kind, inside(self.uploads, rest))
        if kind == "run":
            return Place(text, kind, inside(self.runs, f"{rest}/{RECORDING}"))
        raise ValueError(f"There is no source {text[:100]!r}.")

    def checked(self, text: str) -> Place:
        """Say what a name stands for, and refuse images in a folder that lead outside it by links."""
        place = self.place(text)
        root = self.folder if place.kind == "file" else self.runs
        if root is not None and place.path is not None and place.path.is_dir():
            self._check_links(root, place.path)
        return place

    def _check_links(self, root: Path, folder: Path) -> None:
        """Refuse a folder with links to images outside, and look again only when it was changed."""
        changed, root = folder.stat().st_mtime_ns, root.resolve()
        if self._checked.get(folder) == changed:
            return
        with os.scandir(folder) as entries:
            links = [Path(each.path) for each in entries if each.is_symlink()]
        for link in links:
            if link.suffix.lower() in IMAGE_SUFFIXES and not _is_below(root, link):
                raise ValueError(f"{link.name[:100]} is a link that leads outside the folder that was opened.")
        if len(self._checked) >= MOST_LISTED:
            self._checked.clear()
        if time.time_ns() - changed > SETTLED:  # else a change that comes now could have the same time
            self._checked[folder] = changed

    def _forget_broken_uploads(self) -> None:
        """Remove what uploads left that a studio was killed in; those that another one receives are locked."""
        for part in self.uploads.glob(".*.part"):
            with suppress(OSError), part.open("r+b") as file:
                if try_lock(file.fileno()):
                    part.unlink()

    def reader(self, text: str) -> Reader:
        """Open a recording, or give the one that is open already."""
        place = self.checked(text)
        if place.path is None:
            raise ValueError("A camera has no frames to scrub through.")
        if place.kind == "clip":
            self.paint_clip()
        with self._lock:
            if place.path not in self._open:
                self._open[place.path] = _open(place.path)
            self._open.move_to_end(place.path)
            while len(self._open) > KEPT_OPEN:
                self._open.popitem(last=False)[1].close()
            return self._open[place.path]

    def paint_clip(self) -> None:
        """Paint the built-in clip, once."""
        with self._painting:
            path = self.runs / CLIP
            if path.is_file():
                return
            clip = builtin_clip()
            with replacing(path) as part, VideoWriter(part, clip.size, clip.fps, crf=16) as video:
                for image in clip:
                    video.write(image)

    def listing(self, under: str) -> dict[str, Any]:
        """List what can be opened in a folder below the one given on the command line."""
        if self.folder is None:
            return {"folder": None, "under": "", "entries": []}
        here = inside(self.folder, under)
        if not here.is_dir():
            raise LookupError(f"There is no folder {under[:100]!r} here.")
        entries = [entry for path in sorted(here.iterdir()) if (entry := self._entry(path))]
        return {"folder": self.folder.name, "under": under, "entries": entries[:MOST_LISTED]}

    def _entry(self, path: Path) -> dict[str, Any] | None:
        assert self.folder is not None
        if path.name.startswith(".") or not _is_text(path.name) or not _leads_inside(self.folder, path):
            return None
        inner = path.relative_to(self.folder).as_posix()
        if path.is_dir():
            kind = "images" if _holds_images(path) else "folder"
            return {"kind": kind, "name": path.name, "under": inner, "source": f"file:{inner}"}
        if path.suffix.lower() not in VIDEO_SUFFIXES or not path.is_file():
            return None
        return {"kind": "video", "name": path.name, "source": f"file:{inner}", "bytes": path.stat().st_size}

    async def take_upload(self, name: str, length: int | None, chunks: AsyncIterator[bytes]) -> str:
        """Keep an uploaded video and return its source; one that is refused or breaks off leaves nothing."""
        name = self._check_upload(name, length)
        self.uploads.mkdir(exist_ok=True)
        part = self.uploads / f".{secrets.token_hex(8)}.part"
        self._uploading += 1
        try:
            received = await self._receive(part, chunks)
            if length is not None and received != length:
                raise ValueError(f"{name} broke off after {received} of {length} bytes; please send it again.")
            check_beginning(part, name)
            final = _free_name(self.uploads / name)
            part.rename(final)
        except OSError as error:
            raise ValueError(f"{name} cannot be kept ({error.strerror}).") from None
        finally:
            self._uploading -= 1
            part.unlink(missing_ok=True)
        try:
            await asyncio.to_thread(self.reader, f"upload:{final.name}")
        except ValueError:
            final.unlink()
            raise
        return f"upload:{final.name}"

    async def _receive(self, part: Path, chunks: AsyncIterator[bytes]) -> int:
        received, there = 0, self._check_room(0)
        with part.open("wb") as file:
            try_lock(file.fileno())
            async for chunk in chunks:
                received += len(chunk)
                if received > self.upload_limit:
                    raise self._too_large("The file")
                if there + received > self.uploads_limit:
                    there = self._check_room(len(chunk)) - received  # others may have come or gone
                file.write(chunk)
                file.flush()
        return received

    def _check_room(self, more: int) -> int:
        """Return how many bytes all uploads take, those under way with them, or refuse more."""
        taken = sum(path.stat().st_size for path in self.uploads.iterdir() if path.is_file())
        if taken + more >= self.uploads_limit:
            limit, where = self.uploads_limit / MEGABYTE, f"{self.runs.name}/{self.uploads.name}"
            more_room = f"remove some of {where}, or start metrack studio with a larger --uploads-limit"
            raise RefusedError(413, f"All uploads together may take {limit:g} MB, which is full; {more_room}.")
        return taken

    def _check_upload(self, name: str, length: int | None) -> str:
        plain = re.sub(r"[^\w .()+-]", "_", Path(name.replace("\\", "/").replace("\0", "_")).name).strip(" .")
        plain = plain.encode()[-LONGEST_UPLOAD_NAME:].decode("utf-8", "ignore").lstrip(" .")
        if Path(plain).suffix.lower() not in VIDEO_SUFFIXES:
            known = ", ".join(VIDEO_SUFFIXES)
            raise ValueError(f"{plain or 'This'} is not a kind of video the studio opens; it opens {known}.")
        if length == 0:
            raise ValueError(f"{plain} is empty (0 bytes).")
        if length is not None and length > self.upload_limit:
            raise self._too_large(plain)
        if self._uploading >= MOST_UPLOADS:
            raise RefusedError(429, f"At most {MOST_UPLOADS} files can be sent at a time; wait for one of them.")
        return plain

    def _too_large(self, name: str) -> RefusedError:
        return RefusedError(
            413,
            f"{name} is larger than the {self.upload_limit / MEGABYTE:g} MB an upload may have; start metrack studio "
            "with the folder that holds it, or with a larger --upload-limit.",
        )


def inside(root: Path, relative: str) -> Path:
    """Return a path below a folder, or refuse one that leads outside, also by way of a link."""
    path = root / relative.lstrip("/")
    if any(len(os.fsencode(part)) > LONGEST_PART for part in path.parts):
        raise LookupError(f"There is nothing called {relative[:60]!r} here.")
    if "\x00" in relative or not _leads_inside(root, path):
        raise ValueError("That path leads outside the folder that was opened.")
    return path


def _leads_inside(root: Path, path: Path) -> bool:
    """Whether a path is below a folder with all links followed; one that leads nowhere is not."""
    return _is_below(root.resolve(), path)


def _is_below(root: Path, path: Path) -> bool:
    """Whether a path is below a folder, itself without links, with all links of the path followed."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a name that is too long, or links in a circle
        return False


def _is_text(name: str) -> bool:
    """Whether a name can be sent: disks also know names that are no text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_beginning(path: Path, name: str) -> None:
    """Refuse a file that does not begin like a video."""
    with path.open("rb") as file:
        beginning = file.read(256)
    if not beginning:
        raise ValueError(f"{name} is empty (0 bytes).")
    if not any(each.match(beginning) for each in BEGINNINGS):
        raise ValueError(f"{name} does not look like a video inside, whatever its name says.")


def _open(path: Path) -> Reader:
    if not path.exists():
        raise LookupError(f"{path.name} is no longer there.")
    if not path.is_dir():
        if not path.is_file():
            raise ValueError(f"{path.name} is neither a file nor a folder.")
        check_beginning(path, path.name)
    try:
        return Reader(path)
    except ValueError as error:
        raise ValueError(str(error).replace(str(path), path.name)) from None


def _holds_images(folder: Path) -> bool:
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:  # a folder that may not be read
        return False
    return any(path.suffix.lower() in IMAGE_SUFFIXES for path in paths)


def _free_name(path: Path) -> Path:
    """Return the name, or the name with the first free number."""
    tries = (path if n == 1 else path.with_name(f"{path.stem} ({n}){path.suffix}") for n in range(1, 10_000))
    return next(each for each in tries if not each.exists())
