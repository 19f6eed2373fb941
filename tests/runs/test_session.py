"""A session without any driver: steps, corrections, undo, checkpoints, and what it leaves on disk."""

import json
from contextlib import suppress

import pytest

from metrack import Tracker, files
from metrack.files import with_checksum
from metrack.frames import VideoFrame
from metrack.frames.base import Source
from metrack.frames.formats import read_jsonl
from metrack.runs.checkpoint import VERSION, Checkpoint
from metrack.runs.job import Job
from metrack.runs.lock import check_unlocked
from metrack.runs.session import Session
from metrack.runs.summary import DONE, INTERRUPTED, stored_status
from metrack.runs.track import Track
from metrack.synth import builtin_clip

CLIP = builtin_clip(30, (160, 120), occlusion=False, departure=False)
OTHER = (100.0, 60.0, 24.0, 24.0)
LIGHT = {"motion.particles": "20", "memory.size": "20", "metric.learning": "off"}


class Painted(Source):
    """The built-in clip as a source."""

    name, size, fps, frames = "painted", CLIP.size, CLIP.fps, len(CLIP)

    def __iter__(self):
        return (frame(number) for number in range(len(CLIP)))


def frame(number):
    return VideoFrame(number, number / CLIP.fps, CLIP[number])


def job(**options):
    return Job(source="painted", boxes=[CLIP.first_box.to_xywh(), OTHER], changes=LIGHT, video=False, **options)


OPEN = []


@pytest.fixture(autouse=True)
def all_closed():
    yield
    for session in OPEN:
        session.close()
    OPEN.clear()


def begun(folder, source=None, **options):
    session = Session(job(), folder, source or Painted(), frame(0), **options)
    OPEN.append(session)
    session.begin()
    return session


def follow(session, *numbers):
    for number in numbers:
        session.step(frame(number))


def boxes(folder, target):
    return [each.box for each in read_jsonl(folder / "trajectory.jsonl") if each.target == target]


def texts(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".jsonl", ".csv", ".txt")}


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def test_making_a_session_writes_nothing_and_beginning_it_does(tmp_path):
    out = tmp_path / "out"
    session = Session(job(), out, Painted(), frame(0))
    OPEN.append(session)
    assert not out.exists()
    (first,) = session.begin()
    assert [(record.frame, record.target, record.score) for record in first] == [(0, 1, 1.0), (0, 2, 1.0)]
    assert summary(out)["status"] == "running"
    with pytest.raises(ValueError, match="box must lie in the frame"):
        Session(Job(source="painted", boxes=[(900, 9, 9, 9)]), tmp_path / "other", Painted(), frame(0))


def test_a_correction_is_followed_alone_until_it_has_caught_up(tmp_path):
    plain, session = begun(tmp_path / "plain"), begun(tmp_path / "out", correctable=True)
    follow(plain, *range(1, 12))
    follow(session, *range(1, 10))
    before = boxes(tmp_path / "out", 1)
    session.correct(frame(4), 1, (20, 20, 30, 30))
    assert (session.position, session.newest, session.revision, session.can_undo) == (5, 4, 1, True)
    follow(session, *range(5, 12))
    assert boxes(tmp_path / "out", 2)[:10] == boxes(tmp_path / "plain", 2)[:10]
    after = boxes(tmp_path / "out", 1)
    assert after[:4] == before[:4]
    assert after[4].to_xywh() == (20, 20, 30, 30)
    session.finish(DONE, None)
    assert summary(tmp_path / "out")["corrections"] == [{"frame": 4, "target": 1, "box": [20, 20, 30, 30]}]


def test_undo_gives_the_same_files_back(tmp_path):
    session = begun(tmp_path, correctable=True)
    follow(session, *range(1, 8))
    kept = texts(tmp_path)
    assert len(kept) == 5
    session.correct(frame(3), 2, (20, 20, 30, 30))
    follow(session, 4)
    session.undo()
    assert session.position == 8
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    assert session.corrections == []
    with pytest.raises(ValueError, match="no correction to take back"):
        session.undo()


@pytest.mark.parametrize(
    ("number", "target", "words"),
    [(9, 1, "frame must be one of those followed, 0 to 3, got 9"), (2, 3, "one of 1 to 2")],
)
def test_what_cannot_be_corrected_is_refused(tmp_path, number, target, words):
    session = begun(tmp_path, correctable=True)
    follow(session, 1, 2, 3)
    with pytest.raises(ValueError, match=words):
        session.correct(frame(number), target, (20, 20, 30, 30))
    assert session.revision == 0


def test_of_a_camera_only_the_newest_frame_can_be_corrected(tmp_path):
    source = Painted()
    source.live = True
    session = begun(tmp_path, source, correctable=True)
    follow(session, 1, 2)
    with pytest.raises(ValueError, match="only the present"):
        session.correct(frame(1), 1, (20, 20, 30, 30))
    session.correct(frame(2), 1, (20, 20, 30, 30))
    follow(session, 3)
    with pytest.raises(ValueError, match="only the present"):
        session.undo()
    assert not (tmp_path / "resume").exists()  # a camera cannot be read again


def test_an_interrupted_session_goes_on_where_it_was_with_its_corrections(tmp_path):
    whole, half = begun(tmp_path / "whole", correctable=True), begun(tmp_path / "half", correctable=True)
    for session in (whole, half):
        follow(session, 1, 2, 3)
        session.correct(frame(3), 1, (30, 30, 30, 30))
    follow(whole, *range(4, 10))
    follow(half, 4, 5)
    half.finish(INTERRUPTED, "enough")
    half.close()
    assert stored_status(tmp_path / "half", job())["can_go_on"]
    checkpoint = Checkpoint.load(tmp_path / "half")
    resumed = Session(Job(**checkpoint.job), tmp_path / "half", Painted(), frame(0), checkpoint=checkpoint)
    assert len(resumed.begin()) == 6
    follow(resumed, *range(6, 10))
    resumed.finish(DONE, None)
    assert (tmp_path / "half" / "resume").exists()  # until all files are complete
    resumed.drop_checkpoint()
    resumed.close()
    assert not (tmp_path / "half" / "resume").exists()
    assert (tmp_path / "half" / "trajectory.jsonl").read_bytes() == (
        tmp_path / "whole" / "trajectory.jsonl"
    ).read_bytes()
    assert len(summary(tmp_path / "half")["corrections"]) == 1


@pytest.mark.parametrize("cut", [4, 6, 9])
def test_a_session_cut_off_while_a_corrected_target_catches_up_goes_on_the_same(tmp_path, cut):
    whole, half = begun(tmp_path / "whole", correctable=True), begun(tmp_path / "half", correctable=True)
    for session in (whole, half):
        follow(session, *range(1, 9))
        session.correct(frame(3), 1, (30, 30, 30, 30))
    follow(whole, *range(4, 12))
    follow(half, *range(4, cut))
    half.checkpoint()
    half.close()  # as if it had been killed: nothing more is written
    checkpoint = Checkpoint.load(tmp_path / "half")
    assert (checkpoint.frames, [len(each) for each in checkpoint.ahead]) == (cut, [0, 9 - cut] if cut < 9 else [])
    resumed = Session(Job(**checkpoint.job), tmp_path / "half", Painted(), frame(0), checkpoint=checkpoint)
    OPEN.append(resumed)
    assert len(resumed.begin()) == cut
    follow(resumed, *range(cut, 12))
    assert texts(tmp_path / "half") == texts(tmp_path / "whole")
    assert resumed.corrections == whole.corrections


def cut_off(monkeypatch, writes, action):
    """Do something that dies before one more file than ``writes`` is replaced; return whether it was done."""
    left, plain = [writes], files.os.replace

    def replace(*paths):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        plain(*paths)

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(files.os, "replace", replace)
        action()
    return left[0] >= 0


def corrected_with(folder, writes, monkeypatch):
    """Correct a session that is cut off; return the trajectory before and after, and whether all was done."""
    session = begun(folder, correctable=True)
    follow(session, *range(1, 7))
    session.checkpoint()
    before = (folder / "trajectory.jsonl").read_bytes()
    done = cut_off(monkeypatch, writes, lambda: session.correct(frame(3), 1, (30, 30, 30, 30)))
    session.close()
    return before, (folder / "trajectory.jsonl").read_bytes(), done


def test_a_correction_cut_off_at_any_write_leaves_the_old_track_or_the_new_one(tmp_path, monkeypatch):
    outcomes = []
    for writes in range(12):
        before, after, done = corrected_with(tmp_path / str(writes), writes, monkeypatch)
        checkpoint = Checkpoint.load(tmp_path / str(writes))
        wanted = (7, []) if after == before else (4, [{"frame": 3, "target": 1, "box": [30, 30, 30, 30]}])
        assert (checkpoint.frames, checkpoint.corrections) == wanted
        outcomes.append((after == before, done))
    assert outcomes[0] == (True, False)
    assert outcomes[-1] == (False, True)


def test_a_correction_of_a_finished_run_cut_off_at_any_write_loses_neither_track(tmp_path, monkeypatch):
    ended = []
    for writes in range(16):
        folder = tmp_path / str(writes)
        session = begun(folder, correctable=True)
        follow(session, *range(1, 7))
        session.finish(DONE, None)
        session.drop_checkpoint()
        before = texts(folder)
        done = cut_off(monkeypatch, writes, lambda session=session: session.correct(frame(3), 1, (30, 30, 30, 30)))
        session.close()
        if summary(folder)["status"] == DONE:
            assert texts(folder) == before
            ended.append("old")
            continue
        checkpoint = Checkpoint.load(folder)
        assert (checkpoint.frames, len(checkpoint.corrections)) in ((7, 0), (4, 1))
        ended.append("new" if checkpoint.corrections else "old")
    assert (ended[0], ended[-1], done) == ("old", "new", True)
    assert ended == sorted(ended, reverse=True)


def test_without_corrections_memory_stays_bounded(tmp_path):
    session = begun(tmp_path)
    follow(session, *range(1, 9))
    assert [(len(track.records), track.count) for track in session.tracks] == [(1, 9), (1, 9)]
    assert (session.position, session.events) == (9, [])
    assert all(samples == {} for track in session.tracks for samples in track.samples)


def test_a_finished_session_can_be_reopened(tmp_path):
    session = begun(tmp_path)
    follow(session, 1, 2)
    session.finish(INTERRUPTED, "paused")
    assert (session.over, summary(tmp_path)["notice"]) == ("interrupted", "paused")
    session.reopen()
    assert (session.over, summary(tmp_path)["status"], summary(tmp_path)["notice"]) == (None, "running", None)
    follow(session, 3)
    assert len(boxes(tmp_path, 1)) == 4


def test_checkpoints_of_another_version_are_migrated_or_refused_by_name(tmp_path):
    session = begun(tmp_path)
    follow(session, 1)
    session.finish(INTERRUPTED, None)
    older, path = sorted((tmp_path / "resume").glob("*.json"))
    older.unlink()
    saved = json.loads(path.read_text())
    assert (saved["version"], saved["frames"]) == (VERSION, 2)
    old = {name: saved[name] for name in ("job", "frames", "busy", "first_frame")}
    path.write_text(json.dumps(old))
    assert Checkpoint.load(tmp_path) == Checkpoint(**old, state="state_2.npz")
    path.write_text(json.dumps(with_checksum({**old, "version": 99, "metrack": "7.0"})))
    sentence = r"written by metrack 7.0 \(checkpoint version 99\), this version reads 1, 2, 3"
    with pytest.raises(ValueError, match=sentence):
        Checkpoint.load(tmp_path)
    path.write_text(json.dumps({"version": VERSION}))
    with pytest.raises(ValueError, match="lacks 'job'"):
        Checkpoint.load(tmp_path)
    path.write_text("[]")
    with pytest.raises(ValueError, match=r"checkpoint_2.json' is damaged"):
        Checkpoint.load(tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match="there is none in"):
        Checkpoint.load(tmp_path)


def test_a_track_that_has_not_learned_notes_no_samples(tmp_path):
    tracker = Tracker("fast")
    tracker.init(CLIP[0], CLIP.first_box)
    tracker.save(tmp_path / "tracker.npz")
    track = Track(1, Tracker.load(tmp_path / "tracker.npz"))
    track.add(frame(1), tracker.update(CLIP[1]))  # the tracker that was loaded has not learned yet
    assert [record.frame for record in track.records] == [1]
    assert track.samples == ({}, {})


def test_a_full_disk_does_not_keep_the_folder_locked(tmp_path, monkeypatch):
    session = begun(tmp_path)
    follow(session, 1)

    def full(number):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            session.close()
    check_unlocked(tmp_path)
