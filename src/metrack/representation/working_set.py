"""The best sparse code of one candidate in a few templates, by Newton's method.

With A the templates as rows and s the signs their coefficients are to have, minimise

    huber(y - A'x) + sparsity s'x    where no coefficient has the wrong sign.

The Huber function is quadratic in a pixel of the residual up to the limit and linear beyond; its derivative is the
residual clipped to +- limit. An infinite limit makes it half the squared length. :mod:`metrack.representation.l1`
says how this finds the best code in all templates. Everything here is in double precision, so it is compiled once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.representation.line_search import SUMS, Vector, lowest_point

JOINING = 5  # templates that may join in one round
SETTLED = 0.1  # of the tolerance is left to the templates in use
MOST_STEPS = 100  # Newton steps on one working set; two are usual

Ints = NDArray[np.int64]
Matrix = NDArray[np.float64]


class Terms(NamedTuple):
    """The templates and the weight of the l1 norm, shared by all candidates."""

    templates: Matrix  # (n, D)
    gram: Matrix  # (n, n) their products with each other
    rounding: float  # part of itself by which an entry of it may be wrong
    sparsity: float
    limit: float


class WorkingSet(NamedTuple):
    """Templates that one candidate may use, m of them in no particular order."""

    numbers: Ints  # (m,) among all templates
    signs: Vector  # (m,) of their coefficients
    A: Matrix  # (m, D) themselves
    x: Vector  # (m,) coefficients
    slopes: Vector  # (m,) how fast the objective falls with them
    step: Vector  # (m,) where to go next


@njit(cache=True, nogil=True)
def improve(
    terms: Terms, candidates: Matrix, rows: Ints, slopes: Matrix, codes: Matrix, clipped: Matrix, allowed: Vector
) -> NDArray[np.bool_]:
    """Improve the codes of some rows, and their clipped residuals, in place.

    Parameters
    ----------
    terms : Terms           templates and the weight of the l1 norm
    candidates : (N, D)     what is coded
    rows : (k,)             candidates to look at
    slopes : (k, n)         ``t'r`` of every template and of the clipped residuals; used up
    codes : (N, n)          changed in place
    clipped : (k, D)        residuals, clipped, changed in place
    allowed : (N,)          by how much the conditions of a minimum may be missed

    Returns
    -------
    improved : (k,)         the others meet the conditions, or are as good as rounding lets them be
    """
    improved = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        row = rows[i]
        if _missed(codes[row], slopes[i], terms.sparsity) > allowed[row]:
            numbers, signs = _choose(codes[row], slopes[i], terms.sparsity)
            settled = SETTLED * allowed[row]
            improved[i] = _settle(terms, candidates[row], numbers, signs, codes[row], clipped[i], settled)
    return improved


@njit(cache=True, nogil=True)
def _missed(code: Vector, slopes: Vector, sparsity: float) -> float:
    """By how much a code misses the conditions of a minimum."""
    worst = 0.0
    for j in range(len(code)):
        if code[j] == 0:
            worst = max(worst, abs(slopes[j]) - sparsity)
        else:
            worst = max(worst, abs(slopes[j] - math.copysign(sparsity, code[j])))
    return worst


@njit(cache=True, nogil=True)
def _choose(code: Vector, slopes: Vector, sparsity: float) -> tuple[Ints, Vector]:
    """Templates in use and the few that most should be, with the signs of their coefficients; uses slopes up."""
    numbers, signs = np.empty(len(code), np.int64), np.empty(len(code))
    m = 0
    for j in range(len(code)):
        if code[j] != 0:
            numbers[m], signs[m] = j, math.copysign(1.0, code[j])
            slopes[j] = 0
            m += 1
    for _ in range(min(JOINING, len(code) - m)):
        best, steepest = -1, sparsity
        for j in range(len(code)):
            if abs(slopes[j]) > steepest:
                best, steepest = j, abs(slopes[j])
        if best < 0:
            break
        numbers[m], signs[m] = best, math.copysign(1.0, slopes[best])
        slopes[best] = 0
        m += 1
    return numbers[:m], signs[:m]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _settle(
    terms: Terms, y: Vector, numbers: Ints, signs: Vector, code: Vector, clipped: Vector, allowed: float
) -> bool:
    """Find the best code in some templates; put it and its clipped residual in place. Returns whether it improved.

    While no pixel passes the limit and no coefficient passes zero, the objective is a quadratic function, and a
    Newton step leads to its lowest point. A step goes to the lowest point on its line, or to where the first
    coefficient vanishes, whose template is then dropped for good. A coefficient that is still zero and would get the
    wrong sign is held for this step. So the objective falls with every step, and templates come and go once at most.
    """
    some, r = _gather(terms.templates, y, numbers, signs, code)
    x, step, way = some.x, some.step, np.empty(len(y))
    m = len(numbers)  # templates not dropped; they come first
    improved, refined = False, False
    for _ in range(MOST_STEPS):
        _find_slopes(some, m, r, terms.sparsity, terms.limit)
        if _steepest(some, m) <= allowed:
            improved |= refined
            break
        free = _find_free_step(terms, some, m, r)
        refining = _steepest(some, free) <= allowed and not _leaves_zero(x, free)
        if refining and refined:
            break  # only rounding is left to keep what is held from its place
        length, first = _first_to_vanish(x, step, free)
        price = _mix(some, free, way) * terms.sparsity
        stride = lowest_point(r, way, terms.limit, price, length)
        if stride == 0:
            break
        _advance(r, way, -stride, len(r))
        _advance(x, step, stride, free)
        if stride == length:
            x[first] = 0
            m -= 1
            _swap(some, first, m)
        refined = refining and stride < length
        improved |= not refined
    for a in range(len(numbers)):
        code[numbers[a]] = x[a] if a < m else 0.0
    for p in range(len(r)):
        clipped[p] = min(max(r[p], -terms.limit), terms.limit)
    return improved


@njit(cache=True, nogil=True, fastmath=SUMS)
def _gather(T: Matrix, y: Vector, numbers: Ints, signs: Vector, code: Vector) -> tuple[WorkingSet, Vector]:
    """Copy what a working set needs; returns it and the residual ``(D,)``."""
    m, D = len(numbers), len(y)
    A, x, r = np.empty((m, D)), np.empty(m), np.empty(D)
    for p in range(D):
        r[p] = y[p]
    for a in range(m):
        x[a] = code[numbers[a]]
        template, weight, row = T[numbers[a]], x[a], A[a]
        for p in range(D):
            row[p] = template[p]
        if weight != 0:
            for p in range(D):
                r[p] -= weight * row[p]
    return WorkingSet(numbers, signs, A, x, np.empty(m), np.empty(m)), r


@njit(cache=True, nogil=True)
def _swap(some: WorkingSet, a: int, b: int) -> None:
    """Swap two templates."""
    for array in (some.signs, some.x, some.slopes, some.step):
        array[a], array[b] = array[b], array[a]
    numbers, A = some.numbers, some.A
    numbers[a], numbers[b] = numbers[b], numbers[a]
    for p in range(A.shape[1]):
        A[a, p], A[b, p] = A[b, p], A[a, p]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _find_slopes(some: WorkingSet, m: int, r: Vector, sparsity: float, limit: float) -> None:
    """How fast the objective falls with each of m coefficients, its price included."""
    for a in range(m):
        row, fall = some.A[a], 0.0
        for p in range(len(r)):
            fall += row[p] * min(max(r[p], -limit), limit)
        some.slopes[a] = fall - sparsity * some.signs[a]


@njit(cache=True, nogil=True)
def _steepest(some: WorkingSet, m: int) -> float:
    """By how much m coefficients miss the conditions of a minimum; from zero there is only one way to go."""
    worst = 0.0
    for a in range(m):
        slope = some.slopes[a]
        worst = max(worst, abs(slope) if some.x[a] != 0 else slope * some.signs[a])
    return worst


@njit(cache=True, nogil=True)
def _find_free_step(terms: Terms, some: WorkingSet, m: int, r: Vector) -> int:
    """Find the step of those of m templates that are not held. They are put first; returns how many they are.

    The slopes tell which coefficients can leave zero one by one, then the step which of them can together. When the
    others are at their best, at least one can.
    """
    beyond = _find_beyond(r, terms.limit)
    for a in range(m):
        some.step[a] = some.slopes[a]
    free, before = _hold(some, m), -1
    while free != before:
        _find_step(terms, some, free, beyond)
        free, before = _hold(some, free), free
    return free


@njit(cache=True, nogil=True)
def _find_beyond(r: Vector, limit: float) -> Ints:
    """Pixels beyond the limit."""
    beyond, count = np.empty(len(r), np.int64), 0
    for p in range(len(r)):
        beyond[count] = p
        count += abs(r[p]) > limit
    return beyond[:count]


@njit(cache=True, nogil=True)
def _hold(some: WorkingSet, m: int) -> int:
    """Put templates behind that would get a coefficient of the wrong sign; returns how many of m are left."""
    for a in range(m - 1, -1, -1):
        if some.x[a] == 0 and some.step[a] * some.signs[a] <= 0:
            m -= 1
            _swap(some, a, m)
    return m


@njit(cache=True, nogil=True, fastmath=SUMS)
def _find_step(terms: Terms, some: WorkingSet, m: int, beyond: Ints) -> None:
    """Solve ``H step = slopes`` for m templates, where H is the Gram matrix of the pixels within the limit.

    What rounding may have taken from the diagonal of H is added: copies of a template, or more templates than pixels,
    leave directions without curvature, along which the step is then long and its line decides.
    """
    H, step = _curvature(terms.gram, some, m, beyond), some.step
    for a in range(m):  # from here on L in its lower half, with H = LL'
        own = terms.rounding * terms.gram[some.numbers[a], some.numbers[a]]
        for b in range(a + 1):
            rest = H[a, b]
            for c in range(b):
                rest -= H[a, c] * H[b, c]
            H[a, b] = rest / H[b, b] if b < a else math.sqrt(max(rest + own, own))
    for a in range(m):
        rest = some.slopes[a]
        for b in range(a):
            rest -= H[a, b] * step[b]
        step[a] = rest / H[a, a]
    for a in range(m - 1, -1, -1):
        step[a] /= H[a, a]
        for b in range(a):
            step[b] -= H[a, b] * step[a]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _curvature(gram: Matrix, some: WorkingSet, m: int, beyond: Ints) -> Matrix:
    """Lower half of the Gram matrix of all pixels but some: those are few, so what they contribute is taken off."""
    numbers, A = some.numbers, some.A
    B, H = np.empty((m, len(beyond))), np.empty((m, m))
    for a in range(m):
        for p in range(len(beyond)):
            B[a, p] = A[a, beyond[p]]
        for b in range(a + 1):
            common = gram[numbers[a], numbers[b]]
            for p in range(len(beyond)):
                common -= B[a, p] * B[b, p]
            H[a, b] = common
    return H


@njit(cache=True, nogil=True)
def _leaves_zero(x: Vector, m: int) -> bool:
    for a in range(m):
        if x[a] == 0:
            return True
    return False


@njit(cache=True, nogil=True)
def _first_to_vanish(x: Vector, step: Vector, m: int) -> tuple[float, int]:
    """How many steps may be taken before one of m coefficients vanishes, and which."""
    length, first = math.inf, -1
    for a in range(m):
        if x[a] * step[a] < 0 and -x[a] / step[a] < length:
            length, first = -x[a] / step[a], a
    return length, first


@njit(cache=True, nogil=True, fastmath=SUMS)
def _mix(some: WorkingSet, m: int, way: Vector) -> float:
    """Put what a step of m templates takes off the residual in place; returns by how much the sum of code grows."""
    for p in range(len(way)):
        way[p] = 0.0
    growth = 0.0
    for a in range(m):
        row, weight = some.A[a], some.step[a]
        growth += some.signs[a] * weight
        for p in range(len(way)):
            way[p] += weight * row[p]
    return growth


@njit(cache=True, nogil=True, fastmath=SUMS)
def _advance(values: Vector, way: Vector, stride: float, m: int) -> None:
    for p in range(m):
        values[p] += stride * way[p]
