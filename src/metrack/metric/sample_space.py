"""The samples of both classes, the metric, and their Gram matrices.

Learning and scoring need the samples mostly through inner products, so those are kept: ``gram`` between all pairs of
samples, ``weighted`` the same in the metric. Rows ``[0, capacity)`` are foreground, ``[capacity, 2 * capacity)``
background; empty rows are zero. Inner products of new samples are computed lazily, all in one product.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints
from metrack.files import Expectations, Expected
from metrack.metric.outer import add_outer

FOREGROUND, BACKGROUND = 0, 1
ARRAYS = {  # what is saved, and where it is kept
    "metric": "metric",
    "samples": "samples",
    "energies": "energies",
    "gram": "_gram",
    "weighted": "_weighted",
    "stale": "_stale",
}


class SampleSpace:
    """Samples of two classes, the metric M, and their Gram matrices, kept in step with each other.

    ``energies`` ``(n,)`` are the diagonal of ``weighted``, at hand at any time.
    """

    def __init__(self, dimension: int, capacity: int) -> None:
        self.metric: Floats = np.eye(dimension, dtype=np.float32)
        self.counts = [0, 0]
        self._allocate(capacity)

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        self.samples: Floats = np.zeros((2 * capacity, len(self.metric)), np.float32)
        self.energies: Floats = np.zeros(2 * capacity, np.float32)
        self._gram: Floats = np.zeros((2 * capacity, 2 * capacity), np.float32)
        self._weighted: Floats = np.zeros((2 * capacity, 2 * capacity), np.float32)
        self._stale = np.zeros(2 * capacity, np.bool_)  # rows whose products are those of an earlier sample

    @property
    def gram(self) -> Floats:
        """Inner products ``(n, n)`` of all samples."""
        self.catch_up()
        return self._gram

    @property
    def weighted(self) -> Floats:
        """Inner products ``(n, n)`` of all samples in the metric."""
        self.catch_up()
        return self._weighted

    def catch_up(self) -> None:
        """Compute the inner products that are missing."""
        rows = np.flatnonzero(self._stale)
        if not len(rows):
            return
        new = self.samples[rows]
        products = self.samples @ np.concatenate([new, (self.metric @ new.T).T]).T  # (n, 2 k)
        _write_symmetric(self._gram, rows, products[:, : len(rows)])
        _write_symmetric(self._weighted, rows, products[:, len(rows) :])
        self._stale[:] = False

    def block(self, label: int) -> slice:
        """Rows of a class that hold a sample."""
        return slice(label * self.capacity, label * self.capacity + self.counts[label])

    @property
    def blocks(self) -> tuple[slice, slice]:
        """Rows of both classes that hold a sample, foreground first."""
        return self.block(FOREGROUND), self.block(BACKGROUND)

    def row_numbers(self, label: int) -> Ints:
        """Return the numbers of the rows of a class that hold a sample."""
        block = self.block(label)
        return np.arange(block.start, block.stop)

    def put(self, slots: tuple[Ints, Ints], samples: tuple[Floats, Floats]) -> None:
        """Write foreground and background samples ``(k, D)`` into slots ``(k,)``, replacing or extending."""
        counts = [max(n, int(s.max(initial=-1)) + 1) for n, s in zip(self.counts, slots, strict=True)]
        if max(counts) > self.capacity:
            self._grow(max(counts))
        self.counts = counts
        rows = np.concatenate([slots[FOREGROUND], slots[BACKGROUND] + self.capacity])
        new = np.concatenate(samples)
        self.samples[rows] = new
        self.energies[rows] = np.einsum("dk,kd->k", self.metric @ new.T, new)
        self._stale[rows] = True

    def change_metric(self, push: Floats, pull: Floats, seen_push: Floats, seen_pull: Floats) -> None:
        """Add ``push' push - pull' pull`` to the metric, and update the weighted Gram matrix.

        ``push`` and ``pull`` are ``(m, D)``; ``seen_*`` are their inner products ``(m, n)`` with all samples.
        """
        add_outer(self.weighted, seen_push, seen_pull)
        add_outer(self.metric, push, pull)
        self.energies[:] = np.diagonal(self._weighted)

    def set_metric(self, metric: Floats) -> None:
        """Replace the metric and compute the weighted Gram matrix anew."""
        self.metric = metric
        self.refresh()

    def refresh(self) -> None:
        """Compute both Gram matrices anew from the samples and the metric, dropping accumulated rounding."""
        self.metric = (self.metric + self.metric.T) / 2
        np.matmul(self.samples, self.samples.T, out=self._gram)
        np.matmul(self.samples @ self.metric, self.samples.T, out=self._weighted)
        self.energies[:] = np.diagonal(self._weighted)
        self._stale[:] = False

    @staticmethod
    def expected(dimension: int, capacity: int | None) -> Expectations:
        """Say what saved arrays must be; a space without bound has any capacity."""
        rows: int | str = "rows" if capacity is None else 2 * capacity
        return {
            "metric": Expected("float32", (dimension, dimension)),
            "samples": Expected("float32", (rows, dimension), -1, 1),
            "energies": Expected("float32", (rows,)),
            "gram": Expected("float32", (rows, rows), -1, 1),
            "weighted": Expected("float32", (rows, rows)),
            "stale": Expected("bool", (rows,)),
            "counts": Expected("int64", (2,), 1),
        }

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state as named arrays."""
        return {name: getattr(self, attribute) for name, attribute in ARRAYS.items()} | {
            "counts": np.array(self.counts)
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the state that :meth:`to_arrays` returned."""
        self.capacity = len(arrays["samples"]) // 2
        self.counts = [int(n) for n in arrays["counts"]]
        if max(self.counts) > self.capacity or len(arrays["samples"]) % 2:
            raise ValueError(f"counts must be at most half of {len(arrays['samples'])} rows, got {self.counts}")
        for name, attribute in ARRAYS.items():
            setattr(self, attribute, arrays[name])

    def _grow(self, needed: int) -> None:
        kept = [self.samples[block] for block in self.blocks]
        self._allocate(max(needed, 2 * self.capacity))
        for label, samples in enumerate(kept):
            self.samples[label * self.capacity : label * self.capacity + len(samples)] = samples
        self.refresh()


@njit(cache=True, nogil=True)
def _write_symmetric(matrix: Floats, rows: Ints, values: Floats) -> None:
    """Write values ``(n, k)`` into columns ``(k,)`` and, mirrored, into the same rows."""
    for row in range(len(matrix)):
        for i in range(len(rows)):
            matrix[row, rows[i]] = values[row, i]
    for i in range(len(rows)):
        matrix[rows[i]] = values[:, i]
