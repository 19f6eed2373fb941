"""Power cuts: what was not synced is lost, as far as a disk may lose it; then resume.

A real run is recorded once (:mod:`torture.disk`): a new one, one that goes on after a kill, and one into the folder
of an earlier run. Every case makes the folder as a disk could hold it after a cut at one moment, and resumes.
"""

from __future__ import annotations

import pickle
import shutil
import signal
from pathlib import Path
from typing import ClassVar

import numpy as np

from metrack.runs.checkpoint import Checkpoint
from torture.campaign import Campaign, MissError
from torture.disk import History, cut
from torture.forks import ForkServer, Orders
from torture.trials import KINDS, Kind, check_same, make_material, reference

STORIES = ("new", "resumed", "over")
RECORDED = tuple(kind for kind in KINDS if kind.name in ("one", "several", "mixed"))
INTERVAL = 0.05  # seconds between checkpoints
OTHER_SEED = ("--seed", "7")


class PowerLoss(Campaign):
    """Folders after a power cut."""

    name: ClassVar[str] = "power"
    unit: ClassVar[str] = "cut points"
    aim: ClassVar[int] = 200
    share: ClassVar[float] = 12.0
    passes: ClassVar[str] = "it resumes, or says in one sentence why it begins anew; the results are the same"

    def prepare(self) -> None:
        """Start the server of processes, and paint the clip."""
        make_material(self.folder)
        self._server = ForkServer()
        self._histories: dict[str, History] = {}

    def close(self) -> None:
        """End the server."""
        if hasattr(self, "_server"):
            self._server.close()

    def case(self, rng: np.random.Generator) -> int:
        """Cut the power at one moment of one run."""
        kind, story = RECORDED[int(rng.integers(len(RECORDED)))], STORIES[int(rng.integers(len(STORIES)))]
        history, out = self._history(kind, story), self.folder / "out"
        late = history.moments - int(rng.integers(1, min(60, history.moments)))
        moment = late if rng.random() < 0.4 else int(rng.integers(history.moments))
        shutil.rmtree(out, ignore_errors=True)
        cut(history, moment, rng, out)
        self.figures[story] = self.figures.get(story, 0) + 1
        where = f"{kind.name}, {story}, cut at {moment} of {history.moments}"
        try:
            self._verify(kind, story, out)
        except MissError as miss:
            raise MissError(f"{where}: {miss}") from None
        return 1

    def _verify(self, kind: Kind, story: str, out: Path) -> None:
        """Resume, or begin anew where that is refused in one sentence; the results must be right."""
        whole = reference(self._server, self.folder, kind).out
        kept = _is_kept(out)
        code, told = self._track(kind, out, "--resume")
        if kept and (code == 1 or "begins anew" in told):
            raise MissError(f"there was a whole checkpoint, but {told}")
        if code == 0 and story == "over" and "nothing is left to resume" in told:
            whole = self.folder / f"earlier-{kind.name}"  # the new run left no trace
        elif code == 1 and told.startswith("metrack: ") and told.count("\n") == 1:
            self._note("refused")
            code, told = self._track(kind, out)
        elif "begins anew" in told:
            self._note("anew")
        if code != 0:
            raise MissError(f"ended with {code}: {told}")
        check_same(out, whole)

    def _note(self, what: str) -> None:
        self.figures[what] = self.figures.get(what, 0) + 1

    def _track(self, kind: Kind, out: Path, *more: str, **orders: object) -> tuple[int | None, str]:
        log = str(self.folder / "child.log")
        child = self._server.start(Orders(kind.words(self.folder, out, *more), log, **orders))
        code = self._server.wait(child)
        if code is None:
            self._server.kill(child)
        return code, child.output

    def _history(self, kind: Kind, story: str) -> History:
        """Return a recorded run, recorded once."""
        name = f"{story}-{kind.name}"
        if name not in self._histories:
            kept = self.folder / f"{name}.disk"
            if not kept.is_file():
                self._record(kind, story, kept)
            self._histories[name] = pickle.loads(kept.read_bytes())
        return self._histories[name]

    def _record(self, kind: Kind, story: str, kept: Path) -> None:
        out = self.folder / "recorded"
        shutil.rmtree(out, ignore_errors=True)
        more: tuple[str, ...] = ()
        if story == "resumed":
            code, told = self._track(kind, out, interval=INTERVAL, die_at=150)
            if code != -signal.SIGKILL:
                raise MissError(f"{kind.name} was not killed in time: {told}")
            more = ("--resume",)
        if story == "over":
            shutil.copytree(self._earlier(kind), out)
        code, told = self._track(kind, out, *more, interval=INTERVAL, record=str(out))
        if code != 0:
            raise MissError(f"{kind.name}, {story}, could not be recorded: {told}")
        Path(f"{self.folder / 'child.log'}.disk").rename(kept)

    def _earlier(self, kind: Kind) -> Path:
        """Return the folder of a run with another seed, made once."""
        out = self.folder / f"earlier-{kind.name}"
        if not out.is_dir():
            part = self.folder / "earlier.part"
            shutil.rmtree(part, ignore_errors=True)
            code, told = self._track(kind, part, *OTHER_SEED)
            if code != 0:
                raise MissError(f"{kind.name} with another seed failed: {told}")
            part.rename(out)
        return out


def _is_kept(out: Path) -> bool:
    """Whether a checkpoint is left that a run can go on from."""
    try:
        Checkpoint.load(out)
    except ValueError:
        return False
    return True
