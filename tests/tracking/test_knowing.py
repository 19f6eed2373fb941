"""The default tracker knows: when the target is hidden or gone, what not to learn, and where it is again."""

import numpy as np
import pytest

from metrack import Tracker
from metrack.box import iou
from metrack.evaluation.events import event_precision, event_recall, onsets
from metrack.metric.sample_space import BACKGROUND, FOREGROUND
from metrack.synth import builtin_clip

WITHIN = 5  # frames


@pytest.fixture(scope="module")
def story(seed):
    """The built-in clip followed once: estimates, truth, and which frames were in memory after each."""
    clip = builtin_clip(300, (320, 240))
    tracker = Tracker(seed=seed)
    tracker.init(clip[0], clip.first_box)
    estimates, born = [], []
    for index in range(1, len(clip)):
        estimates.append(tracker.update(clip[index]))
        held = [tracker.appearance.reservoirs[label].born for label in (FOREGROUND, BACKGROUND)]
        born.append({int(frame) for frames in held for frame in frames})
    visible = np.array([truth.visible for truth in clip.truth[1:]])
    overlap = iou([e.box.to_xywh() for e in estimates], [truth.box.to_xywh() for truth in clip.truth[1:]])
    return estimates, visible, overlap, born


def test_events_are_told_within_a_few_frames(story):
    estimates, visible, _, _ = story
    absent = np.array([estimate.state != "tracking" for estimate in estimates])
    for reported, true in ((absent, visible < 0.5), (~absent, visible >= 0.5)):  # it goes, it comes back
        ours, theirs = onsets(reported), onsets(true)
        assert event_precision(ours, theirs, WITHIN) >= 0.9
        assert event_recall(ours, theirs, WITHIN) >= 0.9


def test_memory_holds_nothing_of_the_frames_in_which_the_target_was_hidden(story):
    _, visible, _, born = story
    hidden = {int(index) + 1 for index in np.flatnonzero(visible < 0.5)}
    assert len(hidden) > 20
    assert not hidden & set().union(*born)


def test_a_tracker_that_always_learns_does_learn_from_them(seed):
    clip = builtin_clip(300, (320, 240))
    tracker = Tracker("paper", seed=seed)
    tracker.init(clip[0], clip.first_box)
    hidden = [index for index, truth in enumerate(clip.truth) if truth.visible < 0.1][:5]
    for index in range(1, hidden[-1] + 1):
        tracker.update(clip[index])
    assert set(hidden) <= {int(frame) for frame in tracker.appearance.reservoirs[FOREGROUND].born}


def test_the_score_is_high_where_the_box_is_right_and_low_where_the_target_is_hidden(story):
    estimates, visible, overlap, _ = story
    scores = np.array([estimate.score for estimate in estimates])
    assert np.median(scores[(visible > 0.9) & (overlap > 0.5)]) > 0.9
    assert np.median(scores[visible < 0.1]) < 0.5


def test_a_target_that_comes_back_elsewhere_is_found_within_ten_frames(seed):
    clip = builtin_clip(450, (320, 240), seed, elsewhere=True)
    tracker = Tracker(seed=seed)
    tracker.init(clip[0], clip.first_box)
    estimates = [tracker.update(clip[index]) for index in range(1, len(clip))]
    visible = np.array([truth.visible for truth in clip.truth[1:]])
    back = onsets(visible >= 0.5)[-1]
    overlap = [e.box.iou(truth.box) for e, truth in zip(estimates, clip.truth[1:], strict=True)]
    assert estimates[back - 1].state == "lost"
    assert max(overlap[back : back + 10]) > 0.5
    assert np.mean(np.array(overlap[back + 10 :]) > 0.5) > 0.9
