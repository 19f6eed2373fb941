"""The commands that measure, as people type them."""

import csv
import json
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from PIL import Image

from metrack.cli import run

FEW = "few=paper:motion.particles=40,metric.triplets=50"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two small OTB sequences of a bright square on noise that moves to the right."""
    root, rng = tmp_path_factory.mktemp("otb"), np.random.default_rng(0)
    for name in ("Square", "Block"):
        (root / name / "img").mkdir(parents=True)
        lines = []
        for index in range(12):
            image = rng.integers(60, 90, (80, 120), dtype=np.uint8)
            image[20:50, 20 + 2 * index : 44 + 2 * index] += 120
            Image.fromarray(image).save(root / name / "img" / f"{index + 1:04d}.png")
            lines.append(f"{21 + 2 * index},21,24,30")
        (root / name / "groundtruth_rect.txt").write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture(scope="module")
def evaluated(dataset, tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "out"
    code = run(["evaluate", str(dataset), "--tracker", FEW, "--tracker", "static", "-o", str(out), "--processes", "1"])
    assert code == 0
    return out


def test_one_command_leaves_results_tables_and_a_page(evaluated):
    assert (evaluated / "report.html").is_file()
    assert (evaluated / "ope" / "few" / "Square_001.txt").is_file()
    figures = json.loads((evaluated / "report.json").read_text())
    assert "few" in json.dumps(figures)
    with (evaluated / "report.csv").open() as file:
        assert {cell for row in csv.reader(file) for cell in row} >= {"few", "static", "Square"}


def test_the_same_command_again_runs_nothing(evaluated, dataset, capsys):
    before = {path: path.stat().st_mtime_ns for path in (evaluated / "ope").rglob("*.txt")}
    assert run(["evaluate", str(dataset), "--tracker", FEW, "--tracker", "static", "-o", str(evaluated)]) == 0
    assert {path: path.stat().st_mtime_ns for path in (evaluated / "ope").rglob("*.txt")} == before
    printed = capsys.readouterr().out
    assert "look at" in printed
    assert printed.index("few") < printed.index("static")  # the better one first


def test_results_of_others_stand_beside_ours(evaluated, tmp_path, capsys):
    published = tmp_path / "published.csv"
    published.write_text("tracker,sequence,success_auc\nMDNet,Square,0.654\nMDNet,Block,0.654\nCT,Square,0.1\n")
    theirs = evaluated / "ope" / "static"
    options = ["--published", str(published), "--show", "MDNet", "--results", f"theirs={theirs}"]
    assert run(["report", str(evaluated), "-o", str(tmp_path / "page"), *options]) == 0
    printed = capsys.readouterr().out
    assert "MDNet (published)" in printed
    assert "0.654" in printed
    assert "theirs" in printed
    assert "CT" not in printed
    assert (tmp_path / "page" / "report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tracker", "cssrt"], "did you mean 'csrt'"),
        (["--tracker", "paper", "--tracker", "paper"], "once per label"),
        (["--protocol", "opre"], "--protocol must be one of ope, tre, sre"),
        (["--sequences", "Squar"], "--sequences must be among those found, got 'Squar'; did you mean 'Square'"),
        (["--layout", "otbb"], "did you mean 'otb'"),
        (["--repetitions", "0"], "--repetitions must be at least 1"),
        (["--processes", "0"], "--processes must be at least 1"),
        (["--published", "nothing.csv"], "--published must be a CSV file"),
        (["--show", "KCF"], "--show chooses among the trackers of --published"),
        (["--results", "nothing"], "--results must be LABEL=FOLDER"),
    ],
)
def test_wrong_arguments_are_one_sentence_before_any_work(dataset, tmp_path, capsys, arguments, words):
    out = tmp_path / "out"
    assert run(["evaluate", str(dataset), "-o", str(out), *arguments]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_a_dataset_that_is_none_is_one_sentence(tmp_path, capsys):
    assert run(["evaluate", str(tmp_path / "nothing"), "-o", str(tmp_path / "out")]) == 1
    assert "nothing" in capsys.readouterr().err
    assert run(["report", str(tmp_path)]) == 1
    assert "RESULTS must be a folder made by metrack track, demo or evaluate" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(tmp_path):
    out = tmp_path / "out"
    options = ["--tracker", FEW, "--sequences", "balloon-calm", "--repetitions", "4", "--processes", "1"]
    command = [sys.executable, "-m", "metrack", "evaluate", "builtin", "-o", str(out), *options]
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # tests run in the background are deaf to it
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=listen)
    while not list(out.glob("ope/few/*_00?.txt")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 2, printed
    assert "the same command goes on" in printed
    finished = {path: path.read_bytes() for path in out.glob("ope/few/*_00?.txt")}
    assert 0 < len(finished) < 4
    assert json.loads((out / "summary.json").read_text())["status"] == "interrupted"
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    assert len(list(out.glob("ope/few/*_00?.txt"))) == 4
    assert all(path.read_bytes() == text for path, text in finished.items())


def test_an_experiment_by_one_command(dataset, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["--data", str(dataset), "--seeds", "1", "--length", "6", "--processes", "1", "-o", str(out)]
    assert run(["reproduce", "sampling", *options]) == 0
    assert "sampling/index.html" in capsys.readouterr().out
    assert (out / "sampling" / "table.csv").is_file()
    assert run(["reproduce", "list"]) == 0
    assert "trade-off" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["samplng"], "there is no experiment 'samplng'; did you mean 'sampling'"),
        (["sampling", "--seeds", "0"], "--seeds must be at least 1"),
        (["sampling", "--length", "1"], "--length must be at least 2"),
    ],
)
def test_wrong_experiments_are_one_sentence(arguments, words, tmp_path, capsys):
    assert run(["reproduce", *arguments, "-o", str(tmp_path / "out")]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_experiment_that_cannot_be_made_says_why_and_leaves_with_one(dataset, tmp_path, capsys):
    options = ["--data", str(dataset), "--sequences", "Square", "--seeds", "1", "--length", "6", "--processes", "1"]
    assert run(["reproduce", "identification", *options, "-o", str(tmp_path / "out")]) == 1
    assert "the experiment identification could not be made" in capsys.readouterr().err
