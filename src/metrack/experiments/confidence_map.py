"""The confidence map around a target, with the learned metric and without: what figure 1 of the paper shows.

A map is better the higher its peak stands over its median, and the nearer the peak is to the truth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from metrack.box import Box
from metrack.draw.chart import Chart
from metrack.draw.heat import confidence_chart, peak
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import TrackerSpec
from metrack.experiments.base import Cell, Context, Experiment, Finding
from metrack.experiments.cache import Arrays, cached_arrays
from metrack.experiments.drawing import MOST
from metrack.experiments.track_sequence import track_sequence
from metrack.tracking.score_map import confidence_map, usual_radius

FOLLOWED = 50  # frames before the map is made
COLUMNS = ["metric", "sequence", "frame", "peak over median", "peak to truth, px"]
MAPS = ("without metric", "with metric")


def run(experiment: Experiment, context: Context) -> Finding:
    """Compute the maps of every sequence and measure their peaks."""
    spec = experiment.specs()[0]
    context.evaluate([spec], experiment.protocol, [])
    rows: list[list[Cell]] = []
    figures: list[Chart] = []
    for sequence in context.sequences:
        frame = _last_frame(sequence)
        maps = _cached_maps(spec, sequence, frame, context)
        rows += [_row(name, sequence, frame, maps) for name in MAPS]
        if len(figures) < MOST:
            figures.append(_chart(maps, f"{sequence.name}, frame {frame}"))
    return Finding(experiment.id, COLUMNS, [*_means(rows), *rows], figures)


def _chart(maps: Arrays, title: str) -> Chart:
    return confidence_chart(Box(*maps["box"].tolist()), {name: maps[name] for name in MAPS}, title=title)


def _cached_maps(spec: TrackerSpec, sequence: Sequence, frame: int, context: Context) -> Arrays:
    file = context.out / spec.label / f"{sequence.name}_{frame}.npz"
    return cached_arrays(file, lambda: _maps(spec, sequence, frame))


def _last_frame(sequence: Sequence) -> int:
    present = sequence.present()
    if not len(present):
        raise ValueError(f"{sequence.name} must have at least one frame with a truth box, got none")
    return int(present[np.searchsorted(present, present[0] + FOLLOWED, side="right") - 1])


def _maps(spec: TrackerSpec, sequence: Sequence, last: int) -> Arrays:
    """Track up to a frame and compute its confidence maps."""
    _, tracker, steps = track_sequence(spec, sequence.part(0, last + 1))
    for frame, _ in steps:  # noqa: B007
        pass
    radius = usual_radius(tracker.box)
    maps = {name: confidence_map(tracker, frame, radius, metric=name == "with metric") for name in MAPS}
    return {**maps, "box": np.array(tracker.box.to_xywh())}


def _row(name: str, sequence: Sequence, frame: int, maps: Arrays) -> list[Cell]:
    box, truth = Box(*maps["box"].tolist()), Box(*sequence.truth[frame].tolist())
    height, distance = measure_peak(maps[name], box, truth)
    return [name, sequence.name, frame, height, distance]


def measure_peak(scores: NDArray[np.float64], box: Box, truth: Box) -> tuple[float, float]:
    """Return the highest score over the median one, and how far from the truth's centre it is.

    >>> measure_peak(np.array([[1.0, 1, 1], [1, 1, 1], [1, 1, 3]]), Box(0, 0, 4, 4), Box(1, 0, 4, 4))
    (3.0, 1.0)
    """
    dx, dy = peak(scores)
    (x, y), (true_x, true_y) = box.centre, truth.centre
    distance = math.hypot(x + dx - true_x, y + dy - true_y)
    return float(scores.max() / np.median(scores)), distance


def _means(rows: list[list[Cell]]) -> list[list[Cell]]:
    numbers = {name: np.array([row[3:] for row in rows if row[0] == name], float) for name in MAPS}
    return [[name, "mean", None, *values.mean(axis=0).tolist()] for name, values in numbers.items() if len(values)]


CONFIDENCE_MAP = Experiment(
    id="confidence-map",
    title="Confidence maps",
    shows="Figure 1",
    question="Does the learned metric make the target stand out from its surroundings?",
    run=run,
    trackers=("Ours=paper",),
    measures=(),
)
