"""Tracking one planned run: the part of an evaluation that happens in a worker."""

from __future__ import annotations

import time

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.estimate import TRACKING, Estimate
from metrack.evaluation.plan import PlannedRun
from metrack.evaluation.result import RunResult
from metrack.evaluation.trackers import TrackerSpec
from metrack.runs.opening import compile_kernels
from metrack.threads import one_blas_thread


def execute(run: PlannedRun) -> RunResult:
    """Track one run, timing the tracker alone; a tracker that refuses its input gives a result with the error."""
    with one_blas_thread():
        try:
            return _track(run)
        except ValueError as error:
            return RunResult.failed(" ".join(str(error).split()))


def _track(run: PlannedRun) -> RunResult:
    tracker = run.spec.make(run.seed)
    estimates, seconds = [Estimate(run.first_box, 1.0, TRACKING)], []
    for index, frame in enumerate(run.sequence.pictures):
        _warm_up(run.spec, frame, run.first_box)
        began = time.perf_counter()
        if index == 0:
            tracker.init(frame, run.first_box)
        else:
            estimates.append(tracker.update(frame))
        seconds.append(time.perf_counter() - began)
    return RunResult(
        np.array([estimate.box.to_xywh() for estimate in estimates]),
        np.array([estimate.score for estimate in estimates]),
        tuple(estimate.state for estimate in estimates),
        np.array(seconds),
    )


_warm: set[tuple[TrackerSpec, int]] = set()


def _warm_up(spec: TrackerSpec, frame: Frame, box: Box) -> None:
    """Compile the kernels of a preset before the first time it is timed in this process."""
    if not spec.is_rival and (spec, frame.ndim) not in _warm:
        _warm.add((spec, frame.ndim))
        compile_kernels(spec.config(), frame, box)
