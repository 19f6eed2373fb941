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
from metrack.evaluation.entrants import Entrant
from metrack.evaluation.events import beginnings, event_precision, event_recall
from metrack.evaluation.sequences import Sequence
from metrack.experiments.base import Cell, Experiment, Finding, Given
from metrack.experiments.cache import Arrays, cached
from metrack.experiments.drawing import MOST
from metrack.experiments.following import follow

HIDDEN = "occlusion"
COLUMNS = ["tracker", "sequence", "reported at frames", "hidden from frames", "precision", "recall"]
COLUMNS += ["error in view", "error hidden"]


def find(experiment: Experiment, given: Given) -> Finding:
    """Track every sequence and compare the reported events with the true ones."""
    entrants = experiment.parsed()
    given.run(entrants, experiment.protocol, [])
    rows: list[list[Cell]] = []
    figures: list[Chart] = []
    for sequence in given.sequences:
        traces = {entrant.label: _trace(entrant, sequence, given) for entrant in entrants}
        rows += [_row(label, sequence, trace) for label, trace in traces.items()]
        if len(figures) < 2 * MOST:
            figures += _figures(sequence, traces)
    return Finding(experiment.id, COLUMNS, rows, figures)


def _trace(entrant: Entrant, sequence: Sequence, given: Given) -> Arrays:
    file = given.out / entrant.label / f"{sequence.name}_{len(sequence)}.npz"
    return cached(file, lambda: _follow(entrant, sequence))


def _follow(entrant: Entrant, sequence: Sequence) -> Arrays:
    """Return reconstruction error, score and absence ``(T,)`` of every frame; NaN before there is an estimate."""
    start, _, steps = follow(entrant, sequence)
    lines = [(np.nan, np.nan, 0.0)] * start + [_line(estimate) for _, estimate in steps]
    theta, score, absent = np.array(lines).T
    return {"theta": theta, "score": score, "absent": absent}


def _line(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None or estimate.info is None:
        return np.nan, np.nan, 0.0
    info = estimate.info
    return float(info.theta_f[info.chosen]), estimate.score, float(estimate.state != TRACKING)


def _row(label: str, sequence: Sequence, trace: Arrays) -> list[Cell]:
    reported = beginnings(trace["absent"] > 0)
    said = [label, sequence.name, " ".join(map(str, reported))]
    hidden = sequence.tags.get(HIDDEN)
    if hidden is None:
        return [*said, None, None, None, None, None]
    true = beginnings(hidden)
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
    find=find,
    entrants=("Ours=paper", "default=default"),
    measures=(),
)
