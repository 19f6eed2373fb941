"""The table of README.md: presets, installed rivals and published figures, accuracy and speed, by one command.

    python benchmarks/readme.py [--repetitions 5] [--data DATASET] [--out readme-table] [--processes 2] [--rounds 3]
                                [--readme README.md] [--keep]

Everybody follows the sequences from the first box to the last frame, as in metrack evaluate: presets as often as
--repetitions says, with other seeds; rivals once (MIL and TLD draw at random, but take no seed). Then all are timed in
turns, on one thread. Published figures come from METRACK_DATA/published/per_sequence_from_boxes.csv, of trackers that
have one on every sequence. What lies between the two marks in README.md is replaced.

The folder can be taken up again: finished runs and the times in speed.json are not made anew. It remembers which code
made them: where that has changed, --keep lets them stand as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console

from development import data_folder
from marked import around_the_table, replace_table
from metrack.cli.options import in_options
from metrack.cli.progress import Steps
from metrack.evaluation.comparison import TrackerScores
from metrack.evaluation.evaluate import evaluate
from metrack.evaluation.plan import OPE, RunProtocol
from metrack.evaluation.published import read_published
from metrack.evaluation.sequences import is_painted, read_sequences
from metrack.evaluation.trackers import TrackerSpec
from metrack.evaluation.workers import LocalWorkers, Workers
from metrack.files import write_json
from metrack.rivals import INSTALL, RIVALS
from metrack.runs.results import write_summary
from speed import WARM_UP, clips, runners_of, time_in_turns
from tuning import Part, due, scored_runs

README = Path(__file__).parents[1] / "README.md"
COMMAND = "make readme-table"
SPEED = "speed.json"
PRESETS = ("default", "fast", "paper", "paper-structured")
TITLES_OF_RIVALS = {
    "csrt": "OpenCV CSRT",
    "kcf": "OpenCV KCF",
    "mil": "OpenCV MIL",
    "oab": "OpenCV Boosting (OAB)",
    "tld": "OpenCV TLD",
    "medianflow": "OpenCV MedianFlow",
    "mosse": "OpenCV MOSSE",
    "dsst": "dlib (DSST)",
}
PUBLISHED = "per_sequence_from_boxes.csv"
OTHERS = tuple(f"{name} (published)" for name in ("SRDCF", "MUSTER", "MEEM", "Struck"))
NETWORKS = {"MDNet (published)": "MDNet (published, a network)"}
TITLES = ("success AUC", "over seeds", "spread", "success rate", "P@20", "ms a frame", "CSRT takes")


def main(arguments: list[str] | None = None, workers: Workers | None = None) -> int:
    options = parse(arguments)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    try:
        return make_table(options, console, workers or LocalWorkers(options.processes))
    except ValueError as error:
        print(in_options(str(error), "readme"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        console.print(f"interrupted: what is finished is in {options.out}, the same command goes on")
        return 2


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each preset, with other seeds")
    parser.add_argument("--data", help="what metrack evaluate takes (default: the sequences under METRACK_DATA)")
    parser.add_argument("--out", type=Path, default=Path("readme-table"), help="folder of the runs; taken up again")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time")
    parser.add_argument("--rounds", type=int, default=3, help="times everybody is timed; the median counts")
    parser.add_argument("--readme", type=Path, default=README, help="the file the table is in")
    parser.add_argument("--keep", action="store_true", help="let runs and times made by other code stand")
    return parser.parse_args(arguments)


def make_table(options: argparse.Namespace, console: Console, workers: Workers) -> int:
    around_the_table(options.readme, COMMAND)
    if options.rounds < 1:
        raise ValueError(f"--rounds must be at least 1, got {options.rounds}")
    specs, missing = installed_trackers()
    if missing:
        console.print(f"not installed, so not in the table: {', '.join(missing)}; {INSTALL}")
    parts = parts_of(options, specs)
    running = {spec.label for spec in due(options.out, specs, options.keep)}
    with Steps(console) as steps:
        for part, members in parts:
            make = [spec for spec in members if spec.label in running]
            evaluate(part.setup(make), make, part.sequences, part.folder, workers, steps.advance)
    trackers = [scores_of(part, spec.label) for part, members in parts for spec in members]
    seconds = times(options, trackers, parts[0][0])
    others = published([sequence.name for sequence in parts[0][0].sequences])
    lines = [introduction(parts[0][0]), "", *table(trackers, others, seconds), "", explanation(missing)]
    replace_table(options.readme, COMMAND, lines)
    write_summary(options.out, {"status": "done", "kind": "readme-table"})
    console.print("\n".join(lines))
    return 0


def installed_trackers() -> tuple[list[TrackerSpec], list[str]]:
    """Presets and installed rivals; and the names of those that are not installed."""
    specs, missing = [TrackerSpec.parse(name) for name in PRESETS], []
    for name in TITLES_OF_RIVALS:
        try:
            specs.append(TrackerSpec.parse(name))
        except ValueError:
            missing.append(name)
    return specs, missing


def parts_of(options: argparse.Namespace, specs: list[TrackerSpec]) -> list[tuple[Part, list[TrackerSpec]]]:
    """Presets, run several times, and rivals, run once."""
    many, one = RunProtocol(OPE, options.repetitions), RunProtocol(OPE)
    data = dataset(options)
    sequences = read_sequences(data)
    ours = [spec for spec in specs if spec.name in PRESETS]
    rivals = [spec for spec in specs if spec not in ours]
    several = Part(data, sequences, many, options.out / "several")
    once = Part(data, sequences, one, options.out / "once")
    return [(part, members) for part, members in ((several, ours), (once, rivals)) if members]


def dataset(options: argparse.Namespace) -> str:
    if options.data:
        return options.data if is_painted(options.data) else str(Path(options.data).absolute())
    folder = data_folder()
    if folder is None:
        raise ValueError("METRACK_DATA must be a folder with sequences/<Name>/img, or say --data builtin, got neither")
    return str((folder / "sequences").absolute())


def scores_of(part: Part, label: str) -> TrackerScores:
    """The scored runs of a tracker; none may be missing."""
    return TrackerScores(label, {each.name: scored_runs(part, [label], each)[0] for each in part.sequences})


def times(options: argparse.Namespace, trackers: list[TrackerScores], part: Part) -> dict[str, float]:
    """Seconds a frame of everybody who could run everywhere; from the folder, if they were measured together."""
    able = [tracker.label for tracker in trackers if not tracker.errors()]
    presets, rivals = (tuple(label for label in able if (label in RIVALS) == is_rival) for is_rival in (False, True))
    file = options.out / SPEED
    known = json.loads(file.read_text()) if file.is_file() else {}
    if not {timed_as(label) for label in able} <= known.keys():
        runners = runners_of(presets, rivals)
        known, _ = time_in_turns(runners, clips(2 * WARM_UP, part.sequences), options.rounds)
        write_json(file, known)
    return {label: known[timed_as(label)] for label in able}


def timed_as(label: str) -> str:
    """What benchmarks/speed.py calls a tracker."""
    return label.upper() if label in RIVALS else f"metrack {label}"


def published(names: list[str]) -> list[TrackerScores]:
    """Those of the trackers named above that have published figures on all sequences."""
    folder = data_folder()
    file = folder / "published" / PUBLISHED if folder else None
    found = {each.label: each for each in read_published(file)} if file and file.is_file() else {}
    known = [found[label] for label in (*OTHERS, *NETWORKS) if label in found]
    return [tracker for tracker in known if tracker.scored_on(names) == names]


def introduction(part: Part) -> str:
    names, runs = ", ".join(sequence.name for sequence in part.sequences), part.protocol.repetitions
    return (
        f"{len(part.sequences)} sequences ({names}), first box to last frame, {runs} seed{'s' * (runs > 1)} of "
        "metrack and one run of everybody else; speed on one thread, all in turns in one run (compare ratios, not "
        "milliseconds). Made by `make readme-table`."
    )


def explanation(missing: list[str]) -> str:
    text = (
        "Over seeds: the lowest and the highest mean of a seed. Spread: best minus worst seed of a sequence, averaged "
        "over sequences. Bold: the best without a network."
    )
    return f"{text} Not installed here: {', '.join(TITLES_OF_RIVALS[name] for name in missing)}." if missing else text


def table(trackers: list[TrackerScores], others: list[TrackerScores], seconds: dict[str, float]) -> list[str]:
    """Presets in their order, then rivals, then published figures, these two best first."""
    names = list(trackers[0].runs)
    ours = [tracker for tracker in trackers if tracker.label in PRESETS]
    rivals = [tracker for tracker in trackers if tracker.label not in PRESETS]
    auc = {tracker.label: np.nan_to_num(tracker.mean(names)["auc"]) for tracker in [*trackers, *others]}
    best = number(max(value for label, value in auc.items() if label not in NETWORKS))
    in_order = [*ours, *(each for group in (rivals, others) for each in sorted(group, key=lambda s: -auc[s.label]))]
    rows = [row(tracker, names, seconds, best) for tracker in in_order]
    return [line(["", *TITLES]), "|" + "---|" * (1 + len(TITLES)), *map(line, rows)]


def row(tracker: TrackerScores, names: list[str], seconds: dict[str, float], best: str) -> list[str]:
    mean, known = tracker.mean(names), tracker.scored_on(names)
    share = "" if known == names else f" ({len(known)} of {len(names)} sequences)"
    auc = number(mean["auc"])
    auc = f"**{auc}**" if auc == best and tracker.label not in NETWORKS else auc
    shares = [number(mean["success"]), number(mean["precision"])]
    return [title(tracker.label) + share, auc, *over_seeds(tracker), *shares, *speed(tracker.label, seconds)]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def title(label: str) -> str:
    if label in PRESETS:
        return f"metrack, preset `{label}`"
    return {**TITLES_OF_RIVALS, **NETWORKS}.get(label, label)


def over_seeds(tracker: TrackerScores) -> list[str]:
    """From the lowest mean of a seed to the highest, and the mean difference on a sequence; empty for one run."""
    whole = [runs for runs in tracker.runs.values() if not any(run.result.error for run in runs)]
    auc = np.array([[run.figures["auc"] for run in runs] for runs in whole])  # (S, R)
    if auc.ndim < 2 or auc.shape[1] < 2:
        return ["", ""]
    means = auc.mean(axis=0)
    return [f"{means.min():.3f} to {means.max():.3f}", number(np.ptp(auc, axis=1).mean())]


def speed(label: str, seconds: dict[str, float]) -> list[str]:
    """Milliseconds, and how much longer CSRT takes."""
    if label not in seconds:
        return ["", ""]
    ratio = f"{seconds['csrt'] / seconds[label]:.3g}x as long" if "csrt" in seconds and label != "csrt" else ""
    return [f"{1e3 * seconds[label]:.1f}", ratio]


def number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
