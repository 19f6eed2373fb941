"""Accuracy on the development sequences, metric on and off, several seeds.

    python benchmarks/accuracy.py [--seeds 3] [--starts 1] [--length FRAMES] [--variant NAME:setting=value,...]

Prints one row per sequence (mean and spread over seeds of the success AUC) and rows of means, and
the difference between the first variant and each of the others. Sequences come from METRACK_DATA.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import zlib
from dataclasses import dataclass
from itertools import islice

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from metrack import Tracker, TrackerConfig
from metrack.box import centre_distance, iou
from metrack.config import preset
from metrack.evaluation.scores import precision, success_auc
from metrack.evaluation.sequences import Sequence, development_sequences

VARIANTS = ("paper:", "metric off:metric.learning=off")


@dataclass(frozen=True)
class Run:
    sequence: Sequence
    config: TrackerConfig
    seed: int
    start: int = 0
    length: int | None = None


def follow(run: Run) -> tuple[float, float, float]:
    """Success AUC, precision at 20 pixels and mean overlap of one pass over one sequence."""
    stop = None if run.length is None else run.start + run.length
    truth = run.sequence.truth[run.start : stop]
    frames = islice(run.sequence.frames(), run.start, stop)
    tracker = Tracker(run.config, seed=zlib.crc32(run.sequence.name.encode()) + run.seed)
    tracker.init(next(frames), tuple(truth[0]))
    boxes = [truth[0], *(tracker.update(frame).box.to_xywh() for frame in frames)]
    overlap = iou(np.array(boxes), truth)
    return success_auc(overlap), precision(centre_distance(boxes, truth)), float(np.nanmean(overlap))


def parse_variant(text: str) -> tuple[str, TrackerConfig]:
    name, _, changes = text.partition(":")
    pairs = (item.split("=", 1) for item in changes.split(",") if item)
    return name, preset("paper").replace(dict(pairs))


def measure(
    variants: dict[str, TrackerConfig], sequences: list[Sequence], seeds: int, starts: int, length: int | None
) -> dict[str, np.ndarray]:
    """(sequences, seeds, 3) figures of each variant, averaged over the places a sequence is started at."""
    places = [[len(s) * k // starts for k in range(starts)] for s in sequences]
    runs = [
        Run(s, c, k, start, length)
        for c in variants.values()
        for s, starting in zip(sequences, places, strict=True)
        for k in range(seeds)
        for start in starting
    ]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        results = list(track(pool.imap(follow, runs), total=len(runs), description="following"))
    shape = (len(variants), len(sequences), seeds, starts, 3)
    return dict(zip(variants, np.array(results).reshape(shape).mean(axis=3), strict=True))


def table(figures: dict[str, np.ndarray], sequences: list[Sequence]) -> Table:
    out = Table(title="Success AUC, mean ± spread over seeds", caption="spread: standard deviation")
    out.add_column("sequence")
    for name in figures:
        out.add_column(name, justify="right")
    for i, sequence in enumerate(sequences):
        cells = [f"{f[i, :, 0].mean():.3f} ± {f[i, :, 0].std():.3f}" for f in figures.values()]
        out.add_row(sequence.name, *cells)
    out.add_section()
    for k, label in enumerate(("mean AUC", "mean P@20", "mean overlap")):
        means = [f[:, :, k].mean(axis=0) for f in figures.values()]  # by seed
        out.add_row(label, *(f"{m.mean():.3f} ({', '.join(f'{v:.3f}' for v in m)})" for m in means))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variant", action="append", help="NAME:setting=value,... on top of preset paper")
    parser.add_argument("--starts", type=int, default=1, help="evenly spaced frames a sequence is started at")
    parser.add_argument("--length", type=int, help="frames followed from each start (default: to the end)")
    options = parser.parse_args()
    sequences = development_sequences()
    if not sequences:
        raise SystemExit("there are no sequences: set METRACK_DATA to a folder that holds sequences/<Name>/img")
    variants = dict(parse_variant(text) for text in options.variant or VARIANTS)
    figures = measure(variants, sequences, options.seeds, options.starts, options.length)
    console = Console()
    console.print(table(figures, sequences))
    first, *others = figures
    for other in others:
        gap = figures[first][:, :, 0] - figures[other][:, :, 0]
        error = gap.mean(axis=1).std(ddof=1) / np.sqrt(len(sequences))
        console.print(f"{first} - {other}: {gap.mean():+.3f} AUC (± {error:.3f} over sequences)")


if __name__ == "__main__":
    main()
