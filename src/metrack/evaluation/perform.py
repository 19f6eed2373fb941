"""Performing one run: the part of an evaluation that happens in a worker, wherever that is."""

from __future__ import annotations

import time

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.config import PRESETS
from metrack.estimate import TRACKING, Estimate
from metrack.evaluation.entrants import Entrant
from metrack.evaluation.outcome import Outcome
from metrack.evaluation.plan import Run
from metrack.runs.opening import compile_kernels
from metrack.threads import one_blas_thread


def perform(run: Run) -> Outcome:
    """Follow one stretch; only the tracker is timed. What cannot be started is an outcome too, not an exception."""
    with one_blas_thread():
        try:
            return _follow(run)
        except ValueError as error:
            return Outcome.failed(" ".join(str(error).split()))


def _follow(run: Run) -> Outcome:
    tracker = run.entrant.make(run.seed)
    estimates, seconds = [Estimate(run.first_box, 1.0, TRACKING)], []
    for index, frame in enumerate(run.sequence.pictures):
        _warm_up(run.entrant, frame, run.first_box)
        began = time.perf_counter()
        if index == 0:
            tracker.init(frame, run.first_box)
        else:
            estimates.append(tracker.update(frame))
        seconds.append(time.perf_counter() - began)
    return Outcome(
        np.array([estimate.box.to_xywh() for estimate in estimates]),
        np.array([estimate.score for estimate in estimates]),
        tuple(estimate.state for estimate in estimates),
        np.array(seconds),
    )


_warm: set[tuple[Entrant, int]] = set()


def _warm_up(entrant: Entrant, frame: Frame, box: Box) -> None:
    """Load the kernels of one of ours before the first time it is timed in this process."""
    if entrant.base in PRESETS and (entrant, frame.ndim) not in _warm:
        _warm.add((entrant, frame.ndim))
        compile_kernels(entrant.config(), frame, box)
