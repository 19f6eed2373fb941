"""Who it is, while it is followed: from the library, and from the command line."""

import json

import numpy as np
import pytest
from PIL import Image

from metrack import Gallery, Tracker
from metrack.cli import run
from metrack.frames.sink import VideoWriter
from metrack.synth import builtin_clip

LIGHT = ["--no-video"]


@pytest.fixture(scope="module")
def clip():
    return builtin_clip(60, (320, 240), occlusion=False, departure=False, lighting=False)


@pytest.fixture(scope="module")
def gallery(clip):
    """The balloon, and two places it could be taken for."""
    hills = [("hills", clip[k], (40 + 9 * k, 180, 30, 40)) for k in range(4)]
    sky = [("sky", clip[k], (20 + 9 * k, 10, 30, 40)) for k in range(4)]
    return Gallery.from_boxes([("balloon", clip[k], clip.truth[k].box) for k in range(4)] + hills + sky)


def test_estimates_say_who_it_is_and_go_on_after_saving(clip, gallery, tmp_path, seed):
    tracker = Tracker(seed=seed, gallery=gallery)
    tracker.init(clip[0], clip.first_box)
    for index in range(1, 8):
        estimate = tracker.update(clip[index])
    assert estimate.identity.name == "balloon"
    tracker.save(tmp_path / "state.npz")
    again = Tracker.load(tmp_path / "state.npz", gallery=gallery)
    ours, theirs = tracker.update(clip[8]), again.update(clip[8])
    np.testing.assert_array_equal(ours.identity.cumulative, theirs.identity.cumulative)
    tracker.init(clip[0], (40, 180, 30, 40))  # another target: the sums begin anew
    assert tracker.update(clip[1]).identity.cumulative.max() < ours.identity.cumulative.max()


def test_without_a_gallery_nobody_is_named(clip):
    tracker = Tracker()
    tracker.init(clip[0], clip.first_box)
    assert tracker.update(clip[1]).identity is None


@pytest.fixture(scope="module")
def files(clip, tmp_path_factory):
    """The clip as a video, and a folder of crops."""
    root = tmp_path_factory.mktemp("gallery")
    with VideoWriter(root / "clip.mp4", clip.size, clip.fps) as video:
        for index in range(20):
            video.write(clip[index])
    for name, place in (("balloon", None), ("hills", (40, 180, 70, 220)), ("sky", (20, 10, 50, 50))):
        (root / "crops" / name).mkdir(parents=True)
        for k in (0, 5, 10, 15):
            corners = tuple(map(round, clip.truth[k].box.to_xyxy())) if place is None else place
            Image.fromarray(clip[k]).crop(corners).save(root / "crops" / name / f"{k}.png")
    return root


def test_the_command_line_names_the_target_in_results_and_events(clip, files, tmp_path):
    box = ",".join(map(str, clip.first_box.to_xywh()))
    out = tmp_path / "out"
    options = ["--box", box, "--gallery", str(files / "crops"), "-o", str(out), *LIGHT]
    assert run(["track", str(files / "clip.mp4"), *options]) == 0
    lines = [json.loads(line) for line in (out / "trajectory.jsonl").read_text().splitlines()]
    assert {line.get("identity") for line in lines[5:]} == {"balloon"}
    (event,) = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    assert event["event"] == "identity changed"
    assert "balloon" in event["reason"]
    assert json.loads((out / "summary.json").read_text())["targets"][0]["events"] == {"identity changed": 1}


@pytest.mark.parametrize("wrong", ["nothing.npz", "clip.mp4", "empty"])
def test_a_gallery_that_is_none_is_one_sentence_before_any_work(files, tmp_path, capsys, wrong):
    (files / "empty").mkdir(exist_ok=True)
    out = tmp_path / "out"
    options = ["--box", "10,10,30,30", "--gallery", str(files / wrong), "-o", str(out), *LIGHT]
    assert run(["track", str(files / "clip.mp4"), *options]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()
