"""One BLAS thread inside the tracker.

The matrices of a frame are small: two threads spend more time meeting than computing, and results would depend
on how many there are. The limit holds only inside the block and only for this package's work.
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
    """Hold every BLAS in the process to one thread for the length of a ``with`` block."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit
