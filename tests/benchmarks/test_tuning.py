"""Statistics of paired comparisons, and the tuning bench made of them."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from metrack.evaluation.plan import RunProtocol, runs_on, starts_of
from metrack.evaluation.sequences import hard_sequences
from paired import (
    bootstrap_interval,
    deal_folds,
    fold_means,
    folds_agree,
    leave_sequences_out,
    worst_quarter,
)
from support.in_process import InProcess

spec = importlib.util.spec_from_file_location("tuning", Path(__file__).parents[2] / "benchmarks" / "tuning.py")
tuning = importlib.util.module_from_spec(spec)


@pytest.fixture(scope="module", autouse=True)
def _bench_is_loaded():
    import sys

    sys.modules["tuning"] = tuning
    spec.loader.exec_module(tuning)
    yield
    del sys.modules["tuning"]


# Statistics


def test_the_interval_of_a_mean_is_as_wide_as_theory_says():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.02, 0.1, 400)
    low, high = bootstrap_interval(rng, differences)
    error = differences.std() / np.sqrt(400)
    np.testing.assert_allclose((low, high), differences.mean() + np.array([-1.645, 1.645]) * error, atol=0.1 * error)


def test_the_interval_contains_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = [low <= 0.05 <= high for low, high in (
        bootstrap_interval(rng, rng.normal(0.05, 0.2, 27), draws=400) for _ in range(400))]  # fmt: skip
    assert 0.84 < np.mean(hits) < 0.94


def test_equal_differences_leave_no_doubt():
    assert bootstrap_interval(np.random.default_rng(0), [0.25, 0.25, 0.25]) == (0.25, 0.25)


def test_the_worst_quarter_is_the_mean_of_the_lowest():
    assert worst_quarter(np.arange(8)[::-1]) == 0.5
    assert worst_quarter([3.0]) == 3.0


def test_folds_share_kinds_that_stand_together():
    fold = deal_folds(27, 5)
    real = np.arange(27) < 17
    assert {int(np.sum(fold[real] == k)) for k in range(5)} == {3, 4}
    assert {int(np.sum(fold[~real] == k)) for k in range(5)} == {2}


def test_folds_agree_only_when_every_one_has_the_same_sign():
    fold = np.array([0, 0, 1, 1])
    np.testing.assert_allclose(fold_means([1, 3, -1, 0], fold), [2, -0.5])
    assert folds_agree([0.1, 0.1, 0.3, -0.1], fold)
    assert folds_agree([-0.1, -0.1, -0.3, 0.1], fold)
    assert not folds_agree([0.9, 0.9, 0.1, -0.2], fold)
    assert not folds_agree([0, 0, 0, 0], fold)


def test_a_lucky_candidate_is_found_out():
    """Best of all through one sequence, it is not chosen for the fold that this one is in."""
    steady, lucky = [0.5, 0.5, 0.5, 0.5], [0.45, 0.45, 0.45, 1.0]
    found = leave_sequences_out([steady, lucky], np.arange(4))
    assert found.chosen == (1, 1, 1, 0)
    np.testing.assert_allclose(found.estimate, (0.45 * 3 + 0.5) / 4)


def test_choosing_the_best_of_noise_is_worth_nothing():
    """The plain mean of the best of many equals promises more than it holds; the left-out estimate does not."""
    rng = np.random.default_rng(2)
    tables = rng.normal(0.5, 0.1, (60, 20, 25))
    promised = np.mean([table.mean(axis=1).max() for table in tables])
    held = np.mean([leave_sequences_out(table, deal_folds(25, 5)).estimate for table in tables])
    assert promised > 0.53
    np.testing.assert_allclose(held, 0.5, atol=0.01)


@pytest.mark.parametrize("folds", [1, 6])
def test_impossible_folds_are_refused(folds):
    with pytest.raises(ValueError, match=f"--folds must be between 2 and the 5 sequences, got {folds}"):
        deal_folds(5, folds)


# Runs of a limited length


def test_runs_end_after_a_length():
    (sequence,) = [each for each in hard_sequences(frames=20) if each.name == "hard-small"]
    runs = runs_on(tuning.TrackerSpec.parse("paper"), sequence, RunProtocol("tre", starts=4, length=7))
    assert [(run.start, len(run.sequence), len(run.sequence.pictures)) for run in runs] == [
        (0, 7, 7), (5, 7, 7), (10, 7, 7), (15, 5, 5)]  # fmt: skip
    with pytest.raises(ValueError, match="length must be at least 2 frames, got 1"):
        RunProtocol(length=1)


def test_no_run_starts_on_a_hidden_target():
    (sequence,) = [each for each in hard_sequences() if each.name == "hard-occlusion"]
    hidden = sequence.tags["occlusion"]
    starts = [frame for frame, _ in starts_of(sequence, RunProtocol("tre", starts=12))]
    assert hidden[np.arange(12) * 10].any()
    assert not hidden[starts].any()
    assert starts == sorted(set(starts))


# The bench


@pytest.fixture(autouse=True)
def _no_filmed_sequences(monkeypatch, tmp_path):
    monkeypatch.setenv("METRACK_DATA", str(tmp_path / "nothing"))


TINY = ["--sequences", "hard-lighting,hard-plain,hard-small", "--length", "4", "--tre", "2", "--sre", "2"]
RIVALS = ["mosse", "--against", "static", "--folds", "3"]


def bench(out, *arguments, workers=None):
    return tuning.main([*TINY, *arguments, "--out", str(out)], workers or InProcess())


def test_one_command_goes_on_where_it_was_stopped_and_compares(tmp_path, capsys):
    out, first, second = tmp_path / "out", InProcess(stop_after=7), InProcess()
    assert bench(out, *RIVALS, workers=first) == 2
    assert "the same command goes on" in capsys.readouterr().out
    assert bench(out, *RIVALS, "--each", workers=second) == 0
    assert (len(first.executed), len(second.executed)) == (7, 24 - 7)
    printed = capsys.readouterr().out
    assert "hard-plain" in printed
    assert "chosen without the fold" in printed
    found = json.loads((out / "tuning.json").read_text())
    reference, mosse = found["candidates"]
    each = np.array([np.add(row["tre"], row["sre"]) / 2 for row in found["sequences"]])  # (S, C)
    np.testing.assert_allclose(mosse["difference"], (each[:, 1] - each[:, 0]).mean())
    np.testing.assert_allclose([reference["all"], mosse["all"]], each.mean(axis=0))
    assert mosse["interval"][0] <= mosse["difference"] <= mosse["interval"][1]
    np.testing.assert_allclose(mosse["by_fold"], each[:, 1] - each[:, 0])  # a sequence to each fold
    assert reference["difference"] is None
    assert mosse["worst_quarter"] < mosse["all"]
    assert mosse["milliseconds"] > reference["milliseconds"] > 0


def test_runs_of_other_code_are_not_mixed_in(tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    once = ["--tre", "1", "--sre", "1", "--against", "static"]
    assert bench(out, *once) == 0
    before = {path: path.read_bytes() for path in out.glob("*/*/static/*.txt")}
    monkeypatch.setattr(tuning, "fingerprint", lambda spec: 7)
    again = InProcess()
    assert bench(out, "again=static", *once, workers=again) == 1
    assert len(again.executed) == 0
    assert "runs of 'static' made by other code" in capsys.readouterr().err
    assert bench(out, "again=static", *once, "--keep", workers=again) == 0
    assert len(again.executed) == len(before) / 2  # boxes and times of each
    assert {path: path.read_bytes() for path in before} == before
    found = json.loads((out / "tuning.json").read_text())["candidates"][1]
    assert (found["difference"], found["folds_agree"]) == (0.0, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["papr"], "CANDIDATE must be a preset or a rival, got 'papr'; did you mean 'paper'"),
        (["default"], "CANDIDATE must be given once per label, got 'default' 2 times"),
        (["paper", "--tre", "0"], "--tre must be at least 1, got 0"),
        (["paper", "--sre", "13"], "--sre must be between 1 and 12, got 13"),
        (["paper", "--length", "1"], "--length must be at least 2 frames, got 1"),
        (["paper", "--repetitions", "0"], "--repetitions must be at least 1, got 0"),
        (["paper", "--hard", "-1"], "--hard must be 0 or more, got -1"),
        (["paper", "--sequences", "hard-twinz"], "got 'hard-twinz'; did you mean 'hard-twins'"),
        (["paper", "--sequences", "hard-twins"], "at least two sequences"),
        (["paper", "--sequences", "hard-twins,hard-fast", "--folds", "3"], "--folds must be between 2 and the 2"),
    ],
)
def test_nonsense_is_refused_in_one_sentence_before_any_work(tmp_path, capsys, arguments, words):
    out = tmp_path / "out"
    assert tuning.main([*arguments, "--out", str(out)], InProcess()) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not out.exists()
