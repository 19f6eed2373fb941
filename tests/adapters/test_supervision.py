import sys

import numpy as np
import pytest
import supervision as sv

from metrack import Box, Tracker
from metrack.adapters.supervision import to_detections
from metrack.estimate import Estimate
from metrack.synth import builtin_clip

PAIR = [Estimate(Box(10, 20, 30, 40), 0.75, "tracking"), Estimate(Box(-5, 0.5, 8, 9), 0.25, "occluded")]


def test_boxes_scores_numbers_and_states_are_kept_in_order():
    detections = to_detections(PAIR, ids=[7, 3])
    np.testing.assert_array_equal(detections.xyxy, [[10, 20, 40, 60], [-5, 0.5, 3, 9.5]])
    np.testing.assert_array_equal(detections.confidence, [0.75, 0.25])
    np.testing.assert_array_equal(detections.tracker_id, [7, 3])
    assert detections.data["state"].tolist() == ["tracking", "occluded"]
    assert to_detections(PAIR).tracker_id.tolist() == [1, 2]


def test_one_estimate_of_the_tracker_is_one_detection():
    clip = builtin_clip(60, occlusion=False, departure=False)
    tracker = Tracker("paper")
    tracker.init(clip[0], clip.first_box)
    estimate = tracker.update(clip[1])
    detections = to_detections(estimate)
    assert len(detections) == 1
    np.testing.assert_allclose(detections.xyxy, [estimate.box.to_xyxy()], rtol=1e-6)
    np.testing.assert_allclose(detections.confidence, [estimate.score], rtol=1e-6)
    assert detections.data["state"].tolist() == [estimate.state]


def test_no_estimates_are_no_detections_with_the_same_fields():
    detections = to_detections([])
    assert len(detections) == 0
    assert detections.xyxy.shape == (0, 4)
    assert len(sv.Detections.merge([detections, to_detections(PAIR)])) == 2


def test_they_can_be_chosen_among_and_drawn():
    detections = to_detections(PAIR)
    there = detections[detections.data["state"] == "tracking"]
    assert there.tracker_id.tolist() == [1]
    for lookup in ({}, {"color_lookup": sv.ColorLookup.TRACK}):
        image = sv.BoxAnnotator(**lookup).annotate(np.zeros((90, 90, 3), np.uint8), there)
        assert image[20:61, 10:41].any()
        assert not image[70:].any()


def test_they_can_be_written_to_a_table(tmp_path):
    with sv.CSVSink(str(tmp_path / "boxes.csv")) as sink:
        sink.append(to_detections(PAIR), {"frame": 4})
    header, first, second = (tmp_path / "boxes.csv").read_text().splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in (first, second)]
    assert [row["state"] for row in rows] == ["tracking", "occluded"]
    assert [float(row["x_max"]) for row in rows] == [40, 3]
    assert [row["tracker_id"] for row in rows] == ["1", "2"]


def test_what_is_missing_is_said_in_one_sentence(monkeypatch):
    with pytest.raises(ValueError, match="ids must have one number for each of 2 estimates, got 1"):
        to_detections(PAIR, ids=[1])
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(ValueError, match=r"pip install 'metrack\[interop\]'"):
        to_detections(PAIR)
