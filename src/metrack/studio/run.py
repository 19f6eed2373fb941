"""A run under way: a thread that decodes, follows and writes, and obeys what pages ask of it.

Everything that touches the trackers happens in that thread, one wish after another between two frames, so that
nothing needs a lock but what pages read. A run that is paused or over keeps its trackers: it can be looked into,
corrected at any frame and taken on from there. A correction replaces the track of one target from that frame on; the
other targets are not followed again, their records are taken from memory until the corrected one has caught up.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import check_box
from metrack.frames import Source, VideoFrame, VideoWriter, open_source
from metrack.frames.formats import Record
from metrack.identity import Gallery
from metrack.runs.events import Event, Witness
from metrack.runs.job import SECONDS_BETWEEN_CHECKPOINTS, Job, compile_kernels, expected_length, first_frame
from metrack.runs.results import PAGE, PICTURES, VIDEO, Checkpoint, ResultFolder, discard_checkpoint, write_summary
from metrack.studio.ahead import Ahead
from metrack.studio.library import RECORDING, plainly
from metrack.studio.reader import Reader
from metrack.studio.shot import Picture, Shot
from metrack.studio.summing_up import Outcome, summary
from metrack.studio.track import Track
from metrack.studio.turns import Turns
from metrack.studio.wishes import Result, Wishes
from metrack.tracking.several import MultiTracker

STARTING, QUEUED, RUNNING, PAUSED = "starting", "queued", "running", "paused"
DONE, STOPPED, ENDED_EARLY, FAILED = "done", "interrupted", "ended early", "failed"
MOST_UNDONE = 20
LOOK = 0.05  # seconds between looks at whether it is one's turn


class Run:
    """One job followed for pages to watch.

    ``epoch`` grows when frames that pages know have changed. In the run's thread, ``moved`` is called whenever there is
    something new to see, and ``rested`` when there is nothing to do until somebody asks for something.
    """

    def __init__(
        self, job: Job, folder: Path, path: Path | None, turns: Turns, gallery: Gallery | None, *, fast: bool = True
    ) -> None:
        self.job, self.folder, self.fast = job, folder, fast
        self._path, self._turns, self._gallery = path, turns, gallery
        self.lock = threading.Lock()
        self.tracks: list[Track] = []
        self.events: list[Event] = []
        self.picture: Picture | None = None
        self.epoch = 0
        self.moved: Callable[[], None] = lambda: None
        self.rested: Callable[[], None] = lambda: None
        self.gone = False  # put away: only its folder knows it now
        self.corrections: list[dict[str, Any]] = []
        self.explained: dict[str, bytes] = {}  # pictures that explain an estimate, by name
        self.total: int | None = None
        self.over: str | None = None
        self.notice: str | None = None
        self.busy, self.followed = 0.0, 0  # seconds by the clock and frames of tracking
        self.worked = 0.0  # seconds of a processor in this session
        self._followed_before = 0  # frames, in earlier sessions
        self._replaced: list[tuple[int, Track]] = []
        self._going, self._closed, self._begun = True, False, False
        self._reason_to_close = ""
        self._wishes = Wishes("This run was put away; open it again.")
        self._witness = Witness()
        self._frames: Iterator[VideoFrame] = iter(())
        self._source: Source | None = None
        self._reader: Reader | None = None
        self._results: ResultFolder | None = None
        self._recording: VideoWriter | None = None
        self._saved_at, self._due = float("-inf"), 0.0
        self._checkpoint: Checkpoint | None = None
        self._team: MultiTracker | None = None  # all trackers together; None while some are behind
        self._given: tuple[Source, Iterator[VideoFrame]] | None = None
        self._checksum = 0  # of the first frame
        self._thread = threading.Thread(target=self._work, name=f"run {folder.name}", daemon=True)

    # what pages may ask, from any thread

    def start(self) -> None:
        """Begin to work."""
        self._turns.take(self)  # now, so that runs get their turns in the order in which they were asked for
        self._thread.start()

    def ask(self, action: Callable[[], Result]) -> Future[Result]:
        """Have something done in the run's thread, between two frames."""
        return self._wishes.add(action)

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
        return self.ask(lambda: self._finish(STOPPED, self.notice))

    def correct(self, number: int, target: int, box: tuple[float, float, float, float]) -> Future[None]:
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

    @property
    def state(self) -> str:
        """Say in one word how the run stands."""
        if self.over is not None:
            return self.over
        if not self._going:
            return PAUSED
        if self._turns.place(self) != 0:
            return QUEUED
        return RUNNING if self._begun else STARTING

    @property
    def position(self) -> int:
        """How many frames every target has been followed through."""
        return min((len(track.records) for track in self.tracks), default=0)

    @property
    def live(self) -> bool:
        """Whether it follows something that does not wait."""
        return self._path is None

    @property
    def resting(self) -> bool:
        """Whether there is nothing to do until somebody asks for something."""
        return self.over is not None or not self._going

    @property
    def irretrievable(self) -> bool:
        """Whether nothing on disk could bring back what is not over yet."""
        return self.over is None and (self.live or not self._begun)

    @property
    def can_undo(self) -> bool:
        """Whether there is a correction to take back."""
        return bool(self._replaced)

    def status(self) -> dict[str, Any]:
        """Tell pages how the run stands."""
        return {
            "state": self.state,
            "before": max(self._turns.place(self), 0),
            "start": self.job.start,
            "frames": self.position,
            "total": self.total,
            "fps": round(self.followed / self.busy, 1) if self.busy > 0 else None,
            "work": round(1000 * self.worked / max(self.followed - self._followed_before, 1), 2),
            "notice": self.notice,
            "corrections": list(self.corrections),
            "can_undo": self.can_undo,
            "fast": self.fast,
            "live": self.live,
            "size": None if self._source is None else list(self._source.size),
        }

    def records(self, begin: int) -> list[list[Record]]:
        """Return the records of all targets, frame by frame, from a position on."""
        with self.lock:
            return [[track.records[n] for track in self.tracks] for n in range(begin, self.position)]

    # the run's own thread

    def _work(self) -> None:
        try:
            while not self._closed:
                if self.resting:
                    self._turns.leave(self)
                    self.rested()
                if self._wishes.obey(self._patience()):
                    self.moved()
                if not self._closed and not self.resting and self._turns.take(self):
                    self._advance()
        finally:
            self._turns.leave(self)
            self._put_away()
            self._wishes.close()

    def _patience(self) -> float | None:
        """Say how long to wait for a wish: for ever when there is nothing else to do."""
        if self.resting:
            return None
        if not self._turns.take(self):
            return LOOK
        return max(self._due - time.monotonic(), 0.0)

    def _advance(self) -> None:
        try:
            if not self._begun:
                self._begin()
            else:
                self._take_next()
        except (ValueError, OSError) as error:
            sentence = str(error) if self._path is None else plainly(str(error), self._path)
            self._finish(ENDED_EARLY if self.tracks and self.position else FAILED, sentence)
        except Exception as error:  # a bug of ours must not leave a page waiting for ever
            self._finish(FAILED, f"{type(error).__name__}: {error}")
            raise
        finally:
            self.moved()

    def _begin(self) -> None:
        self._source, frames = self._opening()
        if self._checkpoint is not None:
            self._resume(self._checkpoint)
            self._begun = True
            return
        self._read_on(frames)
        first = first_frame(self._frames, self.job, self._source)
        boxes = [check_box(box, first.image.shape) for box in self.job.boxes]
        self.job = replace(self.job, boxes=[box.to_xywh() for box in boxes])
        self._checksum = zlib.crc32(first.image.tobytes())
        compile_kernels(self.job.config(), first.image, boxes[0])
        self.total = expected_length(self._source, self.job)
        self._results = ResultFolder.create(self.folder, len(boxes), self.job.formats)
        if self.live:
            self._recording = VideoWriter(self.folder / RECORDING, self._source.size, self._source.fps)
        self._team = MultiTracker(self.job.config(), seed=self.job.seed, gallery=self._gallery)
        tracks = [self._new_track(first, box) for box in boxes]
        with self.lock:
            self.tracks, self._begun = tracks, True
        self._summarise("running", None)
        self._written(first)

    def _new_track(self, first: VideoFrame, box: Box) -> Track:
        assert self._team is not None
        target = self._team.add(first.image, box)
        track = Track(target, self._team.trackers[target])
        track.began(first, box)
        return track

    def _opening(self) -> tuple[Source, Iterator[VideoFrame]]:
        if self._given is not None:
            return self._given
        source = open_source(self.job.source)
        return source, islice(source, self.job.start, self.job.stop)

    def take_over(self, source: Source, frames: Iterator[VideoFrame]) -> None:
        """Follow through a source that is open already; to be called before :meth:`start`."""
        self._given = (source, frames)

    def resume_from(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint instead of from the first frame; to be called before :meth:`start`."""
        self._checkpoint = checkpoint

    def _resume(self, checkpoint: Checkpoint) -> None:
        assert self._source is not None
        self._team = checkpoint.tracker(self.folder, self._gallery)
        trackers = list(self._team.trackers.values())
        self.total, self._checksum = expected_length(self._source, self.job), checkpoint.first_frame
        self._results, records = self._reopened(checkpoint.frames)
        by_target = [records[n :: len(trackers)] for n in range(len(trackers))]
        with self.lock:
            self.tracks = [Track(n, *each) for n, each in enumerate(zip(trackers, by_target, strict=True), 1)]
            self.busy, self.followed = checkpoint.busy, max(checkpoint.frames - 1, 0)
            self._followed_before = self.followed
        self._retell()
        self._show(self._fetch(self.job.start + self.position - 1))

    def _take_next(self) -> None:
        frame = next(self._frames, None)
        if frame is None:
            assert self._source is not None
            self._finish(ENDED_EARLY if self._source.ended_early else DONE, self._source.notice)
            return
        started, worked = time.perf_counter(), time.thread_time()
        self._follow(frame)
        self.busy += time.perf_counter() - started
        self.worked += time.thread_time() - worked
        self.followed += 1
        self._written(frame)
        if not self.fast and not self.live:
            self._due = max(self._due, time.monotonic() - 1) + 1 / max(self._source.fps if self._source else 25.0, 1)

    def _follow(self, frame: VideoFrame) -> None:
        """Follow all targets together, or only those that have to catch up with the others."""
        behind = [track for track in self.tracks if track.records[-1].frame < frame.index]
        if len(behind) < len(self.tracks):
            self._team = None
            for track in behind:
                track.found(frame, track.tracker.update(frame.image))
            return
        self._team = self._together()
        for track, estimate in zip(self.tracks, self._team.update(frame.image).values(), strict=True):
            track.found(frame, estimate)

    def _together(self) -> MultiTracker:
        return self._team or MultiTracker.of({track.target: track.tracker for track in self.tracks})

    def _written(self, frame: VideoFrame) -> None:
        """Put a frame that all targets have been followed through on disk, and show it."""
        assert self._results is not None
        records = [track.records[frame.index - self.job.start] for track in self.tracks]
        self._results.add(records)
        self.events.extend(self._witness.take(records))
        if self._recording is not None:
            self._recording.write(frame.image, frame.time)
        if time.monotonic() - self._saved_at > SECONDS_BETWEEN_CHECKPOINTS:
            self._save()
        self._show(frame)

    def _show(self, frame: VideoFrame) -> None:
        infos = (track.info if track.records[-1].frame == frame.index else None for track in self.tracks)
        self.picture = Picture(Shot(frame, tuple(infos)))

    def _go(self) -> None:
        if self.over not in (None, STOPPED):
            raise ValueError("This run is over; correct a box, or start another.")
        if self.live and self.over is not None:
            raise ValueError("A camera that was stopped cannot be taken up again; start another run.")
        self.over, self._going, self._due = None, True, 0.0
        self._reopen()

    def _step(self) -> None:
        if self.over is not None:
            raise ValueError("This run is over; there is no next frame to follow.")
        if not self._begun:
            raise ValueError("This run has not begun yet.")
        self._going = False
        self._reopen()
        self._take_next()

    def _correct(self, number: int, target: int, box: tuple[float, float, float, float]) -> None:
        self._check_correction(number, target)
        frame = self._fetch(number)
        track = self.tracks[target - 1]
        new = track.corrected(self.job, self._gallery, frame, check_box(box, frame.image.shape))
        self._replaced = [*self._replaced, (number, track)][-MOST_UNDONE:]
        self.corrections.append({"frame": number, "target": target, "box": list(new.records[-1].box.to_xywh())})
        self._swap(new, number)

    def _undo(self) -> None:
        if not self._replaced:
            raise ValueError("There is no correction to take back.")
        number, track = self._replaced[-1]
        if self.live and number != self._newest:
            raise ValueError("A camera shows only the present: this correction can no longer be taken back.")
        self._replaced.pop()
        self.corrections.pop()
        self._swap(track, number)

    def _check_correction(self, number: int, target: int) -> None:
        if not self.tracks:
            raise ValueError("This run has not begun yet, so there is nothing to correct.")
        if not 1 <= target <= len(self.tracks):
            raise ValueError(f"There is no target {target} in this run.")
        if not self.job.start <= number <= self._newest:
            raise ValueError(f"Only frames {self.job.start} to {self._newest} have been followed, not {number}.")
        if self.live and number != self._newest:
            raise ValueError("A camera shows only the present: correct the newest frame.")

    @property
    def _newest(self) -> int:
        return self.job.start + self.position - 1

    def _swap(self, track: Track, number: int) -> None:
        """Put a track in the place of another that differs from it from a frame on, and go back to where both agree."""
        self._team = None
        with self.lock:
            self.tracks[track.target - 1] = track
            self.epoch += 1
        place = number - self.job.start
        self._close_files()
        for outdated in (VIDEO, PAGE, *PICTURES):
            (self.folder / outdated).unlink(missing_ok=True)
        self._results, _ = self._reopened(place)
        for n in range(place, self.position):
            self._results.add([track.records[n] for track in self.tracks])
        self._retell()
        self.over, self.notice = None, None
        discard_checkpoint(self.folder)  # what it kept is no longer so
        self._save()
        self._summarise("running", None)
        self._show(self._fetch(self._newest))

    def _retell(self) -> None:
        """Tell the events of all frames anew, and read on from the frame after them."""
        self._witness = Witness()
        told: list[Event] = []
        for records in self.records(0):
            told.extend(self._witness.take(records))
        self.events = told
        if not self.live:
            stop = None if self.job.stop is None else self.job.stop - self._newest - 1
            self._read_on(islice(self._recorded().frames_from(self._newest + 1), stop))

    def _reopen(self) -> None:
        """Open the files again that were closed when the run was over."""
        if self._begun and self._results is None:
            self._results, _ = self._reopened(self.position)

    def _reopened(self, frames: int) -> tuple[ResultFolder, list[Record]]:
        return ResultFolder.reopen(self.folder, len(self.job.boxes), frames, self.job.formats)

    def _read_on(self, frames: Iterator[VideoFrame]) -> None:
        """Take frames from here on; of a recording, some are decoded ahead."""
        self._stop_reading()
        self._frames = frames if self.live else Ahead(frames)

    def _stop_reading(self) -> None:
        if isinstance(self._frames, Ahead):
            self._frames.close()

    def _recorded(self) -> Reader:
        assert self._path is not None
        self._reader = self._reader or Reader(self._path)
        return self._reader

    def _fetch(self, number: int) -> VideoFrame:
        picture = self.picture
        if picture is not None and picture.shot.frame.index == number:
            return picture.shot.frame
        return self._recorded().frame(number)

    def image_of(self, number: int) -> Frame:
        """Return a frame of the source; only in the run's thread."""
        return self._fetch(number).image

    def _save(self) -> None:
        """Keep a checkpoint, unless targets are still catching up or the source cannot be read again."""
        self._saved_at = time.monotonic()
        even = all(len(track.records) == self.position for track in self.tracks)
        if self._begun and even and not self.live and self.over is None:
            point = Checkpoint(job=self.job.to_dict(), frames=self.position, busy=self.busy, first_frame=self._checksum)
            self._team = self._together()
            point.save(self.folder, self._team)

    def _finish(self, status: str, notice: str | None) -> None:
        if self.over is not None:
            return
        if status == STOPPED:
            self._save()
        elif status in (DONE, ENDED_EARLY):
            discard_checkpoint(self.folder)
        self._close_files()
        if self.live:
            self._switch_off()
        self.over, self.notice = status, notice
        if self.tracks:
            self._summarise(status, notice)

    def _close_files(self) -> None:
        if self._results is not None:
            self._results.close()
            self._results = None

    def _switch_off(self) -> None:
        """Let go of a camera, and finish what was recorded of it."""
        if self._recording is not None:
            self._recording.close()
            self._recording = None
        if self._source is not None:
            self._source.close()

    def _put_away(self) -> None:
        if self.over is None and self.tracks:
            self._finish(STOPPED, self._reason_to_close)
        self._stop_reading()
        self._switch_off()
        if self._reader is not None:
            self._reader.close()

    def _summarise(self, status: str, notice: str | None) -> None:
        assert self._source is not None
        outcome = Outcome(status, notice, self.corrections, self.followed / self.busy if self.busy > 0 else None)
        write_summary(self.folder, summary(self.job, self._source, self._gallery, self.records(0), outcome))
