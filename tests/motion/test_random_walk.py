import numpy as np
import pytest

from metrack.box import Box
from metrack.checks import SMALLEST_SIDE
from metrack.motion.random_walk import Bounds, step

FIRST = Box(100, 80, 64, 16)  # geometric mean side 32
BOUNDS = Bounds.around(FIRST, (10_000, 10_000, 3))


def test_a_state_is_a_box_and_back():
    box = Box.from_centre(300, 200, 128, 32)
    state = BOUNDS.to_state(box)
    np.testing.assert_allclose(state, [300, 200, np.log(2)])
    np.testing.assert_allclose(BOUNDS.to_boxes(state[None]), [box.to_xywh()])


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_steps_have_the_spread_asked_for_in_pixels_of_the_normal_size(seed, scale):
    count = 20_000
    states = np.tile([5000.0, 5000.0, np.log(scale)], (count, 1))
    moved = step(np.random.default_rng(seed), states, (10.0, 0.02), BOUNDS, base_size=16) - states
    expected = np.array([20 * scale, 20 * scale, 0.02])  # a target of 32 pixels brought to 16: a pixel there is two
    five_sigma = 5 * expected / np.sqrt(2 * count)
    np.testing.assert_array_less(np.abs(moved.std(axis=0) - expected), five_sigma)
    np.testing.assert_array_less(np.abs(moved.mean(axis=0)), 5 * expected / np.sqrt(count))


def test_states_stay_in_the_frame_and_boxes_useful(seed):
    bounds = Bounds.around(Box(10, 10, 20, 30), (90, 120))
    wild = np.random.default_rng(seed).normal(0, 500, (200, 3))
    boxes = bounds.to_boxes(bounds.clip(wild))
    centres = boxes[:, :2] + boxes[:, 2:] / 2
    assert (centres >= -1e-9).all()
    assert (centres <= [120 + 1e-9, 90 + 1e-9]).all()
    assert boxes[:, 2:].min() >= SMALLEST_SIDE - 1e-9
    assert (boxes[:, 2:].max(axis=0) <= [60 + 1e-9, 90 + 1e-9]).all()


def test_no_spread_no_step(seed):
    states = np.tile([50.0, 60.0, 0.1], (5, 1))
    np.testing.assert_array_equal(step(np.random.default_rng(seed), states, (0.0, 0.0), BOUNDS, 32), states)
