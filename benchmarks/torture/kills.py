"""kill -9 at random moments of a run, above all near its start and its end; then resume, perhaps to be killed again."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np

from metrack.runs.checkpoint import has_checkpoint
from metrack.runs.results import SUMMARY
from torture.campaign import Campaign, MissError
from torture.forks import Child, ForkServer, Orders
from torture.studio_runs import StudioTrial
from torture.trials import KINDS, Kind, Reference, check_same, make_material, reference

KILLED = -signal.SIGKILL
MOST_KILLS = 4  # of one run
STUDIO, PLAIN = 0.12, 0.1  # shares: runs of a studio; kills of a process that was started as users start it
EARLY = 60  # steps, of which every run takes more
INTERVALS = (-1.0, 0.02, 0.1, 1e9)  # seconds between checkpoints: each frame, some frames, only the first


class Kills(Campaign):
    """Runs that are killed until they are left alone."""

    name: ClassVar[str] = "kills"
    unit: ClassVar[str] = "kills"
    aim: ClassVar[int] = 300
    share: ClassVar[float] = 20.0
    passes: ClassVar[str] = "boxes, events and text files as of an undisturbed run; video complete and playable"

    def prepare(self) -> None:
        """Start the server of processes, and paint the clip."""
        make_material(self.folder)
        self._server = ForkServer()

    def close(self) -> None:
        """End the server."""
        if hasattr(self, "_server"):
            self._server.close()

    def case(self, rng: np.random.Generator) -> int:
        """Kill one run some times, finish it, and compare."""
        if rng.random() < STUDIO:
            kills = StudioTrial(self._server, self.folder, rng).run()
            self._count("studio", kills)
            return kills
        kind = KINDS[int(rng.integers(len(KINDS)))]
        whole, out = reference(self._server, self.folder, kind), self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        kills, story = 0, []
        for _ in range(int(rng.integers(1, MOST_KILLS + 1))):
            plain = rng.random() < PLAIN
            code, how = self._plain(kind, out, whole, rng) if plain else self._forked(kind, out, whole, rng)
            story.append(how)
            if code != KILLED:
                break
            kills += 1
        if not kills:  # all came too late
            shutil.rmtree(out)
            self._killed_early(kind, out, rng)
            kills = 1
        self._count(kind.name, kills)
        self._finish(kind, out, whole, "; ".join([kind.name, *story]))
        return kills

    def _count(self, what: str, kills: int) -> None:
        self.figures[what] = self.figures.get(what, 0) + kills

    def _orders(self, kind: Kind, out: Path, **more: object) -> Orders:
        again = ["--resume"] if (out / SUMMARY).exists() else []
        log = self.folder / "child.log"
        return Orders(kind.words(self.folder, out, *again), str(log), **more)

    def _forked(self, kind: Kind, out: Path, whole: Reference, rng: np.random.Generator) -> tuple[int, str]:
        """Start a run, kill it, and say how it ended and what was done to it."""
        interval, place = float(rng.choice(INTERVALS)), str(rng.choice(["start", "end", "end", "anywhere"]))
        if rng.random() < 0.5:
            most = {"start": 40, "end": whole.steps - whole.end_steps + 30, "anywhere": whole.steps}[place]
            at = int(rng.integers(1, most + 1))
            orders = self._orders(kind, out, interval=interval, die_at=at, at_end=place == "end")
            child = self._server.start(orders)
            code = self._server.wait(child)
            how = f"killed at step {at} from the {'end phase' if place == 'end' else 'start'} on"
        else:
            orders = self._orders(kind, out, interval=interval)
            child = self._server.start(orders)
            code, how = self._kill_in_time(child, place, whole, rng)
        self._check_code(code, child, how)
        return code or 0, f"interval {interval}, {how} ({code})"

    def _killed_early(self, kind: Kind, out: Path, rng: np.random.Generator) -> None:
        child = self._server.start(self._orders(kind, out, die_at=int(rng.integers(1, EARLY))))
        self._check_code(self._server.wait(child), child, "killed early")

    def _kill_in_time(
        self, child: Child, place: str, whole: Reference, rng: np.random.Generator
    ) -> tuple[int | None, str]:
        if place == "end":
            wait = float(rng.uniform(0, whole.seconds - whole.end))
            while self._server.wait(child, 0.0) is None and not Path(f"{child.log}.end").exists():
                time.sleep(0.002)
        else:
            wait = float(rng.uniform(0, whole.seconds * (0.2 if place == "start" else 1.0)))
        if self._server.wait(child, wait) is None:
            self._server.kill(child)
        return child.code, f"killed {wait:.3f} s after the {'end phase' if place == 'end' else 'start'}"

    def _plain(self, kind: Kind, out: Path, whole: Reference, rng: np.random.Generator) -> tuple[int, str]:
        """Kill a process that imports and compiles by itself."""
        words = self._orders(kind, out).words
        wait = float(rng.choice([rng.uniform(0, 3), rng.uniform(3, 6 + whole.seconds)]))
        process = subprocess.Popen([sys.executable, "-m", "metrack", *words], stdout=-3, stderr=subprocess.PIPE)
        try:
            _, told = process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            process.kill()
            _, told = process.communicate()
        finally:
            process.kill()  # also where the campaign is interrupted
        if process.returncode not in (KILLED, 0):
            raise MissError(f"code {process.returncode} of a plain process of {kind.name}: {told.decode()}")
        return process.returncode, f"plain, killed after {wait:.3f} s"

    def _finish(self, kind: Kind, out: Path, whole: Reference, story: str) -> None:
        """Let the run go on to its end, and compare what came of it."""
        orders = self._orders(kind, out)
        kept = has_checkpoint(out)
        child = self._server.start(orders)
        code = self._server.wait(child)
        if code is None:
            self._server.kill(child)
        if code != 0:
            raise MissError(f"{story}: {' '.join(orders.words)} ended with {code}: {child.output}")
        if kept and "begins anew" in child.output:  # a kill loses nothing that was written
            raise MissError(f"{story}: there was a checkpoint, but {child.output}")
        try:
            check_same(out, whole.out)
        except MissError as miss:
            raise MissError(f"{story}: {miss}") from None

    def _check_code(self, code: int | None, child: Child, how: str) -> None:
        if code is None:
            self._server.kill(child)
        if code not in (KILLED, 0):
            raise MissError(f"{how}: ended with {code}: {child.output}")
