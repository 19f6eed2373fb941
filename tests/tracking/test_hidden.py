"""A target that is hidden or lost is waited for, searched for and found again."""

import numpy as np

from metrack import Box
from metrack.features.extractor import BASE_SIZE
from support.tracking import LIGHT, follow, started


def test_default_holds_still_while_the_target_is_hidden(clip, seed):
    config = LIGHT.replace({"memory.learn_when": "tracking"})
    tracker = started(clip, config, seed)
    follow(tracker, clip, 20)
    before = tracker.appearance.to_arrays()
    noise = np.random.default_rng(seed).integers(0, 256, clip[0].shape, np.uint8)
    hidden = [tracker.update(noise) for _ in range(5)]
    assert {e.state for e in hidden} == {"occluded"}
    for name, array in tracker.appearance.to_arrays().items():
        np.testing.assert_array_equal(array, before[name])
    spreads = [e.info.particles[: config.motion.explorers, 0].std() for e in hidden]
    assert spreads[-1] > 1.5 * spreads[0]
    assert tracker.update(clip[21]).box.iou(clip.truth[21].box) > 0.5


def test_long_unseen_the_cloud_stays_in_reach_and_the_target_at_its_size(clip):
    tracker = started(clip, LIGHT.replace({"memory.learn_when": "tracking"}))
    follow(tracker, clip, 20)
    noise = np.random.default_rng(0).integers(0, 256, clip[0].shape, np.uint8)
    hidden = [tracker.update(noise) for _ in range(80)]
    assert hidden[-1].state == "lost"
    sizes = np.sqrt(np.prod(hidden[-1].info.particles[:, 2:], axis=1))
    np.testing.assert_allclose(sizes.mean(), np.sqrt(clip.truth[20].box.area), rtol=0.25)
    assert hidden[-1].info.steps_taken == 0
    spread = hidden[-1].info.particles[: LIGHT.motion.explorers, :2].std(axis=0)
    assert (spread < 8 * LIGHT.motion.shift_std * sizes.mean() / BASE_SIZE).all()


def test_a_lost_target_is_searched_for_in_the_whole_frame(clip, seed):
    config = LIGHT.replace({"memory.learn_when": "tracking", "search.candidates": 200})
    tracker = started(clip, config, seed)
    follow(tracker, clip, 20)
    noise = np.random.default_rng(seed).integers(0, 256, clip[0].shape, np.uint8)
    hidden = [tracker.update(noise) for _ in range(60)]
    assert hidden[-1].state == "lost"
    assert len(hidden[-1].info.particles) == LIGHT.motion.particles  # those of the search replace some that refine
    moved = np.roll(clip[20], (60, -150), axis=(0, 1))  # the whole picture: the target is where it never was
    truth = clip.truth[20].box
    found = [tracker.update(moved) for _ in range(10)]
    overlaps = [e.box.iou(Box(truth.x - 150, truth.y + 60, truth.w, truth.h)) for e in found]
    assert max(overlaps) > 0.5
    assert found[-1].state == "tracking"
