"""A memory of fixed size against one that keeps everything: accuracy and time per frame."""

from __future__ import annotations

from dataclasses import replace

from metrack.experiments.base import Context, Experiment, Finding
from metrack.experiments.compare import run_trackers, summarise
from metrack.experiments.drawing import over_time, runs_by_label


def run(experiment: Experiment, context: Context) -> Finding:
    """Compare as usual, and plot overlap and time of every frame."""
    comparison = run_trackers(experiment, context)
    finding, runs = summarise(experiment, comparison), runs_by_label(comparison)
    overlaps = over_time(runs, lambda each: each.overlap, title="VOR", y_label="VOR", y_range=(0, 1))
    times = over_time(runs, lambda each: each.result.seconds * 1000, title="Time per frame", y_label="ms")
    return replace(finding, figures=[*finding.figures, *overlaps, *times])


BATCH = Experiment(
    id="batch",
    title="Reservoir against keeping everything",
    shows="Figure 4",
    question="Does a memory of fixed size track as well as one that keeps every sample?",
    run=run,
    trackers=("reservoir=paper", "everything=paper:memory.sampling=everything"),
    measures=("overlap", "ms"),
)
