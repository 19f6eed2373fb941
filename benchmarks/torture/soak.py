"""Soak: one tracker of every preset follows a target that is hidden, gone and back again, for hundreds of thousands of
frames.

Every preset has a process of its own, :mod:`torture.soaking`, that lives as long as the campaign: its memory is looked
at after every loop of the frames. Stopped and started again, the trackers go on from where they were saved.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from metrack.config import PRESETS
from metrack.files import write_json
from metrack.synth import builtin_clip
from torture.campaign import Campaign, MissError

STRETCH = 100  # frames of every preset in a case
WAIT = 120.0  # seconds that a stretch may take
MOST = 1.05  # times the time per frame, and the memory, of the beginning
SCENES = slice(200, 420)  # of the clip: seen, behind a cloud, seen, away for two seconds, back at the other side


class Soak(Campaign):
    name, unit, aim, share = "soak", "frames", 200_000, 26.0
    passes = "memory and time per frame flat within 5 %, numbers finite"

    def prepare(self) -> None:
        """Paint the frames, and start a process for each preset."""
        if not (self.folder / "loop.json").is_file():
            paint(self.folder)
        self.soakers = {preset: Soaker(preset, self.folder) for preset in PRESETS}

    def case(self, rng: np.random.Generator) -> int:
        """Go on for a stretch with every preset, and compare a tracker that was saved and loaded on the way."""
        done, wrong = 0, []
        for preset, soaker in self.soakers.items():
            found = soaker.ask({"frames": STRETCH, "copy_at": int(rng.integers(4 * STRETCH))})
            done += STRETCH
            self.figures |= {f"{preset} {name}": round(value, 3) for name, value in found["figures"].items()}
            wrong += [f"{preset}: {what}" for what in found["wrong"]]
            for name in ("time", "memory"):
                if found["figures"].get(name, 1.0) > MOST:
                    wrong.append(f"{preset}: {name} is {found['figures'][name]:.3f} times that of the beginning")
        if wrong:
            raise MissError("; ".join(wrong))
        return done

    def close(self) -> None:
        """End the processes; each saves its tracker."""
        for soaker in getattr(self, "soakers", {}).values():
            soaker.close()


def paint(folder: Path) -> None:
    """Paint the frames into one file that all processes share, and write down where the target is."""
    clip = builtin_clip(SCENES.stop, (320, 240), elsewhere=True)
    truth = clip.truth[SCENES]
    np.save(folder / "loop.npy", [clip[index] for index in range(SCENES.start, SCENES.stop)])
    boxes = [each.box.to_xywh() for each in truth]
    write_json(folder / "loop.json", {"boxes": boxes, "visible": [each.visible for each in truth]})


class Soaker:
    """The process of one preset."""

    def __init__(self, preset: str, folder: Path) -> None:
        self.preset = preset
        self.process = subprocess.Popen(
            [sys.executable, "-m", "torture.soaking", preset, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the campaign, which then says that it is over
        )

    def ask(self, request: dict[str, int]) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise MissError(f"{self.preset}: the process ended with code {process.wait()}") from None
        if not select.select([process.stdout], [], [], WAIT)[0]:
            process.kill()
            raise MissError(f"{self.preset}: {request} took more than {WAIT:g} s")
        line = process.stdout.readline()
        if not line:
            raise MissError(f"{self.preset}: the process ended with code {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let it save, and end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
            self.process.wait(WAIT)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
