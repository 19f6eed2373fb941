"""Saving a reservoir, and refusing what fits none."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from metrack.memory.reservoir import SAMPLINGS, Reservoir

GROWTH = 1.6


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("before", [0, 3, 80])
def test_saved_and_loaded_it_goes_on_bit_for_bit(sampling, before, seed):
    rng, reservoir = np.random.default_rng(seed), Reservoir(40, GROWTH, sampling)
    for frame in range(before):
        reservoir.offer(rng, frame, 5)
    file = io.BytesIO()
    np.savez(file, **reservoir.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        loaded = Reservoir.from_arrays(arrays, 40, GROWTH, sampling)
    same = np.random.default_rng()
    same.bit_generator.state = rng.bit_generator.state
    for frame in range(before, before + 30):
        for ours, theirs in zip(reservoir.offer(rng, frame, 5), loaded.offer(same, frame, 5), strict=True):
            assert_array_equal(ours, theirs)
    assert_array_equal(reservoir.keys, loaded.keys)
    assert_array_equal(reservoir.born, loaded.born)


def test_what_was_handed_out_does_not_change_later(seed):
    rng, reservoir = np.random.default_rng(seed), Reservoir(5, GROWTH, "uniform")
    reservoir.offer(rng, 0, 5)
    arrays, keys = reservoir.to_arrays(), reservoir.keys
    kept = {name: values.copy() for name, values in arrays.items()}
    reservoir.offer(rng, 1, 50)
    assert_array_equal(keys, kept["keys"])
    assert_array_equal(arrays["born"], kept["born"])
    assert arrays["keys"].dtype == np.float64
    assert arrays["born"].dtype == np.int64


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, 1.6, "uniform"), "size must be at least 1, got 0"),
        ((5, 0.9, "uniform"), "growth must be at least 1 and finite, got 0.9"),
        ((5, float("nan"), "uniform"), "growth must be at least 1 and finite, got nan"),
        ((5, 1.6, "uniformly"), "there is no sampling 'uniformly'; did you mean 'uniform'?"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(ValueError) as refusal:
        Reservoir(*arguments)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("keys", "born", "sampling"),
    [
        (np.zeros(3), np.zeros(2, int), "uniform"),
        (np.zeros(6), np.zeros(6, int), "uniform"),
        (np.zeros(3), np.zeros(3, int), "with-replacement"),
        (np.array([np.nan]), np.zeros(1, int), "uniform"),
        (np.zeros((2, 2)), np.zeros((2, 2), int), "uniform"),
    ],
)
def test_arrays_that_fit_no_reservoir_are_refused(keys, born, sampling):
    with pytest.raises(ValueError, match="arrays must hold finite keys and born for at most 5 slots, got shapes"):
        Reservoir.from_arrays({"keys": keys, "born": born}, 5, GROWTH, sampling)
