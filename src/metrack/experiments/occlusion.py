"""Detection of occlusions: the reconstruction error over time, and the events the tracker reports.

An event is reported where the state turns from tracking to anything else. Where a sequence knows in which frames its
target is hidden, the events are scored; the plots show those frames in grey. One run per tracker and sequence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrack.draw.chart import Chart
from metrack.draw.plots import line_plot
from metrack.draw.stretches import stretches_where
from metrack.estimate import TRACKING, Estimate
from metrack.evaluation.events import event_precision, event_recall, onsets
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import TrackerSpec
from metrack.experiments.base import Cell, Context, Experiment, Finding
from metrack.experiments.cache import Arrays, cached_arrays
from metrack.experiments.drawing import MOST
from metrack.experiments.track_sequence import track_sequence

HIDDEN = "occlusion"
COLUMNS = ["tracker", "sequence", "reported at frames", "hidden from frames", "precision", "recall"]
COLUMNS += ["error in view", "error hidden"]


def run(experiment: Experiment, context: Context) -> Finding:
    """Track every sequence, and compare reported events with those that are known."""
    specs = experiment.specs()
    context.evaluate(specs, experiment.protocol, [])
    rows: list[list[Cell]] = []
    figures: list[Chart] = []
    for sequence in context.sequences:
        traces = {spec.label: _trace(spec, sequence, context) for spec in specs}
        rows += [_row(label, sequence, trace) for label, trace in traces.items()]
        if len(figures) < 2 * MOST:
            figures += _figures(sequence, traces)
    return Finding(experiment.id, COLUMNS, rows, figures)


def _trace(spec: TrackerSpec, sequence: Sequence, context: Context) -> Arrays:
    file = context.out / spec.label / f"{sequence.name}_{len(sequence)}.npz"
    return cached_arrays(file, lambda: _track(spec, sequence))


def _track(spec: TrackerSpec, sequence: Sequence) -> Arrays:
    """Return reconstruction error, score and absence ``(T,)`` of every frame; NaN before there is an estimate."""
    start, _, steps = track_sequence(spec, sequence)
    lines = [(np.nan, np.nan, 0.0)] * start + [_line(estimate) for _, estimate in steps]
    theta, score, absent = np.array(lines).T
    return {"theta": theta, "score": score, "absent": absent}


def _line(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None or estimate.info is None:
        return np.nan, np.nan, 0.0
    error = float(estimate.info.theta_f[estimate.info.chosen])
    return error, estimate.score, float(estimate.state != TRACKING)


def _row(label: str, sequence: Sequence, trace: Arrays) -> list[Cell]:
    reported = onsets(trace["absent"] > 0)
    said = [label, sequence.name, " ".join(map(str, reported))]
    hidden = sequence.tags.get(HIDDEN)
    if hidden is None:
        return [*said, None, None, None, None, None]
    true = onsets(hidden)
    scores = [event_precision(reported, true), event_recall(reported, true)]
    errors = [_median(trace["theta"][~hidden]), _median(trace["theta"][hidden])]
    return [*said, " ".join(map(str, true)), *(None if np.isnan(value) else value for value in scores + errors)]


def _median(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan


def _figures(sequence: Sequence, traces: dict[str, Arrays]) -> list[Chart]:
    spans = stretches_where(sequence.tags.get(HIDDEN, ()))
    return [
        line_plot(
            {label: (np.arange(len(trace[name])), trace[name]) for label, trace in traces.items()},
            title=f"{sequence.name}: {what}",
            y_label=what,
            spans=spans,
        )
        for name, what in (("theta", "reconstruction error"), ("score", "score"))
    ]


OCCLUSION = Experiment(
    id="occlusion",
    title="Occlusion",
    shows="Figure 18",
    question="Does the reconstruction error tell when the target is hidden?",
    run=run,
    trackers=("Ours=paper", "default=default"),
    measures=(),
)
