"""Which samples stay when the memory is full."""

from __future__ import annotations

from metrack.experiments.base import Experiment
from metrack.experiments.printed import read_printed
from metrack.experiments.usual import compare

SAMPLING = Experiment(
    id="sampling",
    title="Sampling",
    shows="Table 2",
    question="Is it better to remember recent frames more often than old ones, or all alike?",
    find=compare,
    entrants=("time-weighted=paper", "uniform=paper:memory.sampling=uniform"),
    measures=("error", "overlap", "success"),
    printed=read_printed(
        "Trellis",
        """
        time-weighted | 5.62 0.78 0.98
        uniform       | 8.58 0.70 0.90
        """,
    ),
)
