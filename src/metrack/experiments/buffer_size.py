"""How many samples per class need to be remembered."""

from __future__ import annotations

from metrack.experiments.base import PLOT, Experiment, sweep
from metrack.experiments.compare import compare

SETTING = "memory.size"

BUFFER_SIZE = Experiment(
    id="buffer-size",
    title="Buffer size",
    shows="Figure 3 (a) and (b)",
    question="From how many remembered samples per class on do more of them no longer help?",
    run=compare,
    trackers=sweep(SETTING, (25, 50, 100, 150, 200, 250, 300, 400, 500)),
    measures=("error", "overlap"),
    shape=PLOT,
    swept=SETTING,
)
