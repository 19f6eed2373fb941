"""Finding the target with the correlation filter: feature maps, filter, peak of the response, and all together."""

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from metrack import Tracker
from metrack.box import Box
from metrack.config import RegressionConfig
from metrack.features.window import Window
from metrack.regression import cells, hog_cells, ridge
from metrack.regression.channels import CHANNELS, Seen
from metrack.regression.colour_names import TYPICAL, is_coloured, name_table
from metrack.regression.peak import Peak, climb_from, find_peak
from metrack.regression.regressor import Regressor, label, own_cells
from metrack.synth import builtin_clip
from reference import regression as reference

CHANNEL = {channel.name: channel for channel in CHANNELS}


def textured(seed, side=48):
    rng = np.random.default_rng(seed)
    coarse = np.kron(rng.uniform(0, 150, (side // 8 + 1,) * 2), np.ones((8, 8)))[:side, :side]
    return (coarse + rng.uniform(0, 100, (side, side))).astype(np.float32)


def integral_of(grey, name="gradients", frame=None):
    """The integral image of one channel."""
    height, width = grey.shape
    integral = np.empty((height // 2 + 1, width // 2 + 1, CHANNEL[name].sums), np.float32)
    CHANNEL[name].fill(Seen(Window(grey, 0.0, 0.0, 1.0), frame, None), integral[1:, 1:])
    cells.integrate(integral)
    return integral


def planes_of(name, sums, area, taper):
    planes = np.empty((CHANNEL[name].planes, *taper.shape), np.float32)
    CHANNEL[name].finish(sums, area, taper, planes)
    return planes


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 99), st.floats(2, 10), st.floats(2, 10), st.floats(2.5, 5))
def test_cells_of_any_size_sum_what_their_pixels_contribute(seed, left, top, size):
    grey = textured(seed)
    for name, pixels in (("gradients", reference.directions_of_pixels(grey)), ("light", grey[:, :, None])):
        sums = cells.sum_cells(integral_of(grey, name), left, top, size, 6)
        for i, j in [(0, 0), (3, 5), (7, 7)]:
            expected = reference.cell_sum(pixels, left + (j - 1) * size, top + (i - 1) * size, size, cells.BLOCK)
            assert_allclose(sums[i, j], expected, atol=2e-3 * (1 + np.abs(expected).max()))


def test_cells_outside_the_window_are_empty():
    sums = cells.sum_cells(integral_of(textured(1)), -40.0, -40.0, 4.0, 6)
    assert_array_equal(sums[:4], 0)
    assert np.isfinite(sums).all()


def test_gradients_are_normalised_by_their_neighbourhood(seed):
    sums = cells.sum_cells(integral_of(textured(seed)), 8.0, 8.0, 4.0, 6)
    out = planes_of("gradients", sums, 16.0, np.full((6, 6), 0.5, np.float32))
    for i, j in [(0, 0), (2, 4), (5, 5)]:
        expected = reference.gradient_planes(sums.astype(float), i, j, hog_cells.MOST, hog_cells.NOISE)
        assert_allclose(out[:, i, j], 0.5 * expected, atol=1e-5)


def test_light_is_the_mean_grey_value_around_a_medium_one(seed):
    sums = cells.sum_cells(integral_of(textured(seed), "light"), 8.0, 8.0, 4.0, 6)
    out = planes_of("light", sums, 16.0, np.full((6, 6), 0.5, np.float32))
    assert_allclose(out[0], 0.5 * (sums[1:-1, 1:-1, 0] / 16 / 255 - 0.5), atol=1e-6)


def test_half_the_light_gives_the_same_gradients(seed):
    grey = textured(seed)
    taper = np.ones((6, 6), np.float32)
    bright, dim = (
        planes_of("gradients", cells.sum_cells(integral_of(each), 8.0, 8.0, 4.0, 6), 16.0, taper)
        for each in (grey, grey / 2)
    )
    assert_allclose(dim, bright, atol=2e-3)


def test_colours_are_called_by_their_names():
    table = name_table()
    for place, (name, colour) in enumerate(TYPICAL.items()):
        red, green, blue = (value >> 3 for value in colour)
        assert np.argmax(table[(red * 32 + green) * 32 + blue]) == place, name
    assert_allclose(table.mean(axis=0, dtype=float), 0, atol=1e-5)


def test_a_block_has_the_name_of_its_colour():
    frame = np.zeros((48, 48, 3), np.uint8)
    frame[:, 24:] = TYPICAL["red"]
    sums = cells.sum_cells(integral_of(textured(0), "colour names", frame), 8.0, 8.0, 4.0, 6)
    names = list(TYPICAL)
    shares = planes_of("colour names", sums, 16.0, np.ones((6, 6), np.float32)).transpose(1, 2, 0)
    assert (np.argmax(shares[:, :3], axis=2) == names.index("black")).all()
    assert (np.argmax(shares[:, 5:], axis=2) == names.index("red")).all()


def test_grey_in_three_channels_is_not_colour():
    grey = np.random.default_rng(0).integers(0, 256, (40, 40), np.uint8)
    assert not is_coloured(grey)
    assert not is_coloured(np.repeat(grey[:, :, None], 3, axis=2))
    assert is_coloured(np.dstack([grey, 255 - grey, grey]))


def maps_and_label(seed, channels=3, count=8):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((channels, count, count)).astype(np.float32), label(count, 0.8)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.floats(0.01, 10))
def test_one_round_is_the_ridge_regression_of_every_shift(seed, regularisation):
    maps, wanted = maps_and_label(seed)
    before = np.random.default_rng(seed + 1).standard_normal(maps.shape).astype(np.float32)
    spectra = [ridge.to_spectrum(each) for each in (maps, wanted, before)]
    found = np.empty_like(spectra[0])
    ridge.solve(spectra[0], spectra[1], spectra[2], regularisation, np.zeros_like(found), 0.0, found)
    slow = reference.ridge(maps.astype(float), wanted, before, regularisation)
    assert_allclose(np.fft.irfft2(found, s=maps.shape[1:]), slow, atol=1e-3)


def test_the_response_is_the_sum_over_the_chosen_planes_at_every_shift(seed):
    maps, _ = maps_and_label(seed)
    filter_ = np.random.default_rng(seed + 1).standard_normal(maps.shape).astype(np.float32)
    for chosen in ([True, True, True], [True, False, True]):
        spectrum = ridge.respond(ridge.to_spectrum(filter_), ridge.to_spectrum(maps), np.array(chosen))
        expected = reference.shift_matrix(maps[chosen]) @ filter_[chosen].ravel()
        assert_allclose(np.fft.irfft2(spectrum, s=maps.shape[1:]).ravel(), expected, atol=1e-4)


def loss(maps, wanted, filter_):
    return float(np.square(reference.shift_matrix(maps) @ filter_.ravel() - wanted.ravel()).sum())


def test_rounds_bring_the_filter_into_the_targets_cells(seed):
    maps, wanted = maps_and_label(seed)
    own = own_cells(8, 3.0, 3.0)
    outside = []
    for rounds in (1, 3, 12):
        spectrum = ridge.fit(ridge.to_spectrum(maps), ridge.to_spectrum(wanted), own, None, 0.0, rounds)
        filter_ = np.fft.irfft2(spectrum, s=own.shape)
        outside.append(np.abs(filter_ * (1 - own)).max() / np.abs(filter_).max())
    assert outside[0] > outside[1] > outside[2]
    assert outside[2] < 0.02
    assert loss(maps, wanted, filter_ * own) < loss(maps, wanted, np.zeros_like(maps))


def test_strong_regularisation_keeps_the_filter_as_it_is(seed):
    maps, wanted = maps_and_label(seed)
    spectra = ridge.to_spectrum(maps), ridge.to_spectrum(wanted)
    own = own_cells(8, 3.0, 3.0)
    before = ridge.fit(*spectra, own, None, 0.0, 6)
    after = ridge.fit(*spectra, own, before, 1e6, 2)
    assert_allclose(after, before, atol=1e-3 * np.abs(before).max())


@settings(max_examples=15, deadline=None)
@given(st.floats(-3, 3), st.floats(-3, 3), st.sampled_from([15, 16]))
def test_the_peak_is_found_between_cells(down, right, count):
    frequency = np.fft.fftfreq(count)
    wave = np.exp(-2j * np.pi * (frequency[:, None] * down + np.fft.rfftfreq(count) * right))
    spectrum = (ridge.to_spectrum(label(count, 1.5)) * wave).astype(np.complex64)
    peak = find_peak(spectrum)
    assert (peak.down, peak.right) == pytest.approx((down, right), abs=2e-3)
    assert peak.height == pytest.approx(1.0, abs=2e-3)


def test_no_cell_is_higher_than_the_peak(seed):
    response = np.random.default_rng(seed).standard_normal((13, 13)).astype(np.float32)  # odd: see peak.py
    peak = find_peak(ridge.to_spectrum(response))
    assert peak.height >= response.max() - 1e-5
    assert peak.height == pytest.approx(reference.response_at(response, peak.down, peak.right), abs=1e-4)


def test_climbing_finds_the_nearest_peak_and_not_the_highest():
    low, high = np.zeros((16, 16)), np.zeros((16, 16))
    low[2, 3], high[9, 12] = 1.0, 2.0
    bell = np.fft.rfft2(label(16, 1.5))
    spectrum = (bell * np.fft.rfft2(low + high)).astype(np.complex64)
    assert find_peak(spectrum) == pytest.approx((2.0, -7.0, -4.0), abs=2e-2)
    assert climb_from(spectrum, Peak(0.0, 2.4, 2.6)) == pytest.approx((1.0, 2.0, 3.0), abs=2e-2)
    assert climb_from(spectrum, Peak(0.0, -7.3, -4.2)) == pytest.approx((2.0, -7.0, -4.0), abs=2e-2)


def test_a_flat_response_has_its_peak_in_the_middle():
    peak = find_peak(ridge.to_spectrum(np.zeros((10, 10), np.float32)))
    assert (peak.down, peak.right) == (0.0, 0.0)


@pytest.fixture(scope="module")
def scene():
    rng = np.random.default_rng(3)
    coarse = np.kron(rng.uniform(30, 220, (31, 41, 3)), np.ones((8, 8, 1)))
    return np.clip(coarse + rng.normal(0, 6, coarse.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (7, -5), (-30, 12)])
def test_a_target_that_moved_is_found_where_it_went(scene, colour, dx, dy):
    frame = scene if colour else scene[:, :, 0]
    box = Box(140.0, 100.0, 40.0, 36.0)
    regressor = Regressor.start(RegressionConfig(), frame, box)
    found = regressor.find(np.roll(frame, (dy, dx), axis=(0, 1)), box)
    assert found.box.iou(Box(box.x + dx, box.y + dy, box.w, box.h)) > 0.93
    assert found.response > (0.9 if dx == dy == 0 else 0.3)


def test_a_target_that_grows_is_followed(seed):
    clip = builtin_clip(60, (320, 240), seed, occlusion=False, departure=False, twin=False, lighting=False)
    regressor, box = Regressor.start(RegressionConfig(), clip[0], clip.first_box), clip.first_box
    for index in range(1, len(clip)):
        box = regressor.find(clip[index], box).box
        regressor.learn(clip[index], box)
    assert box.iou(clip.truth[-1].box) > 0.7


def test_where_the_target_is_gone_the_response_is_low(scene):
    box = Box(140.0, 100.0, 40.0, 36.0)
    regressor = Regressor.start(RegressionConfig(), scene, box)
    other = scene[::-1, ::-1].copy()
    assert regressor.find(other, box).response < 0.5 * regressor.find(scene, box).response


@pytest.mark.parametrize("value", [0, 255])
def test_a_frame_of_nothing_gives_finite_numbers(scene, value):
    box = Box(140.0, 100.0, 40.0, 36.0)
    nothing = np.full_like(scene, value)
    for first, second in ((scene, nothing), (nothing, scene), (nothing, nothing)):
        regressor = Regressor.start(RegressionConfig(), first, box)
        found = regressor.find(second, box)
        regressor.learn(second, found.box)
        assert math.isfinite(found.response)
        assert np.isfinite(found.box.to_xywh()).all()
        assert np.isfinite(regressor.filter).all()


@pytest.mark.parametrize("box", [Box(0, 0, 6, 5), Box(300, 230, 20, 10), Box(-15, 90, 40, 90), Box(0, 0, 320, 240)])
def test_targets_at_the_border_tiny_or_as_large_as_the_frame(scene, box):
    regressor = Regressor.start(RegressionConfig(), scene, box)
    assert np.isfinite(regressor.find(scene, box).box.to_xywh()).all()


def test_the_window_of_the_search_also_serves_the_learning(scene):
    """Unless the target moved too far."""
    box, near = Box(140.0, 100.0, 40.0, 36.0), Box(142.0, 101.0, 40.0, 36.0)
    once, anew = (Regressor.start(RegressionConfig(), scene, box) for _ in range(2))
    once.find(scene, box)
    anew._window = None
    for regressor in (once, anew):
        regressor.learn(scene, near)
    gap = np.linalg.norm(once.filter - anew.filter) / np.linalg.norm(anew.filter)
    assert 0 < gap < 0.2


def test_the_map_reaches_as_far_as_asked():
    near, far = (
        dataclasses.replace(RegressionConfig(), reach=reach, cells=cells_) for reach, cells_ in ((2, 20), (4.8, 48))
    )
    rng = np.random.default_rng(5)
    frame = rng.integers(0, 256, (240, 320, 3), np.uint8)
    frame = np.kron(frame[::8, ::8], np.ones((8, 8, 1), np.uint8))
    box, moved = Box(140.0, 100.0, 32.0, 32.0), np.roll(frame, 48, axis=1)
    there = Box(188.0, 100.0, 32.0, 32.0)
    assert Regressor.start(far, frame, box).find(moved, box).box.iou(there) > 0.8
    assert Regressor.start(near, frame, box).find(moved, box).box.iou(there) < 0.5


def test_a_saved_tracker_goes_on_with_its_filter(tmp_path, seed):
    clip = builtin_clip(60, (320, 240), seed, occlusion=False, departure=False)
    tracker = Tracker(seed=seed)
    tracker.init(clip[0], clip.first_box)
    for index in range(1, 5):
        tracker.update(clip[index])
    tracker.save(tmp_path / "t.npz")
    again = Tracker.load(tmp_path / "t.npz")
    for index in range(5, 9):
        assert again.update(clip[index]) == tracker.update(clip[index])


def test_a_coloured_target_saved_without_its_colours_is_refused(tmp_path):
    clip = builtin_clip(60, (320, 240), 0, occlusion=False, departure=False)
    tracker = Tracker()
    tracker.init(clip[0], clip.first_box)
    tracker.save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as saved:
        np.savez(tmp_path / "old.npz", **{name: saved[name] for name in saved if name != "regression_colours"})
    with pytest.raises(ValueError, match="lacks 'regression_colours'"):
        Tracker.load(tmp_path / "old.npz")


def test_the_seed_decides_nothing_about_where_a_seen_target_is(seed):
    clip = builtin_clip(60, (320, 240), 0, occlusion=False, departure=False)
    boxes = []
    for each in (seed, seed + 1):
        tracker = Tracker(seed=each)
        tracker.init(clip[0], clip.first_box)
        boxes.append([tracker.update(clip[index]).box for index in range(1, 20)])
    assert boxes[0] == boxes[1]


def test_gradients_are_normalised_by_exact_roots():
    """The approximate instructions for 1 / sqrt give other last digits on another make of processor."""
    kernel = hog_cells.normalise_gradients
    fresh = njit(fastmath=kernel.targetoptions["fastmath"])(kernel.py_func)  # as a cached one cannot be looked at
    fresh(np.ones((6, 6, 18), np.float32), np.ones((4, 4), np.float32), np.empty((31, 4, 4), np.float32))
    for code in fresh.inspect_asm().values():
        assert not re.search(r"rsqrt|v?rcp\w*[sp]s", code)
        assert "sqrt" in code
