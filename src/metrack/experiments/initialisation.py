"""First boxes that are a little wrong.

The paper perturbs at random; here the boxes are five of those that OTB's spatial robustness prescribes, the same for
everyone: most are moved by a tenth of the target's size, one has a wrong scale.
"""

from __future__ import annotations

import math

import numpy as np

from metrack.box import Box
from metrack.evaluation.comparison import Comparison, ScoredRun
from metrack.evaluation.plan import SRE, RunProtocol, starts_of
from metrack.evaluation.sequences import Sequence
from metrack.experiments.base import Cell, Context, Experiment, Finding
from metrack.experiments.compare import list_errors, run_trackers
from metrack.experiments.drawing import over_time

COLUMNS = ["sequence", "first box", "VOR"]


def run(experiment: Experiment, context: Context) -> Finding:
    """Run from every wrong box and report each separately."""
    comparison = run_trackers(experiment, context)
    groups = {sequence.name: _by_start(comparison, sequence) for sequence in context.sequences}
    columns = COLUMNS + ["VOR ±"] * (context.seeds > 1)
    rows = [
        _row(name, start, runs)[: len(columns)] for name, starts in groups.items() for start, runs in starts.items()
    ]
    figures = over_time(groups, lambda each: each.overlap, title="VOR", y_label="VOR", y_range=(0, 1))
    return Finding(experiment.id, columns, rows, figures, list_errors(comparison))


def _by_start(comparison: Comparison, sequence: Sequence) -> dict[str, list[ScoredRun]]:
    """Return the runs from each first box."""
    protocol, runs = comparison.protocol, comparison.trackers[0].runs.get(sequence.name, [])
    starts = starts_of(sequence, protocol)
    made = [each for each in runs if each.result.error is None]
    return {
        _describe(Box(*sequence.truth[frame].tolist()), box): [
            r for r in made if (r.number - 1) // protocol.repetitions == place
        ]
        for place, (frame, box) in enumerate(starts)
    }


def _describe(right: Box, box: Box) -> str:
    """Describe the error of a first box, in sizes of the target."""
    (x, y), (right_x, right_y) = box.centre, right.centre
    dx, dy, scale = (x - right_x) / right.w, (y - right_y) / right.h, math.sqrt(box.area / right.area)
    return f"x {dx:+.1f}, y {dy:+.1f}, scale {scale:.1f}".replace("-0.0", "+0.0")


def _row(sequence: str, start: str, runs: list[ScoredRun]) -> list[Cell]:
    values = [value for each in runs if not math.isnan(value := each.figures["overlap"])]
    mean = float(np.mean(values)) if values else None
    return [sequence, start, mean, float(np.std(values, ddof=1)) if len(values) > 1 else None]


INITIALISATION = Experiment(
    id="initialisation",
    title="First boxes that are a little wrong",
    shows="Figure 5",
    question="How much does tracking suffer when the first box is a little wrong?",
    run=run,
    trackers=("Ours=paper",),
    measures=("overlap",),
    protocol=RunProtocol(SRE, starts=5),
)
