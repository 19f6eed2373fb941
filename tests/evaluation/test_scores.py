import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from metrack.box import centre_distance, iou
from metrack.evaluation.calibration import auroc, expected_calibration_error, reliability
from metrack.evaluation.events import (
    event_precision,
    event_recall,
    identification_accuracy,
    matches,
    onsets,
)
from metrack.evaluation.scores import (
    frames_per_second,
    mean_centre_error,
    mean_overlap,
    normalised_distance,
    normalised_precision_auc,
    normalised_precision_curve,
    precision,
    precision_curve,
    robustness,
    success_auc,
    success_curve,
    success_rate,
)
from reference import scores as slow

NOTHING = [np.array([]), np.array([np.nan, np.nan])]
OF_OVERLAPS = [mean_overlap, success_curve, success_auc, success_rate, robustness]
OF_DISTANCES = [mean_centre_error, precision_curve, precision, normalised_precision_curve, normalised_precision_auc]

shares = st.integers(0, 40).map(lambda k: k / 40)  # thresholds and ties are hit
overlaps = st.lists(st.one_of(shares, st.just(0.0), st.just(float("nan"))), max_size=60).map(np.array)
distances = st.lists(st.one_of(st.integers(0, 240).map(lambda k: k / 4), st.just(float("nan"))), max_size=60)
events = st.lists(st.integers(0, 30), max_size=5)
judged = st.lists(st.tuples(shares, st.one_of(shares, st.just(float("nan")))), max_size=60).map(
    lambda rows: np.array(rows, float).reshape(-1, 2).T
)


def with_unknown_frames(values, seed):
    """The same values in the same order, frames without truth in between."""
    rng = np.random.default_rng(seed)
    return np.insert(values, rng.integers(0, len(values) + 1, 7), np.nan)


class TestOverlaps:
    def test_success_is_strict_and_unknown_frames_do_not_count(self):
        overlap = np.array([0.0, 0.5, 1.0, np.nan])
        curve = success_curve(overlap)
        np.testing.assert_allclose(curve[[0, 9, 10, 20]], [2 / 3, 2 / 3, 1 / 3, 0])
        np.testing.assert_allclose(success_auc(overlap), curve.mean())
        np.testing.assert_allclose(success_rate(overlap), 1 / 3)
        np.testing.assert_allclose(mean_overlap(overlap), 0.5)

    @given(overlaps)
    def test_the_curve_is_the_obvious_one_and_falls(self, overlap):
        curve = success_curve(overlap)
        np.testing.assert_allclose(curve, slow.success_curve(overlap.tolist()), atol=1e-12)
        if not np.isnan(curve).any():
            assert (np.diff(curve) <= 0).all()
            assert curve[-1] == 0
            np.testing.assert_allclose(success_rate(overlap), curve[10])
            assert abs(success_auc(overlap) - mean_overlap(overlap)) <= 1 / 21 + 1e-12  # 21 steps of it


class TestDistances:
    def test_precision_counts_the_border_in(self):
        distance = np.array([0.0, 20.0, 20.1, np.nan])
        np.testing.assert_allclose(precision(distance), 2 / 3)
        np.testing.assert_allclose(precision_curve(distance)[[0, 19, 20, 21]], [1 / 3, 1 / 3, 2 / 3, 1])
        np.testing.assert_allclose(mean_centre_error(distance), 40.1 / 3)

    @given(distances)
    def test_the_curve_is_the_obvious_one_and_rises(self, distance):
        curve = precision_curve(np.array(distance, float))
        np.testing.assert_allclose(curve, slow.precision_curve(distance), atol=1e-12)
        if not np.isnan(curve).any():
            assert (np.diff(curve) >= 0).all()
            np.testing.assert_allclose(precision(np.array(distance, float)), curve[20])

    def test_a_box_that_was_not_given_is_a_miss(self):
        distance = np.array([3.0, np.inf])
        assert precision(distance) == 0.5
        assert precision_curve(distance)[-1] == 0.5
        assert mean_centre_error(distance) == np.inf

    def test_normalised_by_hand(self):
        truth = [[0, 0, 40, 10]] * 3
        boxes = [[4, 0, 40, 10], [0, 4, 40, 10], [-10, -5, 60, 20]]
        np.testing.assert_allclose(normalised_distance(boxes, truth), [0.1, 0.4, 0])
        assert np.isnan(normalised_distance([[0, 0, 4, 4]] * 2, [[1, 1, 0, 4], [np.nan] * 4])).all()
        np.testing.assert_allclose(normalised_precision_auc(np.array([0.0, 0.25, 0.6, np.nan])), (51 + 26) / 153)

    def test_normalised_curve_is_the_obvious_one_and_rises(self, seed):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(10, 60, (200, 4))
        truth[::17] = np.nan
        boxes = truth + rng.normal(0, 8, (200, 4))
        boxes[5] = truth[6]
        curve = normalised_precision_curve(normalised_distance(boxes, truth))
        np.testing.assert_allclose(curve, slow.normalised_precision_curve(boxes, truth))
        assert (np.diff(curve) >= 0).all()
        assert 0 < curve[5] < curve[-1] < 1

    def test_normalised_does_not_change_with_the_size_of_the_image(self, seed):
        boxes, truth = np.random.default_rng(seed).uniform(1, 50, (2, 30, 4))
        larger = np.array([3.0, 0.5, 3.0, 0.5])
        np.testing.assert_allclose(
            normalised_distance(boxes * larger, truth * larger), normalised_distance(boxes, truth)
        )


class TestRobustness:
    def test_robustness_forgives_nine_frames_and_not_ten(self):
        good, bad = [0.8] * 20, [0.1]
        assert robustness(np.array(good + bad * 9 + good)) == 1
        assert robustness(np.array(good + bad * 10 + good)) == 20 / 50
        assert robustness(np.array(good + bad * 9)) == 1
        assert robustness(np.array(good + [0.1001] * 10)) == 1
        assert robustness(np.array(bad * 30)) == 0

    def test_a_gap_in_the_truth_is_no_recovery(self):
        lapse = np.array([0.8] * 10 + [0.0] * 5 + [np.nan] * 3 + [0.0] * 5)
        assert robustness(lapse) == 0.5

    @given(overlaps, st.integers(1, 4))
    def test_robustness_is_the_obvious_one(self, overlap, patience):
        np.testing.assert_allclose(
            robustness(overlap, 0.3, patience), slow.robustness(overlap.tolist(), 0.3, patience), atol=1e-12
        )


def test_speed_is_frames_over_all_their_time_and_not_a_mean_of_rates():
    np.testing.assert_allclose(frames_per_second(np.array([0.1, 0.4, np.nan])), 4)
    assert np.isnan(frames_per_second(np.array([])))
    assert np.isnan(frames_per_second(np.array([0.0])))


@pytest.mark.parametrize("nothing", NOTHING, ids=["empty", "unknown"])
@pytest.mark.parametrize("score", OF_OVERLAPS + OF_DISTANCES, ids=lambda score: score.__name__)
def test_nothing_known_is_nan_without_a_warning(score, nothing):
    assert np.isnan(score(nothing)).all()


@pytest.mark.parametrize("score", OF_OVERLAPS + OF_DISTANCES, ids=lambda score: score.__name__)
def test_unknown_frames_change_nothing(score, seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(0, 1, 50) * rng.integers(0, 2, 50)
    np.testing.assert_array_equal(score(with_unknown_frames(values, seed)), score(values))


def test_scores_come_from_boxes_whose_truth_may_be_missing():
    boxes, truth = np.array([[0.0, 0, 10, 10]] * 2), np.array([[0.0, 0, 10, 20], [np.nan] * 4])
    assert mean_overlap(iou(boxes, truth)) == 0.5
    assert mean_centre_error(centre_distance(boxes, truth)) == 5


def test_more_than_one_number_per_frame_is_refused():
    with pytest.raises(ValueError, match=r"values must be numbers of shape \(N,\), got shape \(3, 4\)"):
        success_curve(np.zeros((3, 4)))


class TestCalibration:
    def test_by_hand(self):
        table = reliability(np.array([0.1, 0.5, 0.9, 1.0, 0.2]), np.array([0.4, 0.6, 0.9, 0.5, np.nan]), bins=2)
        np.testing.assert_array_equal(table.frames, [1, 3])
        np.testing.assert_allclose(table.score, [0.1, 0.8])
        np.testing.assert_allclose(table.right, [0, 2 / 3])
        error = expected_calibration_error(np.array([0.1, 0.5, 0.9, 1.0]), np.array([0.4, 0.6, 0.9, 0.5]), bins=2)
        np.testing.assert_allclose(error, (0.1 + 3 * (0.8 - 2 / 3)) / 4)

    def test_a_score_that_tells_the_truth_has_almost_no_error_and_one_that_lies_has(self, seed):
        rng = np.random.default_rng(seed)
        score = rng.uniform(0, 1, 40_000)
        overlap = np.where(rng.uniform(0, 1, 40_000) < score, 0.9, 0.1)
        assert expected_calibration_error(score, overlap) < 0.02
        np.testing.assert_allclose(expected_calibration_error(1 - score, overlap), 0.5, atol=0.02)
        np.testing.assert_allclose(auroc(score, overlap), 5 / 6, atol=0.02)

    @given(judged, st.integers(1, 12))
    def test_the_error_is_the_obvious_one(self, rows, bins):
        score, overlap = rows
        ours = expected_calibration_error(score, overlap, bins)
        np.testing.assert_allclose(ours, slow.calibration_error(score, overlap, bins), atol=1e-12)
        assert reliability(score, overlap, bins).frames.sum() == (~np.isnan(overlap)).sum()

    @given(judged)
    def test_auroc_is_counted_over_all_pairs(self, rows):
        score, overlap = rows
        np.testing.assert_allclose(auroc(score, overlap), slow.auroc(score, overlap), atol=1e-12)
        np.testing.assert_allclose(auroc(-score, overlap), 1 - auroc(score, overlap), atol=1e-12)

    def test_auroc_agrees_with_scikit_learn(self, seed):
        rng = np.random.default_rng(seed)
        score, overlap = rng.integers(0, 20, 300) / 20, rng.uniform(0, 1, 300)
        expected = roc_auc_score(overlap > 0.5, score)
        np.testing.assert_allclose(auroc(score, overlap), expected, atol=1e-12)
        gaps = np.insert(overlap, 9, np.nan)
        np.testing.assert_allclose(auroc(np.insert(score, 9, 0.99), gaps), expected, atol=1e-12)

    def test_one_class_only_is_nan(self):
        assert np.isnan(auroc(np.array([0.1, 0.2]), np.array([0.6, 0.7])))
        assert np.isnan(auroc(np.array([0.1, 0.2]), np.array([0.5, np.nan])))
        assert np.isnan(auroc(np.array([]), np.array([])))
        assert np.isnan(expected_calibration_error(np.array([0.3]), np.array([np.nan])))
        assert np.isnan(reliability(np.array([]), np.array([])).right).all()

    def test_refusals(self):
        with pytest.raises(ValueError, match=r"score must be between 0 and 1, got 0 to 1\.5"):
            reliability(np.array([0.0, 1.5]), np.array([0.1, 0.2]))
        with pytest.raises(ValueError, match=r"score must be one number for each of \(2,\) frames"):
            auroc(np.array([0.1]), np.array([0.1, 0.2]))
        with pytest.raises(ValueError, match="score must be a number in every frame with truth"):
            auroc(np.array([np.nan]), np.array([0.1]))
        with pytest.raises(ValueError, match="bins must be a whole number of at least 1, got 0"):
            reliability(np.array([0.1]), np.array([0.1]), bins=0)


class TestEvents:
    def test_an_event_is_where_an_episode_begins(self):
        np.testing.assert_array_equal(onsets([1, 1, 0, 1, 0, 0, 1]), [0, 3, 6])
        assert len(onsets([])) == 0

    def test_each_true_event_is_matched_once(self):
        reported, true = [9, 10, 11, 60], [10, 40]
        assert matches(reported, true, 2) == 1
        assert event_precision(reported, true, 2) == 1 / 4
        assert event_recall(reported, true, 2) == 1 / 2

    def test_the_tolerance_is_counted_in(self):
        assert event_recall([13], [10], tolerance=3) == 1
        assert event_recall([14], [10], tolerance=3) == 0

    @given(events, events, st.integers(0, 6))
    def test_as_many_are_matched_as_can_be(self, reported, true, tolerance):
        assert matches(reported, true, tolerance) == slow.matches(reported, true, tolerance)
        assert matches(true, reported, tolerance) == matches(reported, true, tolerance)

    def test_a_share_of_nothing_is_nan(self):
        assert np.isnan(event_precision([], [4]))
        assert np.isnan(event_recall([4], []))
        assert event_recall([], [4]) == 0

    def test_refusals(self):
        with pytest.raises(ValueError, match="tolerance must be a whole number of at least 0, got -1"):
            matches([1], [1], -1)
        with pytest.raises(ValueError, match="events must be numbers of frames"):
            matches([1.5], [1])


def test_identification_counts_frames_with_a_true_name():
    assert identification_accuracy(["a", "b", None, "a"], ["a", "a", "a", None]) == 1 / 3
    assert np.isnan(identification_accuracy(["a"], [None]))
    with pytest.raises(ValueError, match="named must have a name for each of 2 frames, got 1"):
        identification_accuracy(["a"], ["a", "b"])


def test_means_of_huge_numbers_are_finite():
    assert mean_centre_error(np.full(4, 1e308)) == pytest.approx(1e308)
