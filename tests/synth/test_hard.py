"""Hard painted sequences: the truth is exact, the seed decides, and every difficulty is what its name says."""

import pickle

import numpy as np
import pytest

from metrack.evaluation.pictures import HardPictures
from metrack.evaluation.sequences import is_painted, read_sequences
from metrack.synth import DIFFICULTIES, hard_clip
from metrack.synth.sprite import Pose


@pytest.fixture(scope="module")
def clips():
    return {name: hard_clip(name, 40) for name in DIFFICULTIES}


def boxes(clip):
    return np.array([truth.box.to_xywh() for truth in clip.truth])


def steps(clip):
    """How far the centre goes from frame to frame, in sizes of the target."""
    at = boxes(clip)
    centres, sizes = at[:, :2] + at[:, 2:] / 2, np.sqrt(at[:, 2] * at[:, 3])
    return np.hypot(*np.diff(centres, axis=0).T) / sizes[1:]


def test_to_sprite_is_the_inverse_of_to_frame():
    pose = Pose(100, 80, 40, 20, 0.7, (0.3, -0.2), (1.0, 2.0))
    u, v = np.random.default_rng(0).uniform(-1, 1, (2, 50))
    np.testing.assert_allclose(pose.to_sprite(*pose.to_frame(u, v)), (u, v), atol=1e-12)


@pytest.mark.parametrize("difficulty", ["deformation", "plain", "rotation", "scale", "small"])
@pytest.mark.parametrize("index", [0, 23])
def test_the_box_holds_what_is_painted_and_is_tight(clips, difficulty, index):
    clip = clips[difficulty]
    with_target, without = (clip.paint(index, with_target=flag).astype(int) for flag in (True, False))
    rows, cols = np.nonzero(np.abs(with_target - without).max(axis=2) > 2)
    painted = [cols.min(), rows.min(), cols.max() + 1, rows.max() + 1]
    np.testing.assert_allclose(painted, clip.truth[index].box.to_xyxy(), atol=2.0)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_target_begins_in_full_view_and_stays_in_the_frame(difficulty, seed):
    clip = hard_clip(difficulty, 40, seed)
    at = boxes(clip)
    assert (at[:, :2] >= 0).all()
    assert (at[:, 0] + at[:, 2] <= 320).all()
    assert (at[:, 1] + at[:, 3] <= 240).all()
    assert clip.truth[0].visible > 0.9


def test_frames_depend_on_their_index_and_the_seed_alone(clips):
    again = hard_clip("small", 40)
    np.testing.assert_array_equal(clips["small"][7], again[7])
    np.testing.assert_array_equal(clips["small"][-1], again[39])
    assert again.truth == clips["small"].truth
    other = hard_clip("small", 40, seed=1)
    assert np.mean(other[7] != again[7]) > 0.5
    assert other.truth != again.truth


def test_every_difficulty_is_what_its_name_says(clips):
    size = {name: np.sqrt(np.prod(boxes(clip)[:, 2:], axis=1)) for name, clip in clips.items()}
    shape = {name: boxes(clip)[:, 2] / boxes(clip)[:, 3] for name, clip in clips.items()}
    light = {name: np.mean([clips[name][k] for k in range(0, 40, 5)], axis=(1, 2, 3)) for name in ("lighting", "plain")}
    fine = {name: [np.abs(np.diff(clips["blur"][k].astype(int), axis=1)).mean() for k in name] for name in ((0,), (8,))}
    visible = np.array([truth.visible for truth in clips["occlusion"].truth])
    assert np.quantile(steps(clips["fast"]), 0.9) > 0.4 > np.quantile(steps(clips["plain"]), 0.9)
    assert size["scale"].max() > 2 * size["scale"].min()
    assert size["small"].max() < 16
    assert shape["deformation"].max() > 1.5 * shape["deformation"].min()
    assert shape["rotation"].max() > 1.3 * shape["rotation"].min()
    assert light["lighting"].max() > 3 * light["lighting"].min()
    assert light["plain"].max() < 1.1 * light["plain"].min()
    assert fine[(0,)][0] > 1.5 * fine[(8,)][0]
    assert visible.min() < 0.1
    assert np.mean(visible > 0.9) > 0.3
    assert min(truth.visible for truth in clips["twins"].truth) < 0.95


def test_visible_counts_what_hides_the_target(clips):
    """The share of it that still changes the frame when it is taken away."""
    clip = clips["occlusion"]
    index = int(np.argmin([abs(truth.visible - 0.5) for truth in clip.truth]))
    shown = {}
    for frame in (0, index):
        with_target, without = (clip.paint(frame, with_target=flag).astype(int) for flag in (True, False))
        area = clip.truth[frame].box.area
        shown[frame] = (np.abs(with_target - without).max(axis=2) > 2).sum() / area
    np.testing.assert_allclose(shown[index] / shown[0], clip.truth[index].visible, atol=0.1)


def test_pictures_can_be_sliced_and_pickled():
    pictures = HardPictures("small", 8, 2, stop=8)
    frames = list(pictures)
    np.testing.assert_array_equal(list(pictures.part(2, 6).part(1)), frames[3:6])
    sent = pickle.loads(pickle.dumps(pictures.part(5)))
    np.testing.assert_array_equal(list(sent), frames[5:])


def test_sequences_by_name():
    found = {each.name: each for each in read_sequences("hard:3")}
    assert list(found) == [f"hard-{name}-3" for name in DIFFICULTIES]
    small = found["hard-small-3"]
    assert len(small) == len(small.pictures) == 120
    assert small.attributes == ("small",)
    assert found["hard-occlusion-3"].tags["occlusion"].any()
    assert is_painted("hard")
    assert not is_painted("harder")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("twinz",), "difficulty must be one that is known, got 'twinz'; did you mean 'twins'?"),
        (("twins", 0), "frames must be a whole number of at least 1, got 0"),
        (("twins", 2, -1), "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(ValueError) as error:
        hard_clip(*arguments)
    assert str(error.value) == sentence


def test_a_seed_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="dataset must be hard or hard: with a whole number, got 'hard:x'"):
        read_sequences("hard:x")
