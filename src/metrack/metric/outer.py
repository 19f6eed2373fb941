"""Changing a symmetric matrix by a few outer products, in place."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from metrack.arrays import Floats


def add_outer(symmetric: Floats, plus: Floats, minus: Floats) -> None:
    """``symmetric += plus' plus - minus' minus`` in place; the rows of plus and minus are vectors of its dtype."""
    if not len(plus) + len(minus):
        return
    gemm = blas.sgemm if symmetric.dtype == np.float32 else blas.dgemm
    left, right = np.concatenate([plus, -minus]), np.concatenate([plus, minus])
    gemm(1.0, left.T, right.T, beta=1.0, c=symmetric.T, trans_b=1, overwrite_c=1)
