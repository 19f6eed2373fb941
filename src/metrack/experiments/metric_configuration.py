"""What keeps the metric positive: nothing, projections, or the guard that is ours; or no metric at all.

The numbers of Trellis are from the paper, those of Football from its supplement.
"""

from __future__ import annotations

from metrack.experiments.base import Experiment
from metrack.experiments.compare import compare
from metrack.experiments.paper import read_paper

LEARNING = "paper:metric.learning"

METRIC_CONFIGURATION = Experiment(
    id="metric-configuration",
    title="Keeping the metric positive",
    shows="Table 3 and the supplement's table of metric learning",
    question="What do eigendecompositions bring to the learning of the metric, what do they cost, and can a guard do?",
    run=compare,
    trackers=(
        f"no eigen={LEARNING}=unprojected",
        f"final eigen={LEARNING}=projected-round",
        f"step-by-step eigen={LEARNING}=projected-step",
        f"none={LEARNING}=off",
        f"guarded={LEARNING}=guarded",
    ),
    measures=("error", "overlap", "success", "ms"),
    paper=read_paper(
        "Trellis Football",
        """
        no eigen           | 5.62 3.14   0.78 0.67  0.98 0.88
        final eigen        | 8.46 5.69   0.70 0.59  0.94 0.74
        step-by-step eigen | 4.56 1.89   0.83 0.71  0.99 0.90
        none               | 8.82 51.73  0.68 0.27  0.92 0.36
        """,
    ),
)
