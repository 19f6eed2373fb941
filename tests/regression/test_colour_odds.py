"""How much a colour speaks for the target."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from PIL import Image

from metrack.box import Box
from metrack.config import RegressionConfig
from metrack.regression import colour_odds
from metrack.regression.colour_odds import ColourOdds
from metrack.regression.regressor import Regressor
from reference import regression as reference

RED, GREEN, BLUE = (200, 20, 20), (20, 160, 20), (20, 20, 200)


def painted(box, inside=RED, outside=GREEN):
    frame = np.empty((120, 160, 3), np.uint8)
    frame[:] = outside
    x, y, w, h = (int(v) for v in box.to_xywh())
    frame[max(y, 0) : y + h, max(x, 0) : x + w] = inside
    return frame


def odds_of(odds, colour):
    assert np.isfinite(odds.table).all()
    red, green, blue = (value >> 3 for value in colour)
    return float(odds.table[(red * 32 + green) * 32 + blue, 0])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.floats(-20, 150), st.floats(-20, 110), st.floats(3, 60), st.floats(3, 60))
def test_shares_are_those_of_the_slow_twin(seed, x, y, w, h):
    frame = np.random.default_rng(seed).integers(0, 256, (120, 160, 3), np.uint8) // 60 * 60
    box = Box(x, y, w, h)
    odds = ColourOdds()
    odds.learn(frame, box)
    settings_ = (colour_odds.INNER, colour_odds.BESIDE, colour_odds.AROUND, colour_odds.COARSE)
    expected = reference.colour_shares(frame, box.to_xywh(), colour_odds.SAMPLES, *settings_)
    assert np.abs(odds.shares - expected).sum() < 0.02  # a sample on the border between two pixels may go either way
    assert_allclose(odds.shares.sum(axis=1), 1, rtol=1e-5)


def test_colours_of_the_target_speak_for_it_and_those_around_against_it():
    odds, box = ColourOdds(), Box(60, 40, 30, 40)
    odds.learn(painted(box), box)
    assert odds_of(odds, RED) > 0.99
    assert odds_of(odds, GREEN) < -0.99
    assert odds_of(odds, BLUE) == 0  # never seen
    assert odds_of(ColourOdds(), RED) == 0  # nothing learned


def test_a_colour_of_both_says_nothing():
    odds, box = ColourOdds(), Box(60, 40, 30, 40)
    odds.learn(painted(box, RED, RED), box)
    assert abs(odds_of(odds, RED)) < 1e-6


def test_what_is_known_follows_slowly():
    odds, box = ColourOdds(), Box(60, 40, 30, 40)
    odds.learn(painted(box), box)
    red = np.argmax(odds.shares[0])
    shares = []
    for _ in range(17):
        odds.learn(painted(box, BLUE), box)
        shares.append(float(odds.shares[0, red]))
    assert odds_of(odds, BLUE) > 0.99  # what the surroundings do not have is believed
    assert odds_of(odds, RED) > 0.99  # and nothing forgotten that they do not have either
    assert shares[0] == pytest.approx(1 - colour_odds.RATE, rel=1e-4)
    assert shares[15] > 0.5 > shares[16]  # it takes 17 frames to be most of the target


def noisy(rng, colour, *size):
    return (np.array(colour) + rng.normal(0, 12, (*size, 1))).clip(0, 255).astype(np.uint8)


def of_two_greens(rng, patch, x, y):
    """A frame of noise in a green of its own, and in it a patch of another green that is as light."""
    frame = noisy(rng, (60, 150, 40), 120, 160)
    frame[y : y + len(patch), x : x + len(patch)] = patch
    return frame


def test_a_target_that_turns_upside_down_keeps_its_place(seed):
    """Its gradients are all new, its light and the name of its colour are those around it; its colour is its own."""
    rng, box = np.random.default_rng(seed), Box(60, 40, 30, 30)
    patch = noisy(rng, (20, 160, 90), 30, 30)
    regressor = Regressor.start(RegressionConfig(), of_two_greens(rng, patch, 60, 40), box)
    found = regressor.find(of_two_greens(rng, patch[::-1, ::-1], 72, 32), box)
    assert found.box.iou(Box(72, 32, 30, 30)) > 0.7


def test_colours_have_a_say_in_the_place_and_none_in_the_size(seed):
    """However strong they are, the size found is that of the target's shape; and it is found by them, as above."""
    rng, box = np.random.default_rng(seed), Box(60, 40, 30, 30)
    patch = noisy(rng, (20, 160, 90), 30, 30)
    frame = of_two_greens(rng, patch, 60, 40)
    regressor = Regressor.start(RegressionConfig(), frame, box)
    larger = of_two_greens(rng, np.array(Image.fromarray(patch).resize((31, 31))), 60, 40)
    found, table = [], regressor.odds.table.copy()
    for factor in (0.0, 1.0, 5.0):
        regressor.odds.table[:] = factor * table
        found.append(regressor.find(larger, box))
    assert len({round(each.box.w, 6) for each in found}) == 1
    assert found[2].response > found[1].response > found[0].response
