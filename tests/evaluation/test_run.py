"""Evaluations: resumable, the same on any workers, and nothing lost when a worker dies."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from metrack.evaluation.comparison import score_external, score_folder, score_runs
from metrack.evaluation.evaluate import EvaluationSetup, evaluate
from metrack.evaluation.plan import RunProtocol
from metrack.evaluation.result import RunResult, is_finished, read_result, write_result
from metrack.evaluation.sequences import builtin_sequences
from metrack.evaluation.trackers import parse_trackers
from metrack.evaluation.workers import ClusterWorkers, LocalWorkers
from support.in_process import InProcess

FEW = "few=paper:motion.particles=40,metric.triplets=50"


@pytest.fixture(scope="module")
def sequences():
    return [each.part(0, 12) for each in builtin_sequences()]


def setup_of(specs, sequences, protocol=None):
    return EvaluationSetup.of(specs, sequences, protocol or RunProtocol(), "builtin")


def run(texts, sequences, out, workers, protocol=None):
    specs = parse_trackers(texts)
    seen = []
    evaluate(setup_of(specs, sequences, protocol), specs, sequences, out, workers, seen.append)
    return seen


def kept(out):
    """Everything that must not depend on who made it."""
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and not path.name.endswith(".times.txt")]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def test_finished_runs_are_not_made_again_and_half_written_ones_are(tmp_path, sequences):
    workers = InProcess(stop_after=3)
    with pytest.raises(KeyboardInterrupt):
        run([FEW, "static"], sequences[:2], tmp_path / "cut", workers)
    assert len(workers.executed) == 3
    half = tmp_path / "cut" / "ope" / "few" / f"{sequences[0].name}_001.txt"
    half.write_text("".join(half.read_text().splitlines(keepends=True)[:5]))
    rest = InProcess()
    seen = run([FEW, "static"], sequences[:2], tmp_path / "cut", rest)
    assert sorted(rest.executed) == [("few", f"{sequences[0].name}_001"), ("static", f"{sequences[1].name}_001")]
    assert [progress.done for progress in seen] == [2, 3, 4]
    assert seen[-1].left == 0
    run([FEW, "static"], sequences[:2], tmp_path / "whole", InProcess())
    assert kept(tmp_path / "cut") == kept(tmp_path / "whole")


def test_trackers_and_sequences_can_be_added_but_settings_not_changed(tmp_path, sequences):
    run([FEW], sequences[:1], tmp_path, InProcess())
    workers = InProcess()
    run(["static"], sequences[:2], tmp_path, workers)
    assert len(workers.executed) == 2
    assert set(EvaluationSetup.load(tmp_path).trackers) == {"few", "static"}
    before = kept(tmp_path)
    with pytest.raises(ValueError, match=r"few's motion.particles 40, which 30 would not fit"):
        run(["few=paper:motion.particles=30,metric.triplets=50"], sequences[:1], tmp_path, InProcess())
    with pytest.raises(ValueError, match="protocol"):
        run([FEW], sequences[:1], tmp_path, InProcess(), RunProtocol(seed=1))
    assert kept(tmp_path) == before


def test_somebody_elses_folder_is_left_alone(tmp_path, sequences):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ValueError, match="new, empty or an earlier metrack result"):
        run(["static"], sequences[:1], tmp_path, InProcess())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_processes_give_what_one_process_gives(tmp_path, sequences):
    run([FEW, "static"], sequences[:3], tmp_path / "alone", InProcess(), RunProtocol(repetitions=2))
    run([FEW, "static"], sequences[:3], tmp_path / "pool", LocalWorkers(2), RunProtocol(repetitions=2))
    assert kept(tmp_path / "alone") == kept(tmp_path / "pool")
    assert len(kept(tmp_path / "pool")) == 2 + 2 * 3 * 2 * 2


def test_a_run_that_kills_its_process_is_given_up_and_the_others_are_not(tmp_path, sequences, monkeypatch):
    support = str(Path(__file__).parents[1] / "support" / "workers")  # read by the children only
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([support, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("METRACK_KILL_ON", sequences[1].name)
    seen = run(["static"], sequences[:3], tmp_path, LocalWorkers(2))
    errors = {progress.what: progress.error for progress in seen if progress.error}
    assert errors == {f"static on {sequences[1].name}_001": "the process died 3 times"}
    assert seen[-1].done == 3
    tracker = score_runs(tmp_path, RunProtocol(), ["static"], sequences[:3]).tracker("static")
    assert tracker.errors() == {sequences[1].name: "the process died 3 times"}
    assert tracker.scored_on(each.name for each in sequences[:3]) == [sequences[0].name, sequences[2].name]


def test_what_a_tracker_cannot_start_on_is_told_and_tried_again(tmp_path, sequences):
    thin = sequences[0].part(0, 5)
    thin.truth[:, 2:] = 300, 4  # OpenCV fails inside
    seen = run(["csrt"], [thin], tmp_path, InProcess())
    assert "OpenCV cannot start" in seen[-1].error
    again = InProcess()
    run(["csrt"], [thin], tmp_path, again)
    assert len(again.executed) == 1


@pytest.fixture
def scheduler(tmp_path):
    """A real scheduler and two real workers, each in a process of its own, on loopback."""
    address_file = tmp_path / "scheduler.json"
    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--host", "127.0.0.1", "--no-dashboard"]
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    started = [subprocess.Popen([*dask, *options, "--scheduler-file", address_file], **common)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", address_file, *options]
    worker += ["--nthreads", "1", "--nworkers", "1", "--no-nanny", "--local-directory", tmp_path]
    started += [subprocess.Popen(worker, **common) for _ in range(2)]
    yield address_file, started[1:]
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_cluster_that_loses_a_worker_gives_what_one_process_gives(tmp_path, sequences, scheduler):
    address_file, workers = scheduler
    while not (address_file.is_file() and address_file.read_text().endswith("}")):
        time.sleep(0.1)
    address = json.loads(address_file.read_text())["address"]
    sequences = [each.part(0, 50) for each in builtin_sequences()]
    specs = parse_trackers([FEW])

    def kill_one(progress):
        if progress.done == 2:  # in the middle: both workers are at something
            os.kill(workers[0].pid, signal.SIGKILL)

    evaluate(setup_of(specs, sequences), specs, sequences, tmp_path / "far", ClusterWorkers(address), kill_one)
    assert workers[0].wait(5) == -signal.SIGKILL
    run([FEW], sequences, tmp_path / "near", InProcess())
    assert kept(tmp_path / "far") == kept(tmp_path / "near")
    assert len(kept(tmp_path / "near")) == 2 + 2 * len(sequences)


def test_a_cluster_of_our_own(tmp_path, sequences):
    run([FEW], sequences[:2], tmp_path / "far", ClusterWorkers("local", 1))
    run([FEW], sequences[:2], tmp_path / "near", InProcess())
    assert kept(tmp_path / "far") == kept(tmp_path / "near")


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, sequences, monkeypatch):
    monkeypatch.setattr("metrack.evaluation.workers.CONNECT_WITHIN", 1.0)
    with pytest.raises(ValueError, match=r"cluster must be local or the address of a scheduler that answers, got"):
        run(["static"], sequences[:1], tmp_path, ClusterWorkers("tcp://127.0.0.1:9"))


def test_outcomes_are_read_as_they_were_written(tmp_path, seed):
    rng = np.random.default_rng(seed)
    boxes = np.round(rng.uniform(1, 90, (7, 4)), 3)
    scores = np.round(rng.random(7), 6)
    scores[2] = np.nan
    result = RunResult(boxes, scores, ("tracking",) * 6 + ("lost",), np.round(rng.random(7), 6))
    assert not is_finished(tmp_path, "a", 7)
    write_result(tmp_path, "a", result)
    assert is_finished(tmp_path, "a", 7)
    assert not is_finished(tmp_path, "a", 8)
    back = read_result(tmp_path, "a")
    np.testing.assert_allclose(back.boxes, boxes, atol=1e-9)
    np.testing.assert_allclose(back.scores, scores)
    np.testing.assert_allclose(back.seconds, result.seconds)
    assert back.states == result.states


def test_boxes_of_other_programs_are_judged_alike(tmp_path, sequences):
    run(["static"], sequences[:2], tmp_path / "ours", InProcess())
    ours = score_runs(tmp_path / "ours", RunProtocol(), ["static"], sequences[:2]).tracker("static")
    theirs = tmp_path / "theirs"
    (theirs / sequences[1].name).mkdir(parents=True)
    lines = [(tmp_path / "ours" / "ope" / "static" / f"{each.name}_001.txt").read_text() for each in sequences[:2]]
    (theirs / f"{sequences[0].name}.txt").write_text(lines[0])
    (theirs / sequences[1].name / f"{sequences[1].name}_001.txt").write_text(lines[1].replace(",", "\t"))
    tracker = score_external("theirs", theirs, sequences[:2])
    for sequence in sequences[:2]:
        np.testing.assert_equal(tracker.on(sequence.name)["auc"], ours.on(sequence.name)["auc"])
        assert np.isnan(tracker.on(sequence.name)["fps"])
    (theirs / f"{sequences[0].name}.txt").write_text("1,1,5,5\n")
    with pytest.raises(ValueError, match=r"must have one box per frame, got 1 for 12"):
        score_external("theirs", theirs, sequences[:2])
    with pytest.raises(ValueError, match="results must be a folder with a file such as"):
        score_external("theirs", tmp_path / "nothing", sequences[:2])


def test_a_gap_counts_as_the_box_before_and_never_as_missing(tmp_path, sequences):
    truth = sequences[0].truth
    lines = [",".join(str(v) for v in (x + 1, y + 1, w, h)) for x, y, w, h in truth]
    (tmp_path / f"{sequences[0].name}.txt").write_text("\n".join([*lines[:6], *["NaN,NaN,NaN,NaN"] * 6]))
    (scored,) = score_external("gaps", tmp_path, sequences[:1]).runs[sequences[0].name]
    assert not np.isnan(scored.overlap).any()
    assert scored.overlap[:6].min() > 0.999
    assert scored.overlap[-1] < scored.overlap[5]


def test_a_folder_that_is_no_evaluation_is_refused(tmp_path):
    with pytest.raises(ValueError, match="folder must be made by metrack evaluate"):
        score_folder(tmp_path)


# Damage


def change_a_digit(path, text):
    path.write_text(text[:-3] + ("1" if text[-3] != "1" else "2") + text[-2:])


def break_utf8(path, text):
    path.write_bytes(b"\xff" + text.encode())


def double_a_line(path, text):
    path.write_text(text + text.splitlines(keepends=True)[-1])


@pytest.mark.parametrize("suffix", [".txt", ".states.csv", ".times.txt"])
@pytest.mark.parametrize("damage", [change_a_digit, break_utf8, double_a_line, lambda path, text: path.unlink()])
def test_what_is_damaged_is_told_of_and_made_again(tmp_path, sequences, suffix, damage):
    run(["static"], sequences[:2], tmp_path / "out", InProcess())
    whole = kept(tmp_path / "out")
    stem = tmp_path / "out" / "ope" / "static" / f"{sequences[1].name}_001"
    file = stem.with_name(stem.name + suffix)
    damage(file, file.read_text())
    assert not is_finished(stem.parent, stem.name, 12)
    if file.exists():
        with pytest.raises(ValueError, match=r"static/\S+_001\S+ (line \d+ )?must"):
            read_result(stem.parent, stem.name)
    again = InProcess()
    run(["static"], sequences[:2], tmp_path / "out", again)
    assert again.executed == [("static", stem.name)]
    assert kept(tmp_path / "out") == whole


def test_results_of_an_earlier_version_have_no_checksum(tmp_path, sequences):
    run(["static"], sequences[:1], tmp_path / "out", InProcess())
    times = tmp_path / "out" / "ope" / "static" / f"{sequences[0].name}_001.times.txt"
    times.write_text("".join(times.read_text().splitlines(keepends=True)[1:]))
    assert is_finished(times.parent, f"{sequences[0].name}_001", 12)
    assert len(read_result(times.parent, f"{sequences[0].name}_001").seconds) == 12


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-20],
        lambda text: text.replace('"seed": 0', '"seed": 1'),
        lambda text: "[" * 100_000,
        lambda text: (
            '{"data": "builtin", "layout": null, "protocol": {"repetitions": 1e300}, "sequences": [], "trackers": {}}'
        ),
        lambda text: '{"data": "builtin", "layout": null, "protocol": {}, "sequences": [], "trackers": {"../x": {}}}',
    ],
)
def test_a_damaged_setup_is_refused_by_name(tmp_path, sequences, change):
    run(["static"], sequences[:1], tmp_path / "out", InProcess())
    file = tmp_path / "out" / "evaluation.json"
    file.write_text(change(file.read_text()))
    before = kept(tmp_path / "out")
    with pytest.raises(ValueError, match=r"evaluation\.json must be .*out/evaluation\.json' is .*damaged"):
        run(["static"], sequences[:1], tmp_path / "out", InProcess())
    assert kept(tmp_path / "out") == before


PARENT = """
from metrack.evaluation.evaluate import EvaluationSetup, evaluate
from metrack.evaluation.plan import RunProtocol
from metrack.evaluation.sequences import builtin_sequences
from metrack.evaluation.trackers import parse_trackers
from metrack.evaluation.workers import LocalWorkers
from pathlib import Path
import sys

if __name__ == "__main__":
    specs, sequences = parse_trackers(["static", "default"]), builtin_sequences()[:2]
    setup = EvaluationSetup.of(specs, sequences, RunProtocol(repetitions=50), "builtin")
    evaluate(setup, specs, sequences, Path(sys.argv[1]), LocalWorkers(2))
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
def test_workers_die_with_a_parent_that_is_killed(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    out = tmp_path / "out"
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py", out], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: list(out.rglob("*_001.txt")), 120)
        children = descendants(parent.pid)
        assert len(children) >= 2
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(is_alive(each) for each in children), 20)


def wait_until(done, seconds):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def descendants(pid):
    found = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return found + [each for child in found for each in descendants(child)]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
