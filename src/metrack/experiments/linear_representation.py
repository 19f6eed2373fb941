"""Ways of explaining a candidate by samples, on raw pixels: least squares with and without the metric, or sparse."""

from __future__ import annotations

from metrack.experiments.base import Experiment
from metrack.experiments.compare import compare
from metrack.experiments.paper import read_paper

PIXELS = "paper:features.kind=pixels"
OFF = "metric.learning=off"

LINEAR_REPRESENTATION = Experiment(
    id="linear-representation",
    title="Linear representations of raw pixels",
    shows="Table 1",
    question="Is least squares in a learned metric better than without one, and than the sparse alternatives?",
    run=compare,
    trackers=(
        f"metric={PIXELS}",
        f"no metric={PIXELS},{OFF}",
        f"omp={PIXELS},{OFF},representation.kind=omp",
        f"l1={PIXELS},{OFF},representation.kind=l1",
    ),
    measures=("error", "overlap", "success"),
    paper=read_paper(
        "Trellis",
        """
        metric    | 20.91 0.49 0.53
        no metric | 66.32 0.27 0.30
        omp       | 68.45 0.19 0.19
        l1        | 27.64 0.28 0.34
        """,
    ),
)
