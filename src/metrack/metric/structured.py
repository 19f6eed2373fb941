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

from metrack.arrays import Floats, Ints
from metrack.metric.step_lengths import Doubles, solve_linear, solve_quadratic

SOLVERS = ("quadratic", "linear")
ITERATIONS = 20  # constraints added at most in a round
TOLERANCE = 1e-3  # of the first violation: by how much the last may exceed the slack
SAME_PLACE = 1e-12  # relative squared norm of a step's direction below which its two boxes are one


@dataclass(frozen=True, slots=True)
class RankingSteps:
    """The steps that were taken: box numbers ``(m, 2)`` of mu (too far) and nu (too near), and lengths ``(m,)``."""

    pairs: Ints
    lengths: Doubles

    def __len__(self) -> int:
        return len(self.lengths)

    def push(self, rows: Floats) -> Floats:
        """Rows to add: ``sqrt(step) * a_nu`` of each step, in the given rows (b, d) of the differences."""
        return self._weighted(rows, 1)

    def pull(self, rows: Floats) -> Floats:
        """Rows to subtract: ``sqrt(step) * a_mu`` of each step."""
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
    iterations: int = ITERATIONS,
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
