"""The usual experiment: run all entrants over all sequences, judge, and set down a table and plots."""

from __future__ import annotations

from dataclasses import replace

from metrack.evaluation.judged import Comparison, judge
from metrack.experiments.base import PLOT, Experiment, Finding, Given
from metrack.experiments.drawing import bars, sweeps
from metrack.experiments.table import columns_of, rows_of


def compare(experiment: Experiment, given: Given) -> Finding:
    """Run, judge, and tell."""
    return tell(experiment, run(experiment, given))


def run(experiment: Experiment, given: Given) -> Comparison:
    """Make the runs that are missing, and compare all of them with the truth."""
    entrants = experiment.parsed()
    asked = given.run(entrants, replace(experiment.protocol, repetitions=given.seeds))
    return judge(given.out, asked, [entrant.label for entrant in entrants], given.sequences)


def tell(experiment: Experiment, comparison: Comparison) -> Finding:
    """Set down a comparison."""
    draw = sweeps if experiment.shape == PLOT else bars
    return Finding(
        experiment.id,
        columns_of(experiment, comparison),
        rows_of(experiment, comparison),
        draw(experiment, comparison),
        failures(comparison),
    )


def failures(comparison: Comparison) -> list[str]:
    """Say in a sentence each which runs could not be made."""
    return [
        f"{standing.label} could not run on {name}: {error}"
        for standing in comparison.standings
        for name, error in standing.errors().items()
    ]
