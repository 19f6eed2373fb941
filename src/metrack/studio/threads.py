"""What the studio's threads share: requests to a thread, the queue of runs, and a lower priority for side work."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")

NICENESS = 5  # added to that of a thread that gives way, as by the command nice


class RequestQueue:
    """Requests of other threads to one thread, done there in order; once it is closed, each is refused."""

    def __init__(self, refusal: str) -> None:
        self._waiting: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue()
        self._refusal, self._closed = refusal, False

    def add(self, action: Callable[[], Result]) -> Future[Result]:
        """Have something done; called by any thread."""
        future: Future[Result] = Future()
        self._waiting.put((action, future))
        if self._closed:
            self._refuse()
        return future

    def process(self, timeout: float | None) -> bool:
        """Do the next request, waiting so long for one, None for ever; return whether there was one."""
        try:
            action, future = self._waiting.get(timeout=timeout) if timeout != 0 else self._waiting.get_nowait()
        except queue.Empty:
            return False
        if not future.set_running_or_notify_cancel():
            return True  # whoever asked is gone
        try:
            future.set_result(action())
        except (ValueError, IndexError) as error:
            future.set_exception(ValueError(str(error)))
        except Exception as error:
            future.set_exception(error)
        return True

    def close(self) -> None:
        """Do nothing more."""
        self._closed = True
        self._refuse()

    def _refuse(self) -> None:
        while not self._waiting.empty():
            with suppress(queue.Empty):
                future = self._waiting.get_nowait()[1]
                if future.set_running_or_notify_cancel():
                    future.set_exception(ValueError(self._refusal))


class RunQueue:
    """Lets one run work at a time: the others wait, first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[object] = []

    def enter(self, run: object) -> bool:
        """Queue up, unless that is done, and return whether it is one's turn."""
        with self._lock:
            if run not in self._waiting:
                self._waiting.append(run)
            return self._waiting[0] is run

    def leave(self, run: object) -> None:
        """Let the next one work."""
        with self._lock:
            if run in self._waiting:
                self._waiting.remove(run)

    def place(self, run: object) -> int:
        """Return how many are before one in the queue; -1 for who is not in it."""
        with self._lock:
            return self._waiting.index(run) if run in self._waiting else -1


def lower_priority() -> None:
    """Let the trackers' threads go before the one that calls this; only Linux knows priorities of single threads."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
