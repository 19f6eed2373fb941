"""Learning the metric from overlaps of boxes, from triplets, or not at all.

Struck's numbers and those of the paper's variants are printed ones; the paper measures the time of learning alone.
"""

from __future__ import annotations

from dataclasses import replace

from metrack.experiments.base import Context, Experiment, Finding
from metrack.experiments.compare import run_trackers, summarise
from metrack.experiments.paper import read_paper
from metrack.experiments.table import mean_of


def run(experiment: Experiment, context: Context) -> Finding:
    """Compare as usual, and note how much slower structured learning is."""
    comparison = run_trackers(experiment, context)
    finding = summarise(experiment, comparison)
    time = {tracker.label: mean_of(comparison, tracker, "ms") for tracker in comparison.trackers}
    extra = [time[label] - time["none"] for label in ("structured", "proximity")]
    note = (
        f"Learning adds {extra[0]:.1f} ms to a frame where it is structured and {extra[1]:.1f} ms where it is not "
        "(the paper: about 20 times as long)."
    )
    return replace(finding, notes=[*finding.notes, note])


STRUCTURED = Experiment(
    id="structured",
    title="Structured metric learning",
    shows="Table 5 and Figure 15",
    question="Is it better to learn the metric from the overlaps of boxes than from triplets, and what does it cost?",
    run=run,
    trackers=("proximity=paper", "structured=paper-structured", "none=paper:metric.learning=off"),
    measures=("error", "overlap", "success", "ms"),
    paper=read_paper(
        "Trellis",
        """
        proximity  | 5.62 0.78 0.98
        structured | 4.22 0.83 0.99
        none       | 7.80 0.73 0.93
        Struck     | 4.82 0.80 0.96
        """,
    ),
)
