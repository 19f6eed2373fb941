"""One BLAS thread inside the tracker.

The matrices of a frame are small: with two threads synchronisation costs more than the computation, and results
would depend on the number of threads.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks for libraries)
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Limit every BLAS in the process to one thread inside a ``with`` block."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit
