"""One sequence of a comparison, frame by frame: pictures with boxes, then the curves of error and overlap.

Shown are the runs that begin where a tracker's first one does: the curve is their mean, and a band goes from the
lowest to the highest where there are several. Frames without truth are grey.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Ordered
from dataclasses import replace
from html import escape

import numpy as np

from metrack.draw.chart import Chart
from metrack.draw.page import legend_html, plots_html
from metrack.draw.palette import Look
from metrack.draw.plots import line_plot
from metrack.draw.stretches import stretches_where
from metrack.evaluation.comparison import Reals, ScoredRun, TrackerScores
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.strips import boxes_html

HEIGHT = 120.0  # pixels: two curves stand beside each other


def details_html(sequence: Sequence, order: Ordered[TrackerScores], looks: Mapping[str, Look], *, opened: bool) -> str:
    """Return the section of one sequence, folded until clicked; boxes of the first tracker of ``order`` lie on top."""
    found = {tracker.label: _same_start(tracker, sequence.name) for tracker in reversed(order)}
    runs = {label: made for label, made in found.items() if made}
    strip = boxes_html(sequence, {label: made[0] for label, made in runs.items()}, looks)
    legend = legend_html({label: look for label, look in looks.items() if label in runs})
    notes = escape(", ".join([f"{len(sequence)} frames", *sequence.attributes]))
    return (
        f"<details{' open' if opened else ''}><summary>{escape(sequence.name)}<small>{notes}</small></summary>"
        f"{legend}{strip}{plots_html(_curves(sequence, runs, looks))}</details>"
    )


def _curves(sequence: Sequence, runs: Mapping[str, list[ScoredRun]], looks: Mapping[str, Look]) -> list[Chart | str]:
    errors = {label: [run.distance for run in made] for label, made in runs.items()}
    overlaps = {label: [run.overlap for run in made] for label, made in runs.items()}
    starts = {label: made[0].start for label, made in runs.items()}
    highest = max((float(np.max(each, initial=0.0, where=~np.isnan(each))) for each in errors.values()), default=0.0)
    shown = [
        ("Centre error (CLE)", "pixels", errors, (0.0, max(1.05 * highest, 1.0))),
        ("Overlap (VOR)", "overlap", overlaps, (0.0, 1.0)),
    ]
    return [
        _curve(sequence, starts, values, title, y_label, y_range, looks)
        for title, y_label, values, y_range in shown
        if runs
    ]


def _curve(
    sequence: Sequence,
    starts: Mapping[str, int],
    values: Mapping[str, list[Reals]],
    title: str,
    y_label: str,
    y_range: tuple[float, float],
    looks: Mapping[str, Look],
) -> Chart:
    frames = {label: starts[label] + np.arange(len(each[0])) for label, each in values.items()}
    chart = line_plot(
        {label: (frames[label], np.mean(each, axis=0)) for label, each in values.items()},
        title=title,
        y_label=y_label,
        y_range=y_range,
        bands={label: (np.min(each, axis=0), np.max(each, axis=0)) for label, each in values.items() if len(each) > 1},
        spans=absent(sequence),
        looks=looks,
        legend=False,
        height=HEIGHT,
    )
    return replace(chart, label=f"{title} of all trackers on {sequence.name}, frame by frame")


def absent(sequence: Sequence) -> list[tuple[int, int]]:
    """Return the first and the last frame of every stretch without truth."""
    return stretches_where(np.isnan(sequence.truth).any(axis=1))


def _same_start(tracker: TrackerScores, name: str) -> list[ScoredRun]:
    """Return the runs on a sequence that begin where the first one does."""
    made = [run for run in tracker.runs.get(name, ()) if run.result.error is None]
    return [run for run in made if run.start == made[0].start]
