"""What is damaged: saved trackers, galleries, runs to be resumed or reported, studio notes, evaluations, datasets.

A subject makes an undamaged folder once. Its ``check`` is called in a child process on a copy of it in which one file
was damaged: it uses the copy as a user would and returns what came of it, or raises MissError.
"""

from __future__ import annotations

import io
import json
import math
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from metrack import Gallery, MultiTracker, Tracker
from metrack.cli import run
from metrack.config import preset
from metrack.frames import VideoWriter
from metrack.runs import session as sessions
from metrack.runs.follow import follow
from metrack.runs.resuming import resumption
from metrack.synth import builtin_clip
from torture.campaign import MissError

CLIP = builtin_clip(60, (160, 120), occlusion=False, departure=False)
OTHER = (100.0, 60.0, 30.0, 30.0)
SAVED_AT = 14  # frames followed before a tracker is saved
REFUSED = "refused"
SAME = "same"
TEXTS = ("trajectory.jsonl", "boxes.csv", "boxes.txt", "events.jsonl")


class Subject(ABC):
    """One thing that is damaged. ``damages`` is how many of them a case does, ``weight`` how often it is its turn."""

    name: str
    damages: int
    weight: float
    checked = True  # whether a change of its texts is found
    exchangeable = False  # whether one undamaged file in the place of another must be taken for it

    def __init__(self, folder: Path) -> None:
        self.folder = folder / self.name
        self.folder.mkdir(parents=True, exist_ok=True)

    @abstractmethod
    def prepare(self) -> None:
        """Make the undamaged folder."""

    def files(self, copy: Path) -> list[Path]:
        """Return what may be damaged in a copy."""
        return sorted(path for path in copy.rglob("*") if path.is_file())

    @abstractmethod
    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        """Use a copy; ``number`` is a random one, to choose by."""

    def may_change(self, copy: Path, path: Path) -> bool:
        """Whether using a copy may write this file, where it is not refused."""
        return False


def refusal(error: Exception, copy: Path, damaged: Path) -> str:
    """Return that it was refused, if that was done in one sentence that names the file."""
    text = str(error)
    if "\n" in text or not 10 < len(text) < 1000:
        raise MissError(f"no sentence: {text[:2000]!r}")
    if not any(name in text for name in (damaged.name, str(copy), copy.name)):
        raise MissError(f"the file is not named: {text!r}")
    return REFUSED


def command(*words: object) -> tuple[int, str]:
    """Run the command line in this process and return its exit code and what it said on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(word) for word in words])
    return code, err.getvalue()


def refused_by_command(code: int, said: str, copy: Path, damaged: Path, *, hostile: bool) -> str:
    """Return that a command refused, if it did that as it should; where the checksum fits, a value may be named."""
    if code != 1 or said.count("\n") != 1:
        raise MissError(f"exit code {code} and {said[:2000]!r}")
    return REFUSED if hostile else refusal(ValueError(said.strip()), copy, damaged)


class SavedTrackers(Subject):
    """Files of ``Tracker.save`` and ``MultiTracker.save``."""

    name, damages, weight = "trackers", 6, 4.0
    exchangeable = True

    def prepare(self) -> None:
        gallery = Gallery.from_boxes([("balloon", CLIP[0], CLIP.first_box), ("wall", CLIP[0], OTHER)])
        small = {"motion.particles": 30, "memory.size": 25, "memory.first": 10}
        kinds: dict[str, Any] = {
            "fast": preset("fast"),
            "default": preset("default").replace({"memory.size": 30}),
            "paper": preset("paper").replace(small),
            "mixed": preset("paper-mixed").replace({**small, "memory.sampling": "everything"}),
        }
        for name, config in kinds.items():
            tracker = Tracker(config, seed=1)
            tracker.init(CLIP[0], CLIP.first_box)
            for frame in range(1, SAVED_AT):
                tracker.update(CLIP[frame])
            tracker.save(self.folder / f"{name}.npz")
        several = MultiTracker("fast", gallery=gallery)
        several.add(CLIP[0], CLIP.first_box)
        several.add(CLIP[0], OTHER)
        for frame in range(1, SAVED_AT):
            several.update(CLIP[frame])
        several.save(self.folder / "several.npz")
        self._gallery = gallery
        self._known = {path.name: self._use(path) for path in self.files(self.folder)}

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        try:
            self._load(damaged)
        except ValueError as error:
            return refusal(error, copy, damaged)
        found = self._use(damaged, hostile=hostile)
        if not hostile and found != self._known[damaged.name]:
            raise MissError(f"loaded, and went on otherwise: {found} instead of {self._known[damaged.name]}")
        return SAME

    def _load(self, path: Path) -> Tracker | MultiTracker:
        if path.name.startswith("several"):
            return MultiTracker.load(path, gallery=self._gallery)
        return Tracker.load(path)

    def _use(self, path: Path, *, hostile: bool = False) -> list[float]:
        """Go on with a saved tracker, and return the numbers it gives."""
        loaded, numbers = self._load(path), list[float]()
        for frame in range(SAVED_AT, SAVED_AT + 3):
            found = loaded.update(CLIP[frame])
            for estimate in found.values() if isinstance(found, dict) else [found]:
                numbers += [*estimate.box.to_xywh(), estimate.score]
        boxes = np.array([CLIP.first_box.to_xywh(), OTHER])
        for tracker in loaded.trackers.values() if isinstance(loaded, MultiTracker) else [loaded]:
            numbers += tracker.score(CLIP[SAVED_AT], boxes).tolist()
        if not all(map(math.isfinite, numbers)):
            raise MissError(f"loaded, and gave {numbers}")
        again = path.with_name(f"{path.name}.saved")
        loaded.save(again)
        if not hostile:  # odd numbers may have made odder ones
            self._load(again)
        again.unlink()
        return numbers


class Galleries(Subject):
    """Files of ``metrack gallery build``."""

    name, damages, weight = "galleries", 8, 1.5

    def prepare(self) -> None:
        boxes = [("balloon", CLIP[n], CLIP.truth[n].box) for n in (0, 5, 10)]
        Gallery.from_boxes([*boxes, ("wall", CLIP[0], OTHER)]).save(self.folder / "known.npz")
        self._known = self._use(self.folder / "known.npz")

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        try:
            found = self._use(damaged)
        except ValueError as error:
            return refusal(error, copy, damaged)
        if not hostile and found != self._known:
            raise MissError(f"loaded, and said {found} instead of {self._known}")
        return SAME

    def _use(self, path: Path) -> list[float]:
        gallery = Gallery.load(path)
        tracker = Tracker("fast", gallery=gallery)
        tracker.init(CLIP[0], CLIP.first_box)
        identity = tracker.update(CLIP[1]).identity
        assert identity is not None
        numbers = [*identity.distances.tolist(), *identity.cumulative.tolist(), identity.error]
        if not all(map(math.isfinite, numbers)) or identity.nearest not in gallery.names:
            raise MissError(f"loaded, and gave {identity}")
        return numbers


LIGHT = ("--set", "motion.particles=20", "--set", "memory.size=20", "--preset", "paper", "--no-video")


@contextmanager
def checkpoints_kept() -> Iterator[None]:
    """Let runs write a checkpoint after every frame, and keep the last two when they are over."""
    seconds, drop = sessions.SECONDS_BETWEEN_CHECKPOINTS, sessions.Session.drop_checkpoint
    keep: Callable[[Any], None] = lambda _: None  # noqa: E731
    sessions.SECONDS_BETWEEN_CHECKPOINTS, sessions.Session.drop_checkpoint = -1.0, keep  # type: ignore[method-assign]
    try:
        yield
    finally:
        sessions.SECONDS_BETWEEN_CHECKPOINTS, sessions.Session.drop_checkpoint = seconds, drop  # type: ignore[method-assign]


class Runs(Subject):
    """Result folders of runs that were cut off, and are resumed."""

    name, damages, weight = "runs", 3, 3.0
    frames = 16

    def prepare(self) -> None:
        from metrack.files import with_checksum

        self.video = self.folder.parent / "clip.mp4"
        with VideoWriter(self.video, CLIP.size, CLIP.fps, crf=10) as video:
            for frame in range(self.frames):
                video.write(CLIP[frame])
        self.whole = self.folder.parent / "whole"
        shutil.rmtree(self.whole, ignore_errors=True)
        self._track(self.whole)
        with checkpoints_kept():
            self._track(self.folder, "--stop", self.frames - 4)
        summary = json.loads((self.folder / "summary.json").read_text())
        del summary["check"]
        changed = with_checksum({**summary, "status": "running", "trajectory": None})
        (self.folder / "summary.json").write_text(json.dumps(changed))

    def _track(self, out: Path, *more: object) -> None:
        box = ",".join(map(str, CLIP.first_box.to_xywh()))
        code, said = command("track", self.video, "--box", box, "-o", out, *LIGHT, *more)
        assert code == 0, said

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        if number % 4:
            try:
                self._resume(copy)
            except (ValueError, OSError) as error:
                return REFUSED if hostile else refusal(error, copy, damaged)
        else:
            code, said = command("track", self.video, "-o", copy, "--resume", "--no-video", "--stop", self.frames)
            if code:
                return refused_by_command(code, said, copy, damaged, hostile=hostile)
        same = [name for name in TEXTS if (copy / name).read_bytes() == (self.whole / name).read_bytes()]
        if not hostile and len(same) < len(TEXTS):
            raise MissError(f"resumed, but only {same} are those of an undisturbed run")
        return SAME

    def _resume(self, out: Path) -> None:
        """Do what the command does, but write no page, which takes most of its time."""
        start = resumption(out, {"source": str(self.video), "video": False, "stop": self.frames})
        follow(start.job, out, checkpoint=start.checkpoint, leave=lambda _: None)

    def may_change(self, copy: Path, path: Path) -> bool:
        return True


class Reports(Subject):
    """Result folders of runs that are over, of which the report is written anew."""

    name, damages, weight = "reports", 2, 1.5

    def __init__(self, folder: Path, runs: Runs) -> None:
        super().__init__(folder)
        self.runs = runs

    def prepare(self) -> None:
        shutil.copytree(self.runs.whole, self.folder, dirs_exist_ok=True)
        command("report", self.folder)

    def files(self, copy: Path) -> list[Path]:
        return [path for path in super().files(copy) if path.name in {*TEXTS, "summary.json"}]

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        page = (copy / "report.html").read_text()
        code, said = command("report", copy)
        if code:
            return refused_by_command(code, said, copy, damaged, hostile=hostile)
        if not hostile and damaged.is_file() and (copy / "report.html").read_text() != page:
            raise MissError("the report tells something else")
        return SAME

    def may_change(self, copy: Path, path: Path) -> bool:
        return path.suffix in (".html", ".png")
