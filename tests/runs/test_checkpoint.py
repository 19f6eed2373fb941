"""Checkpoints: two generations, each whole or found out, and what resuming makes of what was lost."""

import json
import shutil

import pytest

from metrack.cli import run
from metrack.files import with_checksum, write_json
from metrack.frames import VideoWriter
from metrack.runs import session as sessions
from metrack.runs.checkpoint import Checkpoint, drop_checkpoints
from metrack.synth import builtin_clip

CLIP = builtin_clip(24, (160, 120), occlusion=False, departure=False)
BOX = ",".join(map(str, CLIP.first_box.to_xywh()))
LIGHT = ("--set", "motion.particles=20", "--set", "memory.size=20", "--preset", "paper", "--no-video")
TEXTS = ("trajectory.jsonl", "boxes.csv", "boxes.txt", "events.jsonl")


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    with VideoWriter(path, CLIP.size, CLIP.fps, crf=10) as writer:
        for image in CLIP:
            writer.write(image)
    return path


@pytest.fixture(scope="module")
def whole(video, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    assert track(video, out) == 0
    return out


@pytest.fixture(scope="module")
def cut_off(video, tmp_path_factory):
    """A run that was cut off after 20 frames, with checkpoints at frames 19 and 20."""
    out = tmp_path_factory.mktemp("cut") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
        patch.setattr(sessions.Session, "drop_checkpoint", lambda _: None)
        assert track(video, out, "--stop", "20") == 0
    summary = json.loads((out / "summary.json").read_text())
    del summary["check"]
    (out / "summary.json").write_text(json.dumps(with_checksum({**summary, "status": "running", "trajectory": None})))
    return out


@pytest.fixture
def out(cut_off, tmp_path):
    shutil.copytree(cut_off, tmp_path / "out")
    return tmp_path / "out"


def track(video, out, *options):
    return run(["track", str(video), "--box", BOX, "-o", str(out), *LIGHT, *options])


def resumed_like(whole, video, out):
    assert track(video, out, "--resume", "--stop", "24") == 0
    for name in TEXTS:
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    assert not (out / "resume").exists()
    return True


def newest(out, kind):
    return max((out / "resume").glob(f"{kind}_*"), key=lambda path: int(path.stem.rpartition("_")[2]))


def flip(path, at=100):
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(bytes(data))


def test_the_two_newest_are_kept(out):
    assert len(list((out / "resume").glob("*.json"))) == len(list((out / "resume").glob("*.npz"))) == 2
    assert Checkpoint.load(out).frames == 20


@pytest.mark.parametrize("kind", ["checkpoint", "state"])
@pytest.mark.parametrize("damage", [flip, lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_a_damaged_one_is_passed_over_for_the_older_one(whole, video, out, kind, damage):
    damage(newest(out, kind))
    assert Checkpoint.load(out).frames == 19
    assert resumed_like(whole, video, out)


def test_results_that_the_files_lost_are_computed_again(whole, video, out, capsys):
    path = out / "trajectory.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:15]))
    with pytest.raises(ValueError, match=r"first 19 frames, but trajectory\.jsonl in .* is damaged"):
        Checkpoint.load(out)
    assert resumed_like(whole, video, out)
    assert "it begins anew from the first frame" in " ".join(capsys.readouterr().out.split())


def test_only_the_trajectory_is_needed(whole, video, out):
    for name in TEXTS[1:]:
        (out / name).unlink()
    assert resumed_like(whole, video, out)


def test_results_of_another_run_are_found_out(video, out, tmp_path, capsys):
    assert track(video, tmp_path / "other", "--seed", "5") == 0
    shutil.copy(tmp_path / "other" / "trajectory.jsonl", out)
    capsys.readouterr()
    with pytest.raises(ValueError, match="has other ones"):
        Checkpoint.load(out)


def test_a_finished_run_that_was_cut_off_before_its_page_is_finished_by_resuming(whole, video, cut_off, tmp_path):
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions.Session, "drop_checkpoint", lambda _: None)
        assert track(video, out) == 0
    (out / "report.html").unlink()
    assert json.loads((out / "summary.json").read_text())["status"] == "done"
    assert resumed_like(whole, video, out)
    assert (out / "report.html").exists()


def test_a_run_killed_before_its_first_frame_begins_anew(whole, video, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "metrack.lock").write_text("1\n")
    (out / "summary.json").write_text(json.dumps(with_checksum({"program": "metrack", "status": "running"})))
    assert resumed_like(whole, video, out)


def test_what_a_run_killed_at_its_very_end_left_goes_when_it_is_resumed(whole, video, tmp_path, capsys):
    out = shutil.copytree(whole, tmp_path / "out")
    (out / "resume").mkdir()
    for name in ("resume/state_9.npz", "report.html.part", "metrack.lock"):
        (out / name).write_bytes(b"left")
    assert track(video, out, "--resume") == 0
    assert "nothing is left to resume" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {path.name for path in whole.iterdir()}


def test_what_was_half_written_goes_when_a_run_is_resumed(whole, video, out):
    for name in ("tracked.mp4", "tracked.mp4.part", "events.png.part"):  # of a run with a video; there is none now
        (out / name).write_bytes(b"half")
    assert resumed_like(whole, video, out)
    assert {path.name for path in out.iterdir()} == {path.name for path in whole.iterdir()}


def test_a_folder_killed_before_its_first_file_is_as_good_as_new(whole, video, tmp_path):
    (tmp_path / "metrack.lock").write_text("1\n")
    (tmp_path / "summary.json.part").write_text("{")
    assert track(video, tmp_path) == 0
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in whole.iterdir()}


def test_without_boxes_there_is_nothing_to_begin_with(video, tmp_path, capsys):
    (tmp_path / "summary.json").write_text(json.dumps({"program": "metrack", "status": "running"}))
    assert run(["track", str(video), "-o", str(tmp_path), "--resume"]) == 1
    assert "there is none in" in capsys.readouterr().err


def test_corrections_by_hand_are_not_made_again_silently(video, out, capsys):
    summary = json.loads((out / "summary.json").read_text())
    del summary["check"]
    corrected = {**summary, "corrections": [{"frame": 3, "target": 1, "box": [1, 2, 30, 40]}]}
    (out / "summary.json").write_text(json.dumps(with_checksum(corrected)))
    (out / "trajectory.jsonl").write_text("")
    assert track(video, out, "--resume") == 1
    assert "trajectory.jsonl" in capsys.readouterr().err


def test_a_damaged_summary_is_named_before_anything_is_written(video, out, capsys):
    flip(out / "summary.json", 40)
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    assert track(video, out) == 1
    assert "summary.json" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


def test_dropping_removes_notes_before_states(out):
    drop_checkpoints(out, kept=1)
    assert [path.suffix for path in sorted((out / "resume").iterdir())] == [".json", ".npz"]
    assert Checkpoint.load(out).frames == 20
    drop_checkpoints(out, kept=0)
    assert list((out / "resume").iterdir()) == []


@pytest.mark.parametrize("pattern", ["state_*.npz", "checkpoint_*.json"])
def test_a_folder_in_the_place_of_the_newest_is_passed_over_and_removed(pattern, video, whole, out):
    newest = max((out / "resume").glob(pattern), key=lambda path: int(path.stem.partition("_")[2]))
    newest.unlink()
    newest.mkdir()
    (newest / "inside").touch()
    assert track(video, out, "--resume", "--stop", "24") == 0
    assert not (out / "resume").exists()
    for name in TEXTS:
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name


def test_many_lines_of_targets_that_wait_for_a_corrected_one_are_read_back(out):
    note = newest(out, "checkpoint")
    values = json.loads(note.read_text()) | {"ahead": [["x" * 400] * 25_000]}  # a quarter of an hour
    write_json(note, with_checksum(values))
    assert Checkpoint.load(out).ahead == values["ahead"]


def test_the_state_of_an_earlier_version_stays_as_long_as_its_note(out):
    values = json.loads(newest(out, "checkpoint").read_text())
    frames, state = values["frames"], newest(out, "state").read_bytes()
    for path in (out / "resume").iterdir():
        path.unlink()
    (out / "resume" / f"state_{frames}.npz").write_bytes(state)
    old = {name: values[name] for name in ("job", "frames", "busy", "first_frame", "corrections")} | {"version": 2}
    (out / "resume" / "checkpoint.json").write_text(json.dumps(old))
    checkpoint = Checkpoint.load(out)
    checkpoint.save(out, checkpoint.trackers(out, None))
    drop_checkpoints(out)
    names = {path.name for path in (out / "resume").iterdir()}
    new = {f"checkpoint_{frames + 1}.json", f"state_{frames + 1}.npz"}
    assert names == {"checkpoint.json", f"state_{frames}.npz"} | new
    newest(out, "checkpoint").unlink()
    assert Checkpoint.load(out).frames == frames
