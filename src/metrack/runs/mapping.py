"""Draw a confidence map: follow a target, then score every place around it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from glob import glob
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.checks import check_box
from metrack.draw.heat import draw_confidence
from metrack.draw.pictures import PICTURE_FORMATS, write_picture
from metrack.frames import Source, VideoFrame, open_source
from metrack.frames.formats import Record
from metrack.runs.follow import Progress
from metrack.runs.halt import Halt
from metrack.runs.job import Job
from metrack.runs.opening import compile_kernels, expected_length, first_frame
from metrack.tracking.score_map import check_radius, confidence_map, usual_radius
from metrack.tracking.tracker import Tracker

Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Mapped:
    """What came of it: the frame mapped, its maps by name, and what to tell of the source."""

    frame: int
    maps: dict[str, NDArray[np.float64]]
    notice: str | None  # why the source broke off, if it did
    ended: str | None  # name of a source that ended sooner than asked for


def draw_map(job: Job, path: Path, radius: int | None, *, watch: Watch, halt: Halt) -> Mapped | None:
    """Follow the target of a job to its last frame and write the picture; None, and nothing written, if halted."""
    job.check()
    check_picture_path(path)
    if radius is not None:
        check_radius(radius)
    maps: dict[str, NDArray[np.float64]] = {}
    with open_source(job.source) as source:
        _check_outside(path, job.source)
        tracker, frame = _follow_one(job, source, watch, halt)
        radius = radius or usual_radius(tracker.box)
        for name, metric in (("without metric", False), ("with metric", True)):
            if halt.asked:
                return None
            watch(Progress("mapping"))
            maps[name] = confidence_map(tracker, frame.image, radius, metric=metric)
    if halt.asked:
        return None
    save_picture(path, draw_confidence(frame.image, tracker.box, maps, title=f"frame {frame.index}"))
    sooner = job.stop is not None and frame.index + 1 < job.stop
    return Mapped(frame.index, maps, source.notice if source.ended_early else None, source.name if sooner else None)


def save_picture(path: Path, picture: Frame) -> None:
    """Write a picture in one step, in the format that its name asks for."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_picture(path, picture)
    except OSError as error:
        raise ValueError(f"path must be a picture that can be written, got {str(path)!r} ({error})") from None


def check_picture_path(path: Path) -> None:
    """Refuse a name under which no picture can be written, without touching anything."""
    if path.suffix.lower() not in PICTURE_FORMATS:
        raise ValueError(f"path must be a picture ending in {', '.join(PICTURE_FORMATS)}, got {str(path)!r}")
    if path.is_dir():
        raise ValueError(f"path must be a picture, but {str(path)!r} is a folder")
    parent = next(each for each in path.absolute().parents if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ValueError(f"path must be a picture that can be written, but {str(parent)!r} does not allow it")


def _follow_one(job: Job, source: Source, watch: Watch, halt: Halt) -> tuple[Tracker, VideoFrame]:
    """Follow the target to the last frame of a job; return the tracker and that frame."""
    halt.also = source.stop
    frames = islice(source, job.start, job.stop)
    frame = first_frame(frames, job, source)
    box = check_box(job.boxes[0], frame.image.shape)
    watch(Progress("compiling"))
    compile_kernels(job.config(), frame.image, box)
    tracker = Tracker(job.config(), seed=job.seed)
    tracker.init(frame.image, box)
    for done, frame in enumerate(frames, 2):
        estimate = tracker.update(frame.image)
        record = Record(frame.index, frame.time, 1, estimate.box, estimate.score, estimate.state)
        watch(Progress("tracking", done, expected_length(source, job), [record]))
        if halt.asked:
            break
    return tracker, frame


def _check_outside(path: Path, source: str) -> None:
    """Refuse to write over the source, or into a folder of images, where the picture would be one of them."""
    taken = {Path(each).resolve() for each in ([source] if Path(source).exists() else glob(source, recursive=True))}
    if taken & {path.resolve(), path.resolve().parent}:
        raise ValueError(f"path must lie outside the source, got {str(path)!r}")
