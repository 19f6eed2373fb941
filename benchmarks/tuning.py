"""The tuning bench: is a candidate better than the reference, on sequences it was not chosen on?

    python benchmarks/tuning.py CANDIDATE ... [--against default] [--out tuning] [--length 120] [--tre 6] [--sre 6]
                                [--repetitions 1] [--hard 1] [--folds 5] [--sequences NAME,...] [--processes 2] [--each]

A candidate is [LABEL=]NAME[:SETTING=VALUE,...], as for metrack evaluate. Everybody follows the development sequences
(METRACK_DATA) and the hard painted ones from several frames (TRE) and from wrong first boxes (SRE). All figures are
success AUC; every sequence counts the same, with the mean of its TRE and its SRE; a run that could not be made counts
as 0. The interval is a paired bootstrap over sequences. A candidate has earned its place when all folds say "better".

The folder can be taken up again, more candidates included. It remembers which code made the runs: where that has
changed, --keep lets old runs stand as they are, so that `new=default --against default --keep` compares two versions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import metrack
from development import data_folder
from metrack.cli.options import in_options
from metrack.cli.progress import Steps
from metrack.evaluation.comparison import ScoredRun, score_runs
from metrack.evaluation.evaluate import EvaluationSetup, evaluate
from metrack.evaluation.plan import PERTURBATIONS, SRE, TRE, RunProtocol, starts_of
from metrack.evaluation.sequences import HARD, Sequence, choose_sequences, read_sequences
from metrack.evaluation.trackers import TrackerSpec, parse_trackers
from metrack.evaluation.workers import LocalWorkers, Workers
from metrack.files import write_json
from metrack.runs.results import check_folder, claim_folder, write_summary
from metrack.testing.imports import LEVEL
from metrack.testing.source import read_package
from paired import (
    bootstrap_interval,
    deal_folds,
    fold_means,
    folds_agree,
    leave_sequences_out,
    worst_quarter,
)

REAL = "real"
CODE, FIGURES = "code.json", "tuning.json"


@dataclass(frozen=True)
class Part:
    """Sequences of one source under one protocol, and the folder of their runs."""

    data: str
    sequences: list[Sequence]
    protocol: RunProtocol
    folder: Path

    @property
    def is_real(self) -> bool:
        return self.folder.name.startswith(REAL)

    def setup(self, specs: list[TrackerSpec]) -> EvaluationSetup:
        return EvaluationSetup.of(specs, self.sequences, self.protocol, self.data)


@dataclass(frozen=True)
class Measured:
    """AUC by candidate (C) and sequence (S), that of every run (R), and the time a frame took."""

    labels: list[str]
    names: list[str]
    real: np.ndarray  # (S,) whether a sequence was filmed
    tre: np.ndarray  # (C, S)
    sre: np.ndarray  # (C, S)
    runs: np.ndarray  # (C, R)
    milliseconds: np.ndarray  # (C,) median over runs of the mean

    @property
    def scores(self) -> np.ndarray:
        return (self.tre + self.sre) / 2


def main(arguments: list[str] | None = None, workers: Workers | None = None) -> int:
    options = parse(arguments)
    console = Console(highlight=False, width=max(Console().width, 150))
    try:
        return bench(options, console, workers or LocalWorkers(options.processes))
    except ValueError as error:
        print(in_options(str(error), "tuning").replace("--tracker", "CANDIDATE"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        console.print(f"interrupted: finished runs are in {options.out}, the same command goes on")
        return 2


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("candidates", metavar="CANDIDATE", nargs="*", help="[LABEL=]NAME[:SETTING=VALUE,...]")
    parser.add_argument("--against", default="default", help="the reference, in the same notation")
    parser.add_argument("--out", type=Path, default=Path("tuning"), help="folder of the runs; it is taken up again")
    parser.add_argument("--length", type=int, default=120, help="frames of a run")
    parser.add_argument("--tre", type=int, default=6, help="frames a sequence is started at")
    parser.add_argument("--sre", type=int, default=6, help="wrong first boxes")
    parser.add_argument("--repetitions", type=int, default=1, help="runs from each start, with other seeds")
    parser.add_argument("--hard", type=int, default=1, help="sets of painted sequences, ten each")
    parser.add_argument("--folds", type=int, help="into which sequences are dealt (default: 5, if there are so many)")
    parser.add_argument("--sequences", default="", metavar="NAME,...", help="only these")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time")
    parser.add_argument("--each", action="store_true", help="print every sequence too")
    parser.add_argument("--keep", action="store_true", help="let runs made by other code stand")
    return parser.parse_args(arguments)


def bench(options: argparse.Namespace, console: Console, workers: Workers) -> int:
    specs = parse_trackers([options.against, *options.candidates])
    protocols = protocols_of(options)
    found = read_all(options)
    count = sum(len(sequences) for sequences in found.values())
    fold = deal_folds(count, min(5, count) if options.folds is None else options.folds)
    parts = [
        Part(data, sequences, protocol, options.out / f"{folder_name(data)}-{protocol.kind}")
        for data, sequences in found.items()
        for protocol in protocols
    ]
    running = due(options.out, specs, options.keep)
    if REAL not in {folder_name(data) for data in found}:
        console.print("only painted sequences: the filmed ones need METRACK_DATA, and to be among --sequences")
    with Steps(console) as steps:
        for part in parts:
            step = part.folder.name
            evaluate(
                part.setup(running),
                running,
                part.sequences,
                part.folder,
                workers,
                lambda advance, step=step: steps.advance(advance, step),
            )
    measured = measure([spec.label for spec in specs], parts)
    if options.each:
        console.print(sequence_table(measured))
    console.print(candidate_table(measured, fold))
    console.print(left_out_sentence(measured, fold), soft_wrap=True)
    write_json(options.out / FIGURES, figures(measured, fold))
    write_summary(options.out, {"status": "done", "kind": "tuning"})
    return 0


def protocols_of(options: argparse.Namespace) -> tuple[RunProtocol, RunProtocol]:
    if options.tre < 1:
        raise ValueError(f"--tre must be at least 1, got {options.tre}")
    if not 1 <= options.sre <= len(PERTURBATIONS):
        raise ValueError(f"--sre must be between 1 and {len(PERTURBATIONS)}, got {options.sre}")
    common = {"repetitions": options.repetitions, "length": options.length}
    return RunProtocol(TRE, starts=options.tre, **common), RunProtocol(SRE, starts=options.sre, **common)


def read_all(options: argparse.Namespace) -> dict[str, list[Sequence]]:
    """Sequences by where they come from, filmed ones first; only those named, if any are."""
    if options.hard < 0:
        raise ValueError(f"--hard must be 0 or more, got {options.hard}")
    filmed = data_folder()
    sources = [str(filmed / "sequences")] if filmed else []
    sources += [f"{HARD}:{seed}" if seed else HARD for seed in range(options.hard)]
    found = {source: read_sequences(source) for source in sources}
    wanted = {name.strip() for name in options.sequences.split(",") if name.strip()}
    choose_sequences([each for sequences in found.values() for each in sequences], wanted)
    chosen = {s: [each for each in found[s] if not wanted or each.name in wanted] for s in sources}
    chosen = {source: sequences for source, sequences in chosen.items() if sequences}
    if sum(map(len, chosen.values())) < 2:
        raise ValueError("--sequences and --hard must leave at least two sequences to compare on")
    return chosen


def folder_name(data: str) -> str:
    return data.replace(":", "") if data.partition(":")[0] == HARD else REAL


def due(out: Path, specs: list[TrackerSpec], keep: bool) -> list[TrackerSpec]:
    """Who has to run; the folder notes by which code, and runs of two versions are never mixed."""
    check_folder(out)
    file = out / CODE
    known = json.loads(file.read_text()) if file.is_file() else {}
    code = {spec.label: fingerprint(spec) for spec in specs}
    stale = [label for label, now in code.items() if known.get(label, now) != now]
    if stale and not keep:
        raise ValueError(f"--out holds runs of {stale[0]!r} made by other code; choose another folder or say --keep")
    claim_folder(out)
    write_json(file, {**code, **known})
    return [spec for spec in specs if spec.label not in stale]


def fingerprint(spec: TrackerSpec) -> int:
    """A checksum of the code that paints the sequences and, for ours, tracks the target."""
    root = Path(metrack.__file__).parent
    parts = {"synth"} if spec.is_rival else {"synth", *(part for part in LEVEL if LEVEL[part] <= LEVEL["tracking"])}
    matters = [module.file for module in read_package(root) if module.part in parts]
    return zlib.crc32(b"".join(file.read_bytes() for file in matters))


def measure(labels: list[str], parts: list[Part]) -> Measured:
    """Compare all runs with the truth."""
    cells = [(part, each, scored_runs(part, labels, each)) for part in parts for each in part.sequences]
    names = [(sequence.name, part.is_real) for part, sequence, _ in cells if part.protocol.kind == TRE]
    scores = [np.array([[score(run) for run in runs] for runs in made]) for _, _, made in cells]
    tre, sre = (
        np.stack([s.mean(axis=1) for s, (part, *_) in zip(scores, cells, strict=True) if part.protocol.kind == kind], 1)
        for kind in (TRE, SRE)
    )
    return Measured(
        labels,
        [name for name, _ in names],
        np.array([is_real for _, is_real in names]),
        tre,
        sre,
        np.concatenate(scores, axis=1),
        np.array([milliseconds([run for *_, made in cells for run in made[k]]) for k in range(len(labels))]),
    )


def scored_runs(part: Part, labels: list[str], sequence: Sequence) -> list[list[ScoredRun]]:
    """The runs of everybody on a sequence: as many as were planned."""
    wanted = len(starts_of(sequence, part.protocol)) * part.protocol.repetitions
    trackers = score_runs(part.folder, part.protocol, labels, [sequence]).trackers
    for tracker in trackers:
        made = len(tracker.runs.get(sequence.name, []))
        if made < wanted:
            raise ValueError(
                f"{part.folder} must have {wanted} runs of {tracker.label!r} on {sequence.name}, got {made}"
            )
    return [tracker.runs[sequence.name] for tracker in trackers]


def score(run: ScoredRun) -> float:
    return 0.0 if run.result.error else float(np.nan_to_num(run.figures["auc"]))


def milliseconds(runs: list[ScoredRun]) -> float:
    """Time of a frame: the mean over a run, without its first, and of these the middle one."""
    means = [run.result.seconds[1:].mean() for run in runs if len(run.result.seconds) > 1]
    return 1e3 * float(np.median(means)) if means else 0.0


def candidate_table(measured: Measured, fold: np.ndarray) -> Table:
    table = Table(title="Success AUC, and the difference to the first row", caption="worst ¼: of all runs")
    titles = ("candidate", "TRE", "SRE", "real", "painted", "all", "worst ¼", "ms", "difference", "5-95 %", "by fold")
    for title in titles:
        table.add_column(title, justify="left" if title == "candidate" else "right")
    table.add_column("folds agree")
    for row in rows(measured, fold):
        means = [number(row[name]) for name in ("tre", "sre", "real", "painted", "all", "worst_quarter")]
        cells = ["", "", "", ""] if row["difference"] is None else compared(row)
        table.add_row(escape(row["candidate"]), *means, f"{row['milliseconds']:.1f}", *cells)
    return table


def compared(row: dict) -> list[str]:
    low, high = row["interval"]
    agree = "no" if not row["folds_agree"] else "yes, better" if row["difference"] > 0 else "yes, worse"
    agree = agree if any(row["by_fold"]) else "the same"
    by_fold = " ".join(f"{value:+.3f}" for value in row["by_fold"])
    return [f"{row['difference']:+.3f}", f"{low:+.3f} to {high:+.3f}", by_fold, agree]


def rows(measured: Measured, fold: np.ndarray) -> list[dict]:
    return [row(measured, fold, number) for number in range(len(measured.labels))]


def row(measured: Measured, fold: np.ndarray, candidate: int) -> dict:
    """All figures of one candidate; the first is the reference and is not compared with itself."""
    scores, real = measured.scores[candidate], measured.real
    found = {
        "candidate": measured.labels[candidate],
        "tre": float(measured.tre[candidate].mean()),
        "sre": float(measured.sre[candidate].mean()),
        "real": float(scores[real].mean()) if real.any() else None,
        "painted": float(scores[~real].mean()) if not real.all() else None,
        "all": float(scores.mean()),
        "worst_quarter": worst_quarter(measured.runs[candidate]),
        "milliseconds": float(measured.milliseconds[candidate]),
        "difference": None,
    }
    if candidate:
        difference = scores - measured.scores[0]
        found["difference"] = float(difference.mean())
        found["interval"] = bootstrap_interval(np.random.default_rng(0), difference)
        found["by_fold"] = fold_means(difference, fold).tolist()
        found["folds_agree"] = folds_agree(difference, fold)
    return found


def left_out_sentence(measured: Measured, fold: np.ndarray) -> str:
    left_out, means = leave_sequences_out(measured.scores, fold), measured.scores.mean(axis=1)
    best, chosen = int(means.argmax()), ", ".join(measured.labels[k] for k in left_out.chosen)
    return (
        f"best of all: {escape(measured.labels[best])} with {means[best]:.3f}; chosen without the fold it is scored on "
        f"it is {left_out.estimate:.3f} (the folds chose {escape(chosen)})"
    )


def sequence_table(measured: Measured) -> Table:
    table = Table(title="Success AUC, mean of TRE and SRE")
    table.add_column("sequence")
    for label in measured.labels:
        table.add_column(escape(label), justify="right")
    for name, scores in zip(measured.names, measured.scores.T, strict=True):
        table.add_row(escape(name), *map(number, scores))
    return table


def figures(measured: Measured, fold: np.ndarray) -> dict:
    left_out = leave_sequences_out(measured.scores, fold)
    return {
        "candidates": rows(measured, fold),
        "left_out": {"estimate": left_out.estimate, "chosen": [measured.labels[k] for k in left_out.chosen]},
        "sequences": [
            {"name": name, "fold": int(fold[k]), "tre": measured.tre[:, k].tolist(), "sre": measured.sre[:, k].tolist()}
            for k, name in enumerate(measured.names)
        ],
    }


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
