"""Residuals of a tracked target against the templates of every known one, by frame and summed.

T frames, K known targets, D features; templates are rows. :func:`distances` is the definition; :class:`TemplateSets`
does the work that does not depend on the frame once, so that a frame costs two products however many targets there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from metrack.arrays import Floats, Ints, shown
from metrack.representation.metric_weighted import residual_energy


def distances(
    templates: Sequence[Floats], observations: Floats, ridge: float, metric: Floats | None = None
) -> NDArray[np.float64]:
    """Return the residual of each frame against each target's templates.

    Parameters
    ----------
    templates : K arrays (n, D)    at least one template each
    observations : (T, D)          descriptors of the target as followed
    ridge : float                  in units of the trace of the Gram matrix
    metric : (D, D)                symmetric; None measures plainly

    Returns
    -------
    distance : (T, K)              at least 0

    >>> distances([np.eye(1, 3), np.eye(1, 3, 1)], np.array([[0.0, 2.0, 0.0]]), 0.0)
    array([[4., 0.]])
    """
    _check(templates)
    seen = np.asarray(observations, np.float32)
    measure = np.eye(seen.shape[1], dtype=np.float32) if metric is None else np.asarray(metric, np.float32)
    sets = [np.asarray(known, np.float32) for known in templates]
    traces = [float(np.einsum("nd,nd->", known @ measure, known)) for known in sets]
    each = [residual_energy(known, seen, measure, ridge * trace) for known, trace in zip(sets, traces, strict=True)]
    return np.stack(each, axis=1).astype(np.float64)


def cumulative(frame_distances: Floats, scores: Floats) -> NDArray[np.float64]:
    """Sum distances ``(T, K)`` over the frames so far, each weighted by its score ``(T,)``: the paper's H.

    >>> cumulative(np.array([[1.0, 2.0], [4.0, 0.0]]), np.array([1.0, 0.5]))
    array([[1., 2.],
           [3., 2.]])
    """
    weighted = np.asarray(scores, np.float64)[:, None] * np.asarray(frame_distances, np.float64)
    return np.cumsum(weighted, axis=0)


def nearest(frame_distances: Floats) -> Ints:
    """Return the number of the nearest target in each frame ``(T,)``; of equals, the first."""
    chosen: Ints = np.argmin(frame_distances, axis=1).astype(np.int64)
    return chosen


class TemplateSets:
    """K sets of templates, factorised once, with a positive ridge and a positive definite metric.

    A set with templates P explains ``|W y|^2`` of ``y' M y``, where ``W = L^-1 P M`` and ``L L'`` is the damped Gram
    matrix of the set: the rows W of all sets are stacked, and a frame is one product with them.
    """

    def __init__(self, templates: Sequence[Floats], ridge: float, metric: Floats | None = None) -> None:
        _check(templates)
        self._metric = None if metric is None else np.asarray(metric, np.float32)
        rows = [_explaining(np.asarray(each, np.float32), self._weighted(each), ridge) for each in templates]
        self._rows = np.concatenate(rows)
        self._starts = np.cumsum([0, *(len(each) for each in rows[:-1])])

    def distances(self, observations: Floats) -> NDArray[np.float64]:
        """Return what :func:`distances` does: ``(T, K)`` for descriptors ``(T, D)``."""
        seen = np.asarray(observations, np.float32)
        energy = np.einsum("td,td->t", self._weighted(seen), seen)
        explained = np.add.reduceat(np.square(seen @ self._rows.T), self._starts, axis=1)
        apart: NDArray[np.float64] = np.maximum(energy[:, None] - explained, 0.0).astype(np.float64)
        return apart

    def _weighted(self, rows: Floats) -> Floats:
        weighted: Floats = np.asarray(rows, np.float32) if self._metric is None else rows @ self._metric
        return weighted


def _explaining(rows: Floats, weighted: Floats, ridge: float) -> Floats:
    gram = (weighted @ rows.T).astype(np.float64)
    gram.flat[:: len(gram) + 1] += ridge * np.trace(gram)
    explaining: Floats = solve_triangular(cholesky(gram, lower=True), weighted, lower=True).astype(np.float32)
    return explaining


def _check(templates: Sequence[Floats]) -> None:
    for each in templates:
        if not isinstance(each, np.ndarray) or each.ndim != 2 or each.dtype.kind != "f":
            raise ValueError(f"templates must be arrays of numbers of shape (n, D), got {shown(each)}")
        if each.shape[1] != templates[0].shape[1] or not np.isfinite(each).all():
            raise ValueError(f"templates must be finite descriptors of one length, got {shown(each)}")
    if not templates or not all(len(each) for each in templates):
        raise ValueError("templates must hold at least one descriptor of every target")
