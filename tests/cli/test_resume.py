"""The real command: what survives Ctrl-C and a kill."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from metrack.cli import run
from metrack.frames import VideoWriter, open_source
from metrack.frames.formats import read_jsonl
from support.command import LIGHT, names, start, summary, wait_for_lines


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
    kept = [json.loads(path.read_text())["frames"] for path in (out / "resume").glob("checkpoint_*.json")]
    assert 1 < max(kept) <= len(read_jsonl(out / "trajectory.jsonl")) / 2
    assert len(kept) <= 3  # two generations, and one being made
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
    but = {"tracker_fps": 0, "check": ""}
    assert summary(out) | but == summary(expected) | but
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
    before = (out / "summary.json").stat().st_mtime_ns
    capsys.readouterr()
    assert run(["track", str(long_video), "--box", box, "-o", str(out), "--resume"]) == 0
    assert "is done: nothing is left to resume" in capsys.readouterr().out
    assert (out / "summary.json").stat().st_mtime_ns == before
