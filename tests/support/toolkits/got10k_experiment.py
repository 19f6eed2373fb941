"""Run our tracker in got10k's own experiment: ``got10k_experiment.py ROOT PRESET``.

Leaves ROOT/reports/GOT-10k/metrack/performance.json.
"""

import sys
from pathlib import Path

from got10k.experiments import ExperimentGOT10k

from metrack.adapters.got10k import GOT10kTracker

root, preset = Path(sys.argv[1]), sys.argv[2]
experiment = ExperimentGOT10k(str(root / "data"), "val", str(root / "results"), str(root / "reports"))
experiment.run(GOT10kTracker(preset, one_based=False))
experiment.report(["metrack"])
