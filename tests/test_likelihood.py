"""What colours say of where the target is, and what a faint answer changes."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.fft import irfft2

from metrack.box import Box
from metrack.config import RegressionConfig
from metrack.regression import likelihood
from metrack.regression.likelihood import Likelihood
from metrack.regression.peak import find_peak
from metrack.regression.regressor import Regressor, label
from metrack.regression.ridge import to_spectrum
from reference import regression as reference

RED, BLUE, GREEN = (200, 30, 40), (30, 40, 190), (20, 160, 50)


def likely(shares):
    column = np.empty(32**3, np.float32)
    Likelihood(shares).write(column)
    return lambda colour: float(column[((colour[0] >> 3) * 32 + (colour[1] >> 3)) * 32 + (colour[2] >> 3)])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.floats(-8, 30), st.floats(-8, 30), st.floats(3, 25), st.floats(3, 25))
def test_colours_are_counted_inside_and_around(seed, x, y, w, h):
    frame = np.random.default_rng(seed).integers(0, 256, (40, 50, 3), np.uint8)
    counted = likelihood.count_colours(frame, x, y, w, h, 0.77)
    expected = reference.colour_counts(frame, (x, y, w, h), 0.77, likelihood.LEVELS, likelihood.INNER)
    assert_array_equal(counted, expected)


def test_a_colour_of_the_target_is_likely_and_one_around_it_is_not():
    frame = np.full((60, 80, 3), BLUE, np.uint8)
    frame[20:40, 30:50] = RED
    colours = Likelihood()
    colours.learn(frame, Box(30.0, 20.0, 20.0, 20.0), 1.0)
    of = likely(colours.shares)
    assert of(RED) > 0.99
    assert of(BLUE) < 0.01
    assert of(GREEN) == pytest.approx(0.5)


def test_what_was_counted_before_is_forgotten_slowly():
    frame, other = np.full((60, 80, 3), BLUE, np.uint8), np.full((60, 80, 3), BLUE, np.uint8)
    frame[20:40, 30:50], other[20:40, 30:50] = RED, GREEN
    colours, box = Likelihood(), Box(30.0, 20.0, 20.0, 20.0)
    colours.learn(frame, box, 1.0)
    colours.learn(other, box, 1.0)
    assert_allclose(sorted(colours.shares[0])[-2:], [likelihood.RATE, 1 - likelihood.RATE], rtol=1e-6)
    assert_allclose(colours.shares.sum(axis=1), 1, rtol=1e-5)


@given(st.integers(0, 99), st.floats(0.4, 9), st.floats(0.4, 9), st.sampled_from([9, 10]))
@settings(max_examples=10, deadline=None)
def test_every_shift_has_the_mean_over_the_box(seed, height, width, count):
    cells = np.random.default_rng(seed).random((count, count)).astype(np.float32)
    spectrum = to_spectrum(cells) * likelihood.box_spectrum(count, height, width)
    expected = reference.means_over_a_box(cells, height, width)
    assert_allclose(irfft2(spectrum, s=(count, count)), expected, atol=1e-5)


def patch(rng, colour, side=32):
    light = np.kron(rng.uniform(0.5, 1.2, (side // 4, side // 4, 1)), np.ones((4, 4, 1)))
    return np.clip(light * np.array(colour), 0, 255).astype(np.uint8)


def scene(rng, colour, x, y):
    """Blocks of bluish grey, and something coloured on them."""
    light = np.kron(rng.uniform(40, 130, (40, 50, 1)), np.ones((6, 6, 1)))
    frame = (light * np.array([0.8, 0.9, 1.3])).astype(np.uint8)
    frame[y : y + 32, x : x + 32] = patch(rng, colour)
    return frame


@pytest.mark.parametrize(("height", "chosen"), [(0.4, (-3, 9)), (0.95, (6, -4)), (1.2, (6, -4))])
def test_of_two_places_a_faint_answer_leaves_the_choice_to_colours(height, chosen):
    """The filter answers a little more at one place, and the target's colours are at the other."""
    rng = np.random.default_rng(0)
    regressor = Regressor.start(RegressionConfig(), scene(rng, RED, 130, 100), Box(130.0, 100.0, 32.0, 32.0))
    count = regressor.config.cells
    answer = height * (np.roll(bell(count), (6, -4), (0, 1)) + 0.9 * np.roll(bell(count), (-3, 9), (0, 1)))
    sums = np.zeros((count + 2, count + 2, 31), np.float32)
    middle = count // 2 + 1
    sums[middle - 3 - 5 : middle - 3 + 5, middle + 9 - 5 : middle + 9 + 5, -1] = 16.0
    spectrum = to_spectrum(answer)
    peak = regressor._helped_by_colours(spectrum, find_peak(spectrum), sums, 16.0)
    assert_allclose((peak.down, peak.right), chosen, atol=1)


def bell(count):
    return label(count, 1.5)


def test_where_the_answer_is_firm_colours_have_no_say():
    rng = np.random.default_rng(1)
    frame, box = scene(rng, RED, 130, 100), Box(130.0, 100.0, 32.0, 32.0)
    both = [
        Regressor.start(dataclasses.replace(RegressionConfig(), colours=colours), frame, box)
        for colours in ("yes", "no")
    ]
    for regressor in both:
        regressor.height *= 0.5  # the same frame now answers twice as high as is usual
    assert both[0].find(frame, box) == both[1].find(frame, box)


@pytest.mark.parametrize(("response", "readier"), [(0.3, True), (1.0, False), (1.4, False)])
def test_a_faint_answer_makes_the_filter_change_more_readily(response, readier):
    rng = np.random.default_rng(2)
    first, second = scene(rng, RED, 130, 100), scene(rng, RED, 130, 100)
    box, changes = Box(130.0, 100.0, 32.0, 32.0), []
    for yielding in (0.0, 4.0):
        regressor = Regressor.start(dataclasses.replace(RegressionConfig(), yielding=yielding), first, box)
        before, regressor._response = regressor.filter, response
        regressor.learn(second, box)
        changes.append(np.linalg.norm(regressor.filter - before) / np.linalg.norm(before))
    assert (changes[1] > 1.5 * changes[0]) if readier else (changes[1] == changes[0])
