"""How much the background counts in the score."""

from __future__ import annotations

from metrack.experiments.base import PLOT, Experiment, sweep
from metrack.experiments.compare import compare

SETTING = "representation.rho"

TRADE_OFF = Experiment(
    id="trade-off",
    title="Weight of the background",
    shows="Figure 6",
    question="Does it matter how much the background counts in the score?",
    run=compare,
    trackers=sweep(SETTING, (0.07, 0.08, 0.10, 0.12, 0.14, 0.16, 0.19)),
    measures=("overlap",),
    shape=PLOT,
    swept=SETTING,
)
