"""Reservoir sampling: which samples stay in a bounded buffer.

A reservoir decides only *which slot a new sample takes*; the samples themselves (rows of features, rows of
Gram matrices) live elsewhere. Each sample gets a random key when it arrives, once, and larger
keys win:

    key = frame * ln(growth) - ln(-ln u),    u uniform in (0, 1)

The paper (Algorithm 4) prints ``u ** (1 / growth**frame)``. The two order samples alike, but that one rounds
to 1.0 for every sample within a hundred frames and this one never does. The second term is Gumbel noise, so
the largest of several keys belongs to sample ``i`` with probability ``w_i / sum(w)``, ``w = growth**frame``.

================  ====================================================================================
time-weighted     the ``size`` largest keys stay: weighted sampling without replacement
uniform           the same with growth 1: every sample ever offered is equally likely to be here
with-replacement  every slot runs a one-slot reservoir of its own; a sample may sit in several slots
everything        nothing is ever replaced, and memory grows without bound
================  ====================================================================================

Only *with-replacement* makes the average over the buffer an unbiased estimate of the weighted average over
all samples (what the theorem in the paper's supplement states). Without replacement the heaviest samples can
be drawn only once each, so the buffer leans toward older ones, the more the larger it is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints
from metrack.checks import did_you_mean
from metrack.files import Expectations, Expected

Kind = TypeVar("Kind", bound=np.generic)

SAMPLINGS = ("time-weighted", "uniform", "with-replacement", "everything")


class Reservoir:
    """The slots of one class of samples.

    Parameters
    ----------
    size : slots there are (*everything* has as many as it needs)
    growth : weight of a sample relative to one from the frame before; at least 1
    sampling : one of ``SAMPLINGS``

    Attributes
    ----------
    keys : (n,) float64   key of the sample in each occupied slot
    born : (n,) int64     frame from which that sample came

    >>> reservoir, rng = Reservoir(size=3, growth=1.6, sampling="time-weighted"), np.random.default_rng(0)
    >>> slots, sources = reservoir.offer(rng, frame=0, count=2)
    >>> slots.tolist(), sources.tolist(), len(reservoir)
    ([0, 1], [0, 1], 2)
    """

    def __init__(self, size: int, growth: float, sampling: str) -> None:
        if sampling not in SAMPLINGS:
            raise ValueError(f"there is no sampling {sampling!r}{did_you_mean(sampling, SAMPLINGS)}")
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        if not 1 <= growth < math.inf:
            raise ValueError(f"growth must be at least 1 and finite, got {growth}")
        self.size, self.growth, self.sampling = size, growth, sampling
        self.keys: Floats = np.empty(0, np.float64)
        self.born: Ints = np.empty(0, np.int64)

    def __len__(self) -> int:
        return self.keys.size

    def offer(self, rng: np.random.Generator, frame: int, count: int) -> tuple[Ints, Ints]:
        """Offer ``count`` new samples of one frame; return which slots are overwritten, and by which sample.

        The result is that of offering the samples one by one.

        Returns
        -------
        slots : (k,)     slots with a new occupant, ascending, each once; a new slot follows the last one
        sources : (k,)   which of the new samples, 0 to count - 1, now sits there
        """
        if self.sampling == "with-replacement":
            noise = rng.gumbel(size=(count, self.size))  # every (sample, slot) pair has a key of its own
            new = frame * self._log_growth + noise
            slots, sources = keep_largest_per_slot(self.keys, new)
            winners = new[sources, slots]
        else:
            new = frame * self._log_growth + rng.gumbel(size=count)
            slots, sources = keep_largest(self.keys, new, self._limit)
            winners = new[sources]
        self.keys = _with_slots(self.keys, slots, winners)
        self.born = _with_slots(self.born, slots, np.full(slots.size, frame))
        return slots, sources

    @staticmethod
    def expected(frame: int) -> Expectations:
        """Say what saved arrays must be, of a target followed through that many frames."""
        return {"keys": Expected("float64", ("slots",)), "born": Expected("int64", ("slots",), 0, frame)}

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as plain arrays; the settings are not among them."""
        return {"keys": self.keys.copy(), "born": self.born.copy()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]], size: int, growth: float, sampling: str) -> Self:
        """Rebuild a reservoir from :meth:`to_arrays`; it goes on bit for bit as the saved one would have."""
        reservoir = cls(size, growth, sampling)
        keys, born = np.array(arrays["keys"], np.float64), np.array(arrays["born"], np.int64)
        fitting = keys.size in (0, size) if sampling == "with-replacement" else keys.size <= reservoir._limit
        if keys.ndim != 1 or keys.shape != born.shape or not fitting or not np.isfinite(keys).all():
            raise ValueError(
                f"arrays must hold finite keys and born for at most {size} slots, "
                f"got shapes {keys.shape} and {born.shape}"
            )
        reservoir.keys, reservoir.born = keys, born
        return reservoir

    @property
    def _limit(self) -> int:
        return sys.maxsize if self.sampling == "everything" else self.size

    @property
    def _log_growth(self) -> float:
        return 0.0 if self.sampling == "uniform" else math.log(self.growth)


def keep_largest(keys: Floats, new: Floats, size: int) -> tuple[Ints, Ints]:
    """Keep the ``size`` largest of the resident and the new keys: replacing the smallest, many at once.

    Parameters
    ----------
    keys : (n,)   of the residents, n <= size
    new : (k,)    of the samples offered

    Returns
    -------
    slots, sources : as :meth:`Reservoir.offer`; a resident that stays keeps its slot
    """
    n, total = keys.size, keys.size + new.size
    if total <= size:
        return np.arange(n, total), np.arange(new.size)
    order = np.argsort(-np.concatenate((keys, new)), kind="stable")  # stable: a tie goes to the resident
    stays = np.zeros(total, np.bool_)
    stays[order[:size]] = True
    sources = np.flatnonzero(stays[n:])
    free = ~stays[:size]  # slots that were left, and slots never used
    free[n:] = True
    return np.flatnonzero(free), sources


def keep_largest_per_slot(keys: Floats, new: Floats) -> tuple[Ints, Ints]:
    """Let every slot keep its own largest key; slots that are still empty take the best of the new.

    Parameters
    ----------
    keys : (n,)      of the residents: n is 0 or size
    new : (k, size)  of the samples offered, one for each slot
    """
    count, size = new.shape
    if count == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    best = np.argmax(new, axis=0)  # (size,)
    wins = new[best, np.arange(size)] > (keys if keys.size else -np.inf)
    slots = np.flatnonzero(wins)
    return slots, best[slots]


def _with_slots(values: NDArray[Kind], slots: Ints, new: NDArray[Kind]) -> NDArray[Kind]:
    """Return a copy of ``values`` with some entries replaced or added at the end."""
    length = max(values.size, int(slots[-1]) + 1 if slots.size else 0)
    result = np.empty(length, values.dtype)
    result[: values.size] = values
    result[slots] = new
    return result
