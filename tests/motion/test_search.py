import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack.box import Box
from metrack.motion.random_walk import Bounds
from metrack.motion.search import SCALE_REACH, scatter, search_region, window_of

BOUNDS = Bounds(20, 30, 320, 240)


def test_the_region_grows_until_it_is_the_frame():
    last = Box(100, 100, 20, 30)
    regions = [search_region(last, unseen, BOUNDS) for unseen in range(40)]
    areas = [region.area for region in regions]
    assert areas == sorted(areas)
    assert regions[0].contains(last)
    assert regions[0].area < 0.1 * 320 * 240
    assert regions[-1] == Box(0, 0, 320, 240)


@given(st.floats(-200, 500), st.floats(-200, 400), st.integers(0, 10_000))
def test_the_region_never_leaves_the_frame(x, y, unseen):
    left, top, right, bottom = search_region(Box(x, y, 20, 30), unseen, BOUNDS).to_xyxy()
    assert left >= 0
    assert top >= 0
    assert right <= max(left + 1, 320)
    assert bottom <= max(top + 1, 240)


@given(st.floats(1, 1e6), st.integers(0, 1000))
def test_no_more_is_searched_in_a_frame_than_allowed_and_all_of_it_in_time(most, number):
    region = Box(10, 20, 300, 200)
    window = window_of(np.random.default_rng(number), region, most)
    assert window.area <= min(most, region.area) * (1 + 1e-9)
    assert region.grow(1e-6, 1e-6).contains(window)
    if most >= region.area:
        np.testing.assert_allclose(window.to_xywh(), region.to_xywh(), atol=1e-9)


def test_parts_of_a_large_region_are_searched_in_turn(seed):
    rng = np.random.default_rng(seed)
    seen = np.zeros((20, 30), bool)
    for _ in range(60):
        x, y, w, h = window_of(rng, Box(0, 0, 300, 200), 15_000).to_xywh()
        seen[int(y / 10) + 1 : int((y + h) / 10), int(x / 10) + 1 : int((x + w) / 10)] = True
    assert seen[3:-3, 3:-3].all()


@pytest.mark.parametrize("count", [1, 7, 600])
def test_candidates_cover_the_region_evenly(count, seed):
    region = Box(40, 20, 200, 100)
    states = scatter(np.random.default_rng(seed), count, region, 0.1, BOUNDS)
    assert abs(len(states) - count) <= 0.1 * count + 3
    inside = (states[:, :2] >= (40, 20)).all() and (states[:, :2] <= (240, 120)).all()
    assert inside
    assert np.abs(states[:, 2] - 0.1).max() <= SCALE_REACH + 1e-9
    if count == 600:  # no place is farther from a candidate than the diagonal of two cells
        places = np.random.default_rng(seed + 1).uniform((40, 20), (240, 120), (200, 2))
        gaps = np.linalg.norm(places[:, None] - states[:, :2], axis=2).min(axis=1)
        assert gaps.max() < 2 * np.hypot(200, 100) / np.sqrt(600) * 1.2


def test_every_frame_looks_at_other_places(seed):
    rng = np.random.default_rng(seed)
    first, second = (scatter(rng, 50, Box(0, 0, 320, 240), 0.0, BOUNDS) for _ in range(2))
    assert not np.isclose(first, second).all(axis=1).any()
