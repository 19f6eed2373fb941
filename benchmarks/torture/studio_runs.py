"""Runs of a real studio that is killed, started again and asked to go on."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import time
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from torture.campaign import MissError
from torture.forks import Child, ForkServer, Orders
from torture.trials import CLIP, KNOWN, LIGHT, boxes, check_same

PATIENCE = 60.0  # seconds for anything a studio is asked to do
NOTE = "studio.json"


class Visitor:
    """Asks a studio, as a page would, once it says where it is."""

    def __init__(self, server: ForkServer, child: Child) -> None:
        self._server, self._child, self._cookie = server, child, ""
        found = self._until(lambda: re.search(r"studio is at (\S+)", child.output))
        address = urlsplit(found[1])
        self._host, self._port = address.hostname or "", address.port
        if address.query:  # a token, for which there is a cookie
            answer = self._send("GET", f"{address.path}?{address.query}", None)[1]
            morsels = SimpleCookie(answer.headers.get("set-cookie", "")).items()
            self._cookie = "; ".join(f"{name}={value.value}" for name, value in morsels)

    def ask(self, path: str, body: Any = None, method: str = "GET") -> Any:
        """Return the answer to a request."""
        data, answer = self._send(method, path, body)
        if answer.status >= 300:
            raise MissError(f"the studio answered {method} {path} with {answer.status}: {data[:300]!r}")
        return json.loads(data)

    def wait_for(self, run: str, *states: str) -> None:
        """Wait until a run is in one of these states."""
        self._until(lambda: self.ask(f"/api/runs/{run}")["status"]["state"] in states)

    def _until(self, condition: Any) -> Any:
        until = time.monotonic() + PATIENCE
        while not (found := condition()):
            if self._server.wait(self._child, 0.01) is not None or time.monotonic() > until:
                raise StudioGoneError(self._child.output)
        return found

    def _send(self, method: str, path: str, body: Any) -> tuple[bytes, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=PATIENCE)
        sent = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if sent else {}
        try:
            connection.request(method, path, sent, headers | ({"Cookie": self._cookie} if self._cookie else {}))
            answer = connection.getresponse()
            return answer.read(), answer
        except (OSError, http.client.HTTPException):
            if self._server.wait(self._child, 1.0) is None:
                raise
            raise StudioGoneError(self._child.output) from None
        finally:
            connection.close()


class StudioGoneError(Exception):
    """The studio ended, or says nothing."""


class StudioTrial:
    """One run in a studio that is killed some times."""

    def __init__(self, server: ForkServer, folder: Path, rng: np.random.Generator) -> None:
        self._server, self._folder, self._rng = server, folder, rng
        self._runs, self._whole = folder / "studio", folder / "whole-studio"
        self._story: list[str] = []

    def run(self) -> int:
        """Kill, go on, compare; return how many kills there were."""
        self._make_whole()
        shutil.rmtree(self._runs, ignore_errors=True)
        kills = 0
        for _ in range(int(self._rng.integers(1, 4))):
            kills += self._killed()
        self._visit(self._runs, Orders(self._words(self._runs), self._log()))
        self._compare()
        return kills

    def _make_whole(self) -> None:
        """Make the undisturbed run, once."""
        if not self._whole.is_dir():
            part = self._folder / "whole-studio.part"
            shutil.rmtree(part, ignore_errors=True)
            self._visit(part, Orders(self._words(part), self._log(), interval=0.02))
            part.rename(self._whole)

    def _killed(self) -> bool:
        """Start the studio and kill it at some moment; return whether it was still alive."""
        interval = float(self._rng.choice([-1.0, 0.02, 1e9]))
        if self._rng.random() < 0.5:
            at_end = bool(self._rng.random() < 0.5)
            step = int(self._rng.integers(1, 60 if at_end else 400))
            self._story.append(f"step {step} from the {'end phase' if at_end else 'start'} on, interval {interval}")
            orders = Orders(self._words(self._runs), self._log(), interval, step, at_end)
            return not self._survives(orders, None)
        wait = float(self._rng.uniform(0, 3))
        self._story.append(f"{wait:.3f} s after the run was asked for, interval {interval}")
        return not self._survives(Orders(self._words(self._runs), self._log(), interval), wait)

    def _survives(self, orders: Orders, wait: float | None) -> bool:
        """Whether a studio lives until its run is over; with ``wait`` it is killed so long after that was begun."""
        child = self._server.start(orders)
        try:
            visitor = Visitor(self._server, child)
            run = self._ask_for_run(visitor, self._runs)
            if wait is not None:
                if self._server.wait(child, wait) is None:
                    self._server.kill(child)
                return False
            visitor.wait_for(run, "done")
        except StudioGoneError:
            if self._server.wait(child, 5.0) != -signal.SIGKILL:
                raise MissError(f"the studio ended with {child.code}: {child.output}") from None
            return False
        self._end(child)
        return True

    def _visit(self, runs: Path, orders: Orders) -> None:
        """Have the run done in a studio that is left alone."""
        child = self._server.start(orders)
        try:
            visitor = Visitor(self._server, child)
            visitor.wait_for(self._ask_for_run(visitor, runs), "done")
        except StudioGoneError as error:
            raise MissError(f"{self._story}: the studio was left alone, but ended or says nothing: {error}") from None
        except MissError as miss:
            raise MissError(f"{self._story}: {miss}") from None
        finally:
            self._end(child)

    def _end(self, child: Child) -> None:
        if self._server.wait(child, 0.0) is None:
            import os

            os.kill(child.pid, signal.SIGTERM)
            if self._server.wait(child, PATIENCE) is None:
                self._server.kill(child)
                raise MissError(f"{self._story}: the studio did not end when asked to")

    def _ask_for_run(self, visitor: Visitor, runs: Path) -> str:
        """Begin the run, or go on with the one that is there."""
        for line in visitor.ask("/api/runs"):
            if line["status"]["state"] not in ("done", "running", "starting"):
                visitor.ask(f"/api/runs/{line['id']}/go", method="POST")
            return str(line["id"])
        request = {
            "source": f"file:{CLIP}",
            "boxes": boxes(),
            "changes": {name: int(value) for name, _, value in (each.partition("=") for each in LIGHT)},
        }
        return str(visitor.ask("/api/runs", request, "POST")["id"])

    def _words(self, runs: Path) -> list[str]:
        videos, gallery = str(self._folder), str(self._folder / KNOWN)
        return ["studio", videos, "--runs", str(runs), "--port", "0", "--no-browser", "--gallery", gallery]

    def _log(self) -> str:
        return str(self._folder / "studio.log")

    def _compare(self) -> None:
        (out,), (whole,) = ([note.parent for note in runs.glob(f"*/{NOTE}")] for runs in (self._runs, self._whole))
        try:
            check_same(out, whole)
        except MissError as miss:
            raise MissError(f"{self._story}: {miss}") from None
