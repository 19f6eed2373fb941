"""Learning the metric from a ranking: the more a box overlaps the estimate, the nearer its descriptor should be.

Boxes are sampled around the estimate. Box i has the difference ``a_i`` between the two descriptors, the distance
``D_i = a_i' M a_i`` and the overlap ``s_i``, and for any two boxes ``D_j - D_i`` should be at least ``s_i - s_j``.
The metric changes as little as it can, while the worst shortfall, the slack, costs ``step_limit`` per unit (paper:
Algorithm 3, with the matrix that its Lagrangian implies in place of the printed B). Every pair of boxes is a
constraint, but few matter: the most violated one joins a growing set, the step lengths of the whole set are found
anew, and so on. A step of length 1 on the pair (mu, nu) adds ``a_nu a_nu' - a_mu a_mu'`` to M and therefore
``(a_i . a_nu)^2 - (a_i . a_mu)^2`` to ``D_i``: inner products are all that is ever needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import linprog

from metrack.arrays import Floats, Ints

Doubles = NDArray[np.float64]

SOLVERS = ("quadratic", "linear")
TOLERANCE = 1e-3  # of the first violation: by how much the last may exceed the slack
SAME_PLACE = 1e-12  # relative squared norm of a step's direction below which its two boxes are one
ROUNDING = 1e-12  # relative size of what counts as nothing in the dual
UNLIMITED = 1e100  # stands for an infinite step limit


@dataclass(frozen=True, slots=True)
class RankingSteps:
    """The steps that were taken: box numbers ``(m, 2)`` of mu (too far) and nu (too near), and lengths ``(m,)``."""

    pairs: Ints
    lengths: Doubles

    def __len__(self) -> int:
        return len(self.lengths)

    def push(self, rows: Floats) -> Floats:
        """What is driven away: ``sqrt(step) * a_nu`` of each step, in the given rows (b, d) of the differences."""
        return self._weighted(rows, 1)

    def pull(self, rows: Floats) -> Floats:
        """What is drawn nearer: ``sqrt(step) * a_mu`` of each step."""
        return self._weighted(rows, 0)

    def _weighted(self, rows: Floats, column: int) -> Floats:
        weights = np.sqrt(self.lengths).astype(rows.dtype)
        weighted: Floats = rows[self.pairs[:, column]] * weights[:, None]
        return weighted


def most_violated(scores: Floats) -> tuple[int, int, float]:
    """Find the two boxes mu, nu whose order is most wrong, and by how much it falls short.

    The shortfall of a pair (i, j) is the difference of two scores ``s + D``, so the largest score and the smallest
    make the worst pair.

    >>> most_violated(np.array([0.5, 2.0, 0.25]))
    (1, 2, 1.75)
    """
    mu, nu = int(scores.argmax()), int(scores.argmin())
    return mu, nu, float(scores[mu] - scores[nu])


def learn_ranking(
    products: Floats,
    distances: Floats,
    overlaps: Floats,
    step_limit: float,
    iterations: int,
    solver: str = "quadratic",
    tolerance: float = TOLERANCE,
) -> RankingSteps:
    """Find the steps that bring the distances of the sampled boxes into the order of their overlaps.

    Parameters
    ----------
    products : (b, b)     inner products of the differences a_i
    distances : (b,)      D_i in the metric as it was before
    overlaps : (b,)       s_i, of each box with the estimate
    step_limit : float    C: what a unit of slack costs, and what all steps together may measure
    iterations : int      how many constraints are added at most
    solver : str          "quadratic" for exact step lengths, "linear" for those of the paper's linear programme
    tolerance : float     stop when no violation exceeds the slack by more than this share of the first one
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {solver!r}")
    start = overlaps.astype(np.float64) + distances  # (b,)
    squares = np.square(products, dtype=np.float64)  # (b, b)
    pairs = np.empty((iterations if len(start) else 0, 2), np.int64)
    scores, allowed, first, lengths = start, 0.0, 0.0, np.zeros(0)
    for m in range(1, len(pairs) + 1):
        mu, nu, loss = most_violated(scores)
        if not allowed < loss < np.inf:
            break
        first = first or loss
        pairs[m - 1] = mu, nu
        K, effects = constraint_gram(squares, pairs[:m])  # (m, m), (m, b)
        f = _shortfalls(start, pairs[:m])  # (m,)
        lengths = solve_linear(K, f, step_limit) if solver == "linear" else solve_quadratic(K, f, step_limit, lengths)
        scores = start + lengths @ effects
        allowed = max(_shortfalls(scores, pairs[:m]).max(), 0.0) + tolerance * first
    return _worth_taking(squares, pairs[: len(lengths)], lengths)


def constraint_gram(squares: Doubles, pairs: Ints) -> tuple[Doubles, Doubles]:
    """Inner products ``(m, m)`` of the directions of steps, and what a unit of each adds to all distances ``(m, b)``.

    ``squares`` ``(b, b)`` are the squared inner products of the differences, ``pairs`` ``(m, 2)`` the boxes mu, nu.
    """
    mu, nu = pairs.T
    effects = squares.take(nu, axis=0) - squares.take(mu, axis=0)
    return effects.take(nu, axis=1) - effects.take(mu, axis=1), effects


def _shortfalls(scores: Doubles, pairs: Ints) -> Doubles:
    both = scores[pairs]
    return both[:, 0] - both[:, 1]


def _worth_taking(squares: Doubles, pairs: Ints, lengths: Doubles) -> RankingSteps:
    """Leave out steps of no length and those between copies of a box, which no metric can tell apart."""
    mu, nu = pairs.T
    mu_mu, nu_nu = squares[mu, mu], squares[nu, nu]
    kept = (lengths > 0) & (mu_mu + nu_nu - 2 * squares[mu, nu] > SAME_PLACE * (mu_mu + nu_nu))
    return RankingSteps(pairs[kept], lengths[kept])


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
    start : (k,)      the answer for the first k of these constraints, to go on from
    """
    known = np.zeros(0) if start is None else start
    m, limit = len(losses), min(limit, UNLIMITED)
    K, f, x = np.zeros((m + 1, m + 1)), np.zeros(m + 1), np.zeros(m + 1)
    K[1:, 1:], f[1:], x[1 : len(known) + 1] = gram, losses, known
    unused = limit - float(known.sum())  # one more variable, without direction or loss: now the sum is fixed
    x[0] = unused if unused > ROUNDING * limit else 0.0
    _climb(K, f, x)
    return x[1:]


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _direction(K: Doubles, free: NDArray[np.bool_], new: int) -> tuple[Doubles, float]:
    """How the free variables make room for a unit of the new one, keeping one slope; and how fast its own falls.

    Seen from the first free variable r, the others have the Gram matrix Q, factorised as ``L diag(pivots) L'``. The
    new one comes last: its row of L holds the answer of the others, its pivot is how fast the slope falls.
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
