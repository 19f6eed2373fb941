"""A run in the studio: a thread that reads frames, drives a session, and does what pages ask between two frames.

Everything that touches the session happens in that thread, so that nothing needs a lock. A run that is paused or over
keeps its trackers: it can be looked into, corrected at any frame and taken on from there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import Any

from metrack.arrays import Frame
from metrack.frames import Source, VideoFrame, open_source
from metrack.frames.formats import Record
from metrack.identity import Gallery
from metrack.runs.checkpoint import Checkpoint
from metrack.runs.events import Event
from metrack.runs.job import Job
from metrack.runs.opening import first_frame
from metrack.runs.session import Session
from metrack.runs.summary import DONE, ENDED_EARLY, FAILED, INTERRUPTED, RUNNING, status_of
from metrack.studio.media import RECORDING
from metrack.studio.pictures import Picture
from metrack.studio.reading import Feed
from metrack.studio.threads import RequestQueue, Result, RunQueue

STARTING, QUEUED, PAUSED = "starting", "queued", "paused"
POLL = 0.05  # seconds between looks at whether it is one's turn
SLOWEST = 1.0  # frames a second, where a source says nothing sensible
Opened = tuple[Source, Iterator[VideoFrame]]


class RunThread:
    """One job followed for pages to watch.

    In the run's thread, ``moved`` is called whenever there is something new to see, and ``rested`` when there is
    nothing to do until somebody asks for something. ``path`` is where the source is on disk, None for a camera;
    ``opened`` is a source that is open already, with the frames to take; ``session`` is None until the run has begun.
    """

    def __init__(
        self,
        job: Job,
        folder: Path,
        path: Path | None,
        queue: RunQueue,
        gallery: Gallery | None,
        *,
        fast: bool = True,
        opened: Opened | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.job, self.folder, self.fast = job, folder, fast
        self.session: Session | None = None
        self.picture: Picture | None = None
        self.moved: Callable[[], None] = lambda: None
        self.rested: Callable[[], None] = lambda: None
        self.gone = False  # put away: only its folder knows it now
        self.explained: dict[str, bytes] = {}  # pictures that explain an estimate, by name
        self._path, self._queue, self._gallery = path, queue, gallery
        self._opened, self._checkpoint = opened, checkpoint
        self._failure: tuple[str, str | None] | None = None  # how a run ended before it began
        self._going, self._closed, self._reason_to_close = True, False, ""
        self._requests = RequestQueue("This run was put away; open it again.")
        self._feed = Feed(path)
        self._source: Source | None = None
        self._due = 0.0  # when the next frame is, at the speed of the video
        self._thread = threading.Thread(target=self._work, name=f"run {folder.name}", daemon=True)

    # requests, from any thread

    def start(self) -> None:
        """Begin to work."""
        self._queue.enter(self)  # now, so that runs get their turns in the order in which they were asked for
        self._thread.start()

    def ask(self, action: Callable[[], Result]) -> Future[Result]:
        """Have something done in the run's thread, between two frames."""
        return self._requests.add(action)

    def pause(self) -> Future[None]:
        """Stand still after the frame in hand."""
        self._going = False
        return self.ask(self._save)

    def go(self) -> Future[None]:
        """Go on."""
        return self.ask(self._go)

    def step(self) -> Future[None]:
        """Follow one more frame, then stand still."""
        return self.ask(self._step)

    def stop(self) -> Future[None]:
        """End here and keep what there is."""
        self._going = False
        return self.ask(lambda: self._finish(INTERRUPTED, self.notice))

    def correct(self, number: int, target: int, box: list[float]) -> Future[None]:
        """Take another box for the target from a frame on."""
        self._going = False
        return self.ask(lambda: self._correct(number, target, box))

    def undo(self) -> Future[None]:
        """Take the last correction back."""
        self._going = False
        return self.ask(self._undo)

    def put_away(self) -> None:
        """End the thread because newer runs need the room, and tell those who watch."""
        self.close("put away to make room for newer runs")
        self.gone = True
        self.moved()

    def close(self, reason: str = "the studio was closed") -> None:
        """End the thread; a run that is not over can be taken up later."""
        self._reason_to_close = reason
        self._closed = self._going = True
        self.ask(lambda: None)
        if self._source is not None:
            self._source.stop()
        self._thread.join(timeout=10)

    # how the run stands, for any thread

    @property
    def state(self) -> str:
        """Say in one word how the run stands."""
        if self.over is not None:
            return self.over
        if not self._going:
            return PAUSED
        if self._queue.place(self) != 0:
            return QUEUED
        return STARTING if self.session is None else RUNNING

    @property
    def over(self) -> str | None:
        """How the run ended, None where it has not."""
        return self.session.over if self.session is not None else self._failure and self._failure[0]

    @property
    def notice(self) -> str | None:
        """What to tell about that."""
        return self.session.notice if self.session is not None else self._failure and self._failure[1]

    @property
    def live(self) -> bool:
        """Whether it follows something that does not wait."""
        return self._path is None

    @property
    def resting(self) -> bool:
        """Whether there is nothing to do until somebody asks for something."""
        return self.over is not None or not self._going

    @property
    def unrecoverable(self) -> bool:
        """Whether nothing on disk could bring back what is not over yet."""
        return self.over is None and (self.live or self.session is None)

    @property
    def revision(self) -> int:
        """Grows when frames that pages know have changed."""
        return 0 if self.session is None else self.session.revision

    @property
    def events(self) -> list[Event]:
        """The events of all frames so far."""
        return [] if self.session is None else self.session.events

    def records(self, begin: int) -> list[list[Record]]:
        """Return the records of all targets, frame by frame, from a position on."""
        return [] if self.session is None else self.session.records(begin)

    def status(self) -> dict[str, Any]:
        """Tell pages how the run stands."""
        session = self.session
        followed = 0 if session is None else session.followed - session.followed_before
        return {
            **status_of(self.job, session),
            "state": self.state,
            "before": max(self._queue.place(self), 0),
            "work": 0.0 if session is None else round(1000 * session.worked / max(followed, 1), 2),
            "notice": self.notice,
            "fast": self.fast,
            "live": self.live,
        }

    # the run's own thread

    def _work(self) -> None:
        try:
            while not self._closed:
                if self.resting:
                    self._queue.leave(self)
                    self.rested()
                if self._requests.process(self._patience()):
                    self.moved()
                if not self._closed and not self.resting and self._queue.enter(self):
                    self._advance()
        finally:
            self._queue.leave(self)
            self._requests.close()  # first: what follows fails where the disk is full
            self._let_go()

    def _patience(self) -> float | None:
        """Return how long to wait for a request: for ever when there is nothing else to do."""
        if self.resting:
            return None
        if not self._queue.enter(self):
            return POLL
        return max(self._due - time.monotonic(), 0.0)

    def _advance(self) -> None:
        try:
            if self.session is None:
                self._begin()
            else:
                self._take_next(self.session)
        except (ValueError, OSError) as error:
            sentence = str(error) if self._path is None else str(error).replace(str(self._path), self._path.name)
            self._finish(FAILED if self.session is None else ENDED_EARLY, sentence)
        except Exception as error:  # a bug of ours must not leave a page waiting for ever
            self._finish(FAILED, f"{type(error).__name__}: {error}")
            raise
        finally:
            self.moved()

    def _begin(self) -> None:
        self._source, frames = self._opened or self._open()
        if self._checkpoint is None:
            self._feed.start(frames, self._source, self.folder / RECORDING)
            first = first_frame(self._feed, self.job, self._source)
        else:
            first = self._feed.frame(self.job.start)
        known, start = self._gallery, self._checkpoint
        session = Session(self.job, self.folder, self._source, first, gallery=known, checkpoint=start, correctable=True)
        session.compile()
        session.begin()
        self.job, self.session = session.job, session
        if self._checkpoint is None:
            self._show(session, first)
        else:
            self._go_back_to_newest(session)

    def _open(self) -> Opened:
        source = open_source(self.job.source)
        return source, islice(source, self.job.start, self.job.stop)

    def _take_next(self, session: Session) -> None:
        frame = next(self._feed, None)
        if frame is None:
            self._finish(ENDED_EARLY if session.source.ended_early else DONE, session.source.notice)
            return
        session.step(frame)
        self._show(session, frame)
        if not self.fast and not self.live:
            self._due = max(self._due, time.monotonic() - 1) + 1 / max(session.source.fps, SLOWEST)

    def _show(self, session: Session, frame: VideoFrame) -> None:
        now = [track.info if track.records[-1].frame == frame.index else None for track in session.tracks]
        self.picture = Picture(frame, now)

    def _go(self) -> None:
        if self.over not in (None, INTERRUPTED):
            raise ValueError("This run is over; correct a box, or start another.")
        if self.live and self.over is not None:
            raise ValueError("A camera that was stopped cannot be taken up again; start another run.")
        self._failure, self._going, self._due = None, True, 0.0
        if self.session is not None:
            self.session.reopen()

    def _step(self) -> None:
        if self.over is not None:
            raise ValueError("This run is over; there is no next frame to follow.")
        self._going = False
        self._take_next(self.begun())

    def _correct(self, number: int, target: int, box: list[float]) -> None:
        session = self.begun()
        session.check_correction(number, target)
        session.correct(self._fetch(number), target, box)
        self._go_back_to_newest(session)

    def _undo(self) -> None:
        session = self.begun()
        session.undo()
        self._go_back_to_newest(session)

    def begun(self) -> Session:
        """Return the session, or say that there is none yet."""
        if self.session is None:
            raise ValueError("This run has not begun yet.")
        return self.session

    def _go_back_to_newest(self, session: Session) -> None:
        """Show the newest frame that all targets have been followed through, and read on from there."""
        if not self.live:
            self._feed.seek(session.newest + 1, self.job.stop)
        self._show(session, self._fetch(session.newest))

    def _fetch(self, number: int) -> VideoFrame:
        picture = self.picture
        if picture is not None and picture.frame.index == number:
            return picture.frame
        return self._feed.frame(number)

    def image_of(self, number: int) -> Frame:
        """Return a frame of the source; only in the run's thread."""
        return self._fetch(number).image

    def _save(self) -> None:
        if self.session is not None:
            self.session.checkpoint()

    def _finish(self, status: str, notice: str | None) -> None:
        if self.over is not None:
            return
        if self.session is None:
            self._failure = status, notice
        else:
            self.session.finish(status, notice or self.session.source.notice)
            self.session.drop_checkpoint()
        if self.live:
            self._switch_off()

    def _switch_off(self) -> None:
        """Let go of the source, and finish what was recorded of a camera."""
        self._feed.close()
        if self._source is not None:
            self._source.close()

    def _let_go(self) -> None:
        try:
            if self.session is not None:
                self._finish(INTERRUPTED, self._reason_to_close)
        finally:
            self._switch_off()
            if self.session is not None:
                self.session.close()
