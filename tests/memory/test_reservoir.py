import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.config import TrackerConfig
from metrack.memory.reservoir import SAMPLINGS, Reservoir, keep_largest, keep_largest_per_slot
from reference import reservoir as reference

GROWTH = 1.6
BOUNDED = [s for s in SAMPLINGS if s != "everything"]

streams = st.lists(st.integers(0, 9), max_size=8)  # samples offered frame by frame
some_keys = st.lists(st.floats(-1e6, 1e6), max_size=12, unique=True)


def pass_by(reservoir, rng, counts, first_frame=0):
    """Offer `counts[t]` samples at each frame; return which sample of the stream sits in each slot."""
    holds, seen = np.empty(0, int), 0
    for frame, count in enumerate(counts, first_frame):
        slots, sources = reservoir.offer(rng, frame, count)
        holds = np.concatenate([holds, np.full(len(reservoir) - holds.size, -1)])
        holds[slots] = seen + sources
        seen += count
    return holds


def weights_of(counts):
    return np.repeat(GROWTH ** np.arange(len(counts)), counts)


def assert_counts(counts, chances, trials):
    """Compare with the expectation, allowing five standard deviations of the binomial distribution."""
    spread = np.sqrt(trials * chances * (1 - chances))
    assert np.all(np.abs(counts - trials * chances) <= 5 * spread + 1)


# --- what stays: the defining sentences -----------------------------------------------------------


@pytest.mark.parametrize(("counts", "size"), [([1] * 6, 1), ([1] * 6, 3), ([2, 3, 1, 2], 4), ([5, 5], 2)])
@pytest.mark.parametrize("sampling", ["time-weighted", "uniform"])
def test_samples_stay_as_often_as_drawing_without_replacement_says(sampling, counts, size, seed):
    trials, rng = 2000, np.random.default_rng(seed)
    weights = weights_of(counts) if sampling == "time-weighted" else np.ones(sum(counts))
    stayed = np.zeros(weights.size)
    for _ in range(trials):
        stayed[pass_by(Reservoir(size, GROWTH, sampling), rng, counts)] += 1
    assert_counts(stayed, reference.inclusion_probabilities(weights.tolist(), size), trials)


@pytest.mark.parametrize(("counts", "size"), [([1] * 6, 3), ([2, 3, 1, 2], 4)])
def test_the_printed_algorithm_has_the_same_probabilities_on_short_streams(counts, size, seed):
    trials, rng = 2000, np.random.default_rng(seed)
    frames = np.repeat(np.arange(len(counts)), counts)
    stayed = np.zeros(frames.size)
    for _ in range(trials):
        keys = reference.printed_keys(rng.random(frames.size), GROWTH, frames)
        stayed[list(reference.sequential(keys, size).values())] += 1
    assert_counts(stayed, reference.inclusion_probabilities(weights_of(counts).tolist(), size), trials)


@given(frames=st.lists(st.integers(0, 20), min_size=1, max_size=12), draw=st.integers(0, 2**32))
def test_our_keys_order_samples_as_the_printed_ones_do(frames, draw):
    u, frames = np.random.default_rng(draw).random(len(frames)), np.array(frames)
    ours = frames * math.log(GROWTH) - np.log(-np.log(u))
    printed = reference.printed_keys(u, GROWTH, frames)
    ranked = printed[np.argsort(ours)]
    assert np.all(np.diff(ranked) >= -1e-15)  # the printed ones lose digits near 1


@given(keys=some_keys, size=st.integers(1, 6))
def test_keeping_the_largest_at_once_is_algorithm_4(keys, size):
    slots, sources = keep_largest(np.empty(0), np.array(keys), size)
    assert_array_equal(slots, np.arange(min(size, len(keys))))
    assert set(sources.tolist()) == set(reference.sequential(keys, size).values())


@given(keys=some_keys, old=st.integers(0, 6), size=st.integers(6, 8))
def test_residents_that_stay_keep_their_slots(keys, old, size):
    resident, new = np.array(keys[:old]), np.array(keys[old:])
    slots, sources = keep_largest(resident, new, size)
    assert_array_equal(slots, np.unique(slots))
    after = np.concatenate([resident, np.full(max(0, min(size, len(keys)) - old), np.nan)])
    after[slots] = new[sources]
    assert_array_equal(np.sort(after), np.sort(keys)[-size:])


def test_a_tie_goes_to_the_resident():
    slots, sources = keep_largest(np.array([1.0, 2.0]), np.array([1.0, 1.0]), 2)
    assert slots.size == sources.size == 0


@pytest.mark.parametrize("sampling", SAMPLINGS)
@given(counts=streams, size=st.integers(1, 6), draw=st.integers(0, 2**32))
def test_a_batch_is_its_samples_one_by_one(sampling, counts, size, draw):
    together, apart = Reservoir(size, GROWTH, sampling), Reservoir(size, GROWTH, sampling)
    rng, same = np.random.default_rng(draw), np.random.default_rng(draw)
    for frame, count in enumerate(counts):
        together.offer(rng, frame, count)
        for _ in range(count):
            apart.offer(same, frame, 1)
    order, other = np.argsort(together.keys), np.argsort(apart.keys)
    assert_array_equal(together.keys[order], apart.keys[other])
    assert_array_equal(together.born[order], apart.born[other])
    if sampling == "with-replacement":
        assert_array_equal(together.keys, apart.keys)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@given(counts=streams, size=st.integers(1, 6), draw=st.integers(0, 2**32))
def test_the_answer_names_each_slot_once_and_born_follows(sampling, counts, size, draw):
    reservoir, rng = Reservoir(size, GROWTH, sampling), np.random.default_rng(draw)
    expected = np.empty(0, int)
    for frame, count in enumerate(counts):
        slots, sources = reservoir.offer(rng, frame, count)
        assert slots.shape == sources.shape
        assert np.all(np.diff(slots) > 0)
        assert np.all((sources >= 0) & (sources < count))
        if sampling != "with-replacement":
            assert np.unique(sources).size == sources.size
        expected = np.concatenate([expected, np.zeros(len(reservoir) - expected.size, int)])
        expected[slots] = frame
        assert_array_equal(reservoir.born, expected)
        assert reservoir.keys.shape == reservoir.born.shape == (len(reservoir),)
    seen = sum(counts)
    by_sampling = {"with-replacement": size if seen else 0, "everything": seen}
    assert len(reservoir) == by_sampling.get(sampling, min(size, seen))


def test_before_it_is_full_all_samplings_without_replacement_are_identical(seed):
    answers = []
    for sampling in ("time-weighted", "uniform", "everything"):
        reservoir, rng = Reservoir(300, GROWTH, sampling), np.random.default_rng(seed)
        answers.append(pass_by(reservoir, rng, [7] * 42))
        assert len(reservoir) == 294
    assert_array_equal(answers[0], np.arange(294))
    assert_array_equal(answers[1], answers[0])
    assert_array_equal(answers[2], answers[0])


def test_uniform_is_time_weighted_without_growth(seed):
    uniform = pass_by(Reservoir(5, GROWTH, "uniform"), np.random.default_rng(seed), [3] * 9)
    no_growth = pass_by(Reservoir(5, 1.0, "time-weighted"), np.random.default_rng(seed), [3] * 9)
    assert_array_equal(uniform, no_growth)


def test_everything_keeps_everything_in_order(seed):
    holds = pass_by(Reservoir(5, GROWTH, "everything"), np.random.default_rng(seed), [3, 0, 4, 9])
    assert_array_equal(holds, np.arange(16))


# --- the theorem of the supplement, and where it does not hold ------------------------------------


def test_each_slot_holds_a_sample_with_probability_proportional_to_its_weight(seed):
    counts, slots = [2, 1, 3, 1, 2], 20_000  # slots are independent: as many trials
    holds = pass_by(Reservoir(slots, GROWTH, "with-replacement"), np.random.default_rng(seed), counts)
    weights = weights_of(counts)
    assert_counts(np.bincount(holds, minlength=weights.size), weights / weights.sum(), slots)


def test_slots_are_independent_of_each_other_and_of_the_other_buffer(seed):
    counts, slots, rng = [1, 2, 1], 20_000, np.random.default_rng(seed)
    foreground, background = (pass_by(Reservoir(slots, GROWTH, "with-replacement"), rng, counts) for _ in range(2))
    share = weights_of(counts) / weights_of(counts).sum()
    for i, j in product(range(share.size), repeat=2):
        both = share[i] * share[j]
        pairs = np.sum((foreground == i) & (background == j))
        assert_counts(pairs, both, slots)
        neighbours = np.sum((foreground[::2] == i) & (foreground[1::2] == j))
        assert_counts(neighbours, both, slots // 2)


def test_the_buffers_average_triplet_loss_is_the_weighted_average_over_all_triplets(seed):
    rng, trials, sizes = np.random.default_rng(seed), 3000, (3, 2)
    counts_f, counts_b = [1, 2, 1, 1], [2, 1, 2, 1]
    loss = np.random.default_rng(1).exponential(size=(sum(counts_f), sum(counts_b)))  # of (p, p+_i, p-_j)
    averages = np.empty(trials)
    for k in range(trials):
        f = pass_by(Reservoir(sizes[0], GROWTH, "with-replacement"), rng, counts_f)
        b = pass_by(Reservoir(sizes[1], GROWTH, "with-replacement"), rng, counts_b)
        averages[k] = loss[np.ix_(f, b)].mean()
    w_f, w_b = (weights_of(c) / weights_of(c).sum() for c in (counts_f, counts_b))
    expected = w_f @ loss @ w_b
    variance = _variance_of_two_sample_average(loss, w_f, w_b, *sizes)
    assert_allclose(averages.mean(), expected, rtol=0, atol=5 * math.sqrt(variance / trials))


def _variance_of_two_sample_average(loss, w_f, w_b, n_f, n_b):
    """Exact: pairs of triplets share both samples, or one of them, or none (and then are independent)."""
    mean = w_f @ loss @ w_b
    both = w_f @ (loss - mean) ** 2 @ w_b
    only_f = w_f @ (loss @ w_b - mean) ** 2
    only_b = w_b @ (w_f @ loss - mean) ** 2
    return (both + (n_b - 1) * only_f + (n_f - 1) * only_b) / (n_f * n_b)


def test_sampling_without_replacement_leans_toward_older_samples(seed):
    frames, weights = np.arange(10), (GROWTH ** np.arange(10)).tolist()
    assert_allclose(np.average(frames, weights=weights), 7.43, atol=0.005)
    means = [reference.buffer_mean(frames, weights, size) for size in (1, 3, 6, 10)]
    assert_allclose(means, [7.43, 7.02, 6.07, 4.5], atol=0.005)  # exact, to two digits
    trials, rng = 1000, np.random.default_rng(seed)
    found = [pass_by(Reservoir(6, GROWTH, "time-weighted"), rng, [1] * 10).mean() for _ in range(trials)]
    widest = 2.0  # a mean of six of 0 ... 9 lies in [2.5, 6.5]: no standard deviation beyond half of that
    assert_allclose(np.mean(found), means[2], rtol=0, atol=5 * widest / math.sqrt(trials))


def test_sampling_with_replacement_does_not_lean(seed):
    trials, rng, size, frames = 1000, np.random.default_rng(seed), 6, np.arange(10)
    found = [pass_by(Reservoir(size, GROWTH, "with-replacement"), rng, [1] * 10).mean() for _ in range(trials)]
    share = weights_of([1] * 10) / weights_of([1] * 10).sum()
    mean = share @ frames
    variance = share @ (frames - mean) ** 2 / (size * trials)
    assert_allclose(np.mean(found), mean, rtol=0, atol=5 * math.sqrt(variance))


# --- long streams ---------------------------------------------------------------------------------


def test_the_printed_keys_stop_telling_samples_apart_within_a_hundred_frames(seed):
    """Why the keys are kept in logarithms."""
    u = np.random.default_rng(seed).random(1000)
    distinct = {f: np.unique(reference.printed_keys(u, GROWTH, np.full(1000, f))).size for f in (20, 76, 90)}
    assert distinct[20] == 1000
    assert distinct[76] < 50
    assert distinct[90] == 1
    with pytest.raises(OverflowError):
        GROWTH**1511
    for frame in (76, 90, 1511, 50_000):
        reservoir = Reservoir(1000, GROWTH, "time-weighted")
        reservoir.offer(np.random.default_rng(seed), frame, 1000)
        assert np.unique(reservoir.keys).size == 1000


@pytest.mark.parametrize("sampling", BOUNDED)
def test_a_stream_may_start_at_any_frame(sampling, seed):
    counts = [7] * 60
    early = pass_by(Reservoir(50, GROWTH, sampling), np.random.default_rng(seed), counts)
    late = pass_by(Reservoir(50, GROWTH, sampling), np.random.default_rng(seed), counts, first_frame=50_000)
    assert_array_equal(early, late)


def test_fifty_thousand_frames_and_still_sampling_in_proportion(seed):
    """Checked every 500 frames, when every slot has changed hands: what is found then is independent."""
    slots, every, rng = 100, 500, np.random.default_rng(seed)
    reservoir, ages = Reservoir(slots, GROWTH, "with-replacement"), []
    for frame in range(50_000):
        reservoir.offer(rng, frame, 1)
        if frame % every == every - 1:
            ages.append(frame - reservoir.born)
    assert np.isfinite(reservoir.keys).all()
    chances = (1 - 1 / GROWTH) * GROWTH ** -np.arange(8.0)  # of the ages 0, 1, 2 ...; the start is long gone
    for half in (ages[:50], ages[50:]):
        found = np.bincount(np.concatenate(half), minlength=8)[:8]
        assert_counts(found, chances, 50 * slots)


def test_fifty_thousand_frames_in_bounded_memory(seed):
    rng, reservoir = np.random.default_rng(seed), Reservoir(300, GROWTH, "time-weighted")
    accepted = 0
    for frame in range(50_000):
        slots, _ = reservoir.offer(rng, frame, 7)
        accepted += slots.size if frame >= 49_000 else 0
        assert len(reservoir) <= 300
    assert np.isfinite(reservoir.keys).all()
    # 300 slots at 7 a frame reach 43 frames back, where weights are 1.6^43 = 6e8 times smaller: a newcomer is
    # refused with probability exp(-6e8), and one of age 100 is still here with about 7 * 1.6^-57 = 2e-11.
    assert accepted == 7000
    assert frame - reservoir.born.min() < 100


# --- saving, refusing, not meddling ---------------------------------------------------------------


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_offering_nothing_changes_nothing(sampling, seed):
    rng, reservoir = np.random.default_rng(seed), Reservoir(5, GROWTH, sampling)
    slots, sources = reservoir.offer(rng, 0, 0)
    assert len(reservoir) == slots.size == sources.size == 0


def test_empty_slots_take_the_best_of_the_first_offer():
    slots, sources = keep_largest_per_slot(np.empty(0), np.array([[1.0, 5.0], [2.0, 4.0]]))
    assert_array_equal(slots, [0, 1])
    assert_array_equal(sources, [1, 0])


def test_the_samplings_are_those_of_the_configuration():
    choices = {name: each.metadata["choices"] for name, each, _ in TrackerConfig().settings()}
    assert choices["memory.sampling"] == SAMPLINGS
