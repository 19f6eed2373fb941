"""Streams over HTTP that stall, break, lie and lead astray, and what the summary of the run tells of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from torture.campaign import Campaign, MissError
from torture.prefork import Outcome, Prefork
from torture.servers import Server, recording
from torture.stories import TALES, Tale, served

BOX = "18,12,26,22"
LIGHT = ("motion.particles=20", "memory.size=8", "metric.learning=off")
PATCH = {  # so that no case has to wait for ten seconds or more
    "metrack.frames.video.TIMEOUT": 0.8,
    "metrack.frames.video.PATIENCE": 2.4,
    "metrack.frames.live.LiveStream.__init__.__kwdefaults__": {"container": None, "retries": 2, "first_wait": 0.05},
}
SECONDS = 40.0  # limit of a case


class Streams(Campaign):
    """Stall, reset, garbage, size change, redirect, 500 frames a second."""

    name, unit, aim, share = "streams", "streams", 50, 4.0
    passes = "goes on or ends with one sentence; the summary tells what was dropped, and how often it came back"

    def prepare(self) -> None:
        """Make the warm process, and a file that no server may lead to."""
        self._file, self._out = self.folder / "secret.mp4", self.folder / "out"
        self._file.write_bytes(recording("mp4", 30))
        self._warm = Prefork()

    def case(self, rng: np.random.Generator) -> int:
        """Follow one stream."""
        teller = TALES[int(rng.integers(len(TALES)))]
        tale = teller(rng)
        shutil.rmtree(self._out, ignore_errors=True)
        servers = served(tale, str(self._file.resolve()))
        try:
            outcome = self._follow(tale, servers[0].address)
        finally:
            for server in servers:
                server.close()
        wrong = _wrong(tale, servers[0], outcome, self._out)
        if wrong is not None:
            raise MissError(f"{teller.__name__}: {wrong}; it ended with {outcome.code}: {outcome.errors!r}")
        return 1

    def close(self) -> None:
        """End the warm process."""
        if hasattr(self, "_warm"):
            self._warm.close()

    def _follow(self, tale: Tale, address: str) -> Outcome:
        words = ["track", address, "--box", BOX, "--no-video", "-o", str(self._out)]
        words += [word for change in LIGHT for word in ("--set", change)]
        words += [] if tale.stop is None else ["--stop", str(tale.stop)]
        child = self._warm.start([{"run": words, "patch": PATCH}])
        if tale.interrupt is not None:
            self._wait_for_lines()
            time.sleep(tale.interrupt)
            os.kill(child, signal.SIGINT)
        return self._warm.wait(child, SECONDS)[0]

    def _wait_for_lines(self) -> None:
        until = time.monotonic() + SECONDS / 2
        while time.monotonic() < until:
            if (file := self._out / "trajectory.jsonl").is_file() and file.stat().st_size:
                return
            time.sleep(0.05)


def _wrong(tale: Tale, server: Server, outcome: Outcome, out: Path) -> str | None:
    """Say what is wrong with an outcome, None where nothing is."""
    if outcome.code not in tale.codes:
        return f"the exit code must be one of {tale.codes}{outcome.told}"
    one = (
        outcome.errors.startswith("metrack: ") and outcome.errors.count("\n") == 1 and "Traceback" not in outcome.errors
    )
    if one != (outcome.code == 1) or (outcome.code != 1 and outcome.errors):
        return "there must be one sentence where it is refused"
    if not (out / "summary.json").is_file():
        return None if outcome.code == 1 else "there must be a summary"
    return _untrue(tale, server, json.loads((out / "summary.json").read_text()), outcome)


def _untrue(tale: Tale, server: Server, summary: dict[str, Any], outcome: Outcome) -> str | None:
    """Say where the summary does not tell what the server did."""
    status = {0: "done", 1: "ended early", 2: "interrupted"}[outcome.code or 0]
    if summary["status"] != status:
        return f"the status must be {status!r}, not {summary['status']!r}"
    if tale.frames is not None and summary["frames"] != tale.frames:
        return f"there must be {tale.frames} frames, not {summary['frames']}"
    if not tale.live:
        return None
    told, sent = summary["frames"] + summary["dropped"], sum(server.served.frames)
    back = sum(1 for count in server.served.frames[1:] if count)
    if not (told == sent if tale.exact else told <= sent):
        return f"{summary['frames']} frames and {summary['dropped']} dropped do not go with {sent} sent"
    if not (summary["reconnected"] == back if tale.exact else summary["reconnected"] <= back):
        return f"reconnected {summary['reconnected']} does not go with {server.served.frames} sent"
    notice = summary["notice"] or ""
    if bool(summary["dropped"]) != (f"{summary['dropped']} frames were skipped" in notice):
        return f"the notice does not tell of {summary['dropped']} dropped: {notice!r}"
    if bool(summary["reconnected"]) != ("and came back" in notice):
        return f"the notice does not tell of {summary['reconnected']} reconnected: {notice!r}"
    return None
