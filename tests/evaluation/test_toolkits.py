"""Our numbers beside those of the public toolkits, which live in an environment of their own."""

import json

import numpy as np
import pytest

from metrack.box import centre_distance, iou
from metrack.evaluation.scores import (
    frames_per_second,
    mean_overlap,
    precision,
    precision_curve,
    robustness,
    success_auc,
    success_curve,
    success_rate,
)
from support.toolkits.layouts import (
    FOLDER,
    analyse,
    read_report,
    run,
    write_otb,
    write_replay,
)


@pytest.fixture(scope="module")
def otb(tmp_path_factory, seed):
    """Trajectories, the times they took, and what got10k says about them."""
    root, rng = tmp_path_factory.mktemp("otb"), np.random.default_rng(seed)
    cases = trajectories(rng)
    seconds = {name: rng.uniform(0.01, 0.2, len(truth)) for name, (_, truth) in cases.items()}
    write_otb(root, cases, seconds)
    run(FOLDER / "otb.py", root)
    return cases, seconds, read_report(root, "OTBtb50")["seq_wise"]


def trajectories(rng):
    """Boxes and truth in quarters of a pixel, where arithmetic is exact and thresholds are hit.

    Bolt: anything. Crowds: the same, but every fifth frame has no truth. Car1: one pixel farther in every frame.
    Jump: another box, the same, touching, flat, empty, inside out, twice so, far too large.
    """
    truth = np.round(rng.uniform([20, 20, 12, 12], [90, 60, 80, 60], (400, 4)) * 4) / 4
    wander = truth + np.round(rng.normal(0, 1, (400, 4)) * rng.choice([0, 2, 8, 40], (400, 1)) * 4) / 4
    wander[:, 2:] = np.maximum(wander[:, 2:], 1)
    gaps = np.where(np.arange(400)[:, None] % 5 == 3, np.nan, truth)
    still = np.tile([50.0, 50, 20, 10], (60, 1))
    away = still + np.outer(np.arange(60), [1, 0, 0, 0])
    strange = [[0, 0, 1, 1], [50, 50, 20, 10], [70, 50, 20, 10], [50, 50, 0, 10], [50, 50, 0, 0]]
    strange += [[60, 55, -5, 5], [60, 55, -5, -5], [0, 0, 500, 500]]
    pairs = {"Bolt": (wander, truth), "Crowds": (wander, gaps), "Car1": (away, still)}
    return pairs | {"Jump": (np.array(strange, float), still[:8])}


def scored(boxes, truth):
    """Overlaps and distances as got10k takes them: the first frame is right whatever was reported."""
    boxes = np.concatenate([truth[:1], boxes[1:]])
    return iou(boxes, truth), centre_distance(boxes, truth)


def curves(overlap, distance):
    return {"success_curve": success_curve(overlap), "precision_curve": precision_curve(distance)}


class TestNumbersOfGot10k:
    @pytest.mark.parametrize("name", ["Bolt", "Car1", "Jump"])
    def test_curves_count_the_same_frames(self, otb, name):
        cases, _, report = otb
        overlap, distance = scored(*cases[name])
        theirs, frames = report[name], len(overlap)
        for curve, ours in curves(overlap, distance).items():
            np.testing.assert_array_equal(np.rint(ours * frames), np.rint(np.array(theirs[curve]) * frames))
            np.testing.assert_allclose(ours, theirs[curve], atol=1e-12)
        np.testing.assert_allclose(success_auc(overlap), theirs["success_score"], atol=1e-6)
        np.testing.assert_allclose(success_rate(overlap), theirs["success_rate"], atol=1e-6)
        np.testing.assert_allclose(precision(distance), theirs["precision_score"], atol=1e-6)

    def test_thresholds_are_hit(self, otb):
        overlap, distance = scored(*otb[0]["Car1"])
        assert {0.0, 1.0} < set(overlap.tolist())
        assert set(range(51)) < set(distance.tolist())

    def test_it_takes_frames_without_truth_for_misses(self, otb):
        cases, _, report = otb
        overlap, distance = scored(*cases["Crowds"])
        assert np.isnan(overlap).mean() == 1 / 5
        for curve, ours in curves(overlap, distance).items():
            np.testing.assert_allclose(ours * 4 / 5, report["Crowds"][curve], atol=1e-12)

    def test_its_first_frame_is_always_right(self, otb):
        cases, _, report = otb
        overlap = iou(*cases["Jump"])
        assert overlap[0] == 0
        np.testing.assert_allclose(report["Jump"]["success_curve"][0], success_curve(overlap)[0] + 1 / 8)

    def test_its_speed_is_a_mean_of_rates(self, otb):
        _, seconds, report = otb
        np.testing.assert_allclose(report["Bolt"]["speed_fps"], np.mean(1 / seconds["Bolt"]), rtol=1e-6)
        assert report["Bolt"]["speed_fps"] > 1.5 * frames_per_second(seconds["Bolt"])


@pytest.fixture(scope="module")
def overlaps(tmp_path_factory, seed):
    """Pairs of boxes in an image of 200 x 100 pixels, and what both toolkits say about their overlap."""
    whole = np.random.default_rng(seed).integers([0, 0, 2, 2], [100, 50, 100, 50], (2, 300, 4)).astype(float)
    pairs = {
        "whole pixels": whole,
        "half outside": np.array([[[0.0, 0, 20, 20]], [[-10, 0, 20, 20]]]),
        "fractions": np.array([[[10.4, 10, 10, 10], [10.6, 10, 10, 10]], [[10, 10, 10, 10], [10, 10, 10, 10]]]),
        "empty": np.array([[[10.0, 10, 0, 0]], [[10, 10, 0, 0]]]),
        "one column": np.array([[[10.0, 10, 1, 5]], [[10, 30, 1, 5]]]),
        "one row": np.array([[[10.0, 10, 5, 1]], [[60, 10, 5, 1]]]),
    }
    file = tmp_path_factory.mktemp("overlaps") / "pairs.json"
    asked = {name: {"boxes": b.tolist(), "truth": t.tolist(), "bounds": (200, 100)} for name, (b, t) in pairs.items()}
    file.write_text(json.dumps(asked))
    run(FOLDER / "overlaps.py", file)
    return {name: (iou(*pairs[name]), pairs[name], answer) for name, answer in json.loads(file.read_text()).items()}


class TestOverlaps:
    def test_whole_pixels_inside_the_image_agree_with_both(self, overlaps):
        ours, pair, theirs = overlaps["whole pixels"]
        assert 0 < np.mean(ours == 0) < 0.9
        for name in ("got10k", "got10k_bounded", "vot", "vot_bounded"):
            np.testing.assert_allclose(ours, theirs[name], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(centre_distance(*pair), theirs["got10k_distance"], atol=1e-9)

    def test_got10k_moves_a_box_into_the_image_instead_of_cutting_it(self, overlaps):
        ours, _, theirs = overlaps["half outside"]
        np.testing.assert_allclose([ours, theirs["got10k"]], 1 / 3)
        np.testing.assert_allclose(theirs["got10k_bounded"], 1)
        np.testing.assert_allclose(theirs["vot_bounded"], 1 / 2)  # what is shared of what is in the image

    def test_got10k_changes_the_boxes_it_is_given(self, overlaps):
        _, (boxes, truth), theirs = overlaps["half outside"]
        before = truth.copy()
        iou(boxes, truth)
        np.testing.assert_array_equal(truth, before)
        assert before.tolist() == [[-10, 0, 20, 20]]
        assert theirs["got10k_truth_after"] == [[0, 0, 20, 20]]

    def test_vot_rounds_to_whole_pixels(self, overlaps):
        ours, _, theirs = overlaps["fractions"]
        np.testing.assert_allclose(ours, [9.6 / 10.4, 9.4 / 10.6])
        np.testing.assert_allclose(theirs["vot"], [1, 9 / 11])

    @pytest.mark.parametrize("name", ["empty", "one column", "one row"])
    def test_vot_takes_what_has_no_width_for_the_same(self, overlaps, name):
        ours, _, theirs = overlaps[name]
        assert (theirs["vot"], theirs["got10k"], ours.tolist()) == ([1], [0], [0])


STACK = """
title: replay
experiments:
  once:
    type: unsupervised
    analyses:
      - {type: average_accuracy, name: accuracy, burnin: 1}
      - {type: average_success_plot, name: success, resolution: 21}
  restarts:
    type: multistart
    analyses:
      - {type: multistart_average_ar, name: robustness}
"""
TRUTH = np.tile([40.0, 30, 40, 20], (60, 1)) + np.outer(np.arange(60), [1, 0, 0, 0])
ELSEWHERE = [0.0, 90, 10, 10]
ASIDE = np.array([4.0, 0, 0, 0])
LOST = {"steady": [], "lapse": range(10, 19), "lost": range(10, 20), "ending": range(51, 60), "gap": range(30, 45)}


def replay(workspace, truth):
    """Overlaps of trajectories that lose the target as said in LOST, and the toolkit's results by name of the case."""
    away = np.tile(ELSEWHERE, (60, 1))
    cases = {"exact": np.where(np.isnan(truth), away, truth)}
    for name, lost in LOST.items():
        cases[name] = np.where(np.isnan(truth), away, truth + ASIDE)
        cases[name][list(lost)] = away[0]
    write_replay(workspace, STACK, cases, truth, (200, 100))
    results = analyse(workspace, *cases)["results"]
    accuracy, success, restarts = *results["once"]["results"], results["restarts"]["results"][0]
    named = [
        {"accuracy": a[0], "success": np.array(s[0])[:, 1], "restart accuracy": r[0], "robustness": r[1]}
        for a, s, r in zip(accuracy, success, restarts, strict=True)
    ]
    return {name: iou(boxes, truth) for name, boxes in cases.items()}, dict(zip(cases, named, strict=True))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A truth without gaps."""
    return replay(tmp_path_factory.mktemp("whole"), TRUTH)


@pytest.fixture(scope="module")
def gapped(tmp_path_factory):
    """A truth with five frames missing, in the midst of what the case "gap" loses."""
    return replay(tmp_path_factory.mktemp("gapped"), np.where((np.arange(60) // 5 == 7)[:, None], np.nan, TRUTH))


def begun_at_nothing(overlap):
    """The frame in which the tracker is put on the target has no box of its own, and overlap 0 in some analyses."""
    return np.concatenate([[0.0], overlap[1:]])


class TestNumbersOfVot:
    @pytest.mark.parametrize("name", ["exact", *LOST])
    def test_accuracy_is_the_mean_overlap_after_the_first_frame(self, whole, gapped, name):
        for ours, theirs in (whole, gapped):
            np.testing.assert_allclose(mean_overlap(ours[name][1:]), theirs[name]["accuracy"], atol=1e-6)

    @pytest.mark.parametrize("name", ["exact", *LOST])
    def test_success_counts_the_same_frames_but_at_the_last_threshold(self, whole, gapped, name):
        for ours, theirs in (whole, gapped):
            overlap = begun_at_nothing(ours[name])
            np.testing.assert_allclose(success_curve(overlap)[:-1], theirs[name]["success"][:-1], atol=1e-12)
            np.testing.assert_allclose(success_rate(overlap, 1 - 1e-9), theirs[name]["success"][-1], atol=1e-12)
            assert success_curve(overlap)[-1] == 0

    @pytest.mark.parametrize("name", ["exact", *LOST])
    def test_robustness_agrees_where_every_frame_has_a_truth(self, whole, name):
        ours, theirs = whole
        share = robustness(begun_at_nothing(ours[name]))
        assert share == {"lost": 10 / 60, "gap": 30 / 60}.get(name, 1)
        np.testing.assert_allclose(share, theirs[name]["robustness"], atol=1e-12)

    def test_its_first_frame_is_always_wrong_where_it_starts_again(self, whole):
        ours, theirs = whole
        np.testing.assert_allclose(mean_overlap(ours["exact"]), 1)
        np.testing.assert_allclose(theirs["exact"]["restart accuracy"], 59 / 60)
        np.testing.assert_allclose(mean_overlap(begun_at_nothing(ours["exact"])), 59 / 60)

    def test_it_takes_a_gap_in_the_truth_for_a_recovery(self, gapped):
        ours, theirs = gapped
        assert (robustness(ours["gap"]), theirs["gap"]["robustness"]) == (30 / 55, 1)
        assert (robustness(ours["lost"]), theirs["lost"]["robustness"]) == (10 / 55, 10 / 60)
        np.testing.assert_allclose(mean_overlap(ours["exact"]), 1)
        np.testing.assert_allclose(theirs["exact"]["restart accuracy"], 54 / 60)  # without the first and the gap

    def test_it_has_no_answer_if_the_target_is_lost_at_once(self, tmp_path):
        boxes = np.tile(ELSEWHERE, (60, 1))
        write_replay(tmp_path, STACK, {"never": boxes}, TRUTH, (200, 100))
        with pytest.raises(AssertionError, match="division by zero"):
            analyse(tmp_path, "never")
        assert robustness(iou(boxes, TRUTH)) == 0
        assert mean_overlap(iou(boxes, TRUTH)) == 0
