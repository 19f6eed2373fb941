import numpy as np
import pytest

from metrack import Tracker
from metrack.adapters.opencv import OpenCVTracker
from metrack.synth import builtin_clip


def test_it_gives_the_same_boxes_from_bgr_as_the_tracker_from_rgb():
    clip = builtin_clip(frames=60, occlusion=False, departure=False)
    ours, theirs = Tracker("paper", seed=2), OpenCVTracker("paper", seed=2)
    assert theirs.getTrackingScore() == -1
    ours.init(clip[0], clip.first_box)
    theirs.init(clip[0][:, :, ::-1], clip.first_box.to_xywh())
    for i in range(1, 6):
        estimate = ours.update(clip[i])
        ok, box = theirs.update(clip[i][:, :, ::-1])
        assert ok
        assert box == estimate.box.to_xywh()
        assert theirs.getTrackingScore() == estimate.score


def test_it_reports_a_lost_target_with_a_box_all_the_same():
    clip = builtin_clip(frames=60, occlusion=False, departure=False)
    tracker = OpenCVTracker(seed=1)
    tracker.init(clip[0], clip.first_box)
    for i in range(1, 20):
        tracker.update(clip[i])
    noise = np.random.default_rng(0).integers(0, 256, clip[0].shape, np.uint8)
    answers = [tracker.update(noise) for _ in range(40)]
    assert not answers[-1][0]
    assert np.isfinite(answers[-1][1]).all()


def test_a_wrong_image_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="frame must be"):
        OpenCVTracker().init(np.zeros((10, 10, 4), np.uint8), (1, 1, 5, 5))
