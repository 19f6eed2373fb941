"""The runs that campaigns kill: a short clip, the command for every kind of run, and what must come of it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from metrack.files import write_json
from metrack.frames import VideoWriter, open_source
from metrack.identity import Gallery
from metrack.runs.results import SUMMARY, VIDEO
from metrack.synth import builtin_clip
from torture.campaign import MissError
from torture.forks import ForkServer, Orders

CLIP, KNOWN = "clip.mp4", "known.npz"
SIZE, STORY = (160, 120), 60
SHOWN = (*range(14), *range(29, 40))  # frames: the target seen, hidden and seen again
OTHER_BOX = (20.0, 20.0, 30.0, 30.0)
LIGHT = ("motion.particles=40", "memory.size=30")
MAY_DIFFER = {"tracker_fps", "check"}  # of summary.json


@dataclass(frozen=True, slots=True)
class Kind:
    """What is run: a preset, how many targets, and whether with known targets and another format."""

    name: str
    preset: str = "default"
    targets: int = 1
    gallery: bool = False
    mot: bool = False

    def words(self, folder: Path, out: Path, *more: str) -> list[str]:
        """Return the command, for a clip that lies in a folder."""
        words = ["track", str(folder / CLIP), "-o", str(out), "--preset", self.preset, *more]
        words += [word for box in boxes()[: self.targets] for word in ("--box", ",".join(map(str, box)))]
        words += [word for change in LIGHT for word in ("--set", change)]
        words += ["--gallery", str(folder / KNOWN)] if self.gallery else []
        return words + (["--format", "mot"] if self.mot else [])


KINDS = (
    Kind("one"),
    Kind("several", targets=2, gallery=True, mot=True),
    Kind("fast", "fast"),
    Kind("paper", "paper"),
    Kind("structured", "paper-structured", targets=2),
    Kind("mixed", "paper-mixed", gallery=True),
)


def boxes() -> list[tuple[float, ...]]:
    """Return the boxes of the targets: a balloon, and a piece of scenery."""
    balloon = builtin_clip(STORY, SIZE).first_box.to_xywh()
    return [tuple(round(side, 1) for side in balloon), OTHER_BOX]


def make_material(folder: Path) -> None:
    """Paint the clip, and make a gallery of known targets."""
    if (folder / KNOWN).is_file():
        return
    clip, rng = builtin_clip(STORY, SIZE), np.random.default_rng(3)
    with VideoWriter(folder / CLIP, clip.size, clip.fps, crf=16) as video:
        for number in SHOWN:
            video.write(clip[number])
    for name, colour in (("ann", (200, 40, 40)), ("bob", (40, 40, 200))):
        (folder / "crops" / name).mkdir(parents=True, exist_ok=True)
        for number in range(2):
            picture = np.clip(np.array(colour) + rng.normal(0, 20, (32, 32, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(picture).save(folder / "crops" / name / f"{number}.png")
    Gallery.from_folder(folder / "crops").save(folder / KNOWN)


@dataclass(frozen=True, slots=True)
class Reference:
    """An undisturbed run: its folder, how long it took, and from when on it closed its files."""

    out: Path
    seconds: float
    end: float
    steps: int
    end_steps: int


def reference(server: ForkServer, folder: Path, kind: Kind) -> Reference:
    """Return the undisturbed run of a kind, made once."""
    out, note = folder / f"whole-{kind.name}", folder / f"whole-{kind.name}.json"
    if not note.is_file():
        shutil.rmtree(out, ignore_errors=True)
        log = folder / f"whole-{kind.name}.log"
        child = server.start(Orders(kind.words(folder, out), str(log), interval=0.02))
        while server.wait(child, 0.005) is None and not Path(f"{log}.end").exists():
            pass
        first = time.monotonic() - child.began
        if server.wait(child) != 0:
            raise MissError(f"an undisturbed run, {kind.name}, failed: {child.output}")
        total = time.monotonic() - child.began
        end_steps, steps = map(int, Path(f"{log}.steps").read_text().split())
        times = {"seconds": total, "end": first, "steps": steps, "end_steps": end_steps}
        write_json(note, times)
    return Reference(out, **json.loads(note.read_text()))


def check_same(out: Path, whole: Path, ended: str = "done") -> None:
    """Raise MissError where a folder is not that of the undisturbed run."""
    if differences := list(_differences(out, whole, ended)):
        raise MissError("; ".join(differences))


def _differences(out: Path, whole: Path, ended: str) -> Iterator[str]:
    names, expected = ({each.name for each in folder.iterdir()} for folder in (out, whole))
    if names != expected:
        yield f"has {sorted(names - expected)} too many and lacks {sorted(expected - names)}"
    for name in sorted(names & expected):
        if Path(name).suffix in (".jsonl", ".csv", ".txt") and (out / name).read_bytes() != (whole / name).read_bytes():
            yield f"{name} differs"
    if SUMMARY in names & expected:
        told, wanted = (_summary(folder) for folder in (out, whole))
        if wrong := [name for name in wanted if told.get(name) != wanted[name]]:
            yield f"summary.json differs in {wrong}"
        if told.get("status") != ended:
            yield f"status is {told.get('status')}"
    if VIDEO in names & expected and (seen := _count(out / VIDEO)) != (wanted_frames := _count(whole / VIDEO)):
        yield f"{VIDEO} has {seen} of {wanted_frames} frames"
    if "report.html" in names and not (out / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>"):
        yield "report.html is cut"


def _summary(folder: Path) -> dict[str, Any]:
    values = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return {name: value for name, value in values.items() if name not in MAY_DIFFER}


def _count(video: Path) -> int | str:
    try:
        with open_source(str(video)) as source:
            count = sum(1 for _ in source)
            return f"{count}, {source.notice}" if source.notice else count
    except ValueError as error:
        return str(error)
