"""Damaged videos and images: every one is followed or refused, in one sentence.

Most inputs are opened and read to their end as ``metrack track`` does, in a forked child; some go through the whole
command there, and some through a process of their own. An input of which something is told that was not told before
in the same case is damaged further. What went wrong is kept in ``missed/``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torture.campaign import Campaign, MissError
from torture.media_seeds import images, videos, write_all
from torture.mutations import mutate
from torture.prefork import Job, Outcome, Prefork

INPUTS = 60  # of one generation
GENERATIONS = 2
WHOLE = 2  # commands in a case
OWN = 0.1  # probability that one of them has a process of its own
SECONDS, MEMORY = 60.0, 1_000_000_000  # limits of an input
BOX = "8,7,12,10"
LIGHT = ("motion.particles=20", "memory.size=8", "metric.learning=off")
READABLE = {".png", ".jpg", ".tif", ".webp", ".bmp", ".ppm", ".pgm"}


@dataclass(frozen=True, slots=True)
class Input:
    """A damaged file, where it is, and what it is read as: its folder for images, which may be crops of a gallery."""

    name: str
    data: bytes
    path: Path
    kind: str  # source, gallery or dataset

    def job(self) -> Job:
        """Return the job that reads it."""
        return {"read": str(self.path), "as": self.kind}


class Media(Campaign):
    """Mutated videos and images."""

    name, unit, aim, share = "media", "inputs", 20_000, 11.0
    passes = "exit code 0, 1 or 2, one sentence, no traceback, 60 s, memory under 1 GB"

    def prepare(self) -> None:
        """Make the sound files and the warm process."""
        self._inputs, self._missed = self.folder / "inputs", self.folder / "missed"
        self._videos, self._images = videos(), images()
        self._everything = [*self._videos.values(), *self._images.values()]
        self._warm = Prefork()

    def case(self, rng: np.random.Generator) -> int:
        """Read two generations of damaged files, and follow some of them."""
        shutil.rmtree(self._inputs, ignore_errors=True)
        (self._inputs / "sound").mkdir(parents=True)
        write_all(self._inputs / "sound", {"plain.mp4": self._videos["plain.mp4"]})
        seen: set[tuple[object, ...]] = set()
        fresh: list[Input] = []
        for _ in range(GENERATIONS):
            parents = [(each.name, each.data) for each in fresh]
            inputs = [self._input(rng, parents) for _ in range(INPUTS)]
            fresh = []
            for each, outcome in zip(inputs, self._warm.do([each.job() for each in inputs], SECONDS), strict=True):
                self._check(each, outcome, f"reading it as a {each.kind}")
                what = _what(outcome, each)
                if what not in seen:
                    seen.add(what)
                    fresh.append(each)
            self._follow_some(rng, inputs)
        self.figures["outcomes"] = max(self.figures.get("outcomes", 0), len(seen))
        return GENERATIONS * INPUTS

    def close(self) -> None:
        """End the warm process."""
        if hasattr(self, "_warm"):
            self._warm.close()

    def _input(self, rng: np.random.Generator, parents: list[tuple[str, bytes]]) -> Input:
        """Damage one of the parents, or of the sound files, and write it where it is read from."""
        if parents and rng.random() < 0.7:
            name, data = parents[int(rng.integers(len(parents)))]
        else:
            kind = self._videos if rng.random() < 0.4 else self._images
            name = list(kind)[int(rng.integers(len(kind)))]
            data = kind[name]
        changed = mutate(rng, data, self._everything)
        place = self._inputs / f"{len(list(self._inputs.iterdir()))}"
        if Path(name).suffix not in READABLE or rng.random() < 0.6:
            write_all(place, {name: changed})
            return Input(name, changed, place / name, "source")
        kind = ("source", "gallery", "dataset")[int(rng.integers(3))]
        write_all(place / "ann" if kind == "gallery" else place, {"0.png": self._images["clear.png"], name: changed})
        return Input(name, changed, place, kind)

    def _follow_some(self, rng: np.random.Generator, inputs: list[Input]) -> None:
        for each in rng.choice(np.array(inputs, dtype=object), WHOLE // GENERATIONS, replace=False):
            words = ["track", str(each.path), "--box", BOX, "--stop", "3", "-o", str(each.path) + "-out"]
            if each.kind == "gallery":
                words[1:2] = [str(self._inputs / "sound" / "plain.mp4"), "--gallery", str(each.path)]
            words += [word for change in LIGHT for word in ("--set", change)]
            words += ["--no-video"] if rng.random() < 0.8 else []
            if rng.random() < OWN:
                done = subprocess.run(
                    [sys.executable, "-m", "metrack", *words], capture_output=True, text=True, timeout=SECONDS
                )
                outcome = Outcome(done.returncode, errors=done.stderr)
                self._count("processes")
            else:
                outcome = self._warm.do([{"run": words}], SECONDS)[0]
                self._count("commands")
            self._check(each, outcome, "following it", whole=True)

    def _count(self, name: str) -> None:
        self.figures[name] = self.figures.get(name, 0) + 1

    def _check(self, given: Input, outcome: Outcome, doing: str, *, whole: bool = False) -> None:
        """Raise MissError where the outcome is none of those there may be, and keep the file."""
        wrong = _wrong(outcome, whole)
        if wrong is None:
            return
        self._missed.mkdir(exist_ok=True)
        kept = self._missed / f"{len(list(self._missed.iterdir()))}-{given.name}"
        kept.write_bytes(given.data)
        raise MissError(f"{doing}, {wrong} (kept as {kept.name})")


def _wrong(outcome: Outcome, whole: bool) -> str | None:
    """Say what is wrong with an outcome, None where nothing is."""
    if outcome.code is None:
        return f"it took more than {SECONDS:g} s"
    if outcome.code not in (0, 1, 2):
        return f"it ended with {outcome.code}: {outcome.told or outcome.errors}"
    if outcome.memory > MEMORY:
        return f"it took {outcome.memory / 1e6:.0f} MB"
    told = outcome.errors.removeprefix("metrack: ").removesuffix("\n") if whole and outcome.code else outcome.told
    if not whole and outcome.errors:
        return f"it wrote to standard error: {outcome.errors}"
    if "\n" in told or "Traceback" in told or bool(told) != bool(outcome.code):
        return f"it ended with {outcome.code} and told {told + outcome.errors!r}"
    return None


def _what(outcome: Outcome, given: Input) -> tuple[object, ...]:
    """Return what an outcome is, without names and numbers."""
    told = re.sub(r"'[^']*'|[0-9]+", "", outcome.told).replace(given.name, "")
    return given.kind, Path(given.name).suffix, outcome.code, outcome.frames, told
