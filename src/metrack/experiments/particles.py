"""How many particles are needed, and what they cost.

The time of scoring alone, which is what particles cost, is measured on the first sequence, in this process.
Time ~ particles^e with e < 1 is what the paper calls sublinear.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from metrack.draw.plots import line_plot
from metrack.evaluation.plan import starts_of
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import TrackerSpec
from metrack.experiments.base import PLOT, Context, Experiment, Finding, sweep
from metrack.experiments.cache import cached_arrays
from metrack.experiments.compare import run_trackers, summarise
from metrack.experiments.table import mean_of
from metrack.tracking.tracker import Tracker

SETTING = "motion.particles"
VALUES = (25, 50, 100, 200, 300, 400, 600)
FRAMES = 30  # over which scoring is timed


def run(experiment: Experiment, context: Context) -> Finding:
    """Compare as usual, then time the scoring."""
    comparison = run_trackers(experiment, context)
    finding = summarise(experiment, comparison)
    frame_ms = np.array([mean_of(comparison, tracker, "ms") for tracker in comparison.trackers])
    file = context.out / f"{context.sequences[0].name}_{len(context.sequences[0])}.scoring.npz"
    scoring_ms = cached_arrays(file, lambda: {"ms": _scoring_times(experiment.specs(), context.sequences[0])})["ms"]
    figure = line_plot(
        {"scoring": (VALUES, scoring_ms), "whole frame": (VALUES, frame_ms)},
        title="Time per frame",
        x_label=SETTING,
        y_label="ms",
    )
    notes = [*_grows("The time of a frame", frame_ms), *_grows("The time of scoring alone", scoring_ms)]
    return replace(finding, figures=[*finding.figures, figure], notes=[*finding.notes, *notes])


def growth(counts: NDArray[np.float64], times: NDArray[np.float64]) -> float:
    """Return the exponent e of ``time ~ count^e`` that fits best.

    >>> round(growth(np.array([1.0, 2.0, 4.0]), np.array([3.0, 6.0, 12.0])), 6)
    1.0
    """
    known = times > 0
    return float(np.polyfit(np.log(counts[known]), np.log(times[known]), 1)[0]) if known.sum() > 1 else float("nan")


def _grows(what: str, times: NDArray[np.float64]) -> list[str]:
    exponent = growth(np.array(VALUES, float), times)
    if np.isnan(exponent):
        return []
    verdict = "slower than" if exponent < 1 else "not slower than"
    return [f"{what} grows with the number of particles to the power {exponent:.2f}: {verdict} linearly."]


def _scoring_times(specs: list[TrackerSpec], sequence: Sequence) -> NDArray[np.float64]:
    return np.array([_scoring_time(spec, sequence) for spec in specs]) * 1000


def _scoring_time(spec: TrackerSpec, sequence: Sequence) -> float:
    """Return the median time in seconds of describing and scoring the particles of a frame."""
    tracker = Tracker(spec.config())
    frame, box = starts_of(sequence, PARTICLES.protocol)[0]
    pictures = iter(sequence.part(frame, frame + FRAMES).pictures)
    tracker.init(next(pictures), box)
    infos = [tracker.update(picture).info for picture in pictures]
    return float(np.median([info.seconds["score"] for info in infos if info])) if infos else float("nan")


PARTICLES = Experiment(
    id="particles",
    title="Number of particles",
    shows="Figure 3 (c) and (d)",
    question="How many particles are needed, and does their time grow slower than their number?",
    run=run,
    trackers=sweep(SETTING, VALUES),
    measures=("success", "ms"),
    shape=PLOT,
    swept=SETTING,
)
