"""The accuracy guard passes the code it was written by, and fails for a planted loss or gain."""

import json

import pytest

import guard
from metrack.evaluation.trackers import TrackerSpec
from support.in_process import InProcess

QUICK = ["--frames", "20", "--sequences", "hard-fast", "hard-lighting"]
GOOD, BAD = "fast", "fast=paper:motion.particles=25,motion.shift_std=0.5"  # particles that hardly move


@pytest.fixture(autouse=True)
def _no_real_sequences(monkeypatch, tmp_path):
    monkeypatch.setenv("METRACK_DATA", str(tmp_path / "nothing"))


def run(file, spec, *options):
    return guard.main([*QUICK, "--file", str(file), *options], [TrackerSpec.parse(spec)], InProcess())


def test_the_same_code_passes_and_a_loss_or_a_gain_fails(tmp_path, capsys):
    file = tmp_path / "guard.json"
    assert run(file, GOOD, "--write") == 0
    assert run(file, GOOD) == 0
    assert "WORSE" not in capsys.readouterr().out
    assert run(file, BAD) == 1
    assert "WORSE" in capsys.readouterr().out
    assert run(file, BAD, "--write") == 0
    assert run(file, GOOD) == 1
    printed = capsys.readouterr().out
    assert "BETTER" in printed
    assert "guard.py --write" in printed


def test_rewriting_keeps_the_figures_of_data_that_is_not_here(tmp_path):
    file = tmp_path / "guard.json"
    file.write_text(json.dumps({"real": {"fast": 0.5}, "painted": {}}))
    assert run(file, GOOD, "--write") == 0
    kept = json.loads(file.read_text())
    assert kept["real"] == {"fast": 0.5}
    assert set(kept["painted"]) == {"fast"}


def test_a_tracker_without_a_figure_fails(tmp_path, capsys):
    file = tmp_path / "guard.json"
    file.write_text("{}")
    assert run(file, GOOD) == 1
    assert "NEW" in capsys.readouterr().out


def test_the_kept_file_has_a_figure_for_every_preset_and_kind():
    kept = json.loads(guard.FILE.read_text())
    assert set(kept) == {guard.PAINTED, guard.REAL}
    assert all(set(figures) == set(guard.PRESETS) for figures in kept.values())
