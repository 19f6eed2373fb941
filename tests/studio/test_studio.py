"""The studio as a program asks it: runs, corrections, cameras, and a server that is killed."""

import gc
import io
import json
import os
import shlex
import subprocess
import sys
import time
import zipfile
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed

from metrack.cli import run as command_line
from metrack.config import PRESETS, TrackerConfig
from metrack.frames import open_source
from metrack.frames.formats import read_jsonl
from metrack.identity import Gallery
from metrack.runs.follow import follow
from metrack.runs.job import Job
from metrack.studio.pictures import fit
from metrack.studio.reading import Reader
from metrack.studio.run_thread import RunThread
from support.studio import BOX, CLIP, HIDDEN, paint, receive, records, studio

OTHER = [200.0, 60.0, 30.0, 30.0]


def test_a_run_leaves_what_the_command_line_would(served, tmp_path):
    run = served.start([[*BOX[:3], BOX[3] + 1 / 3], OTHER], start=3, stop=30, changes={"motion.particles": 100}, seed=2)
    assert served.done(run)["state"] == "done"
    told = served.get(f"/api/runs/{run}")
    *words, out = shlex.split(told["command"])
    assert (words[0], out) == ("metrack", "out")
    assert command_line([*words[1:], str(tmp_path / "out"), "--no-video"]) == 0
    names = {each["name"] for each in served.get(f"/api/runs/{run}/export")["files"]}
    assert {"trajectory.jsonl", "boxes.csv", "boxes_2.txt", "mot.txt", "events.jsonl", "summary.json"} <= names
    assert names <= {path.name for path in (tmp_path / "out").iterdir()}
    for name in names - {"summary.json"}:
        assert (served.runs / run / name).read_text() == (tmp_path / "out" / name).read_text(), name
    assert "--set motion.particles=100 --seed 2" in told["command"]
    assert [len(columns["score"]) for columns in told["series"]] == [27, 27]


def test_a_correction_replaces_one_target_from_its_frame_on_and_can_be_undone(served):
    run = served.start([BOX, OTHER], stop=24)
    served.done(run)
    before = records(served, run)
    request = {"frame": 12, "target": 1, "box": [20, 20, 30, 30]}
    assert served.get(f"/api/runs/{run}/correct", request)["state"] == "paused"
    assert (served.runs / run / "resume").exists()  # also while one target is behind the other
    served.get(f"/api/runs/{run}/go", {})
    served.done(run)
    after = records(served, run)
    assert after[:24] == before[:24]
    assert after[24].box.to_xywh() == (20, 20, 30, 30)
    assert [each.box for each in after if each.target == 2] == [each.box for each in before if each.target == 2]
    assert after[30].box != before[30].box
    assert [each.frame for each in after] == [each.frame for each in before]
    summary = json.loads((served.runs / run / "summary.json").read_text())
    assert summary["corrections"] == [request]
    served.wait(run, lambda _: not (served.runs / run / "resume").exists())  # a moment after it says that it is done
    assert served.get(f"/api/runs/{run}/undo", {})["can_undo"] is False
    served.get(f"/api/runs/{run}/go", {})
    served.done(run)
    assert records(served, run) == before


def test_pause_step_and_stop(served):
    run = served.start(fast=False)
    served.wait(run, lambda status: status["frames"] > 2)
    served.get(f"/api/runs/{run}/pause", {}, "POST")
    stood = served.get(f"/api/runs/{run}/step", {})["frames"]
    assert served.get(f"/api/runs/{run}/step", {})["frames"] == stood + 1
    told = served.get(f"/api/runs/{run}/why")
    assert told["frame"] == stood
    assert {"with.png", "without.png", "foreground.png", "direction-1.png"} <= set(told["pictures"])
    maps = [served.get(f"/api/runs/{run}/why/{name}.png") for name in ("without", "with")]
    plain, learned = (np.asarray(Image.open(io.BytesIO(each)), int) for each in maps)
    assert plain.shape == learned.shape == (220, 220, 3)
    assert np.abs(plain - learned).mean() > 0.5
    assert learned[110, 110, 0] > 200 > learned[5, 5, 0]  # bright where the target is
    assert told["ages"][0] == sorted(told["ages"][0])
    assert 0 < told["theta"]["foreground"] < told["theta"]["background"]
    assert served.get(f"/api/runs/{run}/stop", {})["state"] == "interrupted"
    assert len(records(served, run)) == stood + 1


def test_runs_wait_for_their_turn(served):
    slow = served.start(fast=False)
    served.wait(slow, lambda status: status["state"] == "running")
    quick = served.start(stop=5)
    status = served.get(f"/api/runs/{quick}")["status"]
    assert (status["state"], status["before"]) == ("queued", 1)
    served.get(f"/api/runs/{slow}/pause", {}, "POST")
    assert served.done(quick)["frames"] == 5
    assert served.get(f"/api/runs/{slow}")["status"]["state"] == "paused"
    served.get(f"/api/runs/{slow}/stop", {}, "POST")


def test_a_page_that_never_answers_holds_nothing_up_and_others_miss_no_number(served):
    run = served.start(stop=60)
    with served.watch(run) as deaf, served.watch(run) as page:
        series, pictures = {}, 0
        while True:
            message, picture = receive(page)
            (columns,) = message["series"] or [{"score": []}]
            series |= dict(enumerate(columns["score"], message["begin"]))
            pictures += picture[:2] == b"\xff\xd8"
            page.send("drawn")
            if message["status"]["state"] == "done" and len(series) == 60:
                break
        assert sorted(series) == list(range(60))
        assert pictures > 3
        assert message["status"]["watching"] == 2
        for _ in range(2):
            receive(deaf)
        with pytest.raises(TimeoutError):
            deaf.recv(timeout=0.2)


def width_of(picture):
    return Image.open(io.BytesIO(picture)).width


def test_pictures_are_no_larger_than_a_page_shows_them(served):
    run = served.start(stop=40, fast=False)
    served.wait(run, lambda status: status["frames"] > 0)
    served.get(f"/api/runs/{run}/pause", {}, "POST")  # from here on every picture is asked for: the clip can't end
    with served.watch(run, "?width=200") as page:
        assert next_width(page) == 200
        for answer, wanted in (("100", 100), ("5000", 320), ("-7", 320), ("", 320), ("0", 64)):
            page.send(answer)
            for _ in range(4):  # a picture made before the answer came may still be on its way
                served.get(f"/api/runs/{run}/step", {})
                if (width := next_width(page)) == wanted:
                    break
                page.send("drawn")
            assert width == wanted
    served.get(f"/api/runs/{run}/stop", {}, "POST")


def next_width(page):
    while not (picture := receive(page)[1]):
        page.send("drawn")
    return width_of(picture)


def test_a_picture_made_smaller_looks_like_the_large_one():
    large = CLIP[0]
    for width in (319, 213, 160, 100, 40):
        small = fit(large, width)
        assert small.shape == (round(240 * width / 320), width, 3)
        obvious = np.asarray(Image.fromarray(large).resize(small.shape[1::-1], Image.Resampling.BOX), float)
        assert np.abs(small - obvious).mean() < 4
    assert fit(large, 0) is fit(large, 320) is large
    np.testing.assert_array_equal(fit(np.full((3, 7, 3), 200, np.uint8), 5), np.full((2, 5, 3), 200))


def runs_in_memory():
    gc.collect()
    return sum(type(each) is RunThread for each in gc.get_objects())  # a dead proxy has no class to ask for


def test_only_the_last_runs_keep_their_trackers_and_the_others_are_what_is_on_disk(tmp_path):
    paint(tmp_path / "balloon.mp4")
    before = runs_in_memory()
    with studio(tmp_path) as served:
        waiting = served.start(fast=False)
        served.wait(waiting, lambda status: status["frames"] > 2)
        served.get(f"/api/runs/{waiting}/pause", {}, "POST")
        first = served.start(stop=3)
        served.done(first)
        with served.watch(first) as page:
            told = served.get(f"/api/runs/{first}")
            later = [served.start(stop=3) for _ in range(3)]
            served.done(later[-1])
            with pytest.raises(ConnectionClosed) as closed:
                list(page)
        assert closed.value.rcvd.code == 4005  # the page is told to look at what is on disk
        until = time.monotonic() + 20
        while (active := {each["id"] for each in served.get("/api/runs") if each["active"]}) != {waiting, later[-1]}:
            assert time.monotonic() < until, active  # a paused run outlasts finished ones
        assert runs_in_memory() <= before + 2
        again = served.get(f"/api/runs/{first}")
        assert again["active"] is False
        assert (again["series"], again["events"], again["status"]["state"]) == (told["series"], told["events"], "done")
        status, _, answer = served.ask(f"/api/runs/{first}/why")
        assert (status, "put away" in answer["error"]) == (400, True)
        paused = served.get(f"/api/runs/{waiting}")["status"]["frames"]
        for _ in range(2):
            other = served.start(fast=False)
            served.wait(other, lambda status: status["frames"] > 1)
            served.get(f"/api/runs/{other}/pause", {}, "POST")
        put_away = served.wait(waiting, lambda status: status["state"] == "interrupted")
        assert (put_away["frames"], put_away["can_go_on"]) == (paused, True)
        served.get(f"/api/runs/{waiting}/go", {})
        served.wait(waiting, lambda status: status["frames"] > paused)


def test_everything_as_a_zip_and_the_annotated_video(served):
    run = served.start(stop=12)
    served.done(run)
    with zipfile.ZipFile(io.BytesIO(served.get(f"/api/runs/{run}/export/zip"))) as archive:
        assert archive.testzip() is None
        assert f"{run}/trajectory.jsonl" in archive.namelist()
        assert b"metrack track" in archive.read(f"{run}/rerun.sh")
    served.get(f"/api/runs/{run}/export/video", {})
    while served.get(f"/api/runs/{run}/export")["video"]["state"] == "drawing":
        pass
    data = served.get(f"/api/runs/{run}/export/files/tracked.mp4")
    (served.runs / "seen.mp4").write_bytes(data)
    frames = list(open_source(served.runs / "seen.mp4"))
    assert len(frames) == 12
    assert np.abs(frames[5].image.astype(int) - CLIP[5]).max() > 100  # a box is drawn
    (served.runs / "seen.mp4").unlink()


def test_any_frame_is_the_one_the_source_gives(served, tmp_path):
    path = served.runs / "balloon.mp4"
    reader, all_frames = Reader(path), list(open_source(path))
    assert reader.frames == len(all_frames) == 110
    for number in (0, 57, 58, 56, 109, 3):
        frame = reader.frame(number)
        assert (frame.index, frame.time) == (number, pytest.approx(all_frames[number].time))
        assert np.array_equal(frame.image, all_frames[number].image)
    with pytest.raises(IndexError):
        reader.frame(110)
    assert [frame.index for frame in reader.frames_from(108)] == [108, 109]
    reader.close()


def test_the_form_is_made_of_the_configuration(served):
    about = served.get("/api/about")
    fields = {name: each for name, each, _ in TrackerConfig().settings()}
    assert [each["name"] for each in about["settings"]] == list(fields)
    assert about["presets"] == {name: config.to_dict() for name, config in PRESETS.items()}
    for each in about["settings"]:
        meta = fields[each["name"]].metadata
        assert (each["text"], each["low"], each["high"]) == (meta["text"], meta["low"], meta["high"])


def test_a_camera_is_followed_and_recorded(served, monkeypatch):
    device = ("lavfi", "testsrc=size=160x120:rate=60,null=,setpts=N/60/TB,realtime")
    monkeypatch.setattr("metrack.frames.source.CAMERAS", {sys.platform: device})
    opened = served.get("/api/open", {"source": "camera:0"})
    assert (opened["width"], opened["live"]) == (160, True)
    assert served.get("/api/frame?source=camera:0&n=0")[:2] == b"\xff\xd8"
    run = served.start([[20, 20, 60, 60]], source="camera:0")
    served.wait(run, lambda status: status["frames"] > 5)
    served.get(f"/api/runs/{run}/pause", {}, "POST")
    newest = served.get(f"/api/runs/{run}/step", {})["frames"] - 1
    status, _, answer = served.ask(f"/api/runs/{run}/correct", {"frame": 2, "target": 1, "box": [9, 9, 40, 40]})
    assert (status, "only the present" in answer["error"]) == (400, True)
    served.get(f"/api/runs/{run}/correct", {"frame": newest, "target": 1, "box": [9, 9, 40, 40]})
    count = served.get(f"/api/runs/{run}/stop", {})["frames"]
    assert len(records(served, run)) == count == newest + 1
    assert served.get("/api/open", {"source": f"run:{run}"})["frames"] == count


def test_a_killed_server_loses_nothing_and_another_goes_on(tmp_path):
    paint(tmp_path / "balloon.mp4")
    words = [sys.executable, "-m", "metrack", "studio", "--runs", str(tmp_path), "--port", "0", "--no-browser"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as first:
        address = first.stdout.readline().split()[-1]
        with studio(tmp_path) as here:
            after = here.port, here.token
            asked = urlsplit(address)
            here.port, here.token = asked.port, asked.query.removeprefix("token=")
            run = here.start(stop=60, fast=False)
            here.wait(run, lambda status: status["frames"] >= 8)
            first.kill()
            first.wait()
            here.port, here.token = after
            told = here.get(f"/api/runs/{run}")
            assert told["status"]["state"] == "interrupted"
            assert told["active"] is False
            assert len(told["series"][0]["score"]) >= 8
            assert told["status"]["can_go_on"]
            status, _, answer = here.ask(f"/api/runs/{run}/why")
            assert (status, "earlier session" in answer["error"]) == (400, True)
            here.get(f"/api/runs/{run}/go", {})
            assert here.done(run)["frames"] == 60
            follow(Job(**{**told["job"], "video": False}), tmp_path / "out")
            assert records(here, run) == read_jsonl(tmp_path / "out" / "trajectory.jsonl")


def test_with_a_gallery_it_says_who_it_is(tmp_path):
    paint(tmp_path / "balloon.mp4")
    known = [
        ("balloon", CLIP[0], CLIP.first_box),
        ("hills", CLIP[0], (10, 150, 30, 40)),
        ("sky", CLIP[0], (10, 10, 30, 40)),
    ]
    Gallery.from_boxes(known).save(tmp_path / "known.npz")
    with studio(tmp_path, gallery=str(tmp_path / "known.npz")) as served:
        run = served.start(stop=6)
        served.done(run)
        told = served.get(f"/api/runs/{run}")
        assert told["known"] == ["balloon", "hills", "sky"]
        (columns,) = told["series"]
        assert columns["identity"][-1] == "balloon"
        assert np.argmin(columns["distances"][-1]) == 0
        assert "--gallery" in told["command"]
        assert served.get(f"/api/runs/{run}/export/report", {})["file"] == "report.html"
        assert b"balloon" in served.get(f"/api/runs/{run}/export/files/report.html")


def test_an_occlusion_is_told(served):
    run = served.start(stop=HIDDEN.stop)
    served.done(run)
    (event,) = served.get(f"/api/runs/{run}")["events"]
    assert event["event"] == "occluded"
    assert event["frame"] in HIDDEN
