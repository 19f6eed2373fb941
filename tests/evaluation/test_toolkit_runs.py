"""Our tracker run from beginning to end by the public toolkits, which live in an environment of their own."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from metrack import Tracker
from metrack.adapters import trax
from metrack.adapters.got10k import GOT10kTracker
from metrack.adapters.vot import VOTTracker
from metrack.box import centre_distance, iou
from metrack.evaluation.scores import mean_overlap, precision, success_auc, success_rate
from metrack.frames.images import read_image
from support.toolkits.layouts import (
    FOLDER,
    FRAMES,
    PYTHON,
    analyse,
    read_report,
    read_trajectory,
    run,
    write_frames,
    write_got10k,
    write_regions,
    write_rows,
    write_vot,
)

FROM_ONE = np.array([1.0, 1, 0, 0])


def follow(folder, box):
    """Boxes of our tracker on a folder of images, without any toolkit; the first is the one given."""
    files, tracker = sorted(folder.glob("*.jpg")), Tracker("paper", seed=0)
    tracker.init(read_image(files[0]), tuple(box))
    return np.array([box, *(tracker.update(read_image(file)).box.to_xywh() for file in files[1:])])


class TestGot10kRunsOurTracker:
    def test_on_otb_boxes_counted_from_one(self, tmp_path):
        folder = tmp_path / "data" / "Deer" / "img"
        truth = write_frames(folder, "{:04d}.jpg") + FROM_ONE
        write_rows(folder.parent / "groundtruth_rect.txt", truth, "%.3f")
        run(FOLDER / "otb.py", tmp_path, "paper")
        boxes = np.loadtxt(tmp_path / "results" / "OTBtb50" / "metrack" / "Deer.txt", delimiter=",")
        np.testing.assert_allclose(boxes, follow(folder, truth[0] - FROM_ONE) + FROM_ONE, atol=6e-4)
        theirs = read_report(tmp_path, "OTBtb50")["overall"]
        np.testing.assert_allclose(success_auc(iou(boxes, truth)), theirs["success_score"], atol=1e-6)
        np.testing.assert_allclose(precision(centre_distance(boxes, truth)), theirs["precision_score"], atol=1e-6)
        assert theirs["success_rate"] > 0.9
        assert theirs["speed_fps"] > 1

    def test_on_got10k_boxes_counted_from_zero(self, tmp_path):
        folder, truth = write_got10k(tmp_path)
        run(FOLDER / "got10k_experiment.py", tmp_path, "paper")
        boxes = np.loadtxt(tmp_path / "results" / "GOT-10k" / "metrack" / "balloon" / "balloon_001.txt", delimiter=",")
        np.testing.assert_allclose(boxes, follow(folder, truth[0]), atol=6e-4)
        theirs, overlap = read_report(tmp_path, "GOT-10k")["overall"], iou(boxes, truth)[1:]
        np.testing.assert_allclose(mean_overlap(overlap), theirs["ao"], atol=1e-6)  # without the first frame, here
        np.testing.assert_allclose(success_rate(overlap), theirs["sr"], atol=1e-6)
        assert theirs["sr"] > 0.9


VOT_TRACKERS = f"""
[direct]
label = direct
protocol = python
command = metrack.adapters.vot:VOTTracker
convert = rectangle
arg_preset = paper
arg_seed = 0
timeout = 120

[served]
label = served
protocol = trax
command = {PYTHON} -m metrack.adapters.trax --preset paper --seed 0
timeout = 120
"""


def test_vot_runs_our_tracker_by_both_protocols(tmp_path):
    sequence = write_vot(tmp_path, VOT_TRACKERS)
    truth = write_frames(sequence / "color")
    write_regions(sequence / "groundtruth.txt", truth)
    run("-m", "vot", "initialize", "tests/basic", "--workspace", tmp_path, "--nodownload")
    said = run("-m", "vot", "evaluate", "--workspace", tmp_path, "direct", "served")
    assert "concluded successfuly" in said, said
    report = analyse(tmp_path, "direct", "served")
    assert set(report["trackers"]) == {"direct", "served"}
    assert report["sequences"]["balloon"]["length"] == FRAMES
    expected = follow(sequence / "color", truth[0])
    assert success_rate(iou(expected, truth)) > 0.9
    for name in ("direct", "served"):
        results = tmp_path / "results" / name / "baseline" / "balloon"
        boxes = read_trajectory(results / "balloon_001.bin")
        np.testing.assert_allclose(boxes[1:], expected[1:], atol=2e-4)
        confidence = np.loadtxt(results / "balloon_001_confidence.value")
        assert len(confidence) == FRAMES
        assert confidence[0] == 1
        assert 0 < confidence.min() < confidence[1:].max() < 1


class TestWithoutAToolkit:
    def test_got10k_is_named_with_what_it_forgets_to_ask_for(self, monkeypatch):
        monkeypatch.setattr("metrack.adapters.got10k.MISSING", "No module named 'six'")
        with pytest.raises(ValueError, match="pip install got10k six, got \"No module named 'six'\""):
            GOT10kTracker()

    def test_a_trax_server_says_in_one_sentence_what_is_wrong(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "trax", None)
        for arguments, sentence in (
            (["--preset", "paper"], "the TraX server must have its protocol: pip install vot-trax"),
            (["--preset", "papre"], "did you mean 'paper'"),
            (["--seed", "-1"], "seed must be a whole number of at least 0"),
            (["--seed", "x"], "invalid int value: 'x'"),
        ):
            with pytest.raises(SystemExit, match=f"metrack: .*{sentence}") as leaving:
                trax.main(arguments)
            assert isinstance(leaving.value.code, str)  # which Python prints, leaving with exit code 1

    def test_vot_calls_need_none(self, tmp_path):
        truth = write_frames(tmp_path / "color")
        files = sorted((tmp_path / "color").glob("*.jpg"))
        tracker = VOTTracker(preset="paper", seed="0")
        box = tuple(truth[0].tolist())
        assert tracker.init(str(files[0]), (box, {})) == (box, {"confidence": 1.0})
        found, properties = tracker.update({"color": str(files[1]), "depth": "none"})
        np.testing.assert_array_equal(found, follow(tmp_path / "color", truth[0])[1])
        assert 0 < properties["confidence"] < 1
        with pytest.raises(ValueError, match="arg_seed must be a whole number, got 'one'"):
            VOTTracker(seed="one")


class Client:
    """Stands for the server's side of a client: requests in, what was answered out."""

    def __init__(self, *requests):
        self.requests, self.answers = list(requests), []

    def wait(self):
        return self.requests.pop(0)

    def status(self, objects):
        self.answers.append(objects)


def test_a_trax_server_answers_every_request_and_may_be_started_again(tmp_path):
    truth = write_frames(tmp_path / "color")
    files = sorted((tmp_path / "color").glob("*.jpg"))
    protocol = SimpleNamespace(
        TraxStatus=SimpleNamespace(QUIT="quit", INITIALIZE="initialize"),
        Rectangle=SimpleNamespace(create=lambda *box: box),
    )
    box = tuple(truth[0].tolist())
    begin = SimpleNamespace(
        type="initialize",
        image={"color": SimpleNamespace(path=lambda: files[0])},
        objects=[(SimpleNamespace(bounds=lambda: box), {})],
    )
    go_on = SimpleNamespace(type="frame", image={"color": SimpleNamespace(path=lambda: files[1])})
    client = Client(begin, go_on, begin, go_on, SimpleNamespace(type="quit"))
    trax.serve(client, protocol, Tracker("paper", seed=0))
    (first,), (second,), *again = client.answers
    assert first == (box, {"confidence": 1.0})
    np.testing.assert_array_equal(second[0], follow(tmp_path / "color", truth[0])[1])
    assert 0 < second[1]["confidence"] < 1
    assert again == client.answers[:2]
