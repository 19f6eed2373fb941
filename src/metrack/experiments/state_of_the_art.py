"""Ours beside rivals that can be run here, and beside the fifteen trackers of the paper in its printed numbers.

``Ours`` and ``Ours+S`` are in both. Rivals that run here are in lower case; a tracker of the same name in the paper is
another program with its own row.
"""

from __future__ import annotations

from dataclasses import replace

from metrack.experiments.base import Context, Experiment, Finding
from metrack.experiments.compare import compare
from metrack.experiments.paper import read_paper
from metrack.rivals import RIVALS

SHOWN = ("csrt", "kcf", "mil", "oab", "tld", "medianflow", "dsst")


def run(experiment: Experiment, context: Context) -> Finding:
    """Compare the rivals that are installed, and name the others."""
    missing = [name for name in SHOWN if not _is_here(name)]
    here = tuple(text for text in experiment.trackers if text not in missing)
    finding = compare(replace(experiment, trackers=here), context)
    notes = [f"Not installed, so not run: {', '.join(missing)}."] if missing else []
    return replace(finding, notes=[*finding.notes, *notes])


def _is_here(name: str) -> bool:
    try:
        RIVALS[name].check()
    except ValueError:
        return False
    return True


STATE_OF_THE_ART = Experiment(
    id="state-of-the-art",
    title="State of the art",
    shows="Table 4 and Figure 13",
    question="How does the tracker stand beside others, then and now?",
    run=run,
    trackers=("Ours=paper", "Ours+S=paper-structured", *SHOWN),
    measures=("error", "overlap", "success"),
    paper=read_paper(
        "Trellis Football Girl Coke CarDark",
        """
        Ours+S |   4.22   2.88   7.35   5.13   2.62  0.83 0.69 0.78 0.65 0.77  0.99 0.90 0.99 0.88 1.00
        Ours   |   5.62   3.14   7.72   5.76   2.74  0.78 0.67 0.78 0.65 0.76  0.98 0.88 0.99 0.87 1.00
        DML    |   9.10  65.34  20.26  30.83   3.79  0.65 0.21 0.60 0.36 0.69  0.90 0.20 0.79 0.37 0.92
        FragT  |  39.86  31.95  20.92  59.54  65.31  0.34 0.36 0.64 0.05 0.08  0.40 0.47 0.79 0.05 0.08
        VTD    |  51.68   9.81  10.97  45.66  32.18  0.33 0.50 0.73 0.11 0.37  0.37 0.62 0.92 0.10 0.43
        MILT   |  60.41 103.59  39.96  17.71  44.79  0.29 0.06 0.39 0.35 0.15  0.34 0.07 0.19 0.28 0.08
        OAB1   |  68.58  76.53  51.51  57.90  24.73  0.16 0.05 0.34 0.04 0.37  0.13 0.05 0.18 0.04 0.39
        OAB5   | 126.36  97.16  67.13  64.97   9.85  0.06 0.05 0.24 0.04 0.43  0.03 0.05 0.14 0.04 0.33
        IPCA   |  46.13 133.67  20.90  56.60   2.42  0.36 0.02 0.62 0.03 0.78  0.38 0.01 0.80 0.03 1.00
        L1T    |  27.64 103.08  44.12  64.70  25.46  0.28 0.06 0.46 0.03 0.43  0.34 0.07 0.57 0.04 0.59
        Struck |   4.82   3.24   7.38   5.50   2.09  0.80 0.60 0.78 0.66 0.79  0.96 0.74 0.99 0.93 1.00
        CT     |  50.97 106.72  34.10  15.83  29.43  0.22 0.03 0.45 0.41 0.29  0.12 0.01 0.37 0.35 0.17
        ASLA   |   4.99   3.99  36.87  12.98   2.05  0.78 0.57 0.39 0.42 0.79  0.95 0.65 0.37 0.40 1.00
        SCM    |  12.30  26.60   7.47  94.74   1.92  0.70 0.27 0.76 0.11 0.77  0.84 0.32 0.99 0.12 1.00
        TLD    |  13.11      -  19.15   9.73      -  0.69    - 0.66 0.56    -  0.81    - 0.90 0.70    -
        """,
    ),
)
