import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box
from metrack.config import MemoryConfig, RankingConfig
from metrack.memory.training_boxes import background_boxes, foreground_boxes, ranked_boxes

MANY = 10_000
ESTIMATE = Box(100.25, 50.5, 40.0, 20.0)


def settings_for(**changes):
    base = {
        "positives": MANY,
        "negatives": MANY,
        "positive_radius": 2.0,
        "negative_inner": 0.5,
        "negative_outer": 1.5,
        "misscaled": 0,
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


def test_wrong_scales_are_in_place_and_off_by_as_much_as_said(seed):
    boxes = background(seed, negatives=MANY, misscaled=MANY - 5, misscale_inner=0.2, misscale_outer=0.5)
    ring, wrong = boxes[:5], boxes[5:]
    assert_array_equal(ring[:, 2:], np.tile([ESTIMATE.w, ESTIMATE.h], (5, 1)))
    assert_allclose(wrong[:, :2] + wrong[:, 2:] / 2, np.tile(ESTIMATE.centre, (MANY - 5, 1)), rtol=1e-12)
    assert_allclose(wrong[:, 2] / wrong[:, 3], ESTIMATE.w / ESTIMATE.h, rtol=1e-12)
    off = np.log(wrong[:, 2] / ESTIMATE.w)
    assert_uniform(np.abs(off), 0.2, 0.5)
    assert_allclose((off > 0).mean(), 0.5, atol=5 * np.sqrt(0.25 / MANY))


@pytest.mark.parametrize(("inner", "outer"), [(0.3, 0.3), (0.3, 0.1)])
def test_there_are_never_more_wrong_scales_than_negatives(inner, outer, seed):
    boxes = background(seed, negatives=4, misscaled=9, misscale_inner=inner, misscale_outer=outer)
    assert_allclose(np.abs(np.log(boxes[:, 2] / ESTIMATE.w)), [0.3] * 4, rtol=1e-9)


def test_ranked_boxes_are_uniform_over_disc_and_scales_and_begin_with_the_estimate(seed):
    config = RankingConfig(boxes=MANY, reach=0.8, scale_reach=0.3)
    boxes = ranked_boxes(np.random.default_rng(seed), ESTIMATE, config)
    assert_array_equal(boxes[0], ESTIMATE.to_xywh())
    off = np.log(boxes[:, 2:] / (ESTIMATE.w, ESTIMATE.h))
    assert_allclose(off[:, 0], off[:, 1], atol=1e-12)
    assert_uniform(off[1:, 0], -0.3, 0.3)
    shift = (boxes[:, :2] + boxes[:, 2:] / 2 - ESTIMATE.centre) / (ESTIMATE.w, ESTIMATE.h)
    assert_uniform_over_ring(shift[1:], 0.0, 0.8)
