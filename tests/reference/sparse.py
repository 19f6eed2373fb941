"""Sparse codes of one candidate, by plain loops in double precision."""

import numpy as np


def l1_code(templates, candidate, sparsity, trivial):
    """Best code and trivial part: one coefficient at a time, round after round, until none moves any more."""
    T, y = np.asarray(templates, float), np.asarray(candidate, float)
    dictionary = np.vstack([T, np.eye(len(y))]) if trivial else T
    x, rest = np.zeros(len(dictionary)), y.copy()
    for _ in range(100_000):
        largest = 0.0
        for j, atom in enumerate(dictionary):
            if not atom.any():
                continue
            alone = atom @ (rest + x[j] * atom)
            new = np.sign(alone) * max(abs(alone) - sparsity, 0.0) / (atom @ atom)
            largest = max(largest, abs(new - x[j]) * np.linalg.norm(atom))
            rest += (x[j] - new) * atom
            x[j] = new
        if largest <= 1e-10 * np.linalg.norm(y):
            return x[: len(T)], x[len(T) :] if trivial else np.zeros(len(y))
    raise AssertionError("the twin itself did not arrive")


def l1_objective(templates, candidate, code, part, sparsity):
    """The value that the best code and trivial part make smallest."""
    T, y, x, e = (np.asarray(a, float) for a in (templates, candidate, code, part))
    rest = y - x @ T - e
    return rest @ rest / 2 + sparsity * (np.abs(x).sum() + np.abs(e).sum())


def l1_missed(templates, candidate, code, sparsity, trivial):
    """By how much a code misses the conditions of a minimum, in units of the longest |t| times |y|.

    The best trivial part is written out, so that these are the conditions of the problem with x and e.
    """
    T, y, x = (np.asarray(a, float) for a in (templates, candidate, code))
    rest, unit = y - x @ T, np.linalg.norm(y)
    if trivial:
        part = np.sign(rest) * np.maximum(np.abs(rest) - sparsity, 0.0)
        rest = rest - part
        unit = np.linalg.norm(np.minimum(np.abs(y), sparsity))
    worst = 0.0
    for t, coefficient in zip(T, x, strict=True):
        if coefficient == 0:
            worst = max(worst, abs(t @ rest) - sparsity)
        else:
            worst = max(worst, abs(t @ rest - sparsity * np.sign(coefficient)))
    unit *= max(np.linalg.norm(t) for t in T)
    return worst / unit if worst else 0.0


def omp_code(templates, candidate, atoms, least_new=1e-3, least_seen=1e-6):
    """Code and the templates chosen, in order: least squares from scratch after every choice."""
    T, y = np.asarray(templates, float), np.asarray(candidate, float)
    chosen, x, rest = [], np.zeros(len(T)), y
    while len(chosen) < atoms:
        most, best = least_seen * np.linalg.norm(y), None
        for j, t in enumerate(T):
            length = np.linalg.norm(t)
            if np.linalg.norm(without(t, T[chosen])) > least_new * length and abs(t @ rest) / length > most:
                most, best = abs(t @ rest) / length, j
        if best is None:
            break
        chosen.append(best)
        x[chosen] = np.linalg.lstsq(T[chosen].T, y, rcond=None)[0]
        rest = y - x @ T
    return x, chosen


def without(vector, rows):
    """What of a vector lies outside the span of some rows."""
    return vector - np.linalg.lstsq(rows.T, vector, rcond=None)[0] @ rows if len(rows) else vector


def trivial_part(templates, candidates, codes, sparsity):
    """What trivial templates take up ``(N, D)`` of candidates with these codes: nothing but outlying pixels."""
    residual = candidates - codes @ templates
    return residual - np.clip(residual, -sparsity, sparsity)
