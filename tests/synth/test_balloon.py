"""The built-in clip: the truth is exact, frames depend on their number alone, and every event happens."""

import copy
import itertools

import numpy as np
import pytest

from metrack.box import Box
from metrack.synth import Clip, builtin_clip, crossing_balloons
from metrack.synth.area_sprite import AreaSprite

PLAIN = {"occlusion": False, "departure": False, "twin": False, "lighting": False}


@pytest.fixture(scope="module")
def clip() -> Clip:
    return builtin_clip()


@pytest.fixture(scope="module")
def unlit() -> Clip:
    return builtin_clip(lighting=False)


def boxes(clip: Clip) -> np.ndarray:
    return np.array([truth.box.to_xywh() for truth in clip.truth])


def centres(clip: Clip) -> np.ndarray:
    return np.array([truth.box.centre for truth in clip.truth])


def visible(clip: Clip) -> np.ndarray:
    return np.array([truth.visible for truth in clip.truth])


def changed(clip: Clip, index: int) -> np.ndarray:
    """Where the target shows: the frame against the same frame painted without it."""
    with_target, without = (clip.paint(index, with_target=flag).astype(int) for flag in (True, False))
    return np.abs(with_target - without).max(axis=2) > 2


def shown_area(clip: Clip, index: int) -> float:
    """Pixels that show the target: a white target against a black one, whatever lies behind and before it."""
    frames = []
    for grey in (255, 0):
        dyed = copy.copy(clip)
        dyed._target_sprite = AreaSprite(clip._target_sprite.table[..., 3:] * [grey, grey, grey, 1])
        frames.append(dyed[index].astype(float))
    return float(np.sum(frames[0] - frames[1])) / 3 / 255


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of every stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


# What a clip is


def test_a_clip_is_a_sized_iterable_of_rgb_frames():
    clip = builtin_clip(5, (200, 160), **PLAIN)
    frames = list(clip)
    assert len(clip) == len(frames) == len(clip.truth) == 5
    assert clip.size == (200, 160)
    assert clip.fps == 30
    assert clip.first_box == clip.truth[0].box
    assert all(frame.shape == (160, 200, 3) and frame.dtype == np.uint8 for frame in frames)


def test_any_order_of_access_and_any_instance_give_the_same_bits(clip: Clip):
    order = [250, 3, 120, 160]
    again = builtin_clip()
    for index in order:
        np.testing.assert_array_equal(clip[index], again[index])
    for index in reversed(order):
        np.testing.assert_array_equal(clip[index], again[index])
    np.testing.assert_array_equal(clip[-1], again[len(again) - 1])
    assert clip.truth == again.truth


def test_writing_into_a_frame_does_not_reach_the_clip(clip: Clip):
    before = clip[7]
    frame = clip[7]
    frame[:] = 0
    np.testing.assert_array_equal(clip[7], before)


def test_the_seed_changes_the_pixels_and_not_the_boxes():
    first, second = (builtin_clip(60, (240, 180), seed=seed) for seed in (0, 1))
    assert np.mean(first[0] != second[0]) > 0.5
    assert boxes(first).tolist() == boxes(second).tolist()


def test_noise_is_slight_and_differs_between_frames():
    clip = builtin_clip(2, **PLAIN)
    meadow = [frame[-20:].astype(float) for frame in clip]
    np.testing.assert_allclose(np.std(meadow[1] - meadow[0]), 1.5 * np.sqrt(2), rtol=0.05)


def test_the_scene_fills_every_size():
    for size in [(160, 120), (161, 333), (640, 200)]:
        clip = builtin_clip(60, size)
        unit = min(size[0] / 480, size[1] / 360)
        assert clip[20].shape == (size[1], size[0], 3)
        np.testing.assert_allclose(clip.first_box.w, 40 * unit, rtol=0.01)
        assert clip.truth[0].visible == 1
        assert {clip.truth[20].visible, clip.truth[44].visible} == {0.0}


# The truth is exact


@pytest.mark.parametrize("index", [0, 40, 75, 110, 145, 180, 220, 290])
def test_the_box_holds_the_target_and_is_tight(unlit: Clip, index: int):
    rows, cols = np.nonzero(changed(unlit, index))
    x0, y0, x1, y1 = unlit.truth[index].box.to_xyxy()
    assert unlit.truth[index].visible == 1
    painted = np.array([cols.min(), rows.min(), cols.max() + 1, rows.max() + 1])
    inside = painted - np.array([np.floor(x0), np.floor(y0), np.ceil(x1), np.ceil(y1)])
    assert (inside * [1, 1, -1, -1] >= 0).all()  # nothing is painted outside
    np.testing.assert_allclose(painted, [x0, y0, x1, y1], atol=1.1)


def test_visible_is_the_fraction_of_the_target_that_is_painted(unlit: Clip):
    whole = shown_area(unlit, 200) / unlit.truth[200].box.area
    for index in [140, *range(149, 174, 2), 180, *range(228, 256, 2), 280]:
        truth = unlit.truth[index]
        measured = shown_area(unlit, index) / (whole * truth.box.area)
        np.testing.assert_allclose(measured, truth.visible, atol=0.01, err_msg=f"frame {index}")
        assert truth.visible > 0 or measured == 0


def test_the_target_is_painted_at_subpixel_positions():
    """The centre of what is painted follows the centre of the box."""
    clip = builtin_clip(30, **PLAIN)
    gap = []
    for index in range(0, 30, 3):
        rows, cols = np.nonzero(changed(clip, index))
        box = clip.truth[index].box
        gap.append([(cols.mean() + 0.5 - box.x) / box.w, (rows.mean() + 0.5 - box.y) / box.h])
    np.testing.assert_allclose(np.ptp(gap, axis=0), 0, atol=0.02)
    np.testing.assert_allclose(np.mean(gap, axis=0)[0], 0.5, atol=0.01)


# The story


@pytest.mark.parametrize("frames", [60, 97, 180, 300, 700])
@pytest.mark.parametrize(("occlusion", "departure"), list(itertools.product([True, False], repeat=2)))
def test_motion_is_smooth_at_any_length(frames: int, occlusion: bool, departure: bool):
    clip = builtin_clip(frames, (160, 120), occlusion=occlusion, departure=departure, twin=False)
    stage = centres(clip) * 3  # back to 480 x 360
    steps = np.diff(stage, axis=0)
    assert np.hypot(*steps.T).max() < 7
    assert np.abs(np.diff(steps, axis=0)).max() < 3
    assert np.abs(np.diff(np.log(boxes(clip)[:, 2]))).max() < 0.02


def test_the_default_clip_is_mostly_visible_and_changes_scale(clip: Clip):
    scale = boxes(clip)[:, 2] / 40
    assert np.mean(visible(clip) >= 0.5) >= 0.9
    np.testing.assert_allclose([scale[0], scale.min(), scale.max()], [1, 0.73, 1.4], atol=0.02)
    np.testing.assert_allclose(boxes(clip)[:, 3] / boxes(clip)[:, 2], 52 / 40)


def test_the_target_is_hidden_then_leaves_and_returns_near_where_it_vanished(clip: Clip):
    (hidden, back), (gone, returned) = runs(visible(clip) == 0)
    assert 8 <= back - hidden + 1 <= 12
    assert 10 <= returned - gone + 1 <= 15
    assert boxes(clip)[hidden : back + 1, 0].max() < 480 - 40  # inside the frame: the cloud hides it
    assert boxes(clip)[gone : returned + 1, 0].min() >= 480 - 1e-6
    where = centres(clip)
    assert 10 < np.hypot(*(where[back + 1] - where[hidden - 1])) < 22
    assert np.hypot(*(where[returned + 1] - where[gone - 1])) < 10
    veiled = [clip._cloud[i].centre[0] - where[i, 0] for i in (hidden - 1, back + 1)]
    assert veiled[0] > 0 > veiled[1]  # it went in on one side and came out on the other
    partly = (visible(clip) > 0.1) & (visible(clip) < 0.9)
    assert partly[hidden - 6 : hidden].sum() >= 3
    assert visible(clip)[[0, 140, 200, 299]].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("frames", [60, 300])
def test_each_flag_leaves_out_its_own_event(frames: int):
    for occlusion, departure in itertools.product([True, False], repeat=2):
        clip = builtin_clip(frames, (240, 180), occlusion=occlusion, departure=departure)
        unseen = visible(clip) == 0
        outside = boxes(clip)[:, 0] >= 240
        assert (unseen & ~outside).any() == occlusion
        assert outside.any() == departure
        if not occlusion and not departure:
            assert visible(clip).tolist() == [1.0] * frames


def test_the_twin_comes_near_and_has_other_colours():
    with_twin, without = (builtin_clip(lighting=False, twin=flag) for flag in (True, False))
    assert with_twin.truth == without.truth
    gaps = []
    for index in range(0, 150, 15):
        rows, cols = np.nonzero((with_twin[index] != without[index]).any(axis=2))
        twin = Box(cols.min(), rows.min(), np.ptp(cols) + 1, np.ptp(rows) + 1)
        gaps.append(twin.centre_distance(with_twin.truth[index].box))
    assert min(gaps) < 70
    assert gaps[0] > 200 < gaps[0] + gaps[-1]
    colours = [sprite.table[-1, -1] for sprite in (with_twin._target_sprite, with_twin._twin_sprite)]  # their sums
    assert colours[0][0] > colours[0][1] * 1.2  # the target is red, the twin is not
    assert colours[1][0] < colours[1][1] * 1.2


def test_the_light_dims_and_returns(clip: Clip, unlit: Clip):
    assert clip.truth == unlit.truth
    ratio = np.array([clip[i].mean() / unlit[i].mean() for i in (0, 60, 104, 120, 136, 165, 299)])
    np.testing.assert_allclose(ratio[[0, 1, 5, 6]], 1, atol=1e-6)
    assert 0.5 < ratio[3] < 0.65
    assert ratio[3] < ratio[2] < 0.95
    assert ratio[3] < ratio[4] < 0.95


# Two balloons


def test_crossing_balloons_pass_each_other_half_way():
    frames, boxes = zip(*crossing_balloons(20, speed=5.0, apart=8.0), strict=True)
    gaps = np.array([[second.x - first.x, second.y - first.y] for first, second in boxes])
    assert frames[0].shape == (240, 320, 3)
    np.testing.assert_allclose(gaps[[0, 10], 0], [-100, 0])
    np.testing.assert_allclose(gaps[:, 1], 8)
    alike = next(crossing_balloons(20, speed=5.0, apart=8.0, alike=True))[0]
    rows, cols = np.nonzero((alike != frames[0]).any(axis=2))
    second = boxes[0][1].grow(1, 1)
    assert second.contains(Box(cols.min(), rows.min(), np.ptp(cols) + 1, np.ptp(rows) + 1))  # only its colours differ


# Wrong arguments


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"frames": 59}, "frames must be a whole number of at least 60, got 59"),
        ({"frames": 0, **PLAIN}, "frames must be a whole number of at least 1, got 0"),
        ({"frames": 100.0}, "frames must be a whole number of at least 60, got 100.0"),
        ({"frames": True, **PLAIN}, "frames must be a whole number of at least 1, got True"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": None}, "seed must be a whole number of at least 0, got None"),
        ({"size": (159, 120)}, "width in size must be a whole number of at least 160, got 159"),
        ({"size": (160, 119.5)}, "height in size must be a whole number of at least 120, got 119.5"),
        ({"size": 480}, "size must be two whole numbers, width and height, got 480"),
        ({"size": (480, 360, 3)}, r"size must be two whole numbers, width and height, got \(480, 360, 3\)"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(arguments: dict, sentence: str):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        builtin_clip(**arguments)


@pytest.mark.parametrize("index", [60, -61])
def test_there_is_no_frame_beyond_the_end(index: int):
    with pytest.raises(IndexError, match=f"frame must be between -60 and 59, got {index}"):
        builtin_clip(60, (160, 120))[index]


def test_one_frame_is_enough_for_a_plain_clip():
    clip = builtin_clip(1, **PLAIN)
    assert len(list(clip)) == 1
    assert clip.truth[0].visible == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"frames": 10**9},
        {"size": (10**6, 120)},
        {"size": "x" * 10**6},
        {"seed": 2**64},
        {"twin": "no"},
        {"frames": True},
    ],
)
def test_clips_that_would_never_be_painted_are_refused(arguments):
    with pytest.raises(ValueError, match=" must be ") as refusal:
        builtin_clip(**arguments)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("arguments", [{"speed": float("nan")}, {"apart": "far"}, {"alike": 2}, {"frames": 0}])
def test_crossing_balloons_are_checked_before_the_first_frame(arguments):
    with pytest.raises(ValueError, match=" must be "):
        crossing_balloons(**arguments)


def test_a_frame_is_chosen_by_a_whole_number():
    clip = builtin_clip(1, (160, 120), occlusion=False, departure=False)
    for index in ("0", 0.5, slice(0, 1)):
        with pytest.raises(TypeError):
            clip[index]
    with pytest.raises(IndexError, match="frame must be between -1 and 0"):
        clip[10**400]
