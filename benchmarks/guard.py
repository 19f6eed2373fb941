"""The accuracy guard: has a change made any preset worse, or better?

    python benchmarks/guard.py [--write] [--processes 2] [--frames 60] [--file benchmarks/guard.json]

Every preset tracks the painted hard clips and, where METRACK_DATA has them, six short real sequences, once each from
the first box. The mean success AUC of each must lie within 0.02 of the figure in guard.json, or the exit code is 1;
--write rewrites the file, which a change that moves a figure has to do and explain. Takes about a minute.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from arithmetic import pin
from development import development_sequences
from metrack.box import iou
from metrack.config import PRESETS
from metrack.evaluation.plan import RunProtocol, plan
from metrack.evaluation.scores import success_auc
from metrack.evaluation.sequences import Sequence, choose_sequences, hard_sequences
from metrack.evaluation.trackers import TrackerSpec, parse_trackers
from metrack.evaluation.workers import LocalWorkers, Workers
from metrack.files import write_json

FILE = Path(__file__).with_name("guard.json")
TOLERANCE = 0.02
PAINTED, REAL = "painted", "real"
SHORT = ("Couple", "Crossing", "Deer", "MotorRolling", "Skiing", "Subway")

Figures = dict[str, dict[str, float]]  # mean AUC by kind of sequences and by tracker


def main(
    arguments: list[str] | None = None, specs: list[TrackerSpec] | None = None, workers: Workers | None = None
) -> int:
    options = parse(arguments)
    console = Console(highlight=False)
    sequences = find_sequences(options.sequences)
    specs = specs or parse_trackers(list(PRESETS))
    found = measure(specs, sequences, options.frames, workers or LocalWorkers(options.processes))
    if options.write:
        known = json.loads(options.file.read_text()) if options.file.is_file() else {}
        write_json(options.file, {**known, **found})
        console.print(f"wrote {options.file}", soft_wrap=True)
        return 0
    known = json.loads(options.file.read_text())
    console.print(as_table(found, known))
    if REAL not in found and REAL in known:
        console.print("the real sequences are not here (METRACK_DATA), so only painted ones were tracked")
    moved = [name for kind in found for name in moved_trackers(found[kind], known.get(kind, {}))]
    if moved:
        console.print(
            f"moved by more than {TOLERANCE}: {', '.join(dict.fromkeys(moved))}. A loss is to be mended; a figure that "
            "is better, or worse for a reason, is taken over by python benchmarks/guard.py --write",
            soft_wrap=True,
        )
    return 1 if moved else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="rewrite the file with the figures of this code")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time")
    parser.add_argument("--frames", type=int, default=60, help="frames of each sequence")
    parser.add_argument("--sequences", nargs="*", default=[], help="only these, for a quick look")
    parser.add_argument("--file", type=Path, default=FILE, help="the figures to compare with")
    return parser.parse_args(arguments)


def find_sequences(names: list[str]) -> dict[str, list[Sequence]]:
    """Painted clips, and the short real sequences where the data is present; only those named, if any are."""
    real = development_sequences()
    found = {PAINTED: hard_sequences(), REAL: choose_sequences(real, SHORT) if real else []}
    chosen = {kind: [each for each in some if not names or each.name in names] for kind, some in found.items()}
    return {kind: some for kind, some in chosen.items() if some}


def measure(specs: list[TrackerSpec], sequences: dict[str, list[Sequence]], frames: int, workers: Workers) -> Figures:
    """Mean success AUC of every tracker on every kind of sequences; a run that fails counts as 0."""
    runs = plan(specs, [each for some in sequences.values() for each in some], RunProtocol(length=frames))
    runs.sort(key=lambda run: -len(run.sequence))
    auc: dict[tuple[str, str], float] = {}
    for run, result in workers.execute(runs):
        overlap = None if result.error else iou(result.boxes, run.sequence.truth)
        auc[run.spec.label, run.sequence.name] = 0.0 if overlap is None else success_auc(overlap)
    return {
        kind: {spec.label: round(float(np.mean([auc[spec.label, s.name] for s in some])), 4) for spec in specs}
        for kind, some in sequences.items()
    }


def moved_trackers(found: dict[str, float], known: dict[str, float]) -> list[str]:
    """Trackers whose figure is missing or differs by more than the tolerance."""
    return [name for name, auc in found.items() if name not in known or abs(auc - known[name]) > TOLERANCE]


def as_table(found: Figures, known: Figures) -> Table:
    table = Table(title=f"Mean success AUC, which may move by {TOLERANCE}")
    for heading in ("sequences", "tracker", "was", "is", "difference", ""):
        table.add_column(heading, justify="right" if heading in ("was", "is", "difference") else "left")
    for kind, figures in found.items():
        for name, auc in figures.items():
            was = known.get(kind, {}).get(name)
            if was is None:
                table.add_row(kind, name, "", f"{auc:.3f}", "", "NEW")
                continue
            verdict = "" if abs(auc - was) <= TOLERANCE else "WORSE" if auc < was else "BETTER"
            table.add_row(kind, name, f"{was:.3f}", f"{auc:.3f}", f"{auc - was:+.3f}", verdict)
    return table


if __name__ == "__main__":
    pin()  # or another processor would find other figures
    sys.exit(main())
