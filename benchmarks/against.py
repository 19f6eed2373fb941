"""Is a frame slower than at an earlier commit? Every preset of both versions, in turns, in one run.

    python benchmarks/against.py REV [--set-before NAME=VALUE ...] [--turns 9] [--frames 20] [--presets NAME ...]

REV is checked out into a temporary worktree. One process per version tracks the same painted clip, and the two take
turns of a few frames, so that a busy machine slows both alike. Printed is the time of a turn now over that of the same
turn before, the median over turns; the exit code is 1 if any is above 1.05. --set-before changes settings of the
earlier version only, for those it has and this one does not: motion.cell=0.0 for the paper's presets before it went.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

PROJECT = Path(__file__).parents[1]
SLOWEST = 1.05
WARM_UP = 125  # frames until the buffers are full
CLIP = 60  # different frames, tracked forth and back


class Version:
    """A process that tracks with the sources of one version, a few frames whenever it is asked."""

    def __init__(self, root: Path, frames: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(root / "src"), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(frames)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: object) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("a version ended before it was asked to; what it said is above")
        return float(answer)

    def close(self) -> None:
        self.process.communicate()  # closes its input, at which it ends


def serve(file: Path) -> None:
    """Answer requests on the standard input: start a preset, or track some frames and say how long that took."""
    from metrack import Tracker
    from metrack.config import preset

    stored = np.load(file)
    images = [*stored["frames"], *stored["frames"][::-1]]
    tracker, index = Tracker(), 0
    for line in sys.stdin:
        request = json.loads(line)
        if "preset" in request:
            tracker, index = Tracker(preset(request["preset"]).replace(request["changes"])), 0
            tracker.init(images[0], tuple(stored["box"].tolist()))
        began = perf_counter()
        for _ in range(request["frames"]):
            index += 1
            tracker.update(images[index % len(images)])
        print(perf_counter() - began, flush=True)


def compare(now: Version, before: Version, preset: str, changes: dict[str, str], options: argparse.Namespace) -> float:
    """Time of a turn now over that of the same turn before, the median over turns."""
    now.ask(preset=preset, changes={}, frames=WARM_UP)
    before.ask(preset=preset, changes=changes, frames=WARM_UP)
    ratios = []
    for turn in range(options.turns):
        order = (now, before) if turn % 2 else (before, now)  # so that neither is always the one that comes first
        seconds = {version: version.ask(frames=options.frames) for version in order}
        ratios.append(seconds[now] / seconds[before])
    return float(np.median(ratios))


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A temporary worktree of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "before"
        git = ["git", "-C", str(PROJECT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(root), revision], check=True)
        try:
            yield root
        finally:
            subprocess.run([*git, "remove", "--force", str(root)], check=True)


def paint(file: Path) -> None:
    from metrack.synth import builtin_clip

    clip = builtin_clip(CLIP, occlusion=False, departure=False)
    np.savez(file, frames=np.stack([clip[index] for index in range(CLIP)]), box=clip.first_box.to_xywh())


def changes_of(preset: str, texts: list[str]) -> dict[str, str]:
    """Settings of a preset before; a text may name the presets it is for: paper:motion.cell=0.0."""
    changes = {}
    for text in texts:
        names, colon, change = text.rpartition(":")
        if not colon or preset.startswith(names):
            name, _, value = change.partition("=")
            changes[name] = value
    return changes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", metavar="REV", nargs="?", help="the commit to compare with")
    parser.add_argument("--set-before", metavar="[PRESET:]NAME=VALUE", action="append", default=[])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--frames", type=int, default=20, help="frames of a turn")
    parser.add_argument("--presets", nargs="+", help="only these")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve(options.serve)
        return 0
    if not options.revision:
        parser.error("REV is missing: the commit to compare with")
    return report(options)


def report(options: argparse.Namespace) -> int:
    from metrack.config import PRESETS

    table = Table(title=f"Time of a frame now over that at {options.revision}, median of {options.turns} turns")
    table.add_column("preset")
    table.add_column("ratio", justify="right")
    slow = False
    with tempfile.TemporaryDirectory() as folder, checked_out(options.revision) as root:
        paint(file := Path(folder) / "clip.npz")
        now, before = Version(PROJECT, file), Version(root, file)
        for preset in options.presets or PRESETS:
            ratio = compare(now, before, preset, changes_of(preset, options.set_before), options)
            slow = slow or ratio > SLOWEST
            table.add_row(preset, f"{ratio:.3f}" + (" TOO SLOW" if ratio > SLOWEST else ""))
        now.close()
        before.close()
    Console().print(table)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
