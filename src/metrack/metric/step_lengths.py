"""Step lengths of a ranking round: two small programmes with the same constraints.

Both take the Gram matrix K ``(m, m)`` of the steps' directions and the losses f ``(m,)`` before any step, and give
lengths ``x >= 0`` whose sum is at most a limit. The quadratic one is the exact dual, the linear one the paper's.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import linprog

Doubles = NDArray[np.float64]

ROUNDING = 1e-12  # relative size that counts as zero in the dual
UNLIMITED = 1e100  # stands for an infinite step limit


def solve_linear(gram: Doubles, losses: Doubles, limit: float) -> Doubles:
    """Minimise ``|K x - f|_1`` over ``x >= 0`` with ``sum x <= limit``: the paper's linear programme.

    K ``(m, m)`` is the Gram matrix of the directions, f ``(m,)`` the losses before any step.
    """
    K, f, m = gram, losses, len(losses)
    largest, loss = K.diagonal().max(initial=0.0), np.abs(f).max(initial=0.0)
    if not (limit > 0 and largest > 0 and loss > 0):
        return np.zeros(m)
    limit = min(limit, UNLIMITED)
    unit = min(limit, loss / largest)  # of length, in which the programme is well scaled
    found = linprog(
        np.repeat([0.0, 1.0], [m, 2 * m]),  # x costs nothing, what is missing and what is too much does
        A_eq=np.hstack([K * (unit / loss), np.eye(m), -np.eye(m)]),
        b_eq=f / loss,
        A_ub=np.repeat([[1.0, 0.0]], [m, 2 * m], axis=1),
        b_ub=[limit / unit],
    ).x
    return np.zeros(m) if found is None else np.maximum(found[:m], 0.0) * unit  # None: given up, so no step


def solve_quadratic(gram: Doubles, losses: Doubles, limit: float, start: Doubles | None = None) -> Doubles:
    """Maximise ``f'x - x'K x / 2`` over ``x >= 0`` with ``sum x <= limit``: the exact dual.

    Parameters
    ----------
    gram : (m, m)     K, of the directions; may be singular
    losses : (m,)     f, before any step
    limit : float     C
    start : (k,)      solution for the first k of these constraints, as a warm start
    """
    known = np.zeros(0) if start is None else start
    m, limit = len(losses), min(limit, UNLIMITED)
    K, f, x = np.zeros((m + 1, m + 1)), np.zeros(m + 1), np.zeros(m + 1)
    K[1:, 1:], f[1:], x[1 : len(known) + 1] = gram, losses, known
    unused = limit - float(known.sum())  # one more variable, without direction or loss: now the sum is fixed
    x[0] = unused if unused > ROUNDING * limit else 0.0
    _climb(K, f, x)
    return x[1:]


@njit(cache=True, nogil=True)
def _climb(K: Doubles, f: Doubles, x: Doubles) -> None:
    """Maximise ``f'x - x'K x / 2`` over ``x >= 0`` of the given sum, in place: an active-set method.

    Before and after every turn all positive variables have one slope. The variable of the steepest joins them.
    """
    n, free = len(x), x > 0
    flat = ROUNDING * np.abs(f).max()
    slopes = np.empty(n)
    for _ in range(20 * n):  # some n turns are needed; the rest is in case of rounding
        level, best = -np.inf, 0
        for i in range(n):
            slopes[i] = f[i]
            for k in range(n):
                slopes[i] -= K[i, k] * x[k]
            if free[i]:
                level = max(level, slopes[i])
            if slopes[i] > slopes[best]:
                best = i
        rise = slopes[best] - level
        if free[best] or not rise > flat:
            return
        _admit(K, x, free, best, rise)


@njit(cache=True, nogil=True)
def _admit(K: Doubles, x: Doubles, free: NDArray[np.bool_], new: int, rise: float) -> None:
    """Let one variable grow at the expense of the free ones until its slope, steeper by ``rise``, is theirs.

    Whichever reaches zero on the way is free no more.
    """
    while free.any():
        d, bend = _direction(K, free, new)
        step, blocking = rise / bend if bend > 0 else np.inf, -1
        for i in range(len(x)):
            if free[i] and d[i] < 0 and x[i] <= step * -d[i]:
                step, blocking = x[i] / -d[i], i
        x[:] = np.maximum(x + step * d, 0.0)
        if blocking < 0:
            break
        x[blocking], free[blocking] = 0.0, False
        rise -= step * bend
    free[new] = True


@njit(cache=True, nogil=True)
def _direction(K: Doubles, free: NDArray[np.bool_], new: int) -> tuple[Doubles, float]:
    """How the free variables make room for a unit of the new one, keeping one slope; and how fast its own falls.

    Seen from the first free variable r, the others have the Gram matrix Q, factorised as ``L diag(pivots) L'``. The
    new one comes last: its row of L tells how the others respond, its pivot is how fast the slope falls.
    """
    r, others = np.flatnonzero(free)[0], np.append(np.flatnonzero(free)[1:], new)
    s = len(others)
    Q = np.empty((s, s))  # lower triangle: first Q, then L with the pivots on its diagonal
    for i in range(s):
        for k in range(i + 1):
            Q[i, k] = K[others[i], others[k]] - K[others[i], r] - K[r, others[k]] + K[r, r]
            for j in range(k):
                Q[i, k] -= Q[i, j] * Q[k, j] * Q[j, j]
            if k < i:
                Q[i, k] /= Q[k, k]
        if i < s - 1 and not Q[i, i] > 0:  # by rounding
            Q[i, i] = ROUNDING * K[others[i], others[i]] + 1e-300
    d = np.zeros(len(K))
    d[new] = 1.0
    for i in range(s - 2, -1, -1):
        d[others[i]] = -Q[s - 1, i]
        for k in range(i + 1, s - 1):
            d[others[i]] -= Q[k, i] * d[others[k]]
    d[r] = -d[others].sum()
    return d, Q[s - 1, s - 1]
