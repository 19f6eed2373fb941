"""Sparse representation by l1 minimisation: how well a few samples explain a candidate.

For a candidate y and the templates T of one class as rows, the code x and the trivial part e minimise

    |y - T'x - e|^2 / 2 + sparsity (|x|_1 + |e|_1).

The trivial part has one coefficient per pixel and takes up what an occluder covers (Mei and Ling); without it,
e = 0. Either way theta, the residual energy, is |y - T'x|^2: as in their tracker, only the templates count as an
explanation, so what the trivial part had to take up stays unexplained. Codes may be negative.

The best e for given x is the residual moved toward zero by the sparsity, and with it the first term and |e|_1
become the Huber function of the residual: quadratic up to the sparsity, linear beyond. So only x is searched for.
The objective then falls with a coefficient at the rate ``t'r``, its *slope*, where r is the residual with every pixel
clipped to +- sparsity (not clipped without trivial templates), and rises with its size at the rate of the sparsity.

The best code uses few of the templates, so the search is over small sets of them. In every round

1. the slopes of all templates are computed, one matrix product for all candidates that are not done;
2. a candidate is done when its slopes meet the conditions of a minimum, see :func:`code`;
3. otherwise the templates that miss them most join those in use, and the best code in these few is found, see
   :mod:`metrack.representation.working_set`.
"""

from __future__ import annotations

import math

import numpy as np

from metrack.arrays import Floats
from metrack.representation.base import Representation
from metrack.representation.working_set import Terms, improve

SPARSITY = 0.03  # weight of the l1 norm of a code in the tracker
TRACKING_TOLERANCE = 1e-3  # tolerance in the tracker
TOLERANCE = 1e-4  # to which the optimality conditions hold, see `code`
MOST_ROUNDS = 1000  # seven are usual, forty have been seen
ROUNDING = 10  # units in the last place by which a Gram matrix may be wrong


class L1(Representation):
    """Sparse codes with trivial templates."""

    def residual_energy(self, samples: Floats, candidates: Floats) -> Floats:
        """Return theta ``(N,)`` of candidates ``(N, D)`` against samples ``(n, D)`` of one class."""
        return residual_energy(samples, candidates, SPARSITY, trivial=True, tolerance=TRACKING_TOLERANCE)


def residual_energy(
    templates: Floats,
    candidates: Floats,
    sparsity: float,
    trivial: bool,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
) -> Floats:
    """Return theta, the residual energy of each candidate against a sparse mixture of templates, at least 0.

    With trivial templates quite different mixtures can be about equally good, and theta is then less certain than the
    tolerance suggests.

    Parameters
    ----------
    templates : (n, D)      one remembered appearance per row; n may be 0
    candidates : (N, D)     one descriptor per row
    sparsity : float        weight of the l1 norm; on the scale of the products t'y of templates and candidates
    trivial : bool          whether there are trivial templates, one per pixel
    tolerance : float       how exactly the codes are the best ones, see :func:`code`
    most_rounds : int       after which a code is taken as it is

    Returns
    -------
    theta : (N,)            0 means that a mixture of templates explains the candidate exactly
    """
    R = candidates - code(templates, candidates, sparsity, trivial, tolerance, most_rounds) @ templates  # (N, D)
    theta: Floats = np.einsum("nd,nd->n", R, R)
    return theta


def code(
    templates: Floats,
    candidates: Floats,
    sparsity: float,
    trivial: bool,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
) -> Floats:
    """Return sparse codes ``(N, n)`` of candidates ``(N, D)`` in templates ``(n, D)``.

    With r the residual, its pixels clipped to +- sparsity where there are trivial templates, the best code has
    ``t'r = sparsity sign(x)`` for each template t in use and ``|t'r| <= sparsity`` for the others. A candidate is
    done when no template is seen to miss this by more than ``tolerance`` times |t| |y|, with the longest template
    for t and y clipped like r: no product with a template exceeds that before anything is explained.
    """
    gram = templates @ templates.T  # (n, n)
    longest = gram.diagonal().max(initial=0.0) ** 0.5
    codes = np.zeros((len(candidates), len(templates)))
    if longest**2 < np.finfo(gram.dtype).tiny:
        return codes.astype(candidates.dtype)
    limit = sparsity if trivial else math.inf
    rounding = ROUNDING * float(np.finfo(gram.dtype).eps)
    terms = Terms(templates.astype(np.float64), gram.astype(np.float64), rounding, float(sparsity), float(limit))
    Y = candidates.astype(np.float64)
    R = np.clip(Y, -limit, limit)  # (m, D) of the m candidates still at work
    allowed = float(tolerance * longest) * np.linalg.norm(R, axis=1)  # (N,)
    rows = np.arange(len(Y))
    for _ in range(most_rounds):
        slopes = R.astype(candidates.dtype) @ templates.T  # (m, n)
        improved = improve(terms, Y, rows, slopes.astype(np.float64), codes, R, allowed)
        rows, R = rows[improved], R[improved]
        if not len(rows):
            break
    return codes.astype(candidates.dtype)
