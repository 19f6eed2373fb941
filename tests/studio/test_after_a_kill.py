"""What a studio makes of runs that were killed with the one before it, at their very beginning or end."""

import json
import shutil

import pytest

from metrack.files import with_checksum
from metrack.runs.lock import LOCK, FolderLock
from support.studio import BOX, paint, studio

TEXTS = ("trajectory.jsonl", "boxes.csv", "boxes.txt", "mot.txt", "events.jsonl", "summary.json")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder of runs with one that is done."""
    runs = tmp_path_factory.mktemp("whole")
    paint(runs / "balloon.mp4")
    with studio(runs) as served:
        served.done(served.start([BOX], stop=12))
    return runs


@pytest.fixture
def runs(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "runs")


def only(runs):
    (note,) = runs.glob("*/studio.json")
    return note.parent


def same_results(out, whole):
    for name in TEXTS[:-1]:
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    assert {path.name for path in out.iterdir()} <= {*TEXTS, "studio.json", LOCK}


def test_a_run_killed_before_its_first_checkpoint_begins_anew(runs, whole):
    out = only(runs)
    for name in TEXTS:
        (out / name).unlink()
    (out / LOCK).write_text("1\n")
    (out / "summary.json").write_text(json.dumps(with_checksum({"program": "metrack", "status": "running"})))
    with studio(runs) as served:
        status = served.get(f"/api/runs/{out.name}")["status"]
        assert (status["state"], status["can_go_on"]) == ("interrupted", True)
        served.get(f"/api/runs/{out.name}/go", {})
        served.done(out.name)
        same_results(out, only(whole))
    assert not (out / LOCK).exists()


def test_a_run_with_corrections_does_not_begin_anew_by_itself(runs):
    out = only(runs)
    summary = json.loads((out / "summary.json").read_text()) | {"status": "running", "trajectory": None}
    summary["corrections"] = [{"frame": 3, "target": 1, "box": BOX}]
    (out / "summary.json").write_text(json.dumps(with_checksum(summary)))
    with studio(runs) as served:
        assert not served.get(f"/api/runs/{out.name}")["status"]["can_go_on"]
        status, _, answer = served.ask(f"/api/runs/{out.name}/go", {})
        assert (status, "there is none in" in answer["error"]) == (400, True)


@pytest.mark.parametrize("alive", [False, True])
def test_leftovers_of_a_run_that_was_done_go_unless_it_is_alive(runs, whole, alive):
    out = only(runs)
    (out / "resume").mkdir()
    (out / "resume" / "state_7.npz").write_bytes(b"left")
    (out / "summary.json.part").write_bytes(b"half")
    (out / LOCK).write_text("1\n")
    lock = FolderLock(out)
    if alive:
        lock.acquire()
    with studio(runs) as served:
        assert served.get(f"/api/runs/{out.name}")["status"]["state"] == "done"
    assert (out / "resume").exists() == alive
    assert (out / "summary.json.part").exists() == alive
    lock.release()
    if not alive:
        same_results(out, only(whole))
        assert not (out / LOCK).exists()
