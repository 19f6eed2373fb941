"""Speed: side by side with OpenCV's trackers in one run, per stage, and how it grows.

    python benchmarks/speed.py [--frames 90] [--rounds 3]

Every tracker runs on one thread and on the same frames, in turns, so that a busy machine slows all of them alike; what
counts are the ratios. On the real sequences where METRACK_DATA has them, else on the built-in clip.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from development import development_sequences
from metrack import Tracker, TrackerConfig
from metrack.arrays import Frame
from metrack.config import preset
from metrack.evaluation.sequences import Sequence
from metrack.frames import VideoWriter
from metrack.rivals import RIVALS, TargetTracker, opencv
from metrack.synth import builtin_clip

console = Console()
Clip = tuple[str, list[Frame], tuple[float, ...]]
EARLY = 500  # frames after which a long run has settled
PIECE = 10  # frames timed together
WARM_UP = 125  # frames until the buffers are full and a frame costs what it will always cost


def clips(frames: int, sequences: list[Sequence]) -> list[Clip]:
    """Name, frames and first box of everything to run on."""
    if not sequences:
        clip = builtin_clip(frames)
        return [("built-in clip", [clip[i] for i in range(len(clip))], clip.first_box.to_xywh())]
    found = []
    for sequence in sequences:
        start = int(sequence.present()[0])
        images = list(sequence.part(start, start + frames).pictures)
        images = [np.repeat(i[:, :, None], 3, axis=2) if i.ndim == 2 else i for i in images]
        found.append((sequence.name, images, tuple(sequence.truth[start].tolist())))
    return found


class Ours:
    """metrack as it is timed; keeps the seconds of its stages."""

    def __init__(self, config: str | TrackerConfig) -> None:
        self.tracker = Tracker(config)
        self.stages: list[dict[str, float]] = []

    def init(self, image: Frame, box: tuple[float, ...]) -> None:
        self.tracker.init(image, box)  # type: ignore[arg-type]

    def update(self, image: Frame) -> None:
        info = self.tracker.update(image).info
        assert info is not None
        self.stages.append(info.seconds)


class OpenCV:
    """One of OpenCV's trackers without our wrapper, on one thread."""

    def __init__(self, name: str) -> None:
        import cv2

        cv2.setNumThreads(1)
        self.error, self.tracker = cv2.error, opencv.constructor(name)()

    def init(self, image: Frame, box: tuple[float, ...]) -> None:
        self.tracker.init(image, tuple(round(v) for v in box))

    def update(self, image: Frame) -> None:
        with suppress(self.error):  # some fail inside once the target is lost
            self.tracker.update(image)


Runner = Ours | OpenCV | TargetTracker


def runners_of(presets: tuple[str, ...], rivals: tuple[str, ...]) -> dict[str, Callable[[], Runner]]:
    """Presets of metrack, and those of its rivals that are installed."""
    runners: dict[str, Callable[[], Runner]] = {f"metrack {name}": partial(Ours, name) for name in presets}
    for name in rivals:
        try:
            RIVALS[name].check()
        except ValueError as error:
            console.print(str(error).removeprefix("tracker "), markup=False)
            continue
        runners[name.upper()] = partial(OpenCV, name) if name in opencv.RIVALS else partial(RIVALS[name].make, 0)
    return runners


def time_clip(runner: Runner, clip: Clip) -> float:
    """Seconds per update over the second half of a clip: the median of pieces, as not every frame learns."""
    _, images, box = clip
    runner.init(images[0], box)
    spent = []
    for image in images[1:]:
        start = perf_counter()
        runner.update(image)
        spent.append(perf_counter() - start)
    late = np.array(spent[len(spent) // 2 :])
    return float(np.median([piece.mean() for piece in np.array_split(late, max(len(late) // PIECE, 1))]))


def time_in_turns(
    runners: dict[str, Callable[[], Runner]], all_clips: list[Clip], rounds: int
) -> tuple[dict[str, float], dict[str, list[dict[str, float]]]]:
    """Seconds per frame of every tracker, median over rounds and mean over clips; and the stages of ours."""
    spent: dict[str, list[list[float]]] = {name: [] for name in runners}
    stages: dict[str, list[dict[str, float]]] = {}
    for number, clip in enumerate(track(all_clips, description="side by side", console=console)):
        if not console.is_terminal:
            console.print(f"side by side: {clip[0]}, {number} of {len(all_clips)} done")
        times: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(rounds):
            for name, create in runners.items():
                runner = create()
                times[name].append(time_clip(runner, clip))
                if isinstance(runner, Ours):
                    stages.setdefault(name, []).extend(runner.stages[len(runner.stages) // 2 :])
        for name in runners:
            spent[name].append(times[name])
    return {name: float(np.mean(np.median(times, axis=1))) for name, times in spent.items()}, stages


def side_by_side(all_clips: list[Clip], rounds: int) -> dict[str, float]:
    """Seconds per frame of every tracker, printed with the ratios and the stages."""
    runners = runners_of(("default", "fast", "paper", "paper-structured"), ("csrt", "mil", "kcf"))
    seconds, stages = time_in_turns(runners, all_clips, rounds)
    table = Table(
        title=f"One thread, {len(all_clips)} clips, median of {rounds} rounds; others take so many times as long"
    )
    ours = [name for name in seconds if name.startswith("metrack")]
    for heading in ("tracker", "ms a frame", "frames a second", *(f"to {name.split()[1]}" for name in ours)):
        table.add_column(heading, justify="left" if heading == "tracker" else "right")
    for name, value in seconds.items():
        ratios = [f"{value / seconds[each]:.2f}x" for each in ours]
        table.add_row(name, f"{value * 1e3:.2f}", f"{1 / value:.1f}", *ratios)
    console.print(table)
    for name, laps in stages.items():
        medians = {stage: np.median([lap[stage] for lap in laps if stage in lap]) * 1e3 for stage in laps[-1]}
        console.print(f"{name}, median ms: " + ", ".join(f"{stage} {ms:.2f}" for stage, ms in medians.items()))
    return seconds


def sizes(rounds: int) -> None:
    """A frame of 1080p against one of 480p, the target taking the same part of it; in turns."""
    spent: dict[str, dict[int, list[float]]] = {}
    for _ in range(rounds):
        for name in ("default", "fast"):
            for height in (480, 1080):
                clip = builtin_clip(40, (height * 16 // 9, height), occlusion=False, departure=False)
                images = [clip[i] for i in range(len(clip))]
                seconds = time_clip(Ours(name), (name, images, clip.first_box.to_xywh()))
                spent.setdefault(name, {}).setdefault(height, []).append(seconds)
    for name, by_height in spent.items():
        low, high = (float(np.median(times)) for times in by_height.values())
        console.print(f"{name}: 480p {low * 1e3:.1f} ms, 1080p {high * 1e3:.1f} ms ({high / low:.2f}x)")


def matrix_rate(seconds: float) -> None:
    """Compare the matrix work of a frame with what this machine's BLAS does on one thread.

    Counted is what every frame of the preset paper does with full buffers: two quadratic forms of every particle, each
    by one triangle, and both forms changed by the samples that leave and join. Rounds of metric learning come on top.
    """
    config = preset("paper")
    N, D, changing = config.motion.particles, 405, config.memory.positives + config.memory.negatives
    a = np.random.default_rng(0).standard_normal((1000, 1000)).astype(np.float32)
    times = []
    for _ in range(15):
        start = perf_counter()
        a @ a
        times.append(perf_counter() - start)
    rate = 2e9 / float(np.median(times))
    scoring = 2 * N * D**2
    learning = 2 * 2 * (2 * changing * D**2) + 2 * changing * D**2
    work = scoring + learning
    console.print(
        f"matrix work of a frame: at least {work / 1e6:.0f} MFLOP in {seconds * 1e3:.2f} ms = "
        f"{work / seconds / 1e9:.0f} GFLOP/s, {work / seconds / rate:.0%} of this machine's {rate / 1e9:.0f} GFLOP/s"
    )


def learning_rounds(all_clips: list[Clip]) -> None:
    """What a learning round costs: trackers with and without one follow the same frames in turns."""
    presets = {"paper": preset("paper").replace({"metric.every": 1}), "paper-structured": preset("paper-structured")}
    presets["without"] = preset("paper").replace({"metric.learning": "off"})
    spent: dict[str, list[float]] = {name: [] for name in presets}
    for _, images, box in track(all_clips, description="learning rounds", console=console):
        runners = {name: Ours(config) for name, config in presets.items()}
        for runner in runners.values():
            runner.init(images[0], box)
        for image in images[1:]:
            for runner in runners.values():
                runner.update(image)
        for name, runner in runners.items():
            spent[name] += [stages["learn"] for stages in runner.stages[len(runner.stages) // 2 :]]
    learn = {name: float(np.mean(times)) * 1e3 for name, times in spent.items()}
    proximity, structured = (learn[name] - learn["without"] for name in ("paper", "paper-structured"))
    console.print(
        f"a learning round, mean ms: proximity {proximity:.2f}, structured {structured:.2f} "
        f"({structured / proximity:.2f}x); the rest of learning {learn['without']:.2f}"
    )


def growth() -> None:
    """Time of a frame against the number of particles, all timed in turns."""
    clip = builtin_clip(frames=2 * WARM_UP, occlusion=False, departure=False)
    images = [clip[i] for i in range(len(clip))]
    counts = (50, 100, 200, 400, 800, 1600, 3200, 6400)
    rounds: dict[int, list[float]] = {particles: [] for particles in counts}
    for _ in range(3):
        for particles in counts:
            runner = Ours(preset("paper").replace({"motion.particles": particles}))
            rounds[particles].append(time_clip(runner, ("clip", images, clip.first_box.to_xywh())))
    console.print("particles, ms a frame: " + ", ".join(f"{n}: {np.median(t) * 1e3:.1f}" for n, t in rounds.items()))
    few, many = counts[0], counts[-1]
    ratio = float(np.median(np.array(rounds[many]) / rounds[few]))
    console.print(f"from {few} to {many} particles, {many // few} times as many, a frame takes {ratio:.1f}x as long")


def endurance(frames: int) -> None:
    """Time and memory of a frame early and late in a long run; the two are timed in turns, on the same images.

    The scale is held: a box that has grown on the way costs more to look at, early or late.
    """
    clip = builtin_clip(frames=120, occlusion=False, departure=False)
    images = [clip[i] for i in range(len(clip))]
    there_and_back = images + images[::-1]
    late = Tracker(preset("paper").replace({"motion.scale_std": 0.0}))
    late.init(images[0], clip.first_box)
    with tempfile.TemporaryDirectory() as folder:
        for i in track(range(1, frames + 1), description="a long run", console=console):
            late.update(there_and_back[i % len(there_and_back)])
            if i == EARLY:
                late.save(Path(folder) / "early.npz")
                early_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        early = Tracker.load(Path(folder) / "early.npz")
    spent: dict[str, list[float]] = {"early": [], "late": []}
    turns = [("early", early), ("late", late)]
    for image in there_and_back:
        turns.reverse()
        for name, tracker in turns:
            start = perf_counter()
            tracker.update(image)
            spent[name].append(perf_counter() - start)
    first, last = (float(np.median(times)) for times in spent.values())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(
        f"a frame after {EARLY} frames: {first * 1e3:.2f} ms, after {frames}: {last * 1e3:.2f} ms "
        f"({last / first:.2f}x); peak memory {early_memory:.0f} MB and {memory:.0f} MB"
    )


def memory_of_a_720p_video() -> None:
    """Peak memory of the whole command on a 720p video, in a process of its own."""
    clip = builtin_clip(frames=60, size=(1280, 720), occlusion=False, departure=False)
    with tempfile.TemporaryDirectory() as folder:
        video = Path(folder) / "clip.mp4"
        with VideoWriter(video, clip.size, clip.fps) as writer:
            for image in clip:
                writer.write(image)
        box = ",".join(str(round(v)) for v in clip.first_box.to_xywh())
        metrack = Path(sys.executable).with_name("metrack")
        command = [metrack, "track", video, "--box", box, "-o", f"{folder}/out"]
        subprocess.run(command, check=True, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    console.print(f"peak memory of metrack track on a 720p video: {peak:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=2 * WARM_UP, help="frames of each clip")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=10_000, help=f"frames of the long run, more than {EARLY}")
    options = parser.parse_args()
    memory_of_a_720p_video()
    endurance(options.long)  # before this process has held the frames of all the rest: its peak is what is told
    sizes(options.rounds)
    growth()
    found = clips(options.frames, development_sequences())
    learning_rounds(found)
    seconds = side_by_side(found, options.rounds)
    matrix_rate(seconds["metrack paper"])


if __name__ == "__main__":
    main()
