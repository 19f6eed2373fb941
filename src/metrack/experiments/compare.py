"""The usual experiment: run all trackers over all sequences, score them, and make a table and plots."""

from __future__ import annotations

from dataclasses import replace

from metrack.evaluation.comparison import Comparison, score_runs
from metrack.experiments.base import PLOT, Context, Experiment, Finding
from metrack.experiments.drawing import bars, sweeps
from metrack.experiments.table import columns_of, rows_of


def compare(experiment: Experiment, context: Context) -> Finding:
    """Run all trackers and summarise their scores."""
    return summarise(experiment, run_trackers(experiment, context))


def run_trackers(experiment: Experiment, context: Context) -> Comparison:
    """Execute the runs that are missing, and score all of them."""
    specs, protocol = experiment.specs(), replace(experiment.protocol, repetitions=context.seeds)
    context.evaluate(specs, protocol)
    return score_runs(context.out, protocol, [spec.label for spec in specs], context.sequences)


def summarise(experiment: Experiment, comparison: Comparison) -> Finding:
    """Return a comparison as a table, plots and notes."""
    draw = sweeps if experiment.shape == PLOT else bars
    return Finding(
        experiment.id,
        columns_of(experiment, comparison),
        rows_of(experiment, comparison),
        draw(experiment, comparison),
        list_errors(comparison),
    )


def list_errors(comparison: Comparison) -> list[str]:
    """Return a sentence for every tracker and sequence whose run failed."""
    return [
        f"{tracker.label} could not run on {name}: {error}"
        for tracker in comparison.trackers
        for name, error in tracker.errors().items()
    ]
