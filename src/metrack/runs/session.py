"""One run without a thread of its own: follow targets frame by frame, correct them, and keep everything on disk.

The driver reads the frames and calls :meth:`Session.step` for each: ``metrack track`` in a loop
(:func:`metrack.runs.follow.follow`), the studio in a thread. Making a session checks everything and writes nothing;
:meth:`Session.begin` makes the result folder. From then on every frame is on disk before the next one, and the trackers
are saved every few seconds, so that a run can go on where it was stopped, with the same boxes.

A correction replaces the track of one target from its frame on. The other targets are not followed again: their
records are reused until the corrected one has caught up. A kill leaves the files of the old track or of the new one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrack.box import Box
from metrack.checks import check_box
from metrack.frames import Source, VideoFrame
from metrack.frames.formats import Record, from_json_line, to_json_line
from metrack.identity import Gallery
from metrack.runs.checkpoint import Checkpoint, discard_checkpoints, drop_checkpoints
from metrack.runs.events import Event, EventDetector
from metrack.runs.lock import FolderLock
from metrack.runs.opening import checksum, compile_kernels, expected_length
from metrack.runs.results import (
    ResultFolder,
    make_folder,
    read_beginning,
    remove_outdated,
    replace_tables,
    replace_trajectory,
    trajectory_lines,
    write_summary,
)
from metrack.runs.summary import DONE, ENDED_EARLY, INTERRUPTED, RUNNING, Tally, summary_of
from metrack.runs.track import Track
from metrack.tracking.several import MultiTracker

if TYPE_CHECKING:
    from metrack.runs.job import Job

SECONDS_BETWEEN_CHECKPOINTS = 5.0
MOST_UNDONE = 20  # corrections that can be taken back


class Session:
    """A job under way in one result folder.

    Parameters
    ----------
    job : what to follow, and how
    folder : where the results go
    source, first : the open source, and its frame that the boxes are on
    gallery : known targets
    checkpoint : where to go on from, instead of from the first frame
    correctable : keep all records and events in memory, as corrections need
    lock : that of the folder, if it is held already
    """

    def __init__(
        self,
        job: Job,
        folder: Path,
        source: Source,
        first: VideoFrame,
        *,
        gallery: Gallery | None = None,
        checkpoint: Checkpoint | None = None,
        correctable: bool = False,
        lock: FolderLock | None = None,
    ) -> None:
        boxes = [check_box(box, first.image.shape) for box in job.boxes]
        self.job = replace(job, boxes=[box.to_xywh() for box in boxes])
        self.folder, self.source, self.gallery = folder, source, gallery
        self.correctable = correctable or (checkpoint is not None and any(checkpoint.ahead))
        if checkpoint is not None:
            checkpoint.check(self.job, source, first)
        self.total = expected_length(source, self.job)
        self.tracks: list[Track] = []
        self.events: list[Event] = []  # of a correctable session
        self.corrections: list[dict[str, Any]] = []
        self.revision = 0  # grows when records that were there before have changed
        self.over: str | None = None  # how it ended
        self.notice: str | None = None  # what to tell about that
        self.busy, self.worked = 0.0, 0.0  # seconds of tracking: by the clock, and of this thread's processor
        self.followed, self.followed_before = 0, 0  # frames, in all and in earlier sessions
        self.check: int | None = None  # checksum of the results, once the files are closed
        self._first, self._checkpoint, self._lock = first, checkpoint, lock or FolderLock(folder)
        self._replaced: list[tuple[int, Track]] = []
        self._detector, self._tally = EventDetector(), Tally(len(boxes))
        self._results: ResultFolder | None = None
        self._together: MultiTracker | None = None  # all trackers; None while some targets are behind
        self._saved, self._saved_at = 0, float("-inf")  # frames in the last checkpoint, and when it was made
        self._complete = False  # nothing is left to resume

    def compile(self) -> None:
        """Compile all kernels, so that no step has to."""
        compile_kernels(self.job.config(), self._first.image, Box(*self.job.boxes[0]))

    def begin(self) -> list[list[Record]]:
        """Make and lock the result folder, or go on in that of the checkpoint; return the records of all frames so far.

        The lock is held until :meth:`close`.
        """
        make_folder(self.folder)
        self._lock.acquire()
        try:
            frames = [self._begin_anew()] if self._checkpoint is None else self._resume(self._checkpoint)
            self._write_summary(RUNNING)
        except BaseException:
            self.close()
            raise
        return frames

    def step(self, frame: VideoFrame) -> list[Record]:
        """Follow all targets through the next frame and write it down; return its records."""
        started, worked = time.perf_counter(), time.thread_time()
        self._follow(frame)
        self.busy += time.perf_counter() - started
        self.worked += time.thread_time() - worked
        self.followed += 1
        records = [track.at(frame.index) for track in self.tracks]
        self._keep(records)
        return records

    def finish(self, status: str, notice: str | None, *, resumable: bool = False) -> dict[str, Any]:
        """End the run, close its files and sum it up; an interrupted one, or a resumable one, can go on later."""
        if status == INTERRUPTED:
            self.checkpoint()
        self._close_files()
        self.notice = notice
        summary = self._write_summary(status)
        self.over, self._complete = status, status in (DONE, ENDED_EARLY) and not resumable
        return summary

    def drop_checkpoint(self) -> None:
        """Remove the checkpoints of a run that is over; to be called once all its files are complete."""
        if self._complete:
            discard_checkpoints(self.folder)
            self._saved = 0

    def close(self) -> None:
        """Let go of the folder, also where the disk is full."""
        try:
            self._close_files()
        finally:
            self._lock.release()

    def reopen(self) -> None:
        """Go on after :meth:`finish`; nothing changes where the run is not over."""
        self.over, self.notice, self._complete = None, None, False
        if self._results is None:
            assert self.check is not None, "begin the session first"
            self._results = self._open_files(self.check)
            self._write_summary(RUNNING)

    def checkpoint(self) -> None:
        """Sync the results and save the trackers, unless that is done or the source cannot be read again."""
        self._saved_at = time.monotonic()
        if self.over is None and self._secure():
            drop_checkpoints(self.folder)

    def _secure(self) -> bool:
        """Have a checkpoint of the tracks as they are, if the source can be read again; return whether it was made."""
        if self.source.live or self.position == self._saved:
            return False
        if self._results is not None:
            self.check = self._results.sync()
        assert self.check is not None, "begin the session first"
        self._save_trackers(self.check)
        return True

    def _save_trackers(self, check: int) -> None:
        """Write a checkpoint that goes with the results of that checksum."""
        position = self.position
        even = all(track.count == position for track in self.tracks)
        if even:
            self._together = self._all_trackers()
        point = Checkpoint(
            job=self.job.to_dict(),
            frames=position,
            busy=self.busy,
            first_frame=checksum(self._first),
            corrections=self.corrections,
            ahead=[[to_json_line(record) for record in track.records[position:]] for track in self.tracks if not even],
            trajectory=check,
        )
        point.save(self.folder, self._all_trackers())
        self._saved = position

    def check_correction(self, number: int, target: int) -> None:
        """Refuse to correct a frame or a target that there is not."""
        if not 1 <= target <= len(self.tracks):
            raise ValueError(f"target must be one of 1 to {len(self.tracks)}, got {target}")
        if not self.job.start <= number <= self.newest:
            raise ValueError(f"frame must be one of those followed, {self.job.start} to {self.newest}, got {number}")
        if self.source.live and number != self.newest:
            raise ValueError(f"frame must be {self.newest}, because a camera shows only the present, got {number}")

    def correct(self, frame: VideoFrame, target: int, box: Sequence[float]) -> None:
        """Replace the track of a target by one that begins anew in this frame with another box."""
        self.check_correction(frame.index, target)
        track, checked = self.tracks[target - 1], check_box(box, frame.image.shape)
        new = track.corrected(self.job.config(), self.job.seed, self.gallery, frame, checked)
        self._secure()
        self._replaced = [*self._replaced, (frame.index, track)][-MOST_UNDONE:]
        self.corrections = [*self.corrections, {"frame": frame.index, "target": target, "box": list(checked.to_xywh())}]
        self._replace(new, frame.index)

    def undo(self) -> None:
        """Take the last correction back."""
        if not self._replaced:
            raise ValueError("there is no correction to take back")
        number, track = self._replaced[-1]
        if self.source.live and number != self.newest:
            raise ValueError("a camera shows only the present: this correction can no longer be taken back")
        self._secure()
        self._replaced, self.corrections = self._replaced[:-1], self.corrections[:-1]
        self._replace(track, number)

    @property
    def can_undo(self) -> bool:
        """Whether there is a correction to take back."""
        return bool(self._replaced)

    @property
    def position(self) -> int:
        """How many frames every target has been followed through."""
        return min((track.count for track in self.tracks), default=0)

    @property
    def newest(self) -> int:
        """Number of the last frame that every target has been followed through."""
        return self.job.start + self.position - 1

    @property
    def fps(self) -> float | None:
        """Frames a second that the trackers alone make."""
        return self.followed / self.busy if self.busy > 0 else None

    def records(self, begin: int) -> list[list[Record]]:
        """Return the records of a correctable session frame by frame, from a position on; any thread may ask."""
        tracks = self.tracks
        end = min((len(track.records) for track in tracks), default=0)
        return [[track.records[n] for track in tracks] for n in range(begin, end)]

    def _begin_anew(self) -> list[Record]:
        discard_checkpoints(self.folder)
        self._results = ResultFolder.create(self.folder, len(self.job.boxes), self.job.formats)
        self._together = MultiTracker(self.job.config(), seed=self.job.seed, gallery=self.gallery)
        tracks = []
        for box in (Box(*each) for each in self.job.boxes):
            target = self._together.add(self._first.image, box)
            tracks.append(Track(target, self._together.trackers[target], self.correctable))
            tracks[-1].begin(self._first, box)
        self.tracks = tracks
        records = [track.records[-1] for track in tracks]
        self._keep(records)
        return records

    def _resume(self, checkpoint: Checkpoint) -> list[list[Record]]:
        kept = checkpoint.verify(self.folder)
        remove_outdated(self.folder)
        together = checkpoint.trackers(self.folder, self.gallery)
        self._together = None if any(checkpoint.ahead) else together
        beyond = checkpoint.ahead or [[] for _ in self.job.boxes]
        self.tracks = [Track(target, tracker, self.correctable) for target, tracker in together.trackers.items()]
        for track, records, lines in zip(self.tracks, zip(*kept.frames, strict=True), beyond, strict=True):
            track.restore([*records, *map(from_json_line, lines)])
        self.corrections, self.busy, self._saved = checkpoint.corrections, checkpoint.busy, checkpoint.frames
        self.followed = self.followed_before = max(checkpoint.frames - 1, 0)
        self._write_files(kept.lines, kept.check, kept.frames)
        return kept.frames

    def _follow(self, frame: VideoFrame) -> None:
        """Follow all targets together, or only those that have to catch up with the others."""
        behind = [track for track in self.tracks if track.records[-1].frame < frame.index]
        if len(behind) < len(self.tracks):
            self._together = None
            for track in behind:
                track.add(frame, track.tracker.update(frame.image))
            return
        self._together = self._all_trackers()
        for track, estimate in zip(self.tracks, self._together.update(frame.image).values(), strict=True):
            track.add(frame, estimate)

    def _all_trackers(self) -> MultiTracker:
        return self._together or MultiTracker.of({track.target: track.tracker for track in self.tracks})

    def _keep(self, records: Sequence[Record]) -> None:
        """Put a frame that all targets have been followed through on disk."""
        assert self._results is not None, "begin or reopen the session first"
        self._results.add(records, self._count(records))
        if time.monotonic() - self._saved_at > SECONDS_BETWEEN_CHECKPOINTS:
            self.checkpoint()

    def _count(self, records: Sequence[Record]) -> list[Event]:
        """Detect the events of the next frame, and count it for the summary."""
        events = self._detector.update(records)
        self._tally.add(records, events)
        if self.correctable:
            self.events.extend(events)
        return events

    def _replace(self, track: Track, number: int) -> None:
        """Put a track in the place of one that agrees with it before a frame, and go back to where all agree."""
        self._close_files()
        self._together = None
        self.tracks = [track if each.target == track.target else each for each in self.tracks]
        self.over, self.notice, self._complete = None, None, False
        remove_outdated(self.folder)
        self._write_anew(number - self.job.start)
        self.revision += 1
        self._write_summary(RUNNING)

    def _write_anew(self, changed: int) -> None:
        """Write the files again from the first changed frame on."""
        kept, frames = read_beginning(self.folder, len(self.tracks), changed), self.records(0)
        new = [record for records in frames[len(kept.frames) :] for record in records]
        lines, check = trajectory_lines(new, kept.check)
        if not self.source.live:
            self._save_trackers(check)  # counts from the moment at which the trajectory agrees with it
        self._write_summary(RUNNING)
        self._write_files([*kept.lines, *lines], check, frames)
        drop_checkpoints(self.folder, kept=1)

    def _write_files(self, lines: Sequence[str], check: int, frames: Sequence[Sequence[Record]]) -> None:
        """Replace the trajectory in one step, then all that follows from it, and go on from there."""
        replace_trajectory(self.folder, lines)
        self._detector, self._tally, self.events = EventDetector(), Tally(len(self.tracks)), []
        events = [event for records in frames for event in self._count(records)]
        replace_tables(self.folder, frames, events, self.job.formats)
        self._results = self._open_files(check)

    def _open_files(self, check: int) -> ResultFolder:
        return ResultFolder(self.folder, len(self.job.boxes), self.job.formats, check=check)

    def _close_files(self) -> None:
        if self._results is not None:
            self._results.close()
            self.check, self._results = self._results.check, None

    def _write_summary(self, status: str) -> dict[str, Any]:
        summary = summary_of(self, self._tally, status)
        write_summary(self.folder, summary)
        return summary
