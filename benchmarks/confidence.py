"""Fit the weights of metrack.tracking.confidence on the development sequences, and say what they are worth on others.

    python benchmarks/confidence.py [--preset default] [--set NAME=VALUE ...] [--seeds 2] [--processes N]

Every sequence is followed once per seed. Then, leaving one sequence out at a time, weights are fitted on the others
and scored on it: AUROC of the probability against an overlap above one half, and expected calibration error, over all
frames together. The last line has the weights fitted on all sequences, for the source. Every sequence counts the same
in a fit; weights are at least 0, so that more error never means more confidence.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.optimize import minimize

from development import development_sequences
from metrack import Tracker, TrackerConfig
from metrack.box import Box, iou
from metrack.config import preset
from metrack.evaluation.calibration import auroc, expected_calibration_error
from metrack.evaluation.plan import run_seed
from metrack.evaluation.sequences import Sequence
from metrack.tracking.confidence import errors

NAMES = ("foreground", "template", "colour", "response")
SHRINKAGE = 1e-3


@dataclass(frozen=True)
class Trial:
    sequence: Sequence
    config: TrackerConfig
    number: int


@dataclass(frozen=True)
class Followed:
    name: str
    against: np.ndarray  # (T, 4) what speaks against each estimate, ready for a logistic function
    overlap: np.ndarray  # (T,)
    said: np.ndarray  # (T,) the probability the tracker gave with the weights it has now


def follow(run: Trial) -> Followed:
    sequence = run.sequence
    tracker = Tracker(run.config, seed=run_seed(0, sequence.name, run.number))
    pictures = iter(sequence.pictures)
    tracker.init(next(pictures), Box(*sequence.truth[0]))
    estimates = [tracker.update(picture) for picture in pictures]
    evidence = [estimate.info.evidence for estimate in estimates]
    against = np.array([errors(each) for each in evidence])
    overlap = iou([estimate.box.to_xywh() for estimate in estimates], sequence.truth[1:])
    return Followed(sequence.name, against, overlap, np.array([estimate.score for estimate in estimates]))


def fit(runs: list[Followed]) -> tuple[float, np.ndarray]:
    """Offset and weights ``(4,)`` of the likeliest logistic function that falls with every sign."""
    against, right = np.vstack([run.against for run in runs]), np.concatenate([run.overlap for run in runs]) > 0.5
    share = np.concatenate([np.full(len(run.overlap), 1 / len(run.overlap)) for run in runs])
    share /= share.sum()
    middle, spread = against.mean(axis=0), np.maximum(against.std(axis=0), 1e-9)
    standard = (against - middle) / spread

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        rise = x[0] - standard @ x[1:]
        wrong = (1 / (1 + np.exp(-rise)) - right) * share
        value = share @ np.logaddexp(0, np.where(right, -rise, rise)) + SHRINKAGE * x[1:] @ x[1:]
        return value, np.concatenate([[wrong.sum()], 2 * SHRINKAGE * x[1:] - standard.T @ wrong])

    bounds = [(None, None), *[(0, None)] * len(NAMES)]
    best = minimize(loss, np.zeros(1 + len(NAMES)), jac=True, bounds=bounds).x
    weights = best[1:] / spread
    return float(best[0] + weights @ middle), weights


def probability(against: np.ndarray, offset: float, weights: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(offset - against @ weights)))


def left_out(runs: list[Followed]) -> list[np.ndarray]:
    """Probabilities of every run by weights fitted on the other sequences."""
    others = [fit([other for other in runs if other.name != run.name]) for run in runs]
    return [probability(run.against, *weights) for run, weights in zip(runs, others, strict=True)]


def table(runs: list[Followed], scored: list[np.ndarray]) -> Table:
    out = Table(title="Weights fitted on the other sequences")
    for column in ("sequence", "right", "promised", "AUROC", "ECE"):
        out.add_column(column, justify="left" if column == "sequence" else "right")
    for name in dict.fromkeys(run.name for run in runs):
        mine = [k for k, run in enumerate(runs) if run.name == name]
        sure, overlap = (np.concatenate([each[k] for k in mine]) for each in (scored, [run.overlap for run in runs]))
        figures = (np.mean(overlap > 0.5), sure.mean(), auroc(sure, overlap), expected_calibration_error(sure, overlap))
        out.add_row(name, *(f"{figure:.2f}" for figure in figures))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    sequences = sorted(development_sequences(), key=lambda sequence: -len(sequence))
    if not sequences:
        raise SystemExit("there are no sequences: set METRACK_DATA to a folder that holds sequences/<Name>/img")
    config = preset(options.preset).replace(dict(change.split("=", 1) for change in options.set))
    work = [Trial(sequence, config, number) for sequence in sequences for number in range(1, options.seeds + 1)]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        runs = list(track(pool.imap(follow, work), total=len(work), description="following"))
    runs = sorted(runs, key=lambda run: run.name)
    scored, overlap = left_out(runs), np.concatenate([run.overlap for run in runs])
    console = Console(width=120)
    console.print(table(runs, scored))
    for what, said in (("left out", scored), ("as the source has them", [run.said for run in runs])):
        sure = np.concatenate(said)
        error = expected_calibration_error(sure, overlap)
        console.print(f"weights {what}: AUROC {auroc(sure, overlap):.3f}, ECE {error:.3f}, {len(sure)} frames")
    offset, weights = fit(runs)
    console.print(f"right {np.mean(overlap > 0.5):.3f}; weights: offset {offset:.2f}, " + ", ".join(
        f"{name} {weight:.2f}" for name, weight in zip(NAMES, weights, strict=True)))  # fmt: skip


if __name__ == "__main__":
    main()
