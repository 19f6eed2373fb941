"""Random and hostile arguments: strategies of hypothesis, from which every case draws a pool."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from metrack import Box, TrackerConfig
from metrack.config import kind_of

WIDTH, HEIGHT = 48, 36
POOL = 25  # values of a kind in a case
SETTINGS = {name: each for name, each, _ in TrackerConfig().settings()}


LIGHT = {"motion.particles": 20, "memory.size": 15, "memory.first": 4, "memory.positives": 3, "memory.negatives": 3}
SMALL = {"metric.triplets": 30, "regression.cells": 12, "regression.scales": 3, "search.candidates": 40}
CAPS = {**LIGHT, **SMALL, "regression.reach": 6.0}  # costs are measured by themselves: limits keep a frame bounded


class Spiteful:
    """A value whose every conversion fails."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError("spite\nand more of it" * 1000)

    __repr__ = __str__ = __float__ = __int__ = __index__ = __iter__ = __len__ = __array__ = __fspath__ = _fail


ODD_NUMBERS = (10**400, -(10**400), 10**5000, 2**63, 2**64, -(2**63), 1e308, -1e308, 5e-324, 1e12, 1e-12, 0.0, -0.0)
NOT_FINITE = (np.nan, np.inf, -np.inf, np.float32(np.nan), np.float64(np.inf))
SCALARS = (np.float32(1.5), np.float16(3), np.int8(-5), np.uint8(200), np.int64(7), np.bool_(True), np.longdouble(2))
STRANGE = (True, False, None, "", "5", "nan", "1e999", b"12", 1j, np.complex64(1j), Fraction(1, 3), Decimal("NaN"))
BAGS: tuple[Any, ...] = ((), [], {}, set(), [[]], [1, [2]], {"x": 1}, range(4), np.ma.masked, np.array(5.0), object)
HUGE = ("x" * 1_000_000, [0] * 100_000, "line\nline\r\x00\u2028", "\ud800", np.zeros(1000), 10**30000)
OBJECTS = (Spiteful(), np.array([[1], [2], [3], [4]]), np.array(["a", "b"]), np.datetime64("2020-01-01"), Box)


def one_of(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """Return one of some values, which hypothesis itself does not get to see: it would print them."""
    return st.integers(0, len(values) - 1).map(lambda number: values[number])


anything = st.one_of(
    one_of(ODD_NUMBERS + NOT_FINITE + SCALARS),
    one_of(STRANGE + BAGS),
    one_of(HUGE + OBJECTS),
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9), st.lists, max_leaves=5),
)
numbers = st.one_of(st.floats(), st.floats(-100, 100), st.integers(), anything)
wholes = st.one_of(st.integers(-3, 50), st.integers(), anything)
good_boxes = st.tuples(*[st.floats(-5, 30), st.floats(-5, 20), st.floats(4, 30), st.floats(4, 30)])
boxes = st.one_of(
    good_boxes,
    good_boxes.map(lambda box: Box(*box)),
    good_boxes.map(np.array),
    st.tuples(*[st.floats()] * 4),
    st.tuples(*[st.floats(-1e9, 1e9)] * 4),
    st.tuples(*[numbers] * 4),
    st.lists(st.floats(-9, 60), max_size=7),
    anything,
)
rows = st.one_of(
    st.lists(good_boxes, min_size=1, max_size=9).map(np.array),
    st.lists(good_boxes, max_size=4),
    st.lists(st.tuples(*[st.floats(-1e3, 1e3)] * 4), min_size=1, max_size=4).map(np.array),
    st.lists(st.tuples(*[st.floats()] * 4), min_size=1, max_size=4).map(np.array),
    one_of(
        (
            np.array([[0.0, 0, 1e6, 1e6]]),
            np.array([[-1e12, 0, 1e12, 1e12]]),
            np.broadcast_to(np.float64(5), (10**6, 4)),
            np.empty((0, 4)),
            np.ones((3, 5)),
            np.ones((3, 4), np.complex64),
            np.ones((2, 4), np.float32),
            np.ones((2, 4), int) * 9,
            np.array([[None] * 4]),
            np.ma.masked_array(np.ones((2, 4)), True),
        )
    ),
    anything,
)
series = st.one_of(
    st.lists(st.floats(0, 1), max_size=12),
    st.lists(st.floats(0, 1), max_size=12).map(np.array),
    st.lists(st.floats(), max_size=6),
    st.lists(st.integers(-5, 60), max_size=9),
    st.lists(st.booleans(), max_size=9),
    anything,
)


def _noise(shape: tuple[int, ...], number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 256, shape, np.uint8)


def _changed(frame: np.ndarray, way: int) -> Any:
    ways: tuple[Callable[[np.ndarray], Any], ...] = (
        lambda f: f,
        lambda f: f[::-1, ::-1],
        np.asfortranarray,
        lambda f: np.repeat(f, 2, axis=1)[:, ::2],
        lambda f: np.ma.masked_array(f, True),
        lambda f: f.astype(float),
        lambda f: f.astype(bool),
        lambda f: f.astype(object),
        lambda f: f.astype(np.int16),
        lambda f: f.tolist(),
        lambda f: f[None],
        lambda f: f[:, :-1],
        lambda f: f[..., :2],
        lambda f: f[:0],
        lambda f: f[:1, :1],
        lambda f: f.view(np.recarray),
    )
    return ways[way % len(ways)](frame)


shapes = st.one_of(
    st.just((HEIGHT, WIDTH, 3)),
    st.just((HEIGHT, WIDTH)),
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.just(3)),
    st.sampled_from([(1, 1000, 3), (4, 2000), (4, 4), (36, 48, 4), (36, 48, 1), (0, 0), (5,), ()]),
)
frames = st.one_of(
    st.builds(_changed, st.builds(_noise, shapes.filter(lambda s: len(s) > 1), st.integers(0, 99)), st.integers(0, 15)),
    st.builds(_noise, shapes, st.integers(0, 99)),
    one_of(((10**6, 10**6, 3), (5, 10**8), (10**9, 10**9))).map(lambda s: np.broadcast_to(np.uint8(7), s)),
    anything,
)
texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["default", "fast", "papre", "paper", "twins", "motion.particles", "motion"]),
    anything,
)
names = st.one_of(st.sampled_from(list(SETTINGS)), st.text(max_size=20), st.integers(), st.just("motion"))
values = st.one_of(
    numbers, st.sampled_from([c for e in SETTINGS.values() for c in e.metadata["choices"]]), st.text(max_size=5)
)
changes = st.one_of(
    st.dictionaries(st.sampled_from(list(SETTINGS)), values, max_size=3),
    st.dictionaries(names, values, max_size=2),
    anything,
)
files = st.one_of(
    one_of(("a.npz", "b.npz", "c.mp4", "deep/a.npz", ".", "", "a.npz/b", "x" * 300, "x" * 5000, "\0", "a\nb", "ä ²")),
    anything,
)


def _any_value(name: str) -> st.SearchStrategy[Any]:
    meta, kind = SETTINGS[name].metadata, kind_of(SETTINGS[name])
    if kind == "choice":
        return st.sampled_from(meta["choices"])
    if kind == "switch":
        return st.booleans()
    low, high = meta["low"], min(meta["high"], 2 * CAPS.get(name, np.inf))
    whole = st.sampled_from([int(low), int(high)]) | st.integers(int(low), int(high))
    return whole if kind == "whole" else st.sampled_from([float(low), float(high)]) | st.floats(low, high)


def _agreeing(changes: dict[str, Any]) -> dict[str, Any]:
    changes["regression.scales"] = changes.get("regression.scales", 1) | 1
    if not changes.get("regression.enabled", True):
        changes["confidence.weights"] = "particles"
    if changes.get("representation.kind", "metric-weighted") != "metric-weighted":
        changes["metric.learning"] = "off"
    return changes


any_config = st.fixed_dictionaries({}, optional={name: _any_value(name) for name in SETTINGS}).map(_agreeing)


KINDS: dict[str, st.SearchStrategy[Any]] = {
    "anything": anything,
    "number": numbers,
    "whole": wholes,
    "box": boxes,
    "rows": rows,
    "series": series,
    "frame": frames,
    "text": texts,
    "changes": changes,
    "value": values,
    "file": files,
    "config": any_config,
    "switch": st.booleans() | anything,
}


def examples(strategy: st.SearchStrategy[Any], number: int, count: int = POOL) -> list[Any]:
    """Draw values of a strategy, the same for the same number."""
    found: list[Any] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found
