"""The tracker as its users meet it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import metrack
from metrack import Box, Tracker, TrackerConfig
from metrack.config import PAPER, PRESETS
from metrack.memory.training_boxes import NEGATIVE_OUTER
from metrack.tracking.appearance import TEMPLATES
from support.tracking import LIGHT, follow, started


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_follows_an_easy_target(clip, name, seed):
    overlaps = [e.box.iou(clip.truth[i].box) for i, e in enumerate(follow(started(clip, name, seed), clip, 59), 1)]
    assert np.mean(np.array(overlaps) > 0.5) >= 0.95


def test_same_seed_same_boxes_other_seed_other_boxes(clip, seed):
    first, again, other = (follow(started(clip, seed=s), clip) for s in (seed, seed, seed + 1))
    assert first == again
    assert [e.box for e in first] != [e.box for e in other]


def test_init_again_starts_afresh(clip):
    used = started(clip)
    follow(used, clip, 8)
    used.init(clip[0], clip.first_box)
    assert follow(used, clip, 5) == follow(started(clip), clip, 5)


def test_grey_and_colour_frames_of_the_same_grey_give_the_same_boxes(clip):
    grey = [clip[i].mean(axis=2).astype(np.uint8) for i in range(8)]
    one, three = Tracker(LIGHT), Tracker(LIGHT)
    one.init(grey[0], clip.first_box)
    three.init(np.repeat(grey[0][:, :, None], 3, axis=2), clip.first_box)
    for image in grey[1:]:
        a, b = one.update(image), three.update(np.repeat(image[:, :, None], 3, axis=2))
        np.testing.assert_allclose(a.box.to_xywh(), b.box.to_xywh(), atol=1e-2)


@pytest.mark.parametrize("layout", ["fortran", "slice", "read-only"])
def test_frames_of_any_memory_layout(clip, layout):
    def arranged(image):
        if layout == "fortran":
            return np.asfortranarray(image)
        if layout == "slice":
            return np.repeat(image, 2, axis=1)[:, ::2]
        image = image.copy()
        image.flags.writeable = False
        return image

    plain, other = started(clip), Tracker(LIGHT)
    other.init(arranged(clip[0]), clip.first_box)
    for i in range(1, 6):
        assert plain.update(clip[i]).box == other.update(arranged(clip[i])).box


def test_frames_are_never_changed(clip):
    images = [clip[i].copy() for i in range(4)]
    kept = [image.copy() for image in images]
    tracker = Tracker(LIGHT)
    tracker.init(images[0], clip.first_box)
    for image in images[1:]:
        tracker.update(image)
    np.testing.assert_array_equal(images, kept)


def test_refining_particles_find_the_target_more_precisely(clip):
    """With as many particles in all, over several seeds."""

    def mean_overlap(refined):
        config = LIGHT.replace({"motion.refined": refined, "metric.learning": "off"})  # whose changes would blur it
        runs = [follow(started(clip, config, seed), clip, 30) for seed in range(5)]
        return np.mean([e.box.iou(clip.truth[i].box) for run in runs for i, e in enumerate(run, 1)])

    assert mean_overlap(0.5) > mean_overlap(0.0) + 0.02


def test_the_info_counts_the_steps_of_its_own_frame(clip):
    tracker = started(clip, LIGHT.replace({"metric.every": 4, "metric.margin": 100.0}))  # no triplet satisfies that
    taken = [e.info.steps_taken for e in follow(tracker, clip, 8)]
    assert [n > 0 for n in taken] == [(frame % 4 == 0) for frame in range(1, 9)]


def test_update_before_init_is_refused(clip):
    with pytest.raises(ValueError, match=r"call init\(frame, box\) first"):
        Tracker().update(clip[0])
    with pytest.raises(ValueError, match=r"call init\(frame, box\) first"):
        Tracker().save("nowhere.npz")


def test_a_refused_frame_leaves_the_tracker_as_it_was(clip):
    tracker, untouched = started(clip), started(clip)
    for wrong in (clip[1][:-1], clip[1].astype(float), clip[1][:, :, 0], None):
        with pytest.raises(ValueError, match="frame must"):
            tracker.update(wrong)
    with pytest.raises(ValueError, match="box must"):
        tracker.init(clip[1], (0, 0, 0, 0))
    assert tracker.update(clip[1]) == untouched.update(clip[1])


@pytest.mark.parametrize("wrong", [-1, 1.5, "7", None, True])
def test_a_seed_must_be_a_whole_number(wrong):
    with pytest.raises(ValueError, match="seed must be"):
        Tracker(seed=wrong)


def test_a_preset_must_be_known():
    with pytest.raises(ValueError, match="did you mean 'paper'"):
        Tracker("papr")
    with pytest.raises(ValueError, match="preset must be a name or a TrackerConfig"):
        Tracker(3)


def test_memory_stays_bounded_over_a_long_stream(clip):
    tracker = started(clip)
    sizes = []
    for i in range(400):
        tracker.update(clip[i % 60])
        if i in (100, 399):
            sizes.append(sum(a.nbytes for a in tracker.appearance.to_arrays().values()))
    assert sizes[1] <= sizes[0]


def test_the_estimate_explains_itself(clip):
    info = follow(started(clip), clip, 3)[-1].info
    n = LIGHT.motion.particles
    assert info.particles.shape == (n, 4)
    assert info.weights.shape == info.theta_f.shape == info.theta_b.shape == (n,)
    assert 1 <= info.effective_size <= n
    assert {"look", "score", "estimate", "learn"} <= set(info.seconds)


def test_public_names_are_exported_and_sorted():
    assert metrack.__all__ == sorted(metrack.__all__, key=lambda name: (name.upper() != name, name))
    assert all(hasattr(metrack, name) for name in metrack.__all__)
    assert isinstance(metrack.PRESETS["paper"], TrackerConfig)
    assert Box(0, 0, 1, 1).area == 1


def test_a_target_that_jumps_is_still_learned_from_all_around_it(clip, monkeypatch):
    tracker = started(clip, LIGHT.replace({"memory.negatives": 40}))
    follow(tracker, clip, 10)
    regions = []
    extractor = tracker._state.observer.extractor
    look = extractor.look

    def noting(frame, region, zoom):
        regions.append(region)
        return look(frame, region, zoom)

    monkeypatch.setattr(extractor, "look", noting)
    tracker.update(clip[11])
    assert len(regions) == 1  # as a rule one look does for searching and learning
    view = look(clip[11], regions[0], 1.0)
    tracker._state.box = jumped = Box(tracker.box.x - 100, tracker.box.y + 60, tracker.box.w, tracker.box.h)
    tracker._learn(tracker._state, clip[11], view)
    assert len(regions) == 2
    reach = NEGATIVE_OUTER
    assert jumped.grow(jumped.w * reach, jumped.h * reach).contains(regions[1])
    assert regions[1].contains(jumped)


class TestScoringAnyBox:
    def test_the_target_scores_best_and_nothing_changes(self, clip):
        tracker, twin = started(clip), started(clip)
        for each in (tracker, twin):
            follow(each, clip, 20)
        around = np.array([[dx, dy, 0, 0] for dx in (-15, 0, 15) for dy in (-15, 0, 15)])
        scores = tracker.score(clip[20], tracker.box.to_xywh() + around)
        assert scores.argmax() == 4
        assert tracker.update(clip[21]) == twin.update(clip[21])

    def test_without_metric_is_as_if_none_had_been_learned(self, clip):
        boxes = np.array([clip.truth[20].box.grow(grow, grow).to_xywh() for grow in (-5.0, 0.0, 5.0)])
        learned, plain = started(clip), started(clip, LIGHT.replace({"metric.learning": "off"}))
        for each in (learned, plain):
            follow(each, clip, 20)
        on, off = learned.score(clip[20], boxes), learned.score(clip[20], boxes, metric=False)
        assert np.abs(on - off).max() > 1e-3
        as_if = plain.score(clip[20], boxes, metric=False)
        np.testing.assert_allclose(plain.score(clip[20], boxes), as_if, rtol=1e-6)

    def test_it_needs_a_target_and_a_frame_like_the_first(self, clip):
        with pytest.raises(ValueError, match="score needs a target"):
            Tracker(LIGHT).score(clip[0], np.ones((1, 4)))
        with pytest.raises(ValueError, match="box needs a target"):
            Tracker(LIGHT).box  # noqa: B018
        with pytest.raises(ValueError, match="frame"):
            started(clip).score(clip[0][:-1], np.ones((1, 4)))


@pytest.mark.parametrize("kind", ["l1", "omp"])
def test_rival_representations_follow_an_easy_target_too(clip, kind, seed):
    config = LIGHT.replace({"representation.kind": kind, "metric.learning": "off"})
    estimates = follow(started(clip, config, seed), clip, 20)
    overlaps = [estimate.box.iou(clip.truth[i].box) for i, estimate in enumerate(estimates, 1)]
    assert np.mean(np.array(overlaps) > 0.5) >= 0.9


def test_a_rival_representation_refuses_a_metric():
    with pytest.raises(ValueError, match=r"representation\.kind 'l1' uses no metric and needs metric\.learning to be"):
        LIGHT.replace({"representation.kind": "l1"})


def test_loyalty_prefers_what_looks_like_the_first_frame(clip, seed):
    plain = started(clip, LIGHT, seed)
    follow(plain, clip, 10)
    observer = plain._state.observer
    loyal_observer = replace(observer, config=LIGHT.replace({"representation.loyalty": 1.0}))
    rng, (x, y) = np.random.default_rng(seed), clip.truth[10].box.centre
    states = np.column_stack([rng.normal(x, 9, 80), rng.normal(y, 9, 80), rng.normal(0, 0.2, 80)])
    boxes = observer.bounds.to_boxes(states)
    view = observer.cut(clip[10], boxes, plain._state.locator.zoom)
    without, with_it = observer.observe(view, states), loyal_observer.observe(view, states)
    descriptors = view.describe(boxes)
    first = plain.appearance.first
    nearest = [min(float(((one - known) ** 2).sum()) for known in first) for one in descriptors]  # the slow twin
    np.testing.assert_allclose(with_it.template_error, nearest, atol=1e-5)
    expected = observer.score(without.theta_f + nearest, without.theta_b, np.zeros(80))
    np.testing.assert_allclose(with_it.scores, expected, rtol=1e-5)
    np.testing.assert_array_equal(with_it.theta_f, without.theta_f)
    assert with_it.template_error[with_it.best] <= without.template_error[without.best]


def test_the_first_frame_is_never_forgotten(clip):
    tracker = started(clip)
    first = tracker.appearance.first.copy()
    assert len(first) == TEMPLATES
    follow(tracker, clip, 30)
    np.testing.assert_array_equal(tracker.appearance.first, first)


def test_the_first_frame_gives_many_samples_and_later_ones_few(clip, seed):
    tracker = started(clip, PAPER, seed)
    assert tracker.appearance.space.counts == [50, 50]
    follow(tracker, clip, 10)
    assert tracker.appearance.space.counts == [70, 70]


def test_a_view_says_which_boxes_it_covers(clip):
    view = started(clip)._state.observer.extractor.look(clip[0], Box(50, 40, 100, 80), 1.0)
    boxes = np.array([[50, 40, 100, 80], [49.9, 50, 20, 20], [60, 50, 20, 70.1], [60, 50, 20, 20.0]])
    np.testing.assert_array_equal(view.covered(boxes), [True, False, False, True])
    assert view.covers(boxes[[0, 3]])
    assert not view.covers(boxes)


def test_looking_changes_nothing(clip, seed):
    """Two looks at a frame find the same, and the tracker goes on as if it had not been asked."""
    for config in (LIGHT, "default"):
        asked, twin = started(clip, config, seed), started(clip, config, seed)
        follow(asked, clip, 5)
        follow(twin, clip, 5)
        one, two = asked.look(clip[6]), asked.look(clip[6])
        assert one.box == two.box
        assert one.randomness == two.randomness
        np.testing.assert_array_equal(one.cloud.scores, two.cloud.scores)
        asked.look_elsewhere(clip[6], one, np.array([one.box.to_xywh()]), 0.5)
        saved = [json.dumps(each.to_saved()[0], sort_keys=True) for each in (asked, twin)]
        assert saved[0] == saved[1]
        assert asked.update(clip[6]) == twin.update(clip[6])


def test_the_chosen_particle_is_the_estimate(clip, seed):
    for config in (LIGHT, "default"):
        for estimate in follow(started(clip, config, seed), clip, 12):
            info = estimate.info
            np.testing.assert_allclose(info.particles[info.chosen], estimate.box.to_xywh(), atol=1e-9)
            assert estimate.verdict.state == estimate.state
