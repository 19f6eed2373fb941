"""Random samples and metrics for tests of what compares them."""

import numpy as np


def unit_rows(rng, n, D):
    rows = rng.normal(size=(n, D))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def random_metric(rng, D, low=0.25, high=4.0):
    axes = np.linalg.qr(rng.normal(size=(D, D)))[0]
    metric = (axes * rng.uniform(low, high, size=D)) @ axes.T
    return ((metric + metric.T) / 2).astype(np.float32)
