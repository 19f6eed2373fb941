"""The process behind :class:`torture.forks.ForkServer`: one JSON object a line in, one out."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from torture.disk import Recorder
from torture.forks import Orders

DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl


def main() -> None:
    """Warm up, then do what is asked until nobody asks any more."""
    _warm_up()
    assert len(os.listdir("/proc/self/task")) == 1, "only a process without threads can be forked safely"
    children: set[int] = set()
    for line in sys.stdin:
        question = json.loads(line)
        task = question.pop("do")
        answer: dict[str, Any] = {}
        if task == "start":
            answer["pid"] = _start(Orders(**question))
            children.add(answer["pid"])
        elif task == "wait":
            answer["code"] = _wait(question["pid"], question["seconds"])
            children -= {question["pid"]} if answer["code"] is not None else set()
        print(json.dumps(answer), flush=True)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _warm_up() -> None:
    """Import what a run imports, and compile what it compiles, without starting a thread."""
    import uvicorn  # noqa: F401

    import metrack.cli
    import metrack.runs.follow
    import metrack.runs.resuming
    import metrack.studio.server  # noqa: F401
    from metrack.config import PRESETS
    from metrack.runs.opening import compile_kernels
    from metrack.synth import builtin_clip

    clip = builtin_clip(2, (160, 120), occlusion=False, departure=False)
    for config in PRESETS.values():
        compile_kernels(config, clip[0], clip.first_box)


def _start(orders: Orders) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 70  # a bug of ours
    try:
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)
        code = _run(orders)
    finally:
        os._exit(code)


def _run(orders: Orders) -> int:
    """Do what a child has to do, and return its exit code."""
    import metrack.runs.session as sessions
    from metrack.cli import run

    null, log = os.open(os.devnull, os.O_RDONLY), os.open(orders.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sessions.SECONDS_BETWEEN_CHECKPOINTS = orders.interval
    steps = Steps(orders)
    recorder = Recorder(Path(orders.record)) if orders.record else None
    try:
        return run(orders.words)
    finally:
        if recorder is not None:
            recorder.save(Path(f"{orders.log}.disk"))
        Path(f"{orders.log}.steps").write_text(f"{steps.end} {steps.count}")
        sys.stdout.flush()
        sys.stderr.flush()


class Steps:
    """Counts the steps of a child, and kills it where that was ordered.

    Data need not reach the disk here: a kill loses nothing that was written, so nothing waits for syncs.
    """

    EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")

    def __init__(self, orders: Orders) -> None:
        from metrack.frames import VideoWriter
        from metrack.runs.session import Session

        self.orders, self.count, self.end = orders, 0, 0
        os.fsync = lambda _: self._step()
        sys.addaudithook(lambda name, _: self._step() if name in self.EVENTS else None)
        for kind, name in ((VideoWriter, "close"), (Session, "finish")):
            setattr(kind, name, self._noting_the_end(getattr(kind, name)))

    def _noting_the_end(self, plain: Any) -> Any:
        def noting(*arguments: Any, **options: Any) -> Any:
            if not self.end:
                Path(f"{self.orders.log}.end").touch()
                self.end = self.count
            return plain(*arguments, **options)

        return noting

    def _step(self) -> None:
        self.count += 1
        at = self.orders.die_at
        if at is not None and (self.end or not self.orders.at_end):
            if self.count - (self.end if self.orders.at_end else 0) == at:
                os.kill(os.getpid(), signal.SIGKILL)


def _wait(pid: int, seconds: float) -> int | None:
    until = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            return None
        time.sleep(0.002)


if __name__ == "__main__":
    main()
