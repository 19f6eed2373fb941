"""The real command: what it leaves behind."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.cli import run
from metrack.config import preset
from metrack.frames import open_source
from metrack.frames.checked_lines import whole_lines
from metrack.frames.formats import read_jsonl
from metrack.synth import Clip
from support.command import CHANGES, LIGHT, names, read_otb, summary

RESULTS = {"events.jsonl", "boxes.csv", "boxes.txt", "report.html", "summary.json", "tracked.mp4", "trajectory.jsonl"}


def test_track_writes_the_result_folder(video: Path, box: str, clip: Clip, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert run(["track", str(video), "--box", box, "-o", str(out), "--seed", "3", *LIGHT]) == 0
    assert names(out) == RESULTS
    records, boxes = read_jsonl(out / "trajectory.jsonl"), read_otb(out / "boxes.txt")
    table = list(csv.DictReader(whole_lines(out / "boxes.csv")))
    assert [record.frame for record in records] == list(range(30))
    assert (records[0].box, records[0].score, records[0].state) == (clip.first_box, 1.0, "tracking")
    for record, row, line in zip(records, table, boxes, strict=True):
        np.testing.assert_allclose([float(row[side]) for side in "xywh"], record.box.to_xywh(), atol=1e-3)
        np.testing.assert_allclose(line.to_xywh(), record.box.to_xywh(), atol=1e-3)
    said = summary(out)
    assert (said["status"], said["frames"], said["size"], said["seed"]) == ("done", 30, [160, 120], 3)
    assert said["changed"] == CHANGES
    assert isinstance(said["tracker_fps"], float)
    drawn = open_source(out / "tracked.mp4")
    assert (len(list(drawn)), drawn.size) == (30, (160, 120))


def test_the_command_gives_the_boxes_of_the_library(video: Path, box: str, clip: Clip, tmp_path: Path) -> None:
    from metrack.tracking.tracker import Tracker

    assert run(["track", str(video), "--box", box, "-o", str(tmp_path), "--no-video", "--seed", "5", *LIGHT]) == 0
    tracker = Tracker(preset("default").replace(CHANGES), seed=5)
    frames = [frame.image for frame in open_source(video)]
    tracker.init(frames[0], clip.first_box)
    expected = [clip.first_box, *(tracker.update(frame).box for frame in frames[1:])]
    assert [record.box for record in read_jsonl(tmp_path / "trajectory.jsonl")] == expected
    assert names(tmp_path) == RESULTS - {"tracked.mp4"}


def test_several_targets_and_a_range_of_frames(video: Path, box: str, tmp_path: Path) -> None:
    options = ["--start", "5", "--stop", "15", "-o", str(tmp_path), "--preset", "paper", *LIGHT]
    assert run(["track", str(video), "--box", box, "--box", box, *options]) == 0
    records = read_jsonl(tmp_path / "trajectory.jsonl")
    assert [(record.frame, record.target) for record in records] == [(i, t) for i in range(5, 15) for t in (1, 2)]
    assert len(read_otb(tmp_path / "boxes_1.txt")) == len(read_otb(tmp_path / "boxes_2.txt")) == 10
    assert not (tmp_path / "boxes.txt").exists()
    first, second = ([r.box for r in records if r.target == target] for target in (1, 2))
    assert first[0] == second[0]
    assert first[1:] != second[1:]  # each target has a seed of its own


def test_an_earlier_result_is_written_over_and_other_files_stay(video: Path, box: str, tmp_path: Path) -> None:
    common = ["track", str(video), "-o", str(tmp_path), *LIGHT]
    assert run([*common, "--box", box, "--box", box, "--stop", "3"]) == 0
    (tmp_path / "notes.txt").write_text("mine")
    assert run([*common, "--box", box, "--stop", "5", "--no-video"]) == 0
    assert names(tmp_path) == RESULTS - {"tracked.mp4"} | {"notes.txt"}
    assert len(read_jsonl(tmp_path / "trajectory.jsonl")) == 5


def test_a_folder_of_images_is_followed(clip: Clip, box: str, tmp_path: Path) -> None:
    (tmp_path / "shots").mkdir()
    for index in range(6):
        Pillow.fromarray(clip[index]).save(tmp_path / "shots" / f"{index}.png")
    assert run(["track", str(tmp_path / "shots"), "--box", box, "-o", str(tmp_path / "out"), *LIGHT]) == 0
    assert len(read_jsonl(tmp_path / "out" / "trajectory.jsonl")) == 6


def test_demo_leaves_everything_it_speaks_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "demo"
    assert run(["demo", "-o", str(out), "--frames", "60"]) == 0
    assert names(out) == RESULTS | {"clip.mp4", "truth.csv", "contact.png"}
    with Pillow.open(out / "contact.png") as sheet:
        assert sheet.size == (4 * 486 + 6, 2 * 366 + 6)
    assert len((out / "truth.csv").read_text().splitlines()) == 61
    told = capsys.readouterr().out
    assert "compiling kernels" in told
    assert "% of the frames" in told
    assert str(out / "tracked.mp4") in told
    assert str(out / "report.html") in told
    assert re.search(r"one target through \d+ frames, from one box", (out / "report.html").read_text())


def test_info_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("metrack 0.")
    assert run(["info"]) == 0
    told = capsys.readouterr().out
    assert all(
        word in told for word in ("numba", "python", "libx264", "paper", "BLAS for", "compiled code for", "processors")
    )
    assert run([]) == 0
    assert "Usage" in capsys.readouterr().out


def test_info_lists_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "--settings", "--preset", "paper"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for name, each, value in preset("paper").settings():
        assert f"{name} {value}" in told
        assert each.metadata["text"].split()[0] in told
