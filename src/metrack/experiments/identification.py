"""Identification of the tracked target, by each frame alone or by all frames so far.

Every sequence is one target. Its templates are truth boxes of its first part; the rest is tracked, and what was
tracked is compared with the templates of all. The metric is learned from the templates, on triplets, so that every
target is nearer to itself than to others.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metrack import identity
from metrack.arrays import Floats
from metrack.box import Box
from metrack.config import TrackerConfig
from metrack.draw.chart import Chart
from metrack.draw.plots import bar_plot, line_plot
from metrack.evaluation.comparison import ScoredRun, score_runs
from metrack.evaluation.events import identification_accuracy
from metrack.evaluation.sequences import Sequence
from metrack.experiments.base import Cell, Context, Experiment, Finding
from metrack.experiments.compare import list_errors
from metrack.experiments.drawing import MOST
from metrack.features.extractor import BASE_SIZE, Extractor

TEMPLATE_SHARE = 0.25  # of the frames of a sequence
MOST_TEMPLATES = 50
MARGIN = 0.1  # target sizes around a box, so that its border has gradients
SINGLE, TOGETHER = "each frame", "cumulative"
WAYS = (f"{SINGLE}, plain", f"{TOGETHER}, plain", f"{SINGLE}, metric", f"{TOGETHER}, metric")


@dataclass(frozen=True)
class Identified:
    """One run: distances ``(T, K)`` for each of ``WAYS``, and the share of frames each names correctly."""

    sequence: str
    distances: dict[str, NDArray[np.float64]]
    accuracy: dict[str, float]


def run(experiment: Experiment, context: Context) -> Finding:
    """Track the second part of every sequence and identify its target."""
    if len(context.sequences) < 2:
        raise ValueError(f"identification needs at least 2 sequences, one per target, got {len(context.sequences)}")
    spec = experiment.specs()[0]
    firsts, rests = zip(*(_cut(sequence) for sequence in context.sequences), strict=True)
    protocol = replace(experiment.protocol, repetitions=context.seeds)
    context.evaluate([spec], protocol, list(rests))
    comparison = score_runs(context.out, protocol, [spec.label], list(rests))
    config, names = spec.config(), comparison.names
    templates = [_templates(first, config) for first in firsts]
    rng = np.random.default_rng(zlib.crc32(experiment.id.encode()))
    metric = identity.learn_metric(rng, templates, config.metric)
    runs = comparison.trackers[0].runs
    found = [
        _identify(rest.part(run.start), run, templates, metric, config, names)
        for rest in rests
        for run in runs.get(rest.name, [])
        if run.result.error is None
    ]
    return Finding(experiment.id, ["sequence", *WAYS], _rows(found), _figures(found, names), list_errors(comparison))


def _cut(sequence: Sequence) -> tuple[Sequence, Sequence]:
    """Cut a sequence where its templates end, but not before its first truth box."""
    present = sequence.present()
    if len(present) < 2:
        raise ValueError(f"{sequence.name} must have at least two frames with a truth box, got {len(present)}")
    place = min(max(int(TEMPLATE_SHARE * len(sequence)), int(present[0]) + 1), int(present[-1]))
    return sequence.part(0, place), sequence.part(place)


def _templates(first: Sequence, config: TrackerConfig) -> Floats:
    present = first.present()
    chosen = present[np.unique(np.linspace(0, len(present) - 1, MOST_TEMPLATES).astype(int))]
    boxes = np.full_like(first.truth, np.nan)
    boxes[chosen] = first.truth[chosen]
    return describe(first, boxes, config)


def describe(sequence: Sequence, boxes: Floats, config: TrackerConfig) -> Floats:
    """Describe one box ``(T, 4)`` per frame; frames whose box is NaN are left out."""
    extractor = Extractor(config.features)
    rows = [_describe(extractor, frame, box) for frame, box in zip(sequence.pictures, boxes, strict=True)]
    return np.array([row for row in rows if row is not None])


def _describe(extractor: Extractor, frame: NDArray[np.uint8], box: Floats) -> Floats | None:
    if np.isnan(box).any():
        return None
    x, y, w, h = box.tolist()
    region = Box(x, y, w, h).grow(MARGIN * w, MARGIN * h)
    row: Floats = extractor.look(frame, region, BASE_SIZE / math.sqrt(w * h)).describe(box[None])[0]
    return row


def _identify(
    rest: Sequence, run: ScoredRun, templates: list[Floats], metric: Floats, config: TrackerConfig, names: list[str]
) -> Identified:
    seen = describe(rest, run.result.boxes, config)
    found: dict[str, NDArray[np.float64]] = {}
    for word, measure in (("plain", None), ("metric", metric)):
        single = identity.distances(templates, seen, config.representation.ridge, measure)
        found[f"{SINGLE}, {word}"] = single
        found[f"{TOGETHER}, {word}"] = identity.cumulative(single, run.result.scores)
    true = [None if np.isnan(box).any() else run.sequence for box in run.truth]
    accuracy = {
        way: identification_accuracy([names[number] for number in identity.nearest(found[way])], true) for way in WAYS
    }
    return Identified(run.sequence, found, accuracy)


def _rows(found: list[Identified]) -> list[list[Cell]]:
    names = list(dict.fromkeys(each.sequence for each in found))
    rows: list[list[Cell]] = [[name, *_accuracies(found, name)] for name in names]
    means: list[Cell] = [float(np.mean([_accuracies(found, name)[way] for name in names])) for way in range(len(WAYS))]
    return [["mean", *means], *rows] if names else []


def _accuracies(found: list[Identified], name: str) -> list[float]:
    """Return the accuracy of each of ``WAYS`` on a sequence, the mean over seeds."""
    return [float(np.mean([each.accuracy[way] for each in found if each.sequence == name])) for way in WAYS]


def _figures(found: list[Identified], names: list[str]) -> list[Chart]:
    firsts = list({each.sequence: each for each in reversed(found)}.values())[::-1][:MOST]
    shown = {way: [_accuracies(found, each.sequence)[WAYS.index(way)] for each in firsts] for way in WAYS}
    bars = bar_plot([each.sequence for each in firsts], shown, title="Identified frames", y_label="share of frames")
    return [bars, *(_curves(each, way, names) for each in firsts for way in WAYS[2:])]


def _curves(each: Identified, way: str, names: list[str]) -> Chart:
    values = each.distances[way]
    curves = {name: (np.arange(len(values)), values[:, number]) for number, name in enumerate(names)}
    return line_plot(curves, title=f"{each.sequence}: {way}", y_label="distance to templates of")


IDENTIFICATION = Experiment(
    id="identification",
    title="Identification",
    shows="Figures 16 and 17",
    question="Is a tracked target named more reliably by all frames so far than by each frame alone?",
    run=run,
    trackers=("Ours=paper",),
    measures=(),
)
