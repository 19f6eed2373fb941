"""Runs scored against the ground truth: what tables, pages and experiments are made of.

Running is separate from scoring: everything here is computed from the files of :mod:`metrack.evaluation.result` and the
truth of the sequences, so that published results and ours are scored by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.box import centre_distance, iou
from metrack.evaluation import scores
from metrack.evaluation.evaluate import EvaluationSetup, tracker_folder
from metrack.evaluation.plan import RunProtocol, runs_on
from metrack.evaluation.result import RunResult, read_result
from metrack.evaluation.sequences import Sequence, read_sequences
from metrack.evaluation.trackers import TrackerSpec

Reals = NDArray[np.float64]
FIGURES = ("auc", "success", "precision", "normalised", "overlap", "error", "robustness", "fps")
"""AUC of the success curve, success at 0.5, precision at 20 px, AUC of the normalised precision curve, mean overlap
(VOR), mean centre error (CLE), share of frames before the target is lost, frames per second."""


@dataclass(frozen=True)
class ScoredRun:
    """One run with its ground truth, T frames from ``start`` on; a run that failed has an error and no frames."""

    sequence: str
    number: int
    start: int
    result: RunResult
    truth: Reals

    @cached_property
    def overlap(self) -> Reals:
        """Overlap with the truth ``(T,)``, NaN where there is none."""
        return np.asarray(iou(self.result.boxes, self.truth), float)

    @cached_property
    def distance(self) -> Reals:
        """Distance of the centres ``(T,)`` in pixels, NaN where there is no truth."""
        return np.asarray(centre_distance(self.result.boxes, self.truth), float)

    @cached_property
    def figures(self) -> dict[str, float]:
        """All figures by the names of ``FIGURES``."""
        return {
            "auc": scores.success_auc(self.overlap),
            "success": scores.success_rate(self.overlap),
            "precision": scores.precision(self.distance),
            "normalised": scores.normalised_precision_auc(scores.normalised_distance(self.result.boxes, self.truth)),
            "overlap": scores.mean_overlap(self.overlap),
            "error": scores.mean_centre_error(self.distance),
            "robustness": scores.robustness(self.overlap),
            "fps": scores.frames_per_second(self.result.seconds[1:]),
        }


@dataclass(frozen=True)
class TrackerScores:
    """A tracker's runs on all sequences, by the name of the sequence."""

    label: str
    runs: Mapping[str, list[ScoredRun]]

    def finished(self, sequence: str) -> list[ScoredRun]:
        """Return the runs on a sequence that did not fail."""
        return [run for run in self.runs.get(sequence, ()) if run.result.error is None]

    def on(self, sequence: str) -> dict[str, float]:
        """Figures on one sequence: the mean over its runs, NaN where all failed."""
        each = [run.figures for run in self.finished(sequence)]
        return {name: _mean(figures[name] for figures in each) for name in FIGURES}

    def mean(self, sequences: Iterable[str]) -> dict[str, float]:
        """Figures over sequences: every sequence counts the same, those without a finished run do not count."""
        each = [self.on(sequence) for sequence in sequences]
        return {name: _mean(figures[name] for figures in each) for name in FIGURES}

    def scored_on(self, sequences: Iterable[str]) -> list[str]:
        """Return those of the sequences it has figures on."""
        return [name for name in sequences if not np.isnan(self.on(name)["auc"])]

    def success_curve(self, sequences: Iterable[str]) -> Reals:
        """Mean success curve ``(21,)`` over sequences."""
        return self._curve(sequences, lambda run: scores.success_curve(run.overlap))

    def precision_curve(self, sequences: Iterable[str]) -> Reals:
        """Mean precision curve ``(51,)`` over sequences."""
        return self._curve(sequences, lambda run: scores.precision_curve(run.distance))

    def errors(self) -> dict[str, str]:
        """Return why runs failed, by sequence."""
        return {name: run.result.error for name, runs in self.runs.items() for run in runs if run.result.error}

    def _curve(self, sequences: Iterable[str], curve_of: Callable[[ScoredRun], Reals]) -> Reals:
        finished = [runs for name in sequences if (runs := self.finished(name))]
        each = [np.mean([curve_of(run) for run in runs], axis=0) for runs in finished]
        return np.asarray(np.mean(each, axis=0)) if each else np.full(0, np.nan)


@dataclass(frozen=True)
class Comparison:
    """Sequences, and the scored runs of every tracker on them."""

    sequences: list[Sequence]
    trackers: list[TrackerScores]
    protocol: RunProtocol

    @property
    def names(self) -> list[str]:
        """Names of the sequences."""
        return [sequence.name for sequence in self.sequences]

    def tracker(self, label: str) -> TrackerScores:
        """Return the scores of the tracker with a label."""
        return next(tracker for tracker in self.trackers if tracker.label == label)


def score_folder(folder: Path) -> Comparison:
    """Score everything in a folder of results; unfinished runs are left out."""
    setup = EvaluationSetup.load(folder)
    sequences = read_sequences(setup.data, setup.sequences, setup.layout)
    return score_runs(folder, setup.protocol, list(setup.trackers), sequences)


def score_runs(folder: Path, protocol: RunProtocol, labels: Iterable[str], sequences: list[Sequence]) -> Comparison:
    """Score the results of some trackers on some sequences."""
    trackers = [_score_tracker(folder, protocol, label, sequences) for label in labels]
    return Comparison(sequences, trackers, protocol)


def score_external(label: str, results: Path, sequences: list[Sequence]) -> TrackerScores:
    """Score boxes that another program left in files ``<sequence>.txt``, or as OTB's and GOT-10k's tools name them."""
    runs: dict[str, list[ScoredRun]] = {}
    for sequence in sequences:
        name = sequence.name
        places = (f"{name}.txt", f"{name}_001.txt", f"{name}/{name}_001.txt")
        file = next((results / place for place in places if (results / place).is_file()), None)
        if file is not None:
            runs[name] = [_score(name, 1, 0, read_result(file.parent, file.stem), sequence.truth, file)]
    if not runs:
        wanted = f"{sequences[0].name}.txt" if sequences else "<sequence>.txt"
        raise ValueError(f"results must be a folder with a file such as {wanted}, got {str(results)!r}")
    return TrackerScores(label, runs)


def _score_tracker(out: Path, protocol: RunProtocol, label: str, sequences: list[Sequence]) -> TrackerScores:
    folder, spec = tracker_folder(out, protocol, label), TrackerSpec(label, label)
    runs: dict[str, list[ScoredRun]] = {}
    for sequence in sequences:
        for run in runs_on(spec, sequence, protocol):
            file = folder / f"{run.name}.txt"
            if file.is_file() or file.with_suffix(".error.txt").is_file():
                result, truth = read_result(folder, run.name), run.sequence.truth
                runs.setdefault(sequence.name, []).append(
                    _score(sequence.name, run.number, run.start, result, truth, file)
                )
    return TrackerScores(label, runs)


def _score(name: str, number: int, start: int, result: RunResult, truth: Reals, file: Path) -> ScoredRun:
    if result.error is None and len(result.boxes) != len(truth):
        raise ValueError(f"{file} must have one box per frame, got {len(result.boxes)} for {len(truth)}")
    return ScoredRun(name, number, start, replace(result, boxes=without_gaps(result.boxes)), truth)


def without_gaps(boxes: Reals) -> Reals:
    """Fill frames without a box with the box before, as the evaluator of OTB does; a gap at the start stays.

    >>> without_gaps(np.array([[1.0, 1, 2, 2], [np.nan] * 4]))[1]
    array([1., 1., 2., 2.])
    """
    known = ~np.isnan(boxes).any(axis=1)
    last = np.maximum.accumulate(np.where(known, np.arange(len(boxes)), 0)) if len(boxes) else np.empty(0, int)
    return np.asarray(boxes[last])


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
