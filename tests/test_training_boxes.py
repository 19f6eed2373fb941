import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box
from metrack.config import MemoryConfig
from metrack.memory.training_boxes import background_boxes, foreground_boxes

MANY = 10_000
ESTIMATE = Box(100.25, 50.5, 40.0, 20.0)


def settings_for(**changes):
    base = {
        "positives": MANY,
        "negatives": MANY,
        "positive_radius": 2.0,
        "negative_inner": 0.5,
        "negative_outer": 1.5,
    }
    return MemoryConfig(**(base | changes))


def foreground(seed, estimate=ESTIMATE, **changes):
    return foreground_boxes(np.random.default_rng(seed), estimate, settings_for(**changes))


def background(seed, estimate=ESTIMATE, **changes):
    return background_boxes(np.random.default_rng(seed), estimate, settings_for(**changes))


def shifts(boxes, estimate=ESTIMATE, unit=(1.0, 1.0)):
    return (boxes[:, :2] - [estimate.x, estimate.y]) / unit


def assert_uniform(values, low, high):
    """Mean, variance and all tenths of a uniform distribution, to five standard deviations of each."""
    u, n = (values - low) / (high - low), len(values)
    assert_allclose(u.mean(), 1 / 2, atol=5 * np.sqrt(1 / 12 / n))
    assert_allclose(u.var(), 1 / 12, atol=5 * np.sqrt((1 / 80 - 1 / 144) / n))
    counts = np.histogram(u, bins=10, range=(0, 1))[0]
    assert counts.sum() == n
    assert_allclose(counts, n / 10, atol=5 * np.sqrt(n * 0.1 * 0.9))


def assert_uniform_over_ring(shift, inner, outer):
    """Uniform over an area: squared radius and angle are both uniform, and know nothing of each other."""
    squared, angle = np.square(shift).sum(axis=1), np.arctan2(shift[:, 1], shift[:, 0])
    assert_uniform(squared, inner**2 - 1e-9, outer**2 + 1e-9)
    assert_uniform(angle, -np.pi, np.pi)
    correlations = [np.corrcoef(squared, f(angle))[0, 1] for f in (np.sin, np.cos)]
    assert_allclose(correlations, 0, atol=5 / np.sqrt(len(shift)))


@given(
    draw=st.integers(0, 2**32),
    box=st.tuples(st.floats(-99, 999), st.floats(-99, 999), st.floats(1, 300), st.floats(1, 300)),
    radius=st.floats(0, 20),
    inner=st.floats(0, 3),
    thickness=st.floats(0, 3),
)
def test_size_unchanged_and_within_the_radii(draw, box, radius, inner, thickness):
    estimate, outer = Box(*box), inner + thickness
    changes = {"positive_radius": radius, "negative_inner": inner, "negative_outer": outer}
    on = foreground(draw, estimate, positives=20, **changes)
    beside = background(draw, estimate, negatives=30, **changes)
    assert on.shape == (20, 4)
    assert beside.shape == (30, 4)
    for boxes in (on, beside):
        assert_array_equal(boxes[:, 2:], np.tile([estimate.w, estimate.h], (len(boxes), 1)))
    assert_array_equal(on[0], box)
    assert (np.linalg.norm(shifts(on, estimate), axis=1) <= radius + 1e-9).all()
    away = np.linalg.norm(shifts(beside, estimate, (estimate.w, estimate.h)), axis=1)
    assert (away >= inner - 1e-9).all()
    assert (away <= outer + 1e-9).all()


def test_foreground_is_uniform_over_the_disc(seed):
    assert_uniform_over_ring(shifts(foreground(seed)[1:]), 0.0, 2.0)


def test_background_is_uniform_over_the_ring_in_units_of_the_target(seed):
    shift = shifts(background(seed), unit=(ESTIMATE.w, ESTIMATE.h))
    assert_uniform_over_ring(shift, 0.5, 1.5)


def test_no_radius_no_shift(seed):
    boxes = foreground(seed, positives=9, positive_radius=0.0)
    assert_array_equal(boxes, np.tile(ESTIMATE.to_xywh(), (9, 1)))


@pytest.mark.parametrize(("inner", "outer"), [(1.0, 1.0), (1.0, 0.2)])
def test_a_ring_without_width_is_the_inner_circle(inner, outer, seed):
    boxes = background(seed, negatives=50, negative_inner=inner, negative_outer=outer)
    shift = shifts(boxes, unit=(ESTIMATE.w, ESTIMATE.h))
    assert_allclose(np.linalg.norm(shift, axis=1), inner, rtol=1e-9)


def test_same_generator_same_boxes(seed):
    for make in (foreground, background):
        assert_array_equal(make(seed), make(seed))
