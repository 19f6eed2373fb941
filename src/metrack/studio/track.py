"""One target of a run: its tracker, what the tracker said of every frame so far, and where its samples came from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from metrack.arrays import Ints
from metrack.box import Box
from metrack.estimate import TRACKING, Estimate, Info
from metrack.frames import VideoFrame
from metrack.frames.formats import Record
from metrack.identity import Gallery
from metrack.runs.job import Job, record_of
from metrack.tracking.appearance import Appearance
from metrack.tracking.several import target_seed
from metrack.tracking.tracker import Tracker


@dataclass(frozen=True, slots=True)
class Sample:
    """Where a remembered sample was cut out."""

    frame: int
    box: Box


@dataclass(slots=True)
class Track:
    """A target followed so far; ``kept`` are the samples by class (foreground, background) and slot."""

    target: int
    tracker: Tracker
    records: list[Record] = field(default_factory=list)
    last: Estimate | None = None
    kept: tuple[dict[int, Sample], dict[int, Sample]] = field(default_factory=lambda: ({}, {}))
    _seen: object = None

    def began(self, frame: VideoFrame, box: Box) -> None:
        """Write down the box that the tracker was given."""
        self.records.append(Record(frame.index, frame.time, self.target, box, 1.0, TRACKING))
        self._note(frame.index)

    def found(self, frame: VideoFrame, estimate: Estimate) -> None:
        """Write down what the tracker says of the next frame."""
        self.last = estimate
        self.records.append(record_of(frame, self.target, estimate))
        self._note(frame.index)

    def corrected(self, job: Job, gallery: Gallery | None, frame: VideoFrame, box: Box) -> Track:
        """Return the track as it was up to a frame, and begun anew there with another box."""
        before = [record for record in self.records if record.frame < frame.index]
        tracker = Tracker(job.config(), seed=target_seed(job.seed, self.target), gallery=gallery)
        tracker.init(frame.image, box)
        track = Track(self.target, tracker, before)
        track.began(frame, box)
        return track

    @property
    def info(self) -> Info | None:
        """How the last estimate came about."""
        return None if self.last is None else self.last.info

    @property
    def appearance(self) -> Appearance:
        """What the tracker remembers; for looking only."""
        return self.tracker.appearance

    def _note(self, frame: int) -> None:
        """Note the origin of samples that entered the memory with this frame, if any did."""
        entered = self.appearance.entered
        if entered is None or entered is self._seen:
            return
        self._seen = entered
        for kept, boxes, (slots, sources) in zip(self.kept, self.tracker.sampled, entered, strict=True):
            kept |= _samples(frame, boxes, slots, sources)


def _samples(frame: int, boxes: object, slots: Ints, sources: Ints) -> dict[int, Sample]:
    chosen = np.asarray(boxes, float)[sources]
    return {slot: Sample(frame, Box(*box)) for slot, box in zip(slots.tolist(), chosen.tolist(), strict=True)}
