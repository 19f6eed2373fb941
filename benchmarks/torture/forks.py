"""Real processes of metrack that start in a few milliseconds: a server that has imported and compiled it forks them.

Starting Python, importing and compiling takes seconds, of which a campaign of kills has none to spare. The server
(:mod:`torture.fork_server`) does so once, has no threads, and forks a child for every run; a child can be told to kill
itself at an exact place, or be killed from here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Orders:
    """What a child does.

    ``words`` is the command, ``log`` where its output goes and beside which it leaves its notes (``.steps``: how many
    steps it took; ``.end``: there from the moment at which a run begins to close its files). A step is a file opened,
    renamed, removed or synced. ``interval`` is the time between checkpoints. With ``die_at`` it kills itself
    before that step, counted from the start or, with ``at_end``, from the end phase on. ``record`` is a folder whose
    every change is recorded, into ``.disk`` beside the log.
    """

    words: list[str]
    log: str
    interval: float = 5.0
    die_at: int | None = None
    at_end: bool = False
    record: str | None = None


@dataclass(slots=True)
class Child:
    """A process of the server."""

    pid: int
    log: Path
    began: float = field(default_factory=time.monotonic)
    code: int | None = None  # as in subprocess: negative where a signal ended it

    @property
    def output(self) -> str:
        """What it printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")


class ForkServer:
    """The server, as its client sees it."""

    def __init__(self) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "torture.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
        )
        self._ask({"do": "hello"})

    def start(self, orders: Orders) -> Child:
        """Start a child."""
        Path(orders.log).write_bytes(b"")  # now, so that nobody reads what an earlier one printed
        Path(f"{orders.log}.end").unlink(missing_ok=True)
        return Child(self._ask({"do": "start", **asdict(orders)})["pid"], Path(orders.log))

    def wait(self, child: Child, seconds: float = 120.0) -> int | None:
        """Wait for a child to end and return its exit code; None where it lives on."""
        if child.code is None:
            child.code = self._ask({"do": "wait", "pid": child.pid, "seconds": seconds})["code"]
        return child.code

    def kill(self, child: Child) -> int:
        """Kill a child as kill -9 does, and return how it ended."""
        if child.code is None:
            os.kill(child.pid, signal.SIGKILL)  # not waited for yet, so the number is still its own
        code = self.wait(child)
        assert code is not None
        return code

    def close(self) -> None:
        """End the server; it kills what is left of its children."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer
