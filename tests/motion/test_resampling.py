import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from metrack.motion.resampling import effective_size, systematic
from reference import resampling as reference

SCHEMES = [systematic]
WEIGHTS = {
    "skewed": np.array([0.05, 0.1, 0.15, 0.3, 0.4]),
    "equal": np.full(8, 1 / 8),
    "some dead": np.array([0.0, 0.5, 0.0, 0.0, 0.5, 0.0]),
    "one alive": np.array([0.0, 0.0, 1.0, 0.0]),
    "tiny": np.array([1e-300, 1.0, 1e-17, 1e-300]),
    "not normalised": np.array([3.0, 1.0, 4.0]),
    "all very small": np.array([1e-310, 2e-310, 1e-310]),
}

some_weights = hnp.arrays(np.float64, st.integers(1, 40), elements=st.just(0.0) | st.floats(1e-12, 1.0)).filter(
    lambda weights: weights.any()
)


class Rigged:
    """A generator that always says the same."""

    def __init__(self, value):
        self.value = value

    def random(self, size=None):
        return self.value if size is None else np.full(size, self.value)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("scheme", SCHEMES)
def test_survivors_are_in_proportion_to_their_weights(scheme, weights, seed):
    rng, count, rounds = np.random.default_rng(seed), 10, 3000
    drawn = np.concatenate([scheme(rng, weights, count) for _ in range(rounds)])
    times = np.bincount(drawn, minlength=weights.size)
    share = weights / weights.sum()
    spread = np.sqrt(count * rounds * share * (1 - share))  # binomial; systematic varies less
    assert np.all(np.abs(times - count * rounds * share) <= 5 * spread + 1)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(weights=some_weights, count=st.integers(1, 60), draw=st.integers(0, 2**32))
def test_dead_particles_are_never_chosen(scheme, weights, count, draw):
    ancestors = scheme(np.random.default_rng(draw), weights, count)
    assert ancestors.shape == (count,)
    assert np.all(weights[ancestors] > 0)


@given(weights=some_weights, count=st.integers(1, 60), draw=st.integers(0, 2**32))
def test_systematic_rounds_every_expected_count_down_or_up(weights, count, draw):
    ancestors = systematic(np.random.default_rng(draw), weights, count)
    times, expected = np.bincount(ancestors, minlength=weights.size), count * weights / weights.sum()
    assert np.all(times >= np.floor(expected - 1e-9))
    assert np.all(times <= np.ceil(expected + 1e-9))


@given(weights=some_weights, count=st.integers(1, 60), shift=st.floats(0.001, 0.999))
def test_systematic_agrees_with_walking_along_the_weights(weights, count, shift):
    scaled_ends = np.cumsum(weights) / weights.sum() * count
    gaps = np.abs(scaled_ends[:-1, None] - (shift + np.arange(count)))
    clear = gaps.size == 0 or gaps.min() > 1e-9  # else rounding decides whose the point is
    ancestors = systematic(Rigged(shift), weights, count)
    if clear:
        assert_array_equal(ancestors, reference.systematic(shift, weights.tolist(), count))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("value", [0.0, np.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("count", [1, 3, 200, 10_000])
def test_the_ends_of_the_unit_interval_belong_to_live_particles(scheme, value, count):
    weights = np.array([0.0, 0.1, 0.2, 0.7, 0.0])
    ancestors = scheme(Rigged(value), weights, count)
    assert np.all((ancestors >= 1) & (ancestors <= 3))


def test_the_last_point_can_round_up_to_one():
    almost_one = np.nextafter(1.0, 0.0)
    assert (almost_one + 199) / 200 == 1.0  # why points are held below 1
    assert systematic(Rigged(almost_one), np.full(7, 0.1), 200).max() == 6


def test_equal_weights_keep_everyone_once(seed):
    ancestors = systematic(np.random.default_rng(seed), np.full(200, 1 / 200), 200)
    assert_array_equal(ancestors, np.arange(200))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_same_seed_same_survivors_and_weights_untouched(scheme, seed):
    weights = WEIGHTS["skewed"].copy()
    first, second = (scheme(np.random.default_rng(seed), weights, 50) for _ in range(2))
    assert_array_equal(first, second)
    assert_array_equal(weights, WEIGHTS["skewed"])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("weights", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_weights_without_a_usable_sum_are_refused(scheme, weights):
    with pytest.raises(ValueError, match="weights must have a positive, finite sum, got"):
        scheme(np.random.default_rng(0), np.array(weights), 5)


def test_effective_size_of_known_clouds():
    assert_allclose(effective_size(np.full(200, 1 / 200)), 200, rtol=1e-12)
    assert_allclose(effective_size(np.array([0.0, 1.0, 0.0])), 1, rtol=1e-12)
    assert_allclose(effective_size(np.array([0.5, 0.25, 0.25])), 1 / 0.375, rtol=1e-12)


@given(weights=some_weights, scale=st.sampled_from([1e-200, 1e-3, 7.0, 1e200]))
def test_effective_size_ignores_scale_and_lies_between_one_and_all(weights, scale):
    size = effective_size(weights)
    assert_allclose(effective_size(weights * scale), size, rtol=1e-9)
    assert 1 - 1e-12 <= size <= weights.size * (1 + 1e-12)
