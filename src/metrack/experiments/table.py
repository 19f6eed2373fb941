"""The usual table: one row per tracker, over all sequences and on each, with the paper's numbers beside ours.

A spread is the standard deviation over seeds; of the mean over sequences, that of the means of single seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from metrack.evaluation.comparison import Comparison, ScoredRun, TrackerScores
from metrack.experiments.base import NAMES, Cell, Experiment
from metrack.experiments.paper import otb_name

MEAN = "mean"


def columns_of(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Return the names of the columns; the spread is left out for one seed, the paper where it printed nothing."""
    columns = ["tracker", "sequence"]
    for measure in experiment.measures:
        columns += [
            NAMES[measure],
            *(f"{NAMES[measure]} {extra}" for extra in _extras(experiment, comparison, measure)),
        ]
    return columns


def rows_of(experiment: Experiment, comparison: Comparison) -> list[list[Cell]]:
    """Return the rows: means of every tracker first, then sequence by sequence, with those that only the paper has."""
    ours = {tracker.label: tracker for tracker in comparison.trackers}
    labels = list(dict.fromkeys([*ours, *(label for _, label, _ in experiment.paper)]))
    rows = [_row(experiment, comparison, ours[label], label, MEAN) for label in ours]
    for sequence in comparison.names:
        rows += [_row(experiment, comparison, ours.get(label), label, sequence) for label in labels]
    return [row for row in rows if any(cell is not None for cell in row[2:])]


def figure_of(scored: ScoredRun, measure: str) -> float:
    """Return one figure of a run; ``ms`` is the time per frame."""
    return 1000 / scored.figures["fps"] if measure == "ms" else scored.figures[measure]


def by_seed(comparison: Comparison, tracker: TrackerScores, measure: str, sequences: Iterable[str]) -> list[float]:
    """Return the mean over sequences (and over starts) of each seed, NaN where nothing is known."""
    seeds = range(comparison.protocol.repetitions)
    return [_mean([_seed_mean(comparison, tracker, measure, name, seed) for name in sequences]) for seed in seeds]


def mean_of(comparison: Comparison, tracker: TrackerScores, measure: str, sequence: str = MEAN) -> float:
    """Return one figure of a tracker on a sequence, or over all."""
    return _mean(by_seed(comparison, tracker, measure, comparison.names if sequence == MEAN else [sequence]))


def _seed_mean(comparison: Comparison, tracker: TrackerScores, measure: str, name: str, seed: int) -> float:
    repetitions = comparison.protocol.repetitions
    made = [run for run in tracker.runs.get(name, ()) if run.result.error is None]
    return _mean([figure_of(run, measure) for run in made if (run.number - 1) % repetitions == seed])


def _row(
    experiment: Experiment, comparison: Comparison, tracker: TrackerScores | None, label: str, name: str
) -> list[Cell]:
    row: list[Cell] = [label, name]
    sequences = comparison.names if name == MEAN else [name]
    for measure in experiment.measures:
        values = by_seed(comparison, tracker, measure, sequences) if tracker else []
        known = {
            "±": _spread(values),
            "paper": experiment.paper.get((measure, label, otb_name(name)), math.nan),
        }
        row += [_cell(_mean(values)), *(_cell(known[extra]) for extra in _extras(experiment, comparison, measure))]
    return row


def _extras(experiment: Experiment, comparison: Comparison, measure: str) -> list[str]:
    ours = {otb_name(name) for name in comparison.names}
    paper = any(key[0] == measure and key[2] in ours for key in experiment.paper)
    return ["±"] * (comparison.protocol.repetitions > 1) + ["paper"] * paper


def _cell(value: float) -> Cell:
    return value if math.isfinite(value) else None


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _spread(values: list[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return float(np.std(known, ddof=1)) if len(known) > 1 else math.nan
