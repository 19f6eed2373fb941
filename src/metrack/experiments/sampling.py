"""Which samples stay when the memory is full."""

from __future__ import annotations

from metrack.experiments.base import Experiment
from metrack.experiments.compare import compare
from metrack.experiments.paper import read_paper

SAMPLING = Experiment(
    id="sampling",
    title="Sampling",
    shows="Table 2",
    question="Is it better to remember recent frames more often than old ones, or all alike?",
    run=compare,
    trackers=("time-weighted=paper", "uniform=paper:memory.sampling=uniform"),
    measures=("error", "overlap", "success"),
    paper=read_paper(
        "Trellis",
        """
        time-weighted | 5.62 0.78 0.98
        uniform       | 8.58 0.70 0.90
        """,
    ),
)
