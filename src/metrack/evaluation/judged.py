"""Runs compared with the truth: what tables, pages and experiments are made of.

Running is apart from scoring: everything here is computed from the files of :mod:`metrack.evaluation.outcome` and the
truth of the sequences, so that published results and ours are judged by the same code.
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
from metrack.evaluation.entrants import Entrant
from metrack.evaluation.outcome import Outcome, read_outcome
from metrack.evaluation.plan import RunProtocol, runs_on
from metrack.evaluation.run import Asked, tracker_folder
from metrack.evaluation.sequences import Sequence, read_sequences

Reals = NDArray[np.float64]
FIGURES = ("auc", "success", "precision", "normalised", "overlap", "error", "robustness", "fps")
"""AUC of the success curve, success at 0.5, precision at 20 px, AUC of the normalised precision curve, mean overlap
(VOR), mean centre error (CLE), share of frames before the target is lost, frames per second."""


@dataclass(frozen=True)
class Judged:
    """One run beside the truth; T frames from ``start`` on. A run that failed has an error and no frames."""

    sequence: str
    number: int
    start: int
    outcome: Outcome
    truth: Reals

    @cached_property
    def overlap(self) -> Reals:
        """Overlap with the truth ``(T,)``, NaN where there is none."""
        return np.asarray(iou(self.outcome.boxes, self.truth), float)

    @cached_property
    def distance(self) -> Reals:
        """Distance of the centres ``(T,)`` in pixels, NaN where there is no truth."""
        return np.asarray(centre_distance(self.outcome.boxes, self.truth), float)

    @cached_property
    def figures(self) -> dict[str, float]:
        """What tables show, by the names of ``FIGURES``."""
        return {
            "auc": scores.success_auc(self.overlap),
            "success": scores.success_rate(self.overlap),
            "precision": scores.precision(self.distance),
            "normalised": scores.normalised_precision_auc(scores.normalised_distance(self.outcome.boxes, self.truth)),
            "overlap": scores.mean_overlap(self.overlap),
            "error": scores.mean_centre_error(self.distance),
            "robustness": scores.robustness(self.overlap),
            "fps": scores.frames_per_second(self.outcome.seconds[1:]),
        }


@dataclass(frozen=True)
class Standing:
    """A tracker's runs on all sequences, by the name of the sequence."""

    label: str
    runs: Mapping[str, list[Judged]]

    def on(self, sequence: str) -> dict[str, float]:
        """Figures on one sequence: the mean over its runs, NaN where none could be made."""
        made = [run.figures for run in self.runs.get(sequence, ()) if run.outcome.error is None]
        return {name: _mean(figures[name] for figures in made) for name in FIGURES}

    def mean(self, sequences: Iterable[str]) -> dict[str, float]:
        """Figures over sequences: every sequence counts the same, those it could not run not at all."""
        each = [self.on(sequence) for sequence in sequences]
        return {name: _mean(figures[name] for figures in each) for name in FIGURES}

    def judged(self, sequences: Iterable[str]) -> list[str]:
        """Return the sequences it has figures on."""
        return [name for name in sequences if not np.isnan(self.on(name)["auc"])]

    def success_curve(self, sequences: Iterable[str]) -> Reals:
        """Mean success curve ``(21,)`` over sequences."""
        return self._curve(sequences, lambda run: scores.success_curve(run.overlap))

    def precision_curve(self, sequences: Iterable[str]) -> Reals:
        """Mean precision curve ``(51,)`` over sequences."""
        return self._curve(sequences, lambda run: scores.precision_curve(run.distance))

    def errors(self) -> dict[str, str]:
        """Return why runs could not be made, by sequence."""
        return {name: run.outcome.error for name, runs in self.runs.items() for run in runs if run.outcome.error}

    def _curve(self, sequences: Iterable[str], curve_of: Callable[[Judged], Reals]) -> Reals:
        each = [
            np.mean([curve_of(run) for run in runs if run.outcome.error is None], axis=0)
            for name in sequences
            if (runs := self.runs.get(name)) and any(run.outcome.error is None for run in runs)
        ]
        return np.asarray(np.mean(each, axis=0)) if each else np.full(0, np.nan)


@dataclass(frozen=True)
class Comparison:
    """Sequences, and how every tracker stands on them."""

    sequences: list[Sequence]
    standings: list[Standing]
    protocol: RunProtocol

    @property
    def names(self) -> list[str]:
        """Names of the sequences."""
        return [sequence.name for sequence in self.sequences]

    def standing(self, label: str) -> Standing:
        """Return the standing of one tracker."""
        return next(standing for standing in self.standings if standing.label == label)


def judge_folder(out: Path) -> Comparison:
    """Compare everything in a folder of results with the truth; unfinished runs are left out."""
    asked = Asked.load(out)
    sequences = read_sequences(asked.data, asked.sequences, asked.layout)
    return judge(out, asked, list(asked.trackers), sequences)


def judge(out: Path, asked: Asked, labels: Iterable[str], sequences: list[Sequence]) -> Comparison:
    """Compare the results of some trackers on some sequences with the truth."""
    standings = [_standing(out, asked.protocol, label, sequences) for label in labels]
    return Comparison(sequences, standings, asked.protocol)


def read_results(label: str, folder: Path, sequences: list[Sequence]) -> Standing:
    """Judge boxes that some program left in files ``<sequence>.txt``, or as OTB's and GOT-10k's tools name them."""
    runs: dict[str, list[Judged]] = {}
    for sequence in sequences:
        name = sequence.name
        places = (f"{name}.txt", f"{name}_001.txt", f"{name}/{name}_001.txt")
        file = next((folder / place for place in places if (folder / place).is_file()), None)
        if file is not None:
            runs[name] = [_judged(name, 1, 0, read_outcome(file.parent, file.stem), sequence.truth, file)]
    if not runs:
        wanted = f"{sequences[0].name}.txt" if sequences else "<sequence>.txt"
        raise ValueError(f"--results must be a folder with a file such as {wanted}, got {str(folder)!r}")
    return Standing(label, runs)


def _standing(out: Path, protocol: RunProtocol, label: str, sequences: list[Sequence]) -> Standing:
    folder, nobody = tracker_folder(out, protocol, label), Entrant(label, label)
    runs: dict[str, list[Judged]] = {}
    for sequence in sequences:
        for run in runs_on(nobody, sequence, protocol):
            file = folder / f"{run.name}.txt"
            if file.is_file() or file.with_suffix(".error.txt").is_file():
                outcome, truth = read_outcome(folder, run.name), run.sequence.truth
                runs.setdefault(sequence.name, []).append(
                    _judged(sequence.name, run.number, run.start, outcome, truth, file)
                )
    return Standing(label, runs)


def _judged(name: str, number: int, start: int, outcome: Outcome, truth: Reals, file: Path) -> Judged:
    if outcome.error is None and len(outcome.boxes) != len(truth):
        raise ValueError(f"{file} must have one box per frame, got {len(outcome.boxes)} for {len(truth)}")
    return Judged(name, number, start, replace(outcome, boxes=without_gaps(outcome.boxes)), truth)


def without_gaps(boxes: Reals) -> Reals:
    """Where a tracker gave no box, the one before stands, as in the evaluator of OTB; a gap at the start stays.

    >>> without_gaps(np.array([[1.0, 1, 2, 2], [np.nan] * 4]))[1]
    array([1., 1., 2., 2.])
    """
    known = ~np.isnan(boxes).any(axis=1)
    last = np.maximum.accumulate(np.where(known, np.arange(len(boxes)), 0)) if len(boxes) else np.empty(0, int)
    return np.asarray(boxes[last])


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
