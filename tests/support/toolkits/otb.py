"""Ask got10k's OTB experiment: ``otb.py ROOT [PRESET]``.

Sequences lie under ROOT/data. With a preset our tracker follows them first; else its boxes are already among the
results. Leaves ROOT/reports/OTBtb50/metrack/performance.json.
"""

import sys
from pathlib import Path

from got10k.datasets import OTB
from got10k.experiments import ExperimentOTB

from metrack.adapters.got10k import GOT10kTracker

OTB._download = lambda *_: None  # else the constructor fetches all of OTB, however complete the folder is

root = Path(sys.argv[1])
experiment = ExperimentOTB(str(root / "data"), "tb50", str(root / "results"), str(root / "reports"))
for preset in sys.argv[2:]:
    experiment.run(GOT10kTracker(preset))
experiment.report(["metrack"])
