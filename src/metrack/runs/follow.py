"""The driver of ``metrack track``: follow the targets of a source to its end.

Everything that can be wrong with the input is found before the result folder is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from metrack.draw.marks import Mark, draw
from metrack.frames import VideoFrame, VideoWriter, open_source
from metrack.frames.formats import Record
from metrack.runs.checkpoint import Checkpoint
from metrack.runs.halt import Halt
from metrack.runs.job import Job
from metrack.runs.lock import FolderLock
from metrack.runs.opening import first_frame
from metrack.runs.report import write_page
from metrack.runs.results import VIDEO, check_folder
from metrack.runs.session import Session
from metrack.runs.summary import DONE, ENDED_EARLY, INTERRUPTED


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; ``step`` is what it does, as "compiling", "catching up" or "tracking"."""

    step: str
    done: int = 0
    total: int | None = None
    records: Sequence[Record] = ()


def follow(
    job: Job,
    out: Path,
    *,
    checkpoint: Checkpoint | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
    halt: Halt | None = None,
    leave: Callable[[Path], object] = write_page,
    lock: FolderLock | None = None,
) -> dict[str, Any]:
    """Do a job, from the beginning or from a checkpoint, and return the summary that is also on disk.

    ``leave`` writes what else belongs into the folder, usually the page. The checkpoint goes last, after all of it, so
    that whatever ends the process before can be made good by resuming. ``lock`` is that of the folder, if it is held.
    """
    job.check()
    if checkpoint is None and lock is None:
        check_folder(out)
    gallery = job.known_targets()
    halt = halt or Halt()
    with open_source(job.source) as source:
        halt.also = source.stop
        frames = islice(source, job.start, job.stop)
        first = first_frame(frames, job, source)
        session = Session(job, out, source, first, gallery=gallery, checkpoint=checkpoint, lock=lock)
        watch(Progress("compiling"))
        session.compile()
        if halt.asked:
            raise KeyboardInterrupt  # nothing has been written yet
        try:
            summary = _drive(session, chain([first], frames), watch, halt)
            leave(out)
            session.drop_checkpoint()
        finally:
            session.close()
    return summary


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
    source.stop()  # its counts stand still from here on
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
