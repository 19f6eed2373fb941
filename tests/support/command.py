"""The real command with a light tracker, and what it wrote."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from metrack.box import Box
from metrack.frames import VideoWriter
from metrack.frames.checked_lines import whole_lines
from metrack.frames.formats import from_otb_line
from metrack.synth import Clip

CHANGES = {"motion.particles": 20, "memory.size": 20, "metric.learning": "off"}
LIGHT = [part for name, value in CHANGES.items() for part in ("--set", f"{name}={value}")]
HEARING = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # the tests may have been started by nohup
COMMAND = (
    HEARING
    + "import metrack.runs.session as s; s.SECONDS_BETWEEN_CHECKPOINTS = 0.05; from metrack.cli import main; main()"
)


def write(clip: Clip, path: Path, times: int = 1) -> Path:
    images = list(clip)
    with VideoWriter(path, clip.size, clip.fps) as writer:
        for image in images * times:
            writer.write(image)
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(path: Path, count: int, seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} did not grow to {count} lines in time")


def summary(out: Path) -> dict[str, object]:
    return json.loads((out / "summary.json").read_text())


def read_otb(path: Path) -> list[Box]:
    return [from_otb_line(line) for line in whole_lines(path)]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
