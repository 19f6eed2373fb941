"""The main job: follow the targets of a source from their first boxes and keep the results.

Everything that can be wrong with the input is found before the result folder is made. From then on every
frame is on disk before the next one is read, and the trackers are saved every few seconds, so that a run can
be taken up again where it was stopped, and gives the boxes it would have given.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import check_box, did_you_mean
from metrack.config import TrackerConfig, preset
from metrack.draw.marks import Mark, draw
from metrack.estimate import Estimate
from metrack.frames import Source, VideoFrame, VideoWriter, open_source
from metrack.frames.base import without_password
from metrack.frames.formats import FORMATS, Record
from metrack.frames.sink import h264_encoder
from metrack.identity import Gallery, Identifier
from metrack.runs.results import (
    VIDEO,
    Checkpoint,
    ResultFolder,
    Tally,
    check_folder,
    discard_checkpoint,
    write_summary,
)
from metrack.tracking.several import MultiTracker
from metrack.tracking.tracker import Tracker

SECONDS_BETWEEN_CHECKPOINTS = 5.0
MAY_DIFFER = {
    "source",
    "stop",
    "video",
}  # between a run and its resumption; other options may be left out but not changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to follow, and how; frames count from 0, ``stop`` is the first one left out."""

    source: str
    boxes: Sequence[Sequence[float]]
    preset: str = "default"
    changes: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    start: int = 0
    stop: int | None = None
    video: bool = True
    gallery: str | None = None
    formats: Sequence[str] = ()

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
        """Refuse what no source could make right."""
        self.config()
        if not self.boxes:
            raise ValueError("--box must be given at least once, as X,Y,W,H in pixels of the first frame")
        if self.video and h264_encoder() is None:
            raise ValueError("--no-video must be given, because this build of PyAV has no H.264 encoder")
        if self.seed < 0:
            raise ValueError(f"--seed must be 0 or more, got {self.seed}")
        if self.start < 0:
            raise ValueError(f"--start must be 0 or more, got {self.start}")
        for name in self.formats:
            if name not in FORMATS:
                raise ValueError(f"--format must be a known one, got {name!r}{did_you_mean(name, FORMATS)}")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(f"--stop must come after --start {self.start}, got {self.stop}")

    @classmethod
    def again(cls, saved: Mapping[str, Any], wishes: Mapping[str, Any]) -> Self:
        """Return the job of an interrupted run; options that are given once more must say the same."""
        for name, value in wishes.items():
            if name not in MAY_DIFFER and value != saved[name]:
                option = {"boxes": "box", "changes": "set", "formats": "format"}.get(name, name)
                raise ValueError(f"--resume goes on with --{option} {saved[name]} as it began, got {value}")
        return cls(**{**saved, **wishes})


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher is told: ``step`` is "compiling", "catching up" or "tracking"."""

    step: str
    done: int = 0
    total: int | None = None
    records: Sequence[Record] = ()


class Halt:
    """A wish to stop after the frame in hand; :meth:`ask` may be called from a signal handler."""

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
        job = replace(job, boxes=[check_box(box, first.image.shape).to_xywh() for box in job.boxes])
        if checkpoint is not None:
            _check_same_run(checkpoint, job, source, first)
        watch(Progress("compiling"))
        compile_kernels(job.config(), first.image, Box(*job.boxes[0]))
        if halt.asked:
            raise KeyboardInterrupt  # nothing has been written yet
        run = _Run(job, out, source, first, checkpoint, watch, gallery)
        return run.through(chain([first], frames), halt)


class _Run:
    """One job under way: it owns the tracker, the open files and the counts."""

    def __init__(
        self,
        job: Job,
        out: Path,
        source: Source,
        first: VideoFrame,
        checkpoint: Checkpoint | None,
        watch: Callable[[Progress], None],
        gallery: Gallery | None,
    ) -> None:
        self.job, self.out, self.source, self.watch = job, out, source, watch
        self.gallery = gallery
        self.checksum, self.total = _checksum(first), expected_length(source, job)
        self.frames, self.busy = 0, 0.0
        self.saved_frames, self.saved_at = 0, float("-inf")
        self.tally = Tally(len(job.boxes))
        self.earlier: list[Record] = []  # of a resumed run: shown again, not followed again
        if checkpoint is None:
            discard_checkpoint(out)
            self.results = ResultFolder.create(out, len(job.boxes), job.formats)
            self.tracker = MultiTracker(job.config(), seed=job.seed, gallery=gallery)
        else:
            self.busy, self.saved_frames = checkpoint.busy, checkpoint.frames
            self.tracker = checkpoint.tracker(out, gallery)
            self.results, self.earlier = ResultFolder.reopen(out, len(job.boxes), checkpoint.frames, job.formats)
        self.video = VideoWriter(out / VIDEO, source.size, source.fps) if job.video else None
        write_summary(out, self.summary("running", None))

    def through(self, frames: Iterable[VideoFrame], halt: Halt) -> dict[str, Any]:
        """Follow the targets to the end, or until asked to halt, or until the source fails."""
        try:
            for frame in frames:
                self._take(frame)
                if halt.asked:
                    break
        except (OSError, ValueError) as error:
            self._finish("ended early", str(error))
            raise
        if halt.asked:
            self._save()
            return self._finish("interrupted", self.source.notice)
        if self.frames >= self.saved_frames:
            discard_checkpoint(self.out)
        return self._finish("ended early" if self.source.ended_early else "done", self.source.notice)

    def _take(self, frame: VideoFrame) -> None:
        begin = self.frames * len(self.job.boxes)
        records = self.earlier[begin : begin + len(self.job.boxes)]
        step = "catching up" if records else "tracking"
        if not records:
            records = self._track(frame)
            self.results.add(records)
        self.frames += 1
        self.tally.add(records)
        if self.video is not None:
            marks = [Mark(each.box, each.target, each.score, each.state, name=each.identity) for each in records]
            self.video.write(draw(frame.image, marks), frame.time)
        if time.monotonic() - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS:
            self._save()
        self.watch(Progress(step, self.frames, self.total, records))

    def _track(self, frame: VideoFrame) -> list[Record]:
        if self.frames == 0:
            return [self._add(frame, Box(*box)) for box in self.job.boxes]
        started = time.perf_counter()
        estimates = self.tracker.update(frame.image)
        self.busy += time.perf_counter() - started
        return [record_of(frame, target, each) for target, each in estimates.items()]

    def _add(self, frame: VideoFrame, box: Box) -> Record:
        return Record(frame.index, frame.time, self.tracker.add(frame.image, box), box, 1.0, "tracking")

    def _save(self) -> None:
        """Keep a checkpoint, unless there is one of this frame or, while catching up, of a later one."""
        self.saved_at = time.monotonic()
        if self.frames > self.saved_frames and not self.source.live:
            point = Checkpoint(job=self.job.to_dict(), frames=self.frames, busy=self.busy, first_frame=self.checksum)
            point.save(self.out, self.tracker)
            self.saved_frames = self.frames

    def _finish(self, status: str, notice: str | None) -> dict[str, Any]:
        self.results.close()
        if self.video is not None:
            self.video.close()
        summary = self.summary(status, notice)
        write_summary(self.out, summary)
        return summary

    def summary(self, status: str, notice: str | None) -> dict[str, Any]:
        """Say what was asked for and what came of it."""
        usual = preset(self.job.preset).to_dict()
        frames = max(self.frames, self.saved_frames)
        return {
            "version": version("metrack"),
            "status": status,
            "notice": notice,
            "source": without_password(self.job.source),
            "live": self.source.live,
            "size": list(self.source.size),
            "fps": self.source.fps,
            "start": self.job.start,
            "stop": self.job.stop,
            "frames": frames,
            "targets": self.tally.targets(self.job.boxes),
            "preset": self.job.preset,
            "changed": {k: v for k, v in self.job.config().to_dict().items() if v != usual[k]},
            "seed": self.job.seed,
            "gallery": known_in(self.job, self.gallery),
            "tracker_fps": round((frames - 1) / self.busy, 2) if self.busy > 0 else None,
        }


def first_frame(frames: Iterator[VideoFrame], job: Job, source: Source) -> VideoFrame:
    """Read the frame that the boxes are on."""
    first = next(frames, None)
    if first is None:
        count = "fewer" if source.frames is None else source.frames
        raise ValueError(f"--start must be a frame of {source.name}, which has {count} frames, got {job.start}")
    return first


def _check_same_run(checkpoint: Checkpoint, job: Job, source: Source, first: VideoFrame) -> None:
    if source.live:
        raise ValueError(f"--resume needs a recording, but {source.name} is live")
    if job.stop is not None and job.stop - job.start < checkpoint.frames:
        raise ValueError(f"--stop must leave the {checkpoint.frames} frames followed so far, got {job.stop}")
    if checkpoint.first_frame != _checksum(first):
        raise ValueError(f"--resume needs the SOURCE it began with, but {source.name} begins with another frame")


def _checksum(frame: VideoFrame) -> int:
    return zlib.crc32(frame.image.tobytes())


def expected_length(source: Source, job: Job) -> int | None:
    """Tell how many frames there will be, where that can be known."""
    ends = [end for end in (source.frames, job.stop) if end is not None]
    return min(ends) - job.start if ends else None


def record_of(frame: VideoFrame, target: int, estimate: Estimate) -> Record:
    """Write down what the tracker says, and what it judges by; distances to a millionth."""
    info, who = estimate.info, estimate.identity
    return Record(
        frame.index,
        frame.time,
        target,
        estimate.box,
        estimate.score,
        estimate.state,
        identity=None if who is None else who.name,
        evidence=None if info is None else info.evidence,
        distances=None if who is None else tuple(np.round(who.distances, 6).tolist()),
    )


def known_in(job: Job, gallery: Gallery | None) -> dict[str, Any] | None:
    """Say who is known, and the mean distance beyond which somebody is not."""
    if gallery is None:
        return None
    return {"path": job.gallery, "names": list(gallery.names), "unknown_above": Identifier(gallery).limit}


def compile_kernels(config: TrackerConfig, image: Frame, box: Box) -> None:
    """Follow nothing for a moment, with little memory so that it fills up: now every kernel is compiled."""
    tracker = Tracker(config.replace({"memory.size": 8, "motion.particles": 32}))
    tracker.init(image, box)
    for _ in range(3):
        tracker.update(image)
