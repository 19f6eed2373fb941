"""Tracking a sequence in this process, for experiments that look at more than boxes."""

from __future__ import annotations

from collections.abc import Iterator

from metrack.arrays import Frame
from metrack.estimate import Estimate
from metrack.evaluation.plan import RunProtocol, runs_on
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import TrackerSpec
from metrack.tracking.tracker import Tracker


def track_sequence(
    spec: TrackerSpec, sequence: Sequence
) -> tuple[int, Tracker, Iterator[tuple[Frame, Estimate | None]]]:
    """Return the index of the first frame with a truth box, a tracker, and an iterator that tracks from there on.

    The iterator yields (frame, None) for the first frame. The seed is that of the first run of an evaluation.
    """
    run = runs_on(spec, sequence, RunProtocol())[0]
    tracker = Tracker(spec.config(), seed=run.seed)

    def steps() -> Iterator[tuple[Frame, Estimate | None]]:
        for index, frame in enumerate(run.sequence.pictures):
            if index == 0:
                tracker.init(frame, run.first_box)
                yield frame, None
            else:
                yield frame, tracker.update(frame)

    return run.start, tracker, steps()
