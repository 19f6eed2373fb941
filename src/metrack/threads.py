"""One BLAS thread inside the tracker.

The matrices of a frame are small: with two threads synchronisation costs more than the computation, and results
would depend on the number of threads.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks for libraries)
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _take_control() -> None:
    """Let this Python thread change the number: newer threadpoolctl obeys one of them and ignores the others."""
    for library in _controller().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)


class _OneThread:
    """The limit, which holds for the whole process: the first to come sets it, and the last to leave lifts it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                _take_control()
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                _take_control()
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


def one_blas_thread() -> _OneThread:
    """Limit every BLAS in the process to one thread inside a ``with`` block; trackers in several threads share it."""
    return _ONE_THREAD
