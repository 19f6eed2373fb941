"""Accuracy on the development sequences: variants of the preset paper side by side, several seeds.

    python benchmarks/accuracy.py [--table metrics|representations] [--variant NAME:setting=value,... ...]
                                  [--seeds 3] [--first-seed 0] [--starts 1] [--length FRAMES] [--processes N]

Prints one row per sequence (mean and spread over seeds of the success AUC), rows of means (AUC, precision, centre
error, overlap, success, milliseconds of learning and of a whole frame), and the difference between the first variant
and each of the others. Without options: metric on and off. Sequences come from METRACK_DATA. Every run that ends is
told on the error output, so that a log can be read while the rest goes on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.table import Table

from development import development_sequences
from metrack import Tracker, TrackerConfig
from metrack.box import centre_distance, iou
from metrack.config import preset
from metrack.evaluation.scores import precision, success_auc, success_rate
from metrack.evaluation.sequences import Sequence

OFF = "metric.learning=off"
PIXELS = "features.kind=pixels"
TABLES = {
    "metric": ("paper:", f"metric off:{OFF}"),
    "metrics": (
        "proximity:",
        "structured:metric.every=0,ranking.every=1",
        "mixed:metric.every=1,ranking.every=5",
        f"metric off:{OFF}",
    ),
    "representations": (
        f"with metric:{PIXELS}",
        f"without:{PIXELS},{OFF}",
        f"OMP:{PIXELS},{OFF},representation.kind=omp",
        f"L1:{PIXELS},{OFF},representation.kind=l1",
    ),
}
FIGURES = ("AUC", "P@20", "CLE", "VOR", "success", "learning, ms", "frame, ms")


@dataclass(frozen=True)
class Trial:
    variant: str
    sequence: Sequence
    config: TrackerConfig
    seed: int


def follow(run: Trial) -> tuple[float, ...]:
    """One pass over one sequence, in figures."""
    truth, frames = run.sequence.truth, iter(run.sequence.pictures)
    tracker = Tracker(run.config, seed=zlib.crc32(run.sequence.name.encode()) + run.seed)
    tracker.init(next(frames), tuple(truth[0]))
    estimates = [tracker.update(frame) for frame in frames]
    boxes = np.array([truth[0], *(estimate.box.to_xywh() for estimate in estimates)])
    overlap, distance = iou(boxes, truth), centre_distance(boxes, truth)
    seconds = [estimate.info.seconds for estimate in estimates]
    learning, frame = (1e3 * np.median(s) for s in ([s["learn"] for s in seconds], [sum(s.values()) for s in seconds]))
    centre_error, mean_overlap = float(np.nanmean(distance)), float(np.nanmean(overlap))
    scores = success_auc(overlap), precision(distance), centre_error, mean_overlap, success_rate(overlap)
    return *scores, learning, frame


def told(results: Iterable[tuple[float, ...]], runs: list[Trial]) -> Iterator[tuple[float, ...]]:
    """Pass results on, each with a line about it."""
    start = time.perf_counter()
    for k, (run, figures) in enumerate(zip(runs, results, strict=True), start=1):
        passed = (time.perf_counter() - start) / 60
        what = (
            f"{run.variant}, {run.sequence.name}, seed {run.seed}: AUC {figures[0]:.3f}, {figures[-1]:.0f} ms a frame"
        )
        print(f"{k}/{len(runs)} after {passed:.1f} min: {what}", file=sys.stderr, flush=True)
        yield figures


def parse_variant(text: str) -> tuple[str, TrackerConfig]:
    name, _, changes = text.partition(":")
    pairs = (item.split("=", 1) for item in changes.split(",") if item)
    return name, preset("paper").replace(dict(pairs))


def measure(
    variants: dict[str, TrackerConfig], sequences: list[Sequence], options: argparse.Namespace
) -> dict[str, np.ndarray]:
    """(sequences, seeds, figures) of each variant, averaged over the places a sequence is started at."""
    seeds, starts, length = options.seeds, options.starts, options.length
    places = [[len(s) * k // starts for k in range(starts)] for s in sequences]
    runs = [
        Trial(name, s.part(start, None if length is None else start + length), config, k)
        for name, config in variants.items()
        for s, starting in zip(sequences, places, strict=True)
        for k in range(options.first_seed, options.first_seed + seeds)
        for start in starting
    ]
    with multiprocessing.Pool(options.processes) as pool:
        results = list(told(pool.imap(follow, runs), runs))
    shape = (len(variants), len(sequences), seeds, starts, len(FIGURES))
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
    for k, label in enumerate(FIGURES):
        means = [f[:, :, k].mean(axis=0) for f in figures.values()]  # by seed
        digits = 3 if means[0].max() <= 1 else 1
        cells = [f"{m.mean():.{digits}f} ({', '.join(f'{v:.{digits}f}' for v in m)})" for m in means]
        out.add_row(f"mean {label}", *cells)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0, help="so that a choice is confirmed on other seeds")
    parser.add_argument("--table", choices=list(TABLES), default="metric", help="a set of variants to compare")
    parser.add_argument("--variant", action="append", help="NAME:setting=value,... on top of preset paper, instead")
    parser.add_argument("--starts", type=int, default=1, help="evenly spaced frames a sequence is started at")
    parser.add_argument("--length", type=int, help="frames followed from each start (default: to the end)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    sequences = development_sequences()
    if not sequences:
        raise SystemExit("there are no sequences: set METRACK_DATA to a folder that holds sequences/<Name>/img")
    variants = dict(parse_variant(text) for text in options.variant or TABLES[options.table])
    figures = measure(variants, sequences, options)
    console = Console(width=160)
    console.print(table(figures, sequences))
    first, *others = figures
    for other in others:
        gap = figures[first][:, :, 0] - figures[other][:, :, 0]
        error = gap.mean(axis=1).std(ddof=1) / np.sqrt(len(sequences))
        console.print(f"{first} - {other}: {gap.mean():+.3f} AUC (± {error:.3f} over sequences)")


if __name__ == "__main__":
    main()
