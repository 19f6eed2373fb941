"""What others ask of a thread: done there one after another, and answered."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")


class Wishes:
    """A line of things to do; once it is closed, every wish is refused with a sentence."""

    def __init__(self, refusal: str) -> None:
        self._line: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue()
        self._refusal, self._closed = refusal, False

    def add(self, action: Callable[[], Result]) -> Future[Result]:
        """Have something done; called by any thread."""
        answer: Future[Result] = Future()
        self._line.put((action, answer))
        if self._closed:
            self._refuse()
        return answer

    def obey(self, patience: float | None) -> bool:
        """Do the next thing, waiting so long for one, None for ever; return whether there was one."""
        try:
            action, answer = self._line.get(timeout=patience) if patience != 0 else self._line.get_nowait()
        except queue.Empty:
            return False
        try:
            answer.set_result(action())
        except (ValueError, IndexError) as error:
            answer.set_exception(ValueError(str(error)))
        except Exception as error:
            answer.set_exception(error)
        return True

    def close(self) -> None:
        """Do nothing more."""
        self._closed = True
        self._refuse()

    def _refuse(self) -> None:
        while not self._line.empty():
            with suppress(queue.Empty):
                self._line.get_nowait()[1].set_exception(ValueError(self._refusal))
