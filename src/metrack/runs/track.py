"""One target of a session: its tracker, its records, and where the samples in its memory were cut out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from metrack.arrays import Ints
from metrack.box import Box
from metrack.config import TrackerConfig
from metrack.estimate import TRACKING, Estimate, Info
from metrack.frames import VideoFrame
from metrack.frames.formats import Record
from metrack.identity import Gallery
from metrack.tracking.several import target_seed
from metrack.tracking.tracker import Tracker


@dataclass(frozen=True, slots=True)
class Sample:
    """Where a remembered sample was cut out."""

    frame: int
    box: Box


@dataclass(slots=True)
class Track:
    """A target followed so far.

    ``records`` holds every frame with ``keep``, else only the last one; ``count`` is the number of frames in either
    case. ``samples`` are by class (foreground, background) and slot of the memory, and noted only with ``keep``.
    """

    target: int
    tracker: Tracker
    keep: bool = True
    records: list[Record] = field(default_factory=list)
    count: int = 0
    last: Estimate | None = None
    samples: tuple[dict[int, Sample], dict[int, Sample]] = field(default_factory=lambda: ({}, {}))
    _noted: object = None

    def begin(self, frame: VideoFrame, box: Box) -> None:
        """Record the box that the tracker was given."""
        self._add(Record(frame.index, frame.time, self.target, box, 1.0, TRACKING))

    def add(self, frame: VideoFrame, estimate: Estimate) -> None:
        """Record the estimate of the next frame."""
        self.last = estimate
        self._add(record_of(frame, self.target, estimate))

    def restore(self, records: list[Record]) -> None:
        """Take the records of an earlier session."""
        self.records, self.count = records if self.keep else records[-1:], len(records)

    def corrected(
        self, config: TrackerConfig, seed: int, gallery: Gallery | None, frame: VideoFrame, box: Box
    ) -> Track:
        """Return the same target up to a frame, and begun anew there with another box."""
        tracker = Tracker(config, seed=target_seed(seed, self.target), gallery=gallery)
        tracker.init(frame.image, box)
        track = Track(self.target, tracker)
        track.restore([record for record in self.records if record.frame < frame.index])
        track.begin(frame, box)
        return track

    def at(self, frame: int) -> Record:
        """Return the record of a frame."""
        return self.records[frame - self.records[0].frame]

    @property
    def info(self) -> Info | None:
        """How the last estimate came about."""
        return None if self.last is None else self.last.info

    def _add(self, record: Record) -> None:
        if not self.keep:
            self.records.clear()
        self.records.append(record)
        self.count += 1
        if self.keep:
            self._note_samples(record.frame)

    def _note_samples(self, frame: int) -> None:
        """Note the origin of samples that entered the memory with this frame, if any did."""
        entered = self.tracker.appearance.entered
        if entered is None or entered is self._noted:
            return
        self._noted = entered
        for kept, boxes, (slots, sources) in zip(self.samples, self.tracker.sampled, entered, strict=True):
            kept |= _cut_out(frame, boxes, slots, sources)


def record_of(frame: VideoFrame, target: int, estimate: Estimate) -> Record:
    """Return the record of an estimate; distances are rounded to a millionth."""
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
        verdict=estimate.verdict,
        distances=None if who is None else tuple(np.round(who.distances, 6).tolist()),
    )


def _cut_out(frame: int, boxes: object, slots: Ints, sources: Ints) -> dict[int, Sample]:
    chosen = np.asarray(boxes, float)[sources]
    return {slot: Sample(frame, Box(*box)) for slot, box in zip(slots.tolist(), chosen.tolist(), strict=True)}
