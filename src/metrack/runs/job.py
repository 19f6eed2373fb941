"""The options of a run, and the driver of ``metrack track``: follow the targets of a source to its end.

Everything that can be wrong with the input is found before the result folder is made.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self

from metrack.checks import did_you_mean
from metrack.config import TrackerConfig, preset
from metrack.draw.marks import Mark, draw
from metrack.frames import VideoFrame, VideoWriter, open_source
from metrack.frames.base import without_password
from metrack.frames.formats import FORMATS, Record
from metrack.frames.sink import h264_encoder
from metrack.identity import Gallery
from metrack.runs.checkpoint import Checkpoint
from metrack.runs.opening import first_frame
from metrack.runs.results import VIDEO, check_folder
from metrack.runs.session import Session
from metrack.runs.summary import DONE, ENDED_EARLY, INTERRUPTED

MAY_DIFFER = {"source", "stop", "video"}  # in a resumed run; other options may be left out but not changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to follow, and how; frames count from 0, ``stop`` is the first one left out."""

    source: str
    boxes: Sequence[Sequence[float]]
    preset: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    start: int = 0
    stop: int | None = None
    video: bool = True
    gallery: str | None = None
    formats: Sequence[str] = ()

    @classmethod
    def from_summary(cls, summary: Mapping[str, Any]) -> Self:
        """Return the job that a ``summary.json`` tells of; those of earlier versions lack some keys."""
        return cls(
            source=str(summary["source"]),
            boxes=[target["box"] for target in summary["targets"]],
            preset=summary["preset"],
            changes=summary["changed"],
            seed=summary["seed"],
            start=summary["start"],
            stop=summary.get("stop"),
            gallery=(summary.get("gallery") or {}).get("path"),
            formats=summary.get("formats", ()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the options as a checkpoint keeps them."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {"boxes": [list(box) for box in self.boxes], "formats": list(self.formats)}
        return values | lists | {"source": without_password(self.source)}

    def config(self) -> TrackerConfig:
        """Return the settings of the trackers."""
        return preset(self.preset).replace(self.changes)

    def known_targets(self) -> Gallery | None:
        """Read the gallery, a file made of one or a folder of crops; None where there is none."""
        if self.gallery is None:
            return None
        path = Path(self.gallery)
        return Gallery.from_folder(path) if path.is_dir() else Gallery.load(path)

    def check(self) -> None:
        """Validate the options that do not depend on the source."""
        self.config()
        if not self.boxes:
            raise ValueError("boxes must be given, at least one, as x, y, w, h in pixels of the first frame")
        if self.video and h264_encoder() is None:
            raise ValueError("video must be False, because this build of PyAV has no H.264 encoder")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, got {self.seed}")
        if self.start < 0:
            raise ValueError(f"start must be 0 or more, got {self.start}")
        for name in self.formats:
            if name not in FORMATS:
                raise ValueError(f"formats must be known ones, got {name!r}{did_you_mean(name, FORMATS)}")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(f"stop must come after start={self.start}, got {self.stop}")

    @classmethod
    def resumed(cls, checkpoint: Checkpoint, options: Mapping[str, Any]) -> Self:
        """Return the job of an interrupted run; options that are given once more must say the same."""
        saved = checkpoint.job
        for name, value in options.items():
            if name not in MAY_DIFFER and value != saved[name]:
                raise ValueError(f"resume goes on with {name}={saved[name]} as it began, got {value}")
        return cls(**{**saved, **options})

    @property
    def command(self) -> str:
        """The command line that does this job, with the options that differ from the usual ones."""
        options: list[tuple[str, object]] = [
            ("--box", ",".join(_shortest(float(side)) for side in box)) for box in self.boxes
        ]
        options += [("--start", self.start)] if self.start else []
        options += [("--stop", self.stop)] if self.stop is not None else []
        options += [("--preset", self.preset)] if self.preset != "default" else []
        options += [("--set", f"{name}={_shortest(value)}") for name, value in self.changes.items()]
        options += [("--seed", self.seed)] if self.seed else []
        options += [("--gallery", self.gallery)] if self.gallery else []
        options += [("--format", name) for name in self.formats]
        words = [str(word) for option in options for word in option]
        return shlex.join(["metrack", "track", self.source, *words, "-o", "out"])


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; ``step`` is what it does, as "compiling", "catching up" or "tracking"."""

    step: str
    done: int = 0
    total: int | None = None
    records: Sequence[Record] = ()


class Halt:
    """A request to stop after the frame in hand; :meth:`ask` may be called from a signal handler."""

    def __init__(self) -> None:
        self.asked = False
        self.also: Callable[[], None] = lambda: None

    def ask(self) -> None:
        """Stop soon."""
        self.asked = True
        self.also()


def follow(
    job: Job,
    out: Path,
    *,
    checkpoint: Checkpoint | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
    halt: Halt | None = None,
) -> dict[str, Any]:
    """Do a job, from the beginning or from a checkpoint, and return the summary that is also on disk."""
    job.check()
    check_folder(out)
    gallery = job.known_targets()
    halt = halt or Halt()
    with open_source(job.source) as source:
        halt.also = source.stop
        frames = islice(source, job.start, job.stop)
        first = first_frame(frames, job, source)
        session = Session(job, out, source, first, gallery=gallery, checkpoint=checkpoint)
        watch(Progress("compiling"))
        session.compile()
        if halt.asked:
            raise KeyboardInterrupt  # nothing has been written yet
        return _drive(session, chain([first], frames), watch, halt)


def _drive(
    session: Session, frames: Iterator[VideoFrame], watch: Callable[[Progress], None], halt: Halt
) -> dict[str, Any]:
    """Step through the frames to the end, or until asked to halt, or until the source fails; then sum up.

    A video is drawn from its beginning also where the run goes on from a checkpoint: the frames before it are read
    again, but not followed again.
    """
    earlier, source, done = session.begin(), session.source, 0
    known, resumed = len(earlier), session.followed > 0
    video = VideoWriter(session.folder / VIDEO, source.size, source.fps) if session.job.video else None
    failure: Exception | None = None
    try:
        for done, frame in enumerate(frames, 1):
            records = earlier[done - 1] if done <= known else session.step(frame)
            if video is not None:
                video.write(draw(frame.image, [mark_of(record) for record in records]), frame.time)
            watch(Progress("catching up" if resumed and done <= known else "tracking", done, session.total, records))
            if halt.asked:
                break
    except (OSError, ValueError) as error:
        failure = error
    if video is not None:
        video.close()
    if failure is not None:
        session.finish(ENDED_EARLY, str(failure), resumable=True)
        raise failure
    if halt.asked:
        return session.finish(INTERRUPTED, source.notice)
    return session.finish(ENDED_EARLY if source.ended_early else DONE, source.notice, resumable=done < known)


def mark_of(record: Record) -> Mark:
    """Return what is drawn of a record."""
    return Mark(record.box, record.target, record.score, record.state, name=record.identity)


def _shortest(value: object) -> str:
    """Write a value as one would type it."""
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")
