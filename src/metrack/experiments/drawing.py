"""Plots that experiments share: bars of a comparison, curves of a sweep, and values over frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from metrack.draw.chart import Chart
from metrack.draw.plots import bar_plot, line_plot
from metrack.evaluation.comparison import Comparison, ScoredRun, TrackerScores
from metrack.experiments.base import NAMES, Experiment
from metrack.experiments.table import MEAN, by_seed, mean_of

MOST = 6  # sequences of which each has a curve or a plot of its own
Reals = NDArray[np.float64]


def bars(experiment: Experiment, comparison: Comparison) -> list[Chart]:
    """Draw one plot per measure: a bar per tracker for every sequence, or only the mean where there are many."""
    names = comparison.names
    groups = [*(names if len(names) <= MOST else []), *([MEAN] if len(names) > 1 else [])]
    return [
        bar_plot(
            groups,
            {s.label: [mean_of(comparison, s, measure, group) for group in groups] for s in comparison.trackers},
            title=f"{experiment.title}: {NAMES[measure]}",
            y_label=NAMES[measure],
        )
        for measure in experiment.measures
    ]


def sweeps(experiment: Experiment, comparison: Comparison) -> list[Chart]:
    """Draw one plot per measure over the setting that varies; the band around the mean is the spread over seeds."""
    x = [float(dict(spec.changes)[experiment.swept]) for spec in experiment.specs()]
    return [_sweep(experiment, comparison, measure, x) for measure in experiment.measures]


def _sweep(experiment: Experiment, comparison: Comparison, measure: str, x: list[float]) -> Chart:
    names, trackers = comparison.names, comparison.trackers
    shown = [*(names if len(names) <= MOST else []), *([MEAN] if len(names) > 1 else [])]
    curves = {name: (x, [mean_of(comparison, each, measure, name) for each in trackers]) for name in shown}
    seeds = np.array([by_seed(comparison, each, measure, names) for each in trackers])  # (trackers, seeds)
    return line_plot(
        curves,
        title=f"{experiment.title}: {NAMES[measure]}",
        x_label=experiment.swept,
        y_label=NAMES[measure],
        bands={MEAN: (seeds.min(axis=1), seeds.max(axis=1))},
    )


def over_time(
    groups: Mapping[str, Mapping[str, list[ScoredRun]]],
    value_of: Callable[[ScoredRun], Reals],
    *,
    title: str,
    y_label: str,
    y_range: tuple[float, float] | None = None,
) -> list[Chart]:
    """Draw one plot per sequence, for the first few: the mean over runs of a value per frame, one curve per label."""
    return [
        line_plot(
            {label: _mean_curve([value_of(run) for run in runs]) for label, runs in curves.items() if runs},
            title=f"{title}: {name}",
            y_label=y_label,
            y_range=y_range,
        )
        for name, curves in list(groups.items())[:MOST]
    ]


def runs_by_label(comparison: Comparison) -> dict[str, dict[str, list[ScoredRun]]]:
    """Return the runs that could be made, by sequence and then by label."""
    return {name: {s.label: _made(s, name) for s in comparison.trackers} for name in comparison.names}


def _made(tracker: TrackerScores, name: str) -> list[ScoredRun]:
    return [run for run in tracker.runs.get(name, ()) if run.result.error is None]


def _mean_curve(curves: list[Reals]) -> tuple[Reals, Reals]:
    return np.arange(len(curves[0]), dtype=float), np.mean(curves, axis=0)
