"""The inverse of P'MP, built from the samples each time."""

import numpy as np


def gram(samples, metric):
    """P'MP, one inner product at a time; samples are the columns of P."""
    n = samples.shape[1]
    return np.array([[samples[:, i] @ metric @ samples[:, j] for j in range(n)] for i in range(n)]).reshape(n, n)


def inverse(samples, metric):
    return np.linalg.inv(gram(samples, metric))


def appended(samples, metric, new):
    return inverse(np.column_stack([samples, new]), metric)


def removed(samples, metric, index):
    return inverse(np.delete(samples, index, axis=1), metric)


def replaced(samples, metric, index, new):
    changed = samples.copy()
    changed[:, index] = new
    return inverse(changed, metric)


def stepped(samples, metric, toward, away, step):
    return inverse(samples, metric + step * (np.outer(away, away) - np.outer(toward, toward)))
