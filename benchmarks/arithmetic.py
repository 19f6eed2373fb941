"""Pinned arithmetic: the same numbers to the last digit on every x86-64 processor with AVX2.

OpenBLAS, numba and numpy choose their instructions by the processor, and a tracker that follows itself turns a
difference in the last digit into another box. What is compared with recorded figures runs with these choices made.
"""

from __future__ import annotations

import os
import sys

PINNED = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+fma",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}


def pin() -> None:
    """Start the running script again with pinned arithmetic, unless it has it already."""
    if any(os.environ.get(name) != value for name, value in PINNED.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | PINNED)
