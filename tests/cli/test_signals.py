"""Signals at any moment, a terminal that goes away, and a second run into the same folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from metrack.cli import run
from metrack.frames import open_source
from support.command import LIGHT, start, summary, wait_for_lines

IMPORTING = """
import builtins, os, signal
signal.signal({number}, signal.SIG_DFL)  # the tests may have been started by nohup
plain = builtins.__import__
def watched(name, *rest):
    if name == {module!r}:
        os.kill(os.getpid(), {number})
    return plain(name, *rest)
builtins.__import__ = watched
import sys
sys.argv = ["metrack", *{words!r}]
from metrack.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module", ["typer", "metrack.runs.follow", "numba"])
def test_a_signal_during_import_ends_with_one_sentence(module: str, number: int, tmp_path: Path, video: Path) -> None:
    words = ["track", str(video), "--box", "20,20,30,30", "-o", str(tmp_path / "out"), *LIGHT]
    code = IMPORTING.format(module=module, number=int(number), words=words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (2, "metrack: interrupted\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["info", "missing.mp4"], 1)])
def test_a_signal_while_python_ends_changes_nothing(words: list[str], code: int) -> None:
    late = f"import atexit, os, signal, sys, time; sys.argv = ['metrack', *{words!r}]\n"
    late += "def end():\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(0.1)\n"
    late += "atexit.register(end); from metrack.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", late], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)


def test_a_hangup_is_like_a_termination(long_video: Path, box: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("track", long_video, "--box", box, "-o", out, "--no-video", *LIGHT)
    wait_for_lines(out / "trajectory.jsonl", 20)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (2, "")
    assert summary(out)["status"] == "interrupted"


def test_nohup_is_respected(video: Path, box: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    deaf = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from metrack.__main__ import main; "
    words = ["track", str(video), "--box", box, "-o", str(out), "--no-video", *LIGHT]
    process = subprocess.Popen([sys.executable, "-c", deaf + "main()", *words], stdout=subprocess.DEVNULL)
    wait_for_lines(out / "trajectory.jsonl", 3)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=180) == 0
    assert summary(out)["status"] == "done"


def test_a_reader_that_goes_away_does_not_end_a_run(video: Path, box: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    reader, writer = os.pipe()
    words = ["track", str(video), "--box", box, "-o", str(out), *LIGHT]
    process = subprocess.Popen(
        [sys.executable, "-m", "metrack", *words], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    os.close(reader)
    _, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (0, "")
    assert summary(out)["status"] == "done"
    assert len(list(open_source(out / "tracked.mp4"))) == summary(out)["frames"]


def test_a_second_run_into_the_same_folder_is_refused(
    long_video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    process = start("track", long_video, "--box", box, "-o", out, "--no-video", *LIGHT)
    wait_for_lines(out / "trajectory.jsonl", 5)
    for more in ([], ["--resume"]):
        assert run(["track", str(long_video), "--box", box, "-o", str(out), *LIGHT, *more]) == 1
        told = capsys.readouterr().err
        assert f"--out must not be in use, but another run (process {process.pid}) is writing into" in told
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=180)
    assert not (out / "metrack.lock").exists()
    assert run(["track", str(long_video), "-o", str(out), "--resume", "--stop", "60", "--no-video"]) in (0, 1)


def test_what_is_printed_is_there_at_once() -> None:
    code = "from metrack.cli.output import forgive_lost_readers as f; f(); print('a'); import os; os._exit(0)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True).stdout == b"a\n"
