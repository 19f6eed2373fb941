"""The real command: what it leaves behind, what it refuses, and what survives Ctrl-C and a kill."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.box import Box
from metrack.cli import run
from metrack.config import preset
from metrack.frames import VideoWriter, open_source
from metrack.frames.formats import from_otb_line, read_jsonl, whole_lines
from metrack.synth import Clip, builtin_clip

CHANGES = {"motion.particles": 20, "memory.size": 20, "metric.learning": "off"}
LIGHT = [part for name, value in CHANGES.items() for part in ("--set", f"{name}={value}")]
COMMAND = "import metrack.runs.session as s; s.SECONDS_BETWEEN_CHECKPOINTS = 0.05; from metrack.cli import main; main()"
RESULTS = {"events.jsonl", "boxes.csv", "boxes.txt", "report.html", "summary.json", "tracked.mp4", "trajectory.jsonl"}


@pytest.fixture(scope="module")
def clip() -> Clip:
    return builtin_clip(30, (160, 120), occlusion=False, departure=False)


@pytest.fixture(scope="module")
def video(clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(clip, tmp_path_factory.mktemp("clip") / "clip.mp4")


@pytest.fixture(scope="module")
def long_video(clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(clip, tmp_path_factory.mktemp("clip") / "long.mp4", times=10)


def write(clip: Clip, path: Path, times: int = 1) -> Path:
    images = list(clip)
    with VideoWriter(path, clip.size, clip.fps) as writer:
        for image in images * times:
            writer.write(image)
    return path


@pytest.fixture(scope="module")
def box(clip: Clip) -> str:
    return ",".join(str(side) for side in clip.first_box.to_xywh())


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(path: Path, count: int, seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} did not grow to {count} lines in time")


def summary(out: Path) -> dict[str, object]:
    return json.loads((out / "summary.json").read_text())


def read_otb(path: Path) -> list[Box]:
    return [from_otb_line(line) for line in whole_lines(path)]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- what it leaves behind


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
    assert all(word in told for word in ("numba", "python", "libx264", "paper", "BLAS", "processors"))
    assert run([]) == 0
    assert "Usage" in capsys.readouterr().out


def test_info_lists_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "--settings", "--preset", "paper"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for name, each, value in preset("paper").settings():
        assert f"{name} {value}" in told
        assert each.metadata["text"].split()[0] in told


# --- what it refuses

Arguments = Callable[[Path, str, str], Sequence[str]]


def text_file(folder: Path) -> str:
    (folder / "text.mp4").write_text("hello " * 500)
    return str(folder / "text.mp4")


def empty_file(folder: Path) -> str:
    (folder / "empty.mp4").touch()
    return str(folder / "empty.mp4")


def empty_folder(folder: Path) -> str:
    (folder / "nothing").mkdir()
    return str(folder / "nothing")


def two_sizes(folder: Path) -> str:
    (folder / "mixed").mkdir()
    for name, size in (("1", (120, 160, 3)), ("2", (120, 160, 3)), ("3", (60, 80, 3))):
        Pillow.fromarray(np.zeros(size, np.uint8)).save(folder / "mixed" / f"{name}.png")
    return str(folder / "mixed")


def somebody_elses(folder: Path) -> str:
    (folder / "thesis").mkdir()
    (folder / "thesis" / "chapter.txt").write_text("mine")
    return str(folder / "thesis")


def a_file(folder: Path) -> str:
    (folder / "file").write_text("mine")
    return str(folder / "file")


REFUSED: dict[str, tuple[Arguments, str]] = {
    "no such file": (lambda t, v, b: [str(t / "none.mp4"), "--box", b], "there is no file"),
    "not a video": (lambda t, v, b: [text_file(t), "--box", b], "cannot be read as one"),
    "empty file": (lambda t, v, b: [empty_file(t), "--box", b], "empty.mp4' is empty"),
    "empty folder": (lambda t, v, b: [empty_folder(t), "--box", b], "has no files"),
    "two sizes": (lambda t, v, b: [two_sizes(t), "--box", b], "3.png is 80 x 60 and 1.png is 160 x 120"),
    "box outside": (lambda t, v, b: [v, "--box", "500,10,20,20"], "must lie in the frame of 160 x 120"),
    "box without area": (lambda t, v, b: [v, "--box", "10,10,20,0"], "positive width and height"),
    "box of NaN": (lambda t, v, b: [v, "--box", "nan,10,20,20"], "must be finite"),
    "box of three": (
        lambda t, v, b: [v, "--box", "1,2,3"],
        "--box must be four numbers X,Y,W,H, got '1,2,3'",
    ),
    "box of words": (lambda t, v, b: [v, "--box", "a,b,c,d"], "--box must be four numbers"),
    "box of one pixel": (lambda t, v, b: [v, "--box", "10,10,1,1"], "at least 4 pixels on each side"),
    "second box bad": (lambda t, v, b: [v, "--box", b, "--box", "10,10,1,1"], "at least 4 pixels"),
    "no box": (lambda t, v, b: [v], "--box must be given"),
    "unknown preset": (lambda t, v, b: [v, "--box", b, "--preset", "papre"], "did you mean 'paper'?"),
    "unknown setting": (
        lambda t, v, b: [v, "--box", b, "--set", "motion.particle=3"],
        "no setting 'motion.particle'; did you mean 'motion.particles'?",
    ),
    "setting out of range": (lambda t, v, b: [v, "--box", b, "--set", "motion.particles=0"], "between 1 and"),
    "setting not a number": (
        lambda t, v, b: [v, "--box", b, "--set", "memory.size=x"],
        "a whole number, got 'x'",
    ),
    "setting without value": (
        lambda t, v, b: [v, "--box", b, "--set", "memory.size"],
        "--set must be NAME=VALUE",
    ),
    "start beyond the end": (lambda t, v, b: [v, "--box", b, "--start", "30"], "which has 30 frames, got 30"),
    "stop before start": (
        lambda t, v, b: [v, "--box", b, "--start", "5", "--stop", "5"],
        "after --start 5, got 5",
    ),
    "negative start": (lambda t, v, b: [v, "--box", b, "--start", "-1"], "--start must be 0 or more, got -1"),
    "negative seed": (lambda t, v, b: [v, "--box", b, "--seed", "-1"], "--seed must be 0 or more, got -1"),
    "nothing to resume": (lambda t, v, b: [v, "--box", b, "--resume"], "there is none in"),
    "no source": (lambda t, v, b: [], "SOURCE"),
    "unknown option": (lambda t, v, b: [v, "--bocks", b], "--bocks"),
    "word for a number": (lambda t, v, b: [v, "--box", b, "--seed", "x"], "--seed"),
    "folder of others": (lambda t, v, b: [v, "--box", b, "-o", somebody_elses(t)], "is neither"),
    "out is a file": (lambda t, v, b: [v, "--box", b, "-o", a_file(t)], "file' does not allow it"),
    "out below a file": (
        lambda t, v, b: [v, "--box", b, "-o", a_file(t) + "/out"],
        "file' does not allow it",
    ),
    "out cannot be made": (
        lambda t, v, b: [v, "--box", b, "-o", "/proc/metrack/out"],
        "--out must be a folder",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_gets_one_sentence_and_leaves_nothing(
    case: str, video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, sentence = REFUSED[case]
    arguments = ["track", "-o", str(tmp_path / "out"), *make(tmp_path, str(video), box)]
    before = sorted(tmp_path.rglob("*"))
    assert run(arguments) == 1
    told = capsys.readouterr().err
    assert told.startswith("metrack: ")
    assert told.count("\n") == 1
    assert "Traceback" not in told
    assert sentence in told
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(video: Path, box: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert run(["track", str(video), "--box", box, "-o", str(tmp_path / "out")]) == 1
    tmp_path.chmod(0o700)


def test_the_process_itself_says_one_sentence_and_exits_with_1(tmp_path: Path) -> None:
    process = start("track", tmp_path / "none.mp4", "--box", "1,2,30,40", "-o", tmp_path / "out")
    out, err = process.communicate(timeout=180)
    assert (process.returncode, out, err.count("\n")) == (1, "", 1)


def test_a_truncated_video_is_followed_as_far_as_it_goes(
    video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = video.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) * 2 // 3])
    assert run(["track", str(tmp_path / "cut.mp4"), "--box", box, "-o", str(tmp_path / "out"), *LIGHT]) == 1
    count = len(read_jsonl(tmp_path / "out" / "trajectory.jsonl"))
    assert 5 < count < 30
    said = summary(tmp_path / "out")
    assert (said["status"], said["frames"]) == ("ended early", count)
    assert said["notice"] == f"cut.mp4 ends early: {count} of 30 frames could be read"
    assert capsys.readouterr().err == f"metrack: {said['notice']}\n"


def test_an_unreadable_image_keeps_what_came_before_it(
    clip: Clip, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shots").mkdir()
    for index in range(6):
        Pillow.fromarray(clip[index]).save(tmp_path / "shots" / f"{index}.png")
    broken = tmp_path / "shots" / "4.png"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:5000])
    command = ["track", str(tmp_path / "shots"), "-o", str(tmp_path / "out")]
    assert run([*command, "--box", box, *LIGHT]) == 1
    assert "4.png' cannot be read" in capsys.readouterr().err
    assert summary(tmp_path / "out")["status"] == "ended early"
    assert len(read_jsonl(tmp_path / "out" / "trajectory.jsonl")) == 4
    broken.write_bytes(whole)  # mended: go on
    assert run([*command, "--resume"]) == 0
    assert len(read_jsonl(tmp_path / "out" / "trajectory.jsonl")) == 6


# --- what survives


@pytest.fixture(scope="module")
def uninterrupted(long_video: Path, box: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uninterrupted") / "out"
    assert run(["track", str(long_video), "--box", box, "--box", "20,20,30,30", "-o", str(out), *LIGHT]) == 0
    return out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_everything_so_far_and_resume_goes_on(
    number: signal.Signals, long_video: Path, box: str, uninterrupted: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = start("track", long_video, "--box", box, "--box", "20,20,30,30", "-o", out, *LIGHT)
    wait_for_lines(out / "trajectory.jsonl", 60)
    process.send_signal(number)
    told, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (2, "")
    assert "--resume" in told
    said = summary(out)
    records = read_jsonl(out / "trajectory.jsonl")
    assert said["status"] == "interrupted"
    assert said["frames"] == len(records) / 2 < 300
    assert (out / "trajectory.jsonl").read_bytes().endswith(b"}\n")
    assert len(list(open_source(out / "tracked.mp4"))) == said["frames"]
    assert run(["track", str(long_video), "-o", str(out), "--resume"]) == 0
    same_results(out, uninterrupted)


def test_ctrl_c_while_compiling_says_so(
    video: Path, box: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("metrack.runs.session.compile_kernels", interrupt)
    assert run(["track", str(video), "--box", box, "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == "metrack: interrupted\n"


def test_a_killed_run_can_be_resumed_from_its_last_checkpoint(
    long_video: Path, box: str, uninterrupted: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = start("track", long_video, "--box", box, "--box", "20,20,30,30", "-o", out, *LIGHT)
    wait_for_lines(out / "trajectory.jsonl", 250)
    process.kill()
    process.communicate(timeout=180)
    checkpoint = json.loads((out / "resume" / "checkpoint.json").read_text())
    assert 1 < checkpoint["frames"] <= len(read_jsonl(out / "trajectory.jsonl")) / 2
    assert summary(out)["status"] == "running"
    assert len(list(open_source(out / "tracked.mp4"))) > 0
    with (out / "trajectory.jsonl").open("a") as torn:
        torn.write('{"frame": 99')
    assert run(["track", str(long_video), "-o", str(out), "--resume"]) == 0
    same_results(out, uninterrupted)


def same_results(out: Path, expected: Path) -> None:
    for name in ("trajectory.jsonl", "boxes.csv", "boxes_1.txt", "boxes_2.txt"):
        assert (out / name).read_bytes() == (expected / name).read_bytes()
    assert names(out) == names(expected)
    assert {**summary(out), "tracker_fps": 0} == {**summary(expected), "tracker_fps": 0}
    assert len(list(open_source(out / "tracked.mp4"))) == 300


def test_resume_refuses_other_options_and_other_sources(
    video: Path, long_video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    process = start("track", long_video, "--box", box, "-o", out, "--no-video", *LIGHT)
    wait_for_lines(out / "trajectory.jsonl", 20)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=180)
    before = (out / "trajectory.jsonl").read_bytes()
    black = tmp_path / "black.mp4"
    with VideoWriter(black, (160, 120), 25) as writer:
        writer.write(np.zeros((120, 160, 3), np.uint8))
    for arguments, sentence in [
        ([str(long_video), "--seed", "3"], "--resume goes on with --seed 0 as it began, got 3"),
        ([str(long_video), "--box", "1,2,30,40"], "--resume goes on with --box"),
        ([str(long_video), "--stop", "3"], "--stop must leave the"),
        ([str(black)], "black.mp4 begins with another frame"),
    ]:
        assert run(["track", *arguments, "-o", str(out), "--resume"]) == 1
        assert sentence in capsys.readouterr().err
    assert (out / "trajectory.jsonl").read_bytes() == before
    assert run(["track", str(long_video), "--box", box, "-o", str(out), "--resume", "--stop", "200"]) == 0
    assert len(read_jsonl(out / "trajectory.jsonl")) == 200
    assert run(["track", str(long_video), "--box", box, "-o", str(out), "--resume"]) == 1  # it is done
