"""Is one tracker better than another: statistics of scores on the same sequences.

Scores are ``(C, S)``, one row per candidate and one column per sequence. Sequences, not runs, are what chance drew:
runs on one sequence succeed and fail together, so intervals are over sequences and folds leave whole sequences out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What choosing the best candidate is worth where it was not chosen."""

    estimate: float
    """Mean over all sequences of the score of whoever was best on the other folds."""
    chosen: tuple[int, ...]
    """Who that was, by fold."""


def worst_quarter(scores: ArrayLike) -> float:
    """Mean of the lowest quarter, rounded up to whole scores.

    >>> worst_quarter([0.9, 0.1, 0.8, 0.7, 0.3])
    0.2
    """
    ordered = np.sort(np.asarray(scores, float))
    if not len(ordered):
        raise ValueError("scores must be at least one number, got none")
    return float(ordered[: -(-len(ordered) // 4)].mean())


def bootstrap_interval(
    rng: np.random.Generator, differences: ArrayLike, *, share: float = 0.9, draws: int = 10_000
) -> tuple[float, float]:
    """Between which values the mean difference lies, had other sequences of the same kind been drawn.

    Sequences are drawn anew with replacement, as many as there are; both candidates of a pair come along together.
    """
    values = np.asarray(differences, float)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"differences must be one number per sequence, got shape {values.shape}")
    means = values[rng.integers(len(values), size=(draws, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


def deal_folds(sequences: int, folds: int) -> Ints:
    """Return the fold of every sequence, dealt in turn so that kinds that stand together are spread over all.

    >>> deal_folds(5, 2).tolist()
    [0, 1, 0, 1, 0]
    """
    if not 2 <= folds <= sequences:
        raise ValueError(f"--folds must be between 2 and the {sequences} sequences, got {folds}")
    return np.arange(sequences) % folds


def fold_means(values: ArrayLike, fold: Ints) -> Reals:
    """Mean of one number per sequence within every fold."""
    each = np.asarray(values, float)
    return np.array([each[fold == number].mean() for number in range(int(fold.max()) + 1)])


def folds_agree(differences: ArrayLike, fold: Ints) -> bool:
    """Whether the mean difference is above zero in every fold, or below zero in every fold."""
    signs = set(np.sign(fold_means(differences, fold)).tolist())
    return len(signs) == 1 and signs != {0.0}


def leave_sequences_out(scores: ArrayLike, fold: Ints) -> LeftOut:
    """Choose the best candidate on all folds but one, score it on that one; in turn for every fold."""
    table = np.asarray(scores, float)
    earned, chosen = np.empty(table.shape[1]), []
    for number in range(int(fold.max()) + 1):
        out = fold == number
        best = int(table[:, ~out].mean(axis=1).argmax())
        earned[out] = table[best, out]
        chosen.append(best)
    return LeftOut(float(earned.mean()), tuple(chosen))
