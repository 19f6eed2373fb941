"""What do several targets cost, and how well are they kept apart?

    python benchmarks/several.py [--preset default] [--rounds 3]
    python benchmarks/several.py --crossing [--preset default] [--seeds 5]
    python benchmarks/several.py --mot [--preset default] [--seeds 5]

The first command times 1, 2, 4 and 8 targets over the same frames, in turns: the balloon of the built-in clip and
places of its scenery. The second lets two balloons cross, three ways, of two colours or alike, with the rule that two
targets are not in one place and without it. The third follows the people of TUD-Campus (METRACK_DATA/people, in the
layout of MOTChallenge) and scores them with motmetrics. Everybody is followed from the box the truth has in the frame
in which it first knows them, and no longer than it knows them: nobody is detected. The given boxes are not scored.
OpenCV's CSRT is run the same way, one tracker for each person.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.table import Table

from metrack import Box, MultiTracker, Tracker, TrackerConfig
from metrack.arrays import Frame
from metrack.box import iou
from metrack.config import preset
from metrack.evaluation.layouts.places import images_in
from metrack.synth import builtin_clip, crossing_balloons
from metrack.tracking import several

console = Console(highlight=False)
COUNTS = (1, 2, 4, 8)
WARM_UP, TIMED = 45, 45  # frames until the buffers are full, and frames from then on
WAYS = ({"speed": 3.0, "apart": 6.0}, {"speed": 2.0, "apart": 0.0}, {"speed": 4.0, "apart": 16.0})
SAME = 0.5  # overlap from which a box is right
METRICS = ["mota", "idf1", "num_switches", "motp", "num_misses", "num_false_positives", "num_objects"]
INSTALL = "motmetrics is not installed: python -m pip install -c constraints.txt -e '.[peers]'"


# --- what they cost


def places(first: Box) -> list[Box]:
    """The balloon, and seven places of its size in the hills and at the skyline."""
    others = [(40, 190), (150, 200), (260, 190), (20, 290), (130, 290), (240, 290), (350, 290)]
    return [first, *(Box(x, y, first.w, first.h) for x, y in others)]


def seconds_per_frame(config: TrackerConfig) -> dict[int, tuple[float, float]]:
    """Median time of a frame by number of targets, by the clock and of all processors together.

    All numbers of targets are timed on every frame before the next one comes.
    """
    clip = builtin_clip(WARM_UP + TIMED, occlusion=False, departure=False, lighting=False)
    runs = {count: MultiTracker(config) for count in COUNTS}
    for count, tracker in runs.items():
        for box in places(clip.first_box)[:count]:
            tracker.add(clip[0], box)
    spent: dict[int, list[tuple[float, float]]] = {count: [] for count in COUNTS}
    for index in range(1, len(clip)):
        image = clip[index]
        for count, tracker in runs.items():
            start, busy = perf_counter(), process_time()
            tracker.update(image)
            spent[count].append((perf_counter() - start, process_time() - busy))
    return {count: tuple(np.median(times[WARM_UP - 1 :], axis=0)) for count, times in spent.items()}


def cost(config: TrackerConfig, rounds: int) -> None:
    results = [seconds_per_frame(config) for _ in range(rounds)]
    table = Table(title=f"Median of {rounds} rounds, {os.cpu_count()} processors")
    for heading in ("targets", "ms a frame", "times one target", "in each round", "processor ms", "times one target"):
        table.add_column(heading, justify="right")
    for count in COUNTS:
        times = np.array([each[count] for each in results])  # (rounds, 2)
        ratios = times / [each[1] for each in results]
        (clock, busy), (slower, busier) = np.median(times, axis=0) * 1e3, np.median(ratios, axis=0)
        each_round = ", ".join(f"{ratio:.2f}" for ratio in ratios[:, 0])
        table.add_row(f"{count}", f"{clock:.1f}", f"{slower:.2f}", each_round, f"{busy:.1f}", f"{busier:.2f}")
    console.print(table)


# --- whether two become one


def ends(config: TrackerConfig, seed: int, **story: Any) -> str:
    """Say how two balloons that cross were followed: each its own, each the other's, both one, or one nowhere."""
    frames = list(crossing_balloons(seed=seed, **story))
    tracker = MultiTracker(config, seed=seed)
    for box in frames[0][1]:
        tracker.add(frames[0][0], box)
    for image, _ in frames[1:]:
        one, other = (each.box for each in tracker.update(image).values())
    first, second = frames[-1][1]
    if min(one.iou(first), other.iou(second)) > SAME:
        return "own"
    if min(one.iou(second), other.iou(first)) > SAME:
        return "swapped"
    return "one" if one.iou(other) > SAME else "nowhere"


def crossing(config: TrackerConfig, seeds: int) -> None:
    table = Table(title=f"Two balloons cross three ways, {seeds} seeds each; where they are at the end")
    outcomes = ("own", "swapped", "one", "nowhere")
    for heading in ("", "each its own", "each the other's", "both on one", "one nowhere"):
        table.add_column(heading, justify="right" if heading else "left")
    usual = several.COLLAPSED
    for alike in (False, True):
        for rule in (True, False):
            several.COLLAPSED = usual if rule else 1.0
            runs = [ends(config, seed, alike=alike, **way) for way in WAYS for seed in range(seeds)]
            name = f"{'alike' if alike else 'of two colours'}, {'with the rule' if rule else 'without'}"
            table.add_row(name, *(str(runs.count(outcome)) for outcome in outcomes))
    several.COLLAPSED = usual
    console.print(table)


# --- how well people are kept apart


class Follower(Protocol):
    """Follows people by their numbers in the truth."""

    def add(self, person: int, image: Frame, box: Box) -> None: ...
    def remove(self, person: int) -> None: ...
    def update(self, image: Frame) -> dict[int, Box]: ...


class Ours:
    """Several targets that know of each other."""

    def __init__(self, config: TrackerConfig, seed: int) -> None:
        self.tracker = MultiTracker(config, seed=seed)
        self.people: dict[int, int] = {}  # by target number

    def add(self, person: int, image: Frame, box: Box) -> None:
        self.people[self.tracker.add(image, box)] = person

    def remove(self, person: int) -> None:
        (target,) = [target for target, each in self.people.items() if each == person]
        self.tracker.remove(target)
        del self.people[target]

    def update(self, image: Frame) -> dict[int, Box]:
        return {self.people[target]: each.box for target, each in self.tracker.update(image).items()}


class Alone:
    """Trackers of ours that know nothing of each other."""

    def __init__(self, config: TrackerConfig, seed: int) -> None:
        self.config, self.seed = config, seed
        self.trackers: dict[int, Tracker] = {}

    def add(self, person: int, image: Frame, box: Box) -> None:
        self.trackers[person] = Tracker(self.config, seed=self.seed + 1000 * person)
        self.trackers[person].init(image, box)

    def remove(self, person: int) -> None:
        del self.trackers[person]

    def update(self, image: Frame) -> dict[int, Box]:
        return {person: tracker.update(image).box for person, tracker in self.trackers.items()}


class Csrt:
    """OpenCV's CSRT, one for each person; where it says that it has failed, there is no box."""

    def __init__(self) -> None:
        self.trackers: dict[int, object] = {}

    def add(self, person: int, image: Frame, box: Box) -> None:
        import cv2

        cv2.setNumThreads(1)
        self.trackers[person] = cv2.TrackerCSRT_create()
        self.trackers[person].init(image[:, :, ::-1].copy(), tuple(round(v) for v in box.to_xywh()))

    def remove(self, person: int) -> None:
        del self.trackers[person]

    def update(self, image: Frame) -> dict[int, Box]:
        found = {person: tracker.update(image[:, :, ::-1].copy()) for person, tracker in self.trackers.items()}
        return {person: Box(*box) for person, (ok, box) in found.items() if ok}


class Scene:
    """The images of a folder of MOTChallenge, and its truth: boxes by person for every frame."""

    def __init__(self, folder: Path) -> None:
        self.images = images_in(folder / "img1")
        rows = np.loadtxt(folder / "gt" / "gt.txt", delimiter=",")
        self.truth: list[dict[int, Box]] = [{} for _ in range(len(self.images))]
        for frame, person, *box in rows[:, :6]:
            self.truth[int(frame) - 1][int(person)] = Box.from_otb(box)
        self.first = {int(p): int(rows[rows[:, 1] == p, 0].min()) - 1 for p in np.unique(rows[:, 1])}
        self.last = {int(p): int(rows[rows[:, 1] == p, 0].max()) - 1 for p in np.unique(rows[:, 1])}


def followed(follower: Follower, scene: Scene) -> Iterator[tuple[dict[int, Box], dict[int, Box]]]:
    """Yield truth and boxes of every frame, without the boxes that were given."""
    for index, image in enumerate(scene.images):
        for person in [p for p, last in scene.last.items() if last == index - 1]:
            follower.remove(person)
        boxes = follower.update(image) if index else {}
        new = [person for person, first in scene.first.items() if first == index]
        for person in new:
            follower.add(person, image, scene.truth[index][person])
        yield {p: box for p, box in scene.truth[index].items() if p not in new}, boxes


def scored(follower: Follower, scene: Scene) -> dict[str, float]:
    """Score one run; distances are one minus the overlap."""
    import motmetrics

    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for truth, boxes in followed(follower, scene):
        apart = np.array([[1 - iou_or_nothing(one, other) for other in boxes.values()] for one in truth.values()])
        accumulator.update(list(truth), list(boxes), apart.reshape(len(truth), len(boxes)))
    found = motmetrics.metrics.create().compute(accumulator, metrics=METRICS, return_dataframe=False)
    return {name: float(found[name]) for name in METRICS}


def iou_or_nothing(one: Box, other: Box) -> float:
    overlap = float(iou([one.to_xywh()], [other.to_xywh()])[0])
    return overlap if overlap >= SAME else float("nan")


def people(folder: Path, config: TrackerConfig, seeds: int) -> None:
    try:
        import motmetrics  # noqa: F401
    except ImportError:
        raise SystemExit(INSTALL) from None
    scene = Scene(folder)
    runs = {
        "metrack, MultiTracker": [scored(Ours(config, seed), scene) for seed in range(seeds)],
        "metrack, each alone": [scored(Alone(config, seed), scene) for seed in range(seeds)],
        "OpenCV CSRT, each alone": [scored(Csrt(), scene)],
    }
    table = Table(title=f"{folder.name}: {len(scene.first)} people from their first boxes, {len(scene.images)} frames")
    for heading in ("", "MOTA", "IDF1", "switches", "mean overlap", "missed", "false", "of", "MOTA of each seed"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, results in runs.items():
        mean = {metric: float(np.mean([each[metric] for each in results])) for metric in METRICS}
        counts = [f"{mean[m]:.0f}" for m in ("num_misses", "num_false_positives", "num_objects")]
        values = [
            f"{mean['mota']:.3f}",
            f"{mean['idf1']:.3f}",
            f"{mean['num_switches']:.1f}",
            f"{1 - mean['motp']:.3f}",
        ]
        table.add_row(name, *values, *counts, ", ".join(f"{each['mota']:.2f}" for each in results))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="default")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="change a setting of the preset"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--crossing", action="store_true", help="let two balloons cross instead")
    parser.add_argument("--mot", action="store_true", help="follow the people of TUD-Campus instead")
    parser.add_argument(
        "--folder", type=Path, default=Path(os.environ.get("METRACK_DATA", "")) / "people" / "TUD-Campus"
    )
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    config = preset(options.preset).replace(dict(change.split("=", 1) for change in options.set))
    console.print(f"preset {options.preset} {' '.join(options.set)}")
    if options.crossing:
        crossing(config, options.seeds)
    elif not options.mot:
        cost(config, options.rounds)
    elif not (options.folder / "gt" / "gt.txt").is_file():
        raise SystemExit(
            f"--folder must be in the layout of MOTChallenge, got {str(options.folder)!r}; set METRACK_DATA"
        )
    else:
        people(options.folder, config, options.seeds)


if __name__ == "__main__":
    main()
