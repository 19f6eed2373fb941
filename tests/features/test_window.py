import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box
from metrack.features.window import LARGEST_SIDE, cut_window
from reference import window as reference

ROUNDING = 1e-3  # grey levels, of single precision. Measured: 4e-5


def noise(seed, shape):
    return np.random.default_rng(seed).integers(0, 256, size=shape, dtype=np.uint8)


def assert_agrees(frame, region, zoom):
    window = cut_window(frame, region, zoom)
    expected = reference.resample(frame, window.left, window.top, window.zoom, window.grey.shape)
    assert window.grey.dtype == np.float32
    assert_allclose(window.grey, expected, rtol=0, atol=ROUNDING)


@settings(max_examples=40)
@given(
    draw=st.integers(0, 2**32),
    colour=st.booleans(),
    x=st.floats(-15, 25),
    y=st.floats(-15, 20),
    w=st.floats(0.5, 12),
    h=st.floats(0.5, 12),
    zoom=st.floats(0.15, 2.0),
)
def test_every_pixel_agrees_with_the_slow_twin(draw, colour, x, y, w, h, zoom):
    assert_agrees(noise(draw, (14, 17, 3) if colour else (14, 17)), Box(x, y, w, h), zoom)


@pytest.mark.parametrize("zoom", [0.25, 0.4, 1.0, 1.7, 3.0])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 5, 3)])
def test_frames_smaller_than_the_filter(shape, zoom, seed):
    assert_agrees(noise(seed, shape), Box(-2.3, -1.6, 7.0, 5.0), zoom)


def test_grey_is_the_usual_mixture_of_red_green_and_blue():
    frame = np.zeros((4, 4, 3), np.uint8)
    frame[0, 0], frame[1, 1], frame[2, 2], frame[3, 3] = (
        (255, 0, 0),
        (0, 255, 0),
        (0, 0, 255),
        (255, 255, 255),
    )
    grey = cut_window(frame, Box(0, 0, 4, 4), 1.0).grey
    assert_allclose(np.diag(grey), [76.245, 149.685, 29.07, 255.0], atol=ROUNDING)


@pytest.mark.parametrize("zoom", [0.1, 0.3, 1.0, 1.37, 4.0])
@pytest.mark.parametrize("level", [0, 77, 255])
def test_a_constant_image_stays_constant(zoom, level):
    frame = np.full((30, 40, 3), level, np.uint8)
    grey = cut_window(frame, Box(-7.3, 11.2, 60.0, 33.3), zoom).grey
    assert_allclose(grey, level, rtol=0, atol=ROUNDING)


def test_at_zoom_one_and_whole_pixels_nothing_changes(seed):
    frame = noise(seed, (40, 50))
    assert_array_equal(cut_window(frame, Box(7, 11, 20, 16), 1.0).grey, frame[11:27, 7:27])


def test_the_border_is_repeated_outside_of_the_frame(seed):
    frame = noise(seed, (12, 10))
    grey = cut_window(frame, Box(-6, -5, 23, 24), 1.0).grey
    assert_array_equal(grey, np.pad(frame, ((5, 7), (6, 7)), mode="edge"))


@pytest.mark.parametrize(
    ("x", "y", "corner"),
    [(-1e4, -1e4, (0, 0)), (1e4, -1e4, (0, -1)), (-1e4, 1e4, (-1, 0)), (1e4, 1e4, (-1, -1))],
)
def test_far_outside_there_is_only_the_corner(x, y, corner, seed):
    frame = noise(seed, (12, 10))
    grey = cut_window(frame, Box(x, y, 30, 20), 0.7).grey
    assert_allclose(grey, frame[corner], rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("zoom", [0.5, 0.25, 0.125])
def test_shrinking_averages_instead_of_skipping(zoom):
    board = np.indices((64, 64)).sum(axis=0) % 2 * np.uint8(255)
    grey = cut_window(board.astype(np.uint8), Box(16, 16, 32, 32), zoom).grey
    assert_allclose(grey, 127.5, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("zoom", [1.5, 2.0, 5.0])
def test_enlarging_keeps_a_ramp_a_ramp(zoom):
    frame = np.tile(np.arange(0, 200, 4, dtype=np.uint8), (20, 1))
    window = cut_window(frame, Box(10, 5, 20, 10), zoom)
    middles = 10 + (np.arange(window.grey.shape[1]) + 0.5) / zoom
    assert_allclose(window.grey, np.tile(4 * (middles - 0.5), (len(window.grey), 1)), rtol=0, atol=ROUNDING)


@given(
    x=st.floats(-500, 500),
    y=st.floats(-500, 500),
    zoom=st.floats(0.05, 8),
    box=st.tuples(st.floats(-900, 900), st.floats(-900, 900), st.floats(1, 300), st.floats(1, 300)),
)
def test_window_coordinates_and_back(x, y, zoom, box):
    window = cut_window(np.zeros((5, 5), np.uint8), Box(x, y, 9, 7), zoom)
    placed = window.to_window(np.array([box]))[0]
    back = placed / window.zoom + [window.left, window.top, 0, 0]
    assert_allclose(back, box, rtol=1e-12, atol=1e-9)


@given(x=st.floats(-50, 50), y=st.floats(-50, 50), w=st.floats(1, 90), h=st.floats(1, 90), zoom=st.floats(0.1, 3))
def test_the_window_holds_its_region_and_less_than_a_pixel_more(x, y, w, h, zoom):
    window = cut_window(np.zeros((9, 9), np.uint8), Box(x, y, w, h), zoom)
    left, top, wide, high = window.to_window(np.array([[x, y, w, h]]))[0]
    height, width = window.grey.shape
    assert_allclose([left, top], 0, atol=1e-9)
    for pixels, needed in ((width, wide), (height, high)):
        assert needed <= pixels + 1e-9
        assert pixels == 2 or pixels - 1 < needed + 1e-9


def test_a_region_too_large_is_shown_smaller():
    window = cut_window(np.zeros((50, 60), np.uint8), Box(-2000, 0, 8 * LARGEST_SIDE, 300), 1.0)
    assert_allclose(window.zoom, 1 / 8)
    assert window.grey.shape == (38, LARGEST_SIDE)


def test_a_frame_that_is_a_view_is_read_as_it_is_seen_and_left_alone(seed):
    frame = noise(seed, (40, 60, 3))
    view, before = frame[::2, ::-1], frame.copy()
    region = Box(3.3, 2.1, 20, 12)
    seen = cut_window(view, region, 0.8).grey
    assert_array_equal(seen, cut_window(np.ascontiguousarray(view), region, 0.8).grey)
    assert_array_equal(frame, before)
