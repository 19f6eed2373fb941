"""How well few remembered samples explain a candidate: codes held sparse by their absolute sum.

For a candidate y and the templates T of one class as rows, the code x and the trivial part e minimise

    |y - T'x - e|^2 / 2 + sparsity (|x|_1 + |e|_1).

The trivial part has one coefficient per pixel and takes up what an occluder covers (Mei and Ling); without it,
e = 0. Either way theta, the residual energy, is |y - T'x|^2: as in their tracker, only the templates count as an
explanation, so what the trivial part had to take up stays unexplained. Codes may be negative.

The best e for given x is the residual moved toward zero by the sparsity, and with it the first term and |e|_1
become the Huber function of the residual: quadratic up to the sparsity, linear beyond. So only x is searched for,
by accelerated proximal gradient steps (as in Bao et al.) that all candidates take together. Two things make the
steps longer and fewer. Samples of one class look alike, so one direction of the Gram matrix, about that of equal
codes, outweighs all others: steps are short along it and long across. And a candidate drops its momentum when that
leads uphill.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import eigh

from metrack.arrays import Floats

TOLERANCE = 1e-4  # to which the optimality conditions hold, see `code`
MOST_STEPS = 2000
STEPS_PER_CHECK = 10
SAFETY = 1.001  # by which the bound on the curvature exceeds what rounding may have made of the eigenvalues
LEAST_ACROSS = 0.01  # of the curvature along the main direction: copies of one template have none across it
PULL_ROUNDING = 1e-9
MOST_PULLS = 60  # one or two are usual


def residual_energy(
    templates: Floats,
    candidates: Floats,
    sparsity: float,
    trivial: bool,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
) -> Floats:
    """How badly each candidate is explained by a sparse mixture of templates: theta, at least 0.

    With trivial templates quite different mixtures can be about equally good, and theta is then less certain than the
    tolerance suggests.

    Parameters
    ----------
    templates : (n, D)      one remembered appearance per row; n may be 0
    candidates : (N, D)     one descriptor per row
    sparsity : float        price of a unit of code; on the scale of the products t'y of templates and candidates
    trivial : bool          whether single pixels may be explained away at the same price
    tolerance : float       how exactly the codes are the best ones, see :func:`code`
    most_steps : int        after which a code is taken as it is

    Returns
    -------
    theta : (N,)            0 means that a mixture of templates explains the candidate exactly
    """
    R = candidates - code(templates, candidates, sparsity, trivial, tolerance, most_steps) @ templates  # (N, D)
    theta: Floats = np.einsum("nd,nd->n", R, R)
    return theta


def trivial_part(templates: Floats, candidates: Floats, codes: Floats, sparsity: float) -> Floats:
    """What the trivial templates take up ``(N, D)`` of candidates with these codes: nothing but outlying pixels."""
    R = candidates - codes @ templates  # (N, D)
    part: Floats = R - np.clip(R, -sparsity, sparsity)
    return part


def code(
    templates: Floats,
    candidates: Floats,
    sparsity: float,
    trivial: bool,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
) -> Floats:
    """Sparse codes ``(N, n)`` of candidates ``(N, D)`` in templates ``(n, D)``.

    With r the residual, its pixels clipped to +- sparsity where there are trivial templates, the best code has
    ``t'r = sparsity sign(x)`` for each template t in use and ``|t'r| <= sparsity`` for the others. A candidate is
    done when no template is seen to miss this by more than ``tolerance`` times |t| |y|, with the longest template
    for t and y clipped like r: no product with a template exceeds that before anything is explained.
    """
    T, Y = templates, candidates
    codes = np.zeros((len(Y), len(T)), Y.dtype)
    gram = T @ T.T  # (n, n)
    longest = gram.diagonal().max(initial=0.0) ** 0.5
    if longest**2 < np.finfo(gram.dtype).tiny:
        return codes
    clipped = np.clip(Y, -sparsity, sparsity) if trivial else Y
    allowed = tolerance * longest * np.linalg.norm(clipped, axis=1)  # (N,)
    slope = _HuberSlope(T, Y, sparsity) if trivial else _SquareSlope(gram, Y @ T.T)
    _descend(codes, slope, bound_curvature(gram), sparsity, allowed, most_steps)
    return codes


class _SquareSlope:
    """How fast the smooth part of the objective falls with each coefficient, without trivial templates.

    That is ``T (y - T'x)``, for which the products ``T T'`` and ``T y`` are enough.
    """

    def __init__(self, gram: Floats, products: Floats) -> None:
        self.gram, self.products = gram, products

    def __call__(self, codes: Floats, out: Floats) -> None:
        np.matmul(codes, self.gram, out=out)
        np.subtract(self.products, out, out=out)

    def keep(self, going_on: NDArray[np.bool_]) -> None:
        """Forget the other candidates."""
        self.products = self.products[going_on]


class _HuberSlope:
    """The same with trivial templates: ``T clip(y - T'x)``, as no pixel pulls harder than the sparsity."""

    def __init__(self, templates: Floats, candidates: Floats, sparsity: float) -> None:
        self.templates, self.candidates, self.sparsity = templates, candidates, sparsity
        self.residuals = np.empty_like(candidates)

    def __call__(self, codes: Floats, out: Floats) -> None:
        np.matmul(codes, self.templates, out=self.residuals)
        np.subtract(self.candidates, self.residuals, out=self.residuals)
        np.clip(self.residuals, -self.sparsity, self.sparsity, out=self.residuals)
        np.matmul(self.residuals, self.templates.T, out=out)

    def keep(self, going_on: NDArray[np.bool_]) -> None:
        """Forget the other candidates."""
        self.candidates = self.candidates[going_on]
        self.residuals = self.residuals[: len(self.candidates)]


@dataclass(frozen=True, slots=True)
class Curvature:
    """A matrix not below the Gram matrix: ``across`` in every direction but one, ``along`` in that one."""

    direction: NDArray[np.float64]  # (n,) that one, of unit length
    along: float
    across: float


def bound_curvature(gram: Floats) -> Curvature:
    """Bound a Gram matrix ``(n, n)``, not zero, by its two largest eigenvalues."""
    n = len(gram)
    values, vectors = eigh(gram, subset_by_index=[max(n - 2, 0), n - 1], check_finite=False)
    along = SAFETY * float(values[-1])
    across = max(SAFETY * float(values[0]), LEAST_ACROSS * along)
    return Curvature(vectors[:, -1].astype(np.float64), along, across)


def _descend(
    codes: Floats,
    slope: _SquareSlope | _HuberSlope,
    bound: Curvature,
    sparsity: float,
    allowed: Floats,
    most_steps: int,
) -> None:
    """Improve codes ``(N, n)`` in place until the conditions are missed by no more than allowed ``(N,)``."""
    rows = np.arange(len(codes))  # candidates still at work, m of them
    X, Z, S = codes.copy(), codes.copy(), codes.copy()  # (m, n) codes, where momentum carries them, slopes
    pull, age = np.zeros(len(codes)), np.ones(len(codes))  # (m,) see _step
    for _ in range(0, most_steps, STEPS_PER_CHECK):
        slope(X, S)
        going_on = _missed(X, S, sparsity) > allowed[rows]
        if not going_on.all():
            codes[rows] = X
            rows, pull, age = rows[going_on], pull[going_on], age[going_on]
            X, Z, S = X[going_on], Z[going_on], S[: len(rows)]
            slope.keep(going_on)
        if not len(rows):
            return
        for _ in range(STEPS_PER_CHECK):
            slope(Z, S)
            _step(S, X, Z, pull, age, bound.direction, bound.along, bound.across, sparsity)
    codes[rows] = X


@njit(cache=True, nogil=True)
def _missed(X: Floats, S: Floats, sparsity: float) -> NDArray[np.float64]:
    """By how much each row of codes misses the conditions of a minimum, given its slopes."""
    worst = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(X.shape[1]):
            if X[i, j] == 0:
                miss = abs(S[i, j]) - sparsity
            else:
                miss = abs(S[i, j] - math.copysign(sparsity, X[i, j]))
            worst[i] = max(worst[i], miss)
    return worst


@njit(cache=True, nogil=True, fastmath=True)
def _step(
    S: Floats,
    X: Floats,
    Z: Floats,
    pull: NDArray[np.float64],
    age: NDArray[np.float64],
    u: NDArray[np.float64],
    along: float,
    across: float,
    sparsity: float,
) -> None:
    """One step from Z to a new X and a new Z, in place, row by row.

    With H the bound on the curvature, the new x minimises ``|x - w|_H^2 / 2 + sparsity |x|_1`` around
    ``w = z + H^-1 slope``. Were H diagonal, that would be w moved toward zero by a threshold; its one further
    direction u adds one unknown, the pull along u, after which it is just that. ``age`` grows with the steps since
    the row last dropped its momentum, as in Nesterov's and FISTA's sequence.
    """
    n = X.shape[1]
    w = np.empty(n)
    for i in range(len(X)):
        seen = 0.0
        for j in range(n):
            seen += S[i, j] * u[j]
        seen *= 1 / along - 1 / across
        for j in range(n):
            w[j] = Z[i, j] + S[i, j] / across + seen * u[j]
        pull[i] = _find_pull(w, u, along / across - 1, sparsity / across, pull[i])
        uphill = 0.0
        for j in range(n):
            v = w[j] - pull[i] * u[j]
            w[j] = v - min(max(v, -sparsity / across), sparsity / across)  # from here on the new x
            uphill += (Z[i, j] - w[j]) * (w[j] - X[i, j])  # the step turns back against the way since the last x
        if uphill > 0:
            age[i], momentum = 1.0, 0.0
        else:
            older = (1 + math.sqrt(1 + 4 * age[i] ** 2)) / 2
            age[i], momentum = older, (age[i] - 1) / older
        for j in range(n):
            Z[i, j] = w[j] + momentum * (w[j] - X[i, j])
            X[i, j] = w[j]


@njit(cache=True, nogil=True, fastmath=True)
def _find_pull(w: NDArray[np.float64], u: NDArray[np.float64], ratio: float, threshold: float, guess: float) -> float:
    """Solve ``a = ratio u'(soft(w - a u) - w)`` for a by Newton's method.

    The difference of the two sides grows with a in straight pieces. Each coefficient is zero on one interval of a
    only, so the slopes at two points add up to more than any slope between them. Hence a step across the solution is
    followed by a shorter one back, and the method needs no safeguard.
    """
    a = guess
    for _ in range(MOST_PULLS):
        moved, steep = 0.0, 0.0
        for j in range(len(w)):
            v = w[j] - a * u[j]
            x = v - min(max(v, -threshold), threshold)
            moved += u[j] * (x - w[j])
            steep += u[j] * u[j] if x != 0 else 0.0
        excess = a - ratio * moved
        before, a = a, a - excess / (1 + ratio * steep)
        if abs(a - before) <= PULL_ROUNDING * (abs(a) + threshold):
            break
    return a
