import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.metric.proximity import draw_triplets, learn_round
from metrack.metric.sample_space import BACKGROUND, FOREGROUND, SampleSpace
from metrack.threads import one_blas_thread
from reference import metric as reference

# Largest error against the sequential algorithm in double precision, relative to the largest entry.
# Measured over sixty rounds: 6e-7 for M and S M S', 5e-6 for step lengths; at full size 4e-7 and 9e-7.
AGREEMENT = 3e-5
DECISIVE = 1e-3  # a hinge nearer to zero than this may fall on either side of it by rounding

D, CAPACITY = 24, 15


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


def unit_rows(rng, n, dimension=D):
    rows = rng.normal(size=(n, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def filled(rng, metric=None, n=CAPACITY, dimension=D):
    """A sample space full of random samples under a given metric."""
    space = SampleSpace(dimension, n)
    slots = np.arange(n)
    space.put((slots, slots), (unit_rows(rng, n, dimension), unit_rows(rng, n, dimension)))
    if metric is not None:
        space.set_metric(metric)
    return space


def triplets_of(rng, space, count):
    return draw_triplets(rng, space.row_numbers(FOREGROUND), space.row_numbers(BACKGROUND), count)


def learn_in_sample_space(space, triplets, margin, step_limit):
    steps = learn_round(space.gram, space.weighted, triplets, margin, step_limit)
    seen = steps.push(space.gram), steps.pull(space.gram)
    space.change_metric(steps.push(space.samples), steps.pull(space.samples), *seen)
    return steps


def assert_close(actual, expected, bound=AGREEMENT):
    assert_allclose(actual, expected, rtol=0, atol=bound * np.abs(expected).max())


class TestAgainstTheLiteralAlgorithm:
    @settings(max_examples=25)
    @given(
        draw=st.integers(0, 2**32),
        margin=st.sampled_from([0.3, 1.0, 4.0]),
        step_limit=st.sampled_from([0.01, 0.1, 1.0, 1e6]),
        learned=st.booleans(),
    )
    def test_same_steps_same_metric_same_gram_matrix(self, draw, margin, step_limit, learned):
        rng = np.random.default_rng(draw)
        start = rng.normal(size=(D, D)).astype(np.float32) / 8 if learned else np.zeros((D, D), np.float32)
        start = np.eye(D, dtype=np.float32) + (start + start.T) / 2
        space = filled(rng, start)
        triplets = triplets_of(rng, space, 60)
        metric, steps, hinges = reference.learn(space.samples, start, triplets, margin, step_limit)
        assume(np.abs(hinges).min() > DECISIVE)
        taken = learn_in_sample_space(space, triplets, margin, step_limit)
        assert_array_equal(taken.triplets, triplets[steps > 0])
        assert_close(taken.lengths, steps[steps > 0])
        assert_close(space.metric, metric)
        assert_close(space.weighted, space.samples @ metric @ space.samples.T)

    def test_several_rounds_one_after_another(self, seed):
        rng = np.random.default_rng(seed)
        space = filled(rng)
        metric = np.eye(D)
        for _ in range(5):
            triplets = triplets_of(rng, space, 100)
            metric, _, _ = reference.learn(space.samples, metric, triplets, 1.0, 0.5)
            learn_in_sample_space(space, triplets, 1.0, 0.5)
        assert_close(space.metric, metric)
        assert_close(space.weighted, space.samples @ metric @ space.samples.T)

    def test_at_full_size(self, seed):
        rng = np.random.default_rng(seed)
        space = filled(rng, n=300, dimension=405)
        triplets = triplets_of(rng, space, 60)
        metric, steps, _ = reference.learn(space.samples, np.eye(405), triplets, 1.0, 1.0)
        assert_array_equal(learn_in_sample_space(space, triplets, 1.0, 1.0).triplets, triplets[steps > 0])
        assert_close(space.metric, metric)
        assert_close(space.weighted, space.samples @ metric @ space.samples.T)

    def test_a_round_is_two_half_rounds(self, seed):
        rng = np.random.default_rng(seed)
        whole = filled(rng)
        halves = SampleSpace(D, CAPACITY)
        halves.restore({k: v.copy() for k, v in whole.to_arrays().items()})
        triplets = triplets_of(rng, whole, 200)
        learn_in_sample_space(whole, triplets, 1.0, 0.5)
        for half in np.split(triplets, 2):
            learn_in_sample_space(halves, half, 1.0, 0.5)
        assert_close(halves.metric, whole.metric)
        assert_close(halves.weighted, whole.weighted)

    def test_order_matters_for_it_is_a_sequence(self, seed):
        rng = np.random.default_rng(seed)
        space = filled(rng)
        triplets = triplets_of(rng, space, 100)
        forwards = learn_round(space.gram, space.weighted, triplets, 1.0, 10.0)
        backwards = learn_round(space.gram, space.weighted, triplets[::-1].copy(), 1.0, 10.0)
        assert abs(forwards.lengths.sum() / backwards.lengths.sum() - 1) > 1e-6

    @given(draw=st.integers(0, 2**32), dimension=st.integers(1, 30))
    def test_the_printed_denominator_is_the_squared_norm_of_the_direction(self, draw, dimension):
        samples = np.random.default_rng(draw).normal(size=(3, dimension))
        U, a_near, a_far = reference.direction(samples, (0, 1, 2))
        frobenius = np.sum(U**2)
        assert_allclose(reference.printed_denominator(samples, (0, 1, 2)), frobenius, rtol=1e-9, atol=1e-9)
        expanded = (a_far @ a_far) ** 2 - 2 * (a_far @ a_near) ** 2 + (a_near @ a_near) ** 2
        assert_allclose(expanded, frobenius, rtol=1e-9, atol=1e-9)


class TestOneStep:
    MARGIN = 1.0

    @given(draw=st.integers(0, 2**32))
    def test_a_long_enough_step_satisfies_its_triplet_exactly(self, draw):
        rng = np.random.default_rng(draw)
        space = filled(rng, n=4)
        triplet = triplets_of(rng, space, 1)
        before = reference.hinge(space.samples, triplet[0], space.metric.astype(float), self.MARGIN)
        assume(before > DECISIVE)
        steps = learn_in_sample_space(space, triplet, self.MARGIN, np.inf)
        assert len(steps) == 1
        after = reference.hinge(space.samples, triplet[0], space.metric.astype(float), self.MARGIN)
        assert_allclose(after, 0, atol=1e-4)

    @given(draw=st.integers(0, 2**32), step_limit=st.floats(1e-4, 0.05))
    def test_a_limited_step_is_as_long_as_it_may_be(self, draw, step_limit):
        rng = np.random.default_rng(draw)
        space = filled(rng, n=4)
        triplet = triplets_of(rng, space, 1)
        full = learn_round(space.gram, space.weighted, triplet, self.MARGIN, np.inf)
        assume(len(full) and full.lengths[0] > step_limit)
        limited = learn_round(space.gram, space.weighted, triplet, self.MARGIN, step_limit)
        assert_array_equal(limited.lengths, [step_limit])

    @given(draw=st.integers(0, 2**32), slack=st.floats(DECISIVE, 1.0))
    def test_no_step_when_the_margin_is_kept_and_a_step_when_it_is_not(self, draw, slack):
        rng = np.random.default_rng(draw)
        space = filled(rng, n=4)
        triplet = triplets_of(rng, space, 1)
        gap = -reference.hinge(space.samples, triplet[0], space.metric.astype(float), 0.0)
        assert len(learn_round(space.gram, space.weighted, triplet, gap - slack, 1.0)) == 0
        assert len(learn_round(space.gram, space.weighted, triplet, gap + slack, 1.0)) == 1

    def test_by_hand(self):
        # p at the origin, its relative at (1, 0), the stranger at (0, 2): distances 1 and 4, margin 5, so the
        # hinge is 2; U = diag(-1, 4), squared norm 17
        samples = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], np.float32)
        gram = samples @ samples.T
        steps = learn_round(gram, gram, np.array([[0, 1, 2]]), 5.0, 1.0)
        assert_array_equal(steps.triplets, [[0, 1, 2]])
        assert_allclose(steps.lengths, [2 / 17], rtol=1e-6)
        assert_allclose(steps.push(samples), [[0.0, -2 * np.sqrt(2 / 17)]], rtol=1e-6)
        assert_allclose(steps.pull(samples), [[-np.sqrt(2 / 17), 0.0]], rtol=1e-6)

    def test_a_step_limit_of_zero_teaches_nothing(self, seed):
        rng = np.random.default_rng(seed)
        space = filled(rng)
        before = space.metric.copy(), space.weighted.copy()
        steps = learn_in_sample_space(space, triplets_of(rng, space, 50), 10.0, 0.0)
        assert len(steps) == 0
        assert_array_equal(space.metric, before[0])
        assert_array_equal(space.weighted, before[1])

    def test_identical_samples_teach_nothing(self, seed):
        rng = np.random.default_rng(seed)
        samples = np.repeat(unit_rows(rng, 1), 6, axis=0)
        gram = samples @ samples.T
        assert len(learn_round(gram, gram, np.array([[0, 1, 3], [2, 1, 5]]), 1.0, 1e6)) == 0

    def test_a_relative_in_the_strangers_place_leaves_the_metric_alone(self, seed):
        rng = np.random.default_rng(seed)
        space = filled(rng, n=2)
        twin = space.samples[[1]]
        space.put((np.empty(0, np.int64), np.array([0])), (twin[:0], twin))
        learn_in_sample_space(space, np.array([[0, 1, 2]]), 1.0, 1.0)
        assert_allclose(space.metric, np.eye(D), rtol=0, atol=1e-6)

    def test_no_triplets(self, seed):
        space = filled(np.random.default_rng(seed))
        steps = learn_in_sample_space(space, np.empty((0, 3), np.int64), 1.0, 1.0)
        assert len(steps) == 0
        assert steps.push(space.samples).shape == (0, D)

    def test_inputs_are_untouched(self, seed):
        rng = np.random.default_rng(seed)
        space = filled(rng)
        triplets = triplets_of(rng, space, 30)
        before = space.gram.copy(), space.weighted.copy(), triplets.copy()
        learn_round(space.gram, space.weighted, triplets, 1.0, 1.0)
        for array, copy in zip((space.gram, space.weighted, triplets), before, strict=True):
            assert_array_equal(array, copy)


class TestTriplets:
    OWN, OTHER = np.array([3, 5, 8, 13]), np.array([21, 34, 55])

    @given(
        draw=st.integers(0, 2**32),
        own=st.integers(2, 9),
        other=st.integers(1, 9),
        count=st.integers(0, 40),
    )
    def test_two_different_relatives_and_a_stranger(self, draw, own, other, count):
        family, strangers = np.arange(own) * 3 + 1, np.arange(other) * 7 + 500
        triplets = draw_triplets(np.random.default_rng(draw), family, strangers, count)
        assert triplets.shape == (count, 3)
        assert np.isin(triplets[:, :2], family).all()
        assert np.isin(triplets[:, 2], strangers).all()
        assert (triplets[:, 0] != triplets[:, 1]).all()

    def test_all_are_equally_likely(self, seed):
        count, kinds = 60_000, 4 * 3 * 3
        triplets = draw_triplets(np.random.default_rng(seed), self.OWN, self.OTHER, count)
        found, times = np.unique(triplets, axis=0, return_counts=True)
        assert len(found) == kinds  # every one there can be
        chance = 1 / kinds
        assert_allclose(times, count * chance, atol=5 * np.sqrt(count * chance * (1 - chance)))

    @pytest.mark.parametrize(("own", "other"), [(0, 3), (1, 3), (2, 0), (0, 0)])
    def test_too_few_samples_make_none(self, own, other):
        triplets = draw_triplets(np.random.default_rng(0), np.arange(own), np.arange(10, 10 + other), 5)
        assert triplets.shape == (0, 3)
        assert triplets.dtype == np.int64

    def test_same_generator_same_triplets(self, seed):
        first, second = (draw_triplets(np.random.default_rng(seed), self.OWN, self.OTHER, 20) for _ in range(2))
        assert_array_equal(first, second)
