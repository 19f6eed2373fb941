"""Numbers stay finite, whatever is shown and whatever the settings."""

import numpy as np
import pytest

from metrack import Tracker
from support.tracking import LIGHT, follow, started


def assert_sane(estimate, shape):
    x, y, w, h = estimate.box.to_xywh()
    assert np.isfinite([x, y, w, h, estimate.score]).all()
    assert 0 <= estimate.score <= 1
    assert w > 0
    assert h > 0
    assert estimate.state in ("tracking", "occluded", "lost")
    assert -w <= x <= shape[1]
    assert -h <= y <= shape[0]
    assert np.isfinite(estimate.info.theta_f).all()
    assert np.isfinite(estimate.info.theta_b).all()
    np.testing.assert_allclose(estimate.info.weights.sum(), 1)


@pytest.mark.parametrize("what", ["black", "white", "noise", "checkerboard"])
def test_a_target_that_vanishes_is_never_an_exception(clip, what, seed):
    shape = clip[0].shape
    blank = {
        "black": np.zeros(shape, np.uint8),
        "white": np.full(shape, 255, np.uint8),
        "noise": np.random.default_rng(seed).integers(0, 256, shape, np.uint8),
        "checkerboard": np.tile(np.indices(shape[:2]).sum(axis=0)[:, :, None] % 2 * 255, (1, 1, 3)).astype("u1"),
    }[what]
    tracker = started(clip, "paper", seed)
    for _ in range(30):
        assert_sane(tracker.update(blank), shape)
    assert_sane(tracker.update(clip[1]), shape)


def test_starting_on_nothing_at_all(seed):
    blank = np.zeros((80, 100), np.uint8)
    tracker = Tracker("paper", seed=seed)
    tracker.init(blank, (20, 20, 30, 20))
    for _ in range(20):
        assert_sane(tracker.update(blank), blank.shape)


@pytest.mark.parametrize(
    "box",
    [(-15, 10, 40, 30), (60, 50, 60, 60), (0, 0, 100, 80), (30, 20, 4, 4), (5, 5, 90, 4), (10, 2, 4, 75)],
)
def test_boxes_at_the_border_thin_and_tiny(box, seed):
    images = np.random.default_rng(seed).integers(0, 256, (12, 80, 100), np.uint8)
    tracker = Tracker(LIGHT, seed=seed)
    tracker.init(images[0], box)
    for image in images[1:]:
        assert_sane(tracker.update(image), image.shape)


EXTREME = {
    "one particle": {"motion.particles": 1},
    "two particles": {"motion.particles": 2, "motion.refined": 0.9},
    "the paper's flat weights": {"motion.sharpness": 1.0, "motion.refined": 0.0},
    "no motion": {"motion.shift_std": 0.0, "motion.scale_std": 0.0},
    "wild motion": {"motion.shift_std": 1000.0, "motion.scale_std": 1.0},
    "one sample": {"memory.size": 1, "memory.positives": 1, "memory.negatives": 1},
    "no ridge": {"representation.ridge": 0.0},
    "huge ridge": {"representation.ridge": 1e6},
    "unprojected, long steps": {
        "metric.learning": "unprojected",
        "metric.step_limit": 1e6,
        "metric.margin": 1e3,
    },
    "no step": {"metric.step_limit": 0.0},
    "tiny scales": {"representation.gamma_f": 1e-9, "representation.gamma_b": 1e-9},
    "raw pixels": {"features.kind": "pixels"},
    "rarely learned": {"metric.every": 5},
    "ranked": {"metric.every": 0, "ranking.every": 1},
    "both": {"ranking.every": 3, "ranking.solver": "linear"},
    "ranked, no step": {"ranking.every": 1, "ranking.step_limit": 0.0},
    "ranked, long steps": {"ranking.every": 1, "ranking.step_limit": 1e6, "metric.learning": "unprojected"},
}


def test_a_blank_frame_to_rank_boxes_on_does_no_harm(clip):
    tracker = started(clip, LIGHT.replace({"metric.every": 0, "ranking.every": 1}))
    for _ in range(3):
        estimate = tracker.update(np.full_like(clip[0], 128))
        assert_sane(estimate, clip[0].shape)
    assert np.isfinite(tracker.appearance.space.metric).all()


@pytest.mark.parametrize("changes", EXTREME.values(), ids=EXTREME.keys())
def test_numbers_stay_finite_under_any_settings(clip, changes):
    tracker = started(clip, LIGHT.replace(changes))
    for estimate in follow(tracker, clip, 12):
        assert_sane(estimate, clip[0].shape)
