"""The usual experiment: run all entrants over all sequences, score them, and make a table and plots."""

from __future__ import annotations

from dataclasses import replace

from metrack.evaluation.judged import Comparison, judge
from metrack.experiments.base import PLOT, Experiment, Finding, Given
from metrack.experiments.drawing import bars, sweeps
from metrack.experiments.table import columns_of, rows_of


def compare(experiment: Experiment, given: Given) -> Finding:
    """Run all entrants and return the table and plots."""
    return summarise(experiment, run(experiment, given))


def run(experiment: Experiment, given: Given) -> Comparison:
    """Make the runs that are missing, and compare all of them with the truth."""
    entrants = experiment.parsed()
    asked = given.run(entrants, replace(experiment.protocol, repetitions=given.seeds))
    return judge(given.out, asked, [entrant.label for entrant in entrants], given.sequences)


def summarise(experiment: Experiment, comparison: Comparison) -> Finding:
    """Return the table and plots of a comparison."""
    draw = sweeps if experiment.shape == PLOT else bars
    return Finding(
        experiment.id,
        columns_of(experiment, comparison),
        rows_of(experiment, comparison),
        draw(experiment, comparison),
        failures(comparison),
    )


def failures(comparison: Comparison) -> list[str]:
    """Return a sentence for each run that failed."""
    return [
        f"{standing.label} could not run on {name}: {error}"
        for standing in comparison.standings
        for name, error in standing.errors().items()
    ]
