"""The real command: what it refuses, and what it keeps of a broken source."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.cli import run
from metrack.frames.formats import read_jsonl
from metrack.synth import Clip
from support.command import LIGHT, start, summary

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


def huge_header(folder: Path) -> str:
    Pillow.new("1", (20_000, 20_000)).save(folder / "huge.png")
    return str(folder / "huge.png")


def damaged_exif(folder: Path) -> str:
    Pillow.new("RGB", (160, 120)).save(folder / "odd.tif", compression="tiff_lzw")
    data = bytearray((folder / "odd.tif").read_bytes())
    data[8:40] = b"\xff" * 32
    (folder / "odd.tif").write_bytes(data)
    return str(folder / "odd.tif")


def many_samples(folder: Path) -> str:
    Pillow.new("RGB", (160, 120)).save(folder / "many.tif")
    data = (folder / "many.tif").read_bytes()
    tag = b"\x15\x01\x03\x00\x01\x00\x00\x00"  # samples per pixel: one short
    (folder / "many.tif").write_bytes(data.replace(tag + b"\x03", tag + b"\x99"))
    return str(folder / "many.tif")


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe.mp4")
    return str(folder / "pipe.mp4")


def playlist(folder: Path) -> str:
    (folder / "list.mp4").write_text("ffconcat version 1.0\nfile other.mp4\n")
    return str(folder / "list.mp4")


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
    "huge image": (lambda t, v, b: [huge_header(t), "--box", b], "frames of at most 64000000 pixels"),
    "damaged image": (lambda t, v, b: [damaged_exif(t), "--box", b], "odd.tif' cannot be read"),
    "named pipe": (lambda t, v, b: [pipe(t), "--box", b], "it is a named pipe and not a file"),
    "playlist": (lambda t, v, b: [playlist(t), "--box", b], "list.mp4' cannot be read as one"),
    "very long name": (lambda t, v, b: ["x" * 5000, "--box", b], "SOURCE must be a video file"),
    "digit that is none": (lambda t, v, b: ["²", "--box", b], "there is no file '²'"),
    "camera of many digits": (lambda t, v, b: ["9" * 5000, "--box", b], "numbers from 0 to 9999"),
    "name of other bytes": (lambda t, v, b: [os.fsdecode(b"\xff\xfe.mp4"), "--box", b], "there is no file"),
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


@pytest.mark.parametrize("make", [lambda folder: folder / "none.mp4", many_samples])
def test_the_process_itself_says_one_sentence_and_exits_with_1(tmp_path: Path, make: Callable[[Path], object]) -> None:
    process = start("track", make(tmp_path), "--box", "1,2,30,40", "-o", tmp_path / "out")
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
