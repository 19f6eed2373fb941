import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box
from metrack.memory.training_boxes import (
    NEGATIVE_INNER,
    NEGATIVE_OUTER,
    POSITIVE_RADIUS,
    RANKED,
    RANKED_REACH,
    RANKED_SCALE_REACH,
    background_boxes,
    foreground_boxes,
    ranked_boxes,
)

MANY = 10_000
ESTIMATE = Box(100.25, 50.5, 40.0, 20.0)


def foreground(seed, estimate=ESTIMATE, count=MANY):
    return foreground_boxes(np.random.default_rng(seed), estimate, count)


def background(seed, estimate=ESTIMATE, count=MANY):
    return background_boxes(np.random.default_rng(seed), estimate, count)


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
)
def test_size_unchanged_and_within_the_radii(draw, box):
    estimate = Box(*box)
    on, beside = foreground(draw, estimate, 20), background(draw, estimate, 30)
    assert on.shape == (20, 4)
    assert beside.shape == (30, 4)
    for boxes in (on, beside):
        assert_array_equal(boxes[:, 2:], np.tile([estimate.w, estimate.h], (len(boxes), 1)))
    assert_array_equal(on[0], box)
    assert (np.linalg.norm(shifts(on, estimate), axis=1) <= POSITIVE_RADIUS + 1e-9).all()
    away = np.linalg.norm(shifts(beside, estimate, (estimate.w, estimate.h)), axis=1)
    assert (away >= NEGATIVE_INNER - 1e-9).all()
    assert (away <= NEGATIVE_OUTER + 1e-9).all()


def test_foreground_is_uniform_over_the_disc(seed):
    assert_uniform_over_ring(shifts(foreground(seed)[1:]), 0.0, POSITIVE_RADIUS)


def test_background_is_uniform_over_the_ring_in_units_of_the_target(seed):
    shift = shifts(background(seed), unit=(ESTIMATE.w, ESTIMATE.h))
    assert_uniform_over_ring(shift, NEGATIVE_INNER, NEGATIVE_OUTER)


def test_same_generator_same_boxes(seed):
    for make in (foreground, background):
        assert_array_equal(make(seed), make(seed))


def test_ranked_boxes_are_uniform_over_disc_and_scales_and_begin_with_the_estimate(seed):
    rng = np.random.default_rng(seed)
    draws = [ranked_boxes(rng, ESTIMATE) for _ in range(MANY // RANKED)]
    for draw in draws:
        assert_array_equal(draw[0], ESTIMATE.to_xywh())
    boxes = np.concatenate([draw[1:] for draw in draws])
    log_scale = np.log(boxes[:, 2:] / (ESTIMATE.w, ESTIMATE.h))
    assert_allclose(log_scale[:, 0], log_scale[:, 1], atol=1e-12)
    assert_uniform(log_scale[:, 0], -RANKED_SCALE_REACH, RANKED_SCALE_REACH)
    shift = (boxes[:, :2] + boxes[:, 2:] / 2 - ESTIMATE.centre) / (ESTIMATE.w, ESTIMATE.h)
    assert_uniform_over_ring(shift, 0.0, RANKED_REACH)
