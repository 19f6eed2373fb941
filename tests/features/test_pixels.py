import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box
from metrack.config import FeatureConfig
from metrack.features import pixels
from metrack.features.extractor import ENERGY, Extractor
from metrack.features.window import Window, cut_window
from reference import window as reference

ROUNDING = 2e-4  # of a descriptor's length, for flat patches of bright pixels; otherwise 1e-6. Measured: 5e-5


def textured(seed, shape=(40, 50)):
    return np.random.default_rng(seed).uniform(0, 255, size=shape).astype(np.float32)


@settings(max_examples=30)
@given(
    draw=st.integers(0, 2**32),
    box=st.tuples(st.floats(-30, 60), st.floats(-30, 50), st.floats(0.5, 60), st.floats(0.5, 60)),
    side=st.integers(2, 9),
)
def test_agrees_with_the_slow_twin(draw, box, side):
    window = Window(textured(draw, (25, 30)), 4.0, -3.0, 0.8)
    expected = reference.patch(window.grey, window.to_window(np.array([box]))[0], side, 0.7)
    actual = pixels.describe(window, np.array([box]), side, 0.7)
    assert actual.shape == (1, side * side)
    assert_allclose(actual[0], expected, rtol=0, atol=ROUNDING * np.sqrt(0.7))


def test_by_hand():
    window = Window(np.array([[0, 0, 10, 10], [0, 0, 10, 10]], np.float32), 0.0, 0.0, 1.0)
    patch = pixels.describe(window, np.array([[0.0, 0.0, 4.0, 2.0]]), 2, 4.0)[0]
    # read between the first two and between the last two columns: 0 and 10, so -5 and 5 around a mean of 1, twice
    unit = np.sqrt(4.0 / (2 * 4**2 + 2 * 6**2))
    assert_allclose(patch, [-4 * unit, 6 * unit, -4 * unit, 6 * unit], rtol=1e-6)


@pytest.mark.parametrize("energy", [0.01, 0.6, 5.0])
def test_mean_nearly_zero_and_squared_length_the_energy(energy, seed):
    rng = np.random.default_rng(seed)
    window = Window(textured(seed), 0.0, 0.0, 1.0)
    boxes = np.column_stack([rng.uniform(-5, 25, size=(20, 2)), rng.uniform(10, 30, size=(20, 2))])
    patches = pixels.describe(window, boxes, 12, energy)
    assert patches.dtype == np.float32
    # one grey level of mean is held against about seventy of structure
    assert_allclose(patches.mean(axis=1), 0, atol=0.03 * np.sqrt(energy) / 12)
    assert_allclose(np.square(patches).sum(axis=1), energy, rtol=1e-5)


def test_a_flat_patch_is_uniform_and_as_long_as_any():
    for level in (0.0, 255.0):
        window = Window(np.full((20, 20), level, np.float32), 0.0, 0.0, 1.0)
        patches = pixels.describe(window, np.array([[2, 3, 9, 9], [-50, 90, 9, 9.0]]), 5, 1.0)
        assert_allclose(patches, 0.2, rtol=1e-4)


def test_faint_noise_is_not_blown_up(seed):
    faint = 100 + 1e-2 * np.random.default_rng(seed).standard_normal((30, 30))
    patch = pixels.describe(Window(faint.astype(np.float32), 0, 0, 1.0), np.array([[3.0, 3, 20, 20]]), 10, 1.0)
    assert_allclose(patch, 0.1, atol=0.01)


def test_contrast_and_brightness_hardly_matter(seed):
    box, grey = np.array([[4.2, 5.1, 25.0, 20.0]]), textured(seed)
    first = pixels.describe(Window(grey, 0, 0, 1.0), box, 10, 1.0)
    other = pixels.describe(Window(grey / 2 + 60, 0, 0, 1.0), box, 10, 1.0)
    assert_allclose(other, first, rtol=0, atol=3e-3)


def test_rows_do_not_depend_on_each_other_and_inputs_are_untouched(seed):
    grey, boxes = textured(seed), np.array([[1.5, 2.5, 20, 20], [8, 3, 12, 25.0]])
    window, before = Window(grey.copy(), 0.0, 0.0, 1.0), boxes.copy()
    together = pixels.describe(window, boxes, 8, 1.0)
    alone = [pixels.describe(window, box[None], 8, 1.0)[0] for box in boxes]
    assert_allclose(together, alone, rtol=0, atol=1e-6)
    assert_array_equal(window.grey, grey)
    assert_array_equal(boxes, before)


def test_the_extractor_gives_what_the_steps_give(seed):
    frame = np.random.default_rng(seed).integers(0, 256, size=(60, 70, 3), dtype=np.uint8)
    region, boxes = Box(5, 6, 50, 40), np.array([[10.0, 12, 20, 18], [22.5, 14.5, 20, 18]])
    extractor = Extractor(FeatureConfig(kind="pixels"))
    expected = pixels.describe(cut_window(frame, region, 1.3), boxes, pixels.SIDE, ENERGY)
    assert_array_equal(extractor.look(frame, region, 1.3).describe(boxes), expected)
    assert extractor.dimension == 400
