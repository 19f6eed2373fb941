"""Uploads and requests: wrong ones, those that lead out, and those of other sites."""

import json
import socket

import pytest
from websockets.exceptions import InvalidStatus

from support.studio import BOX, receive, records


def upload(served, name, data, **headers):
    status, _, answer = served.ask(f"/api/uploads/{name}", data, "PUT", headers)
    return status, answer


WRONG_UPLOADS = [
    ("notes.txt", b"hello", "is not a kind of video"),
    ("empty.mp4", b"", "is empty"),
    ("playlist.mp4", b"#EXTM3U\nfile:///etc/passwd\n", "does not look like a video inside"),
    ("large.mp4", b"\0" * 3_000_001, "is larger than the 3 MB"),
    ("..%5Cescape.mp4", b"\0\0\0\x18ftypisom" + b"\0" * 99, "cannot be read"),
]


@pytest.mark.parametrize(("name", "data", "sentence"), WRONG_UPLOADS, ids=[each[0] for each in WRONG_UPLOADS])
def test_a_wrong_upload_is_told_and_leaves_nothing(served, name, data, sentence):
    status, answer = upload(served, name, data)
    assert status == (413 if name == "large.mp4" else 400)
    assert sentence in answer["error"]
    assert str(served.runs) not in answer["error"]
    kept = served.runs / "uploads"
    assert not kept.exists() or not [path for path in kept.iterdir() if path.stem in ("large", "empty", "escape")]
    assert not list(kept.glob(".*.part"))


def test_an_upload_that_breaks_off_leaves_nothing(served):
    data = (served.runs / "balloon.mp4").read_bytes()
    with socket.create_connection(("127.0.0.1", served.port)) as line:
        head = (
            f"PUT /api/uploads/cut.mp4 HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Authorization: Bearer {served.token}\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        line.sendall(head.encode() + data[:1000])
    served.get("/api/about")
    assert not list((served.runs / "uploads").glob("*cut*"))


def test_a_truncated_video_is_followed_as_far_as_it_goes(served):
    data = (served.runs / "balloon.mp4").read_bytes()
    status, answer = upload(served, "half.mp4", data[: len(data) // 2])
    assert status == 200, answer
    run = served.start(source=answer["source"])
    status = served.done(run)
    assert status["state"] == "ended early"
    assert "half.mp4 ends early" in status["notice"]
    assert 5 < status["frames"] < 100
    assert len(records(served, run)) == status["frames"]
    again = upload(served, "half.mp4", data)[1]["source"]
    assert again == "upload:half (2).mp4"


WRONG_REQUESTS = [
    ("/api/runs", {"source": "clip", "boxes": []}, 400, "Draw a box"),
    ("/api/runs", {"source": "clip", "boxes": [[5, 5, 0, 0]]}, 400, "positive width and height"),
    ("/api/runs", {"source": "clip", "boxes": [[900, 5, 20, 20]]}, 400, "must lie in the frame"),
    ("/api/runs", {"source": "clip", "boxes": [[1, 2, 3]]}, 422, "boxes"),
    ("/api/runs", {"source": "clip", "boxes": [BOX], "start": 5000}, 404, "no frame 5000"),
    ("/api/runs", {"source": "clip", "boxes": [BOX], "preset": "best"}, 400, "no preset"),
    ("/api/runs", {"source": "clip", "boxes": [BOX], "changes": {"motion.particles": 0}}, 400, "between 1 and"),
    ("/api/runs", {"source": "clip", "boxes": [BOX], "changes": {"a.b": 0}}, 400, "no setting 'a.b'"),
    ("/api/runs/nobody/pause", {}, 404, "no run 'nobody'"),
    ("/api/open", {"source": "file:missing.mp4"}, 404, "no longer there"),
    ("/api/open", {"source": "file:notes.txt"}, 400, "does not look like a video"),
    ("/api/open", {"source": "camera:77"}, 400, "Camera 77 cannot be opened"),
    ("/api/open", {"source": "https://example.com/a.mp4"}, 400, "no source"),
    ("/api/open", {"source": "file:../runs/balloon.mp4"}, 400, "outside"),
    ("/api/open", {"source": "file:/../../etc/passwd"}, 400, "outside"),
    ("/api/open", {"source": "file:way-out/balloon.mp4"}, 400, "outside"),
    ("/api/open", {"source": "upload:../balloon.mp4"}, 400, "outside"),
    ("/api/open", {"source": "run:../../secret"}, 400, "outside"),
    ("/api/open", {"source": "file:a\0b"}, 400, "outside"),
]


@pytest.mark.parametrize(
    ("path", "request_", "code", "words"), WRONG_REQUESTS, ids=[str(each[1])[:50] for each in WRONG_REQUESTS]
)
def test_wrong_requests_are_answered_with_a_sentence_and_start_nothing(served, path, request_, code, words):
    known = len(served.get("/api/runs"))
    status, _, answer = served.ask(path, request_)
    assert (status, words in answer["error"]) == (code, True), answer
    assert str(served.runs) not in answer["error"]
    assert len(served.get("/api/runs")) == known


@pytest.mark.parametrize("path", ["/static/..%2fserver.py", "/static/%2e%2e/server.py", "/api/runs/..%2f..", "/docs"])
def test_nothing_else_is_served(served, path):
    assert served.ask(path)[0] == 404


def test_the_folder_is_listed_and_no_way_leads_out(served):
    entries = {each["name"]: each["kind"] for each in served.get("/api/files")["entries"]}
    assert entries == {"holiday": "folder", "shots": "images"}
    (inside,) = served.get("/api/files?under=holiday")["entries"]
    assert inside["source"] == "file:holiday/beach.mp4"
    assert served.get("/api/open", {"source": inside["source"]})["frames"] == 110
    assert served.get("/api/open", {"source": "file:shots"})["frames"] == 3
    assert served.ask("/api/files?under=..")[0] == 400
    run = served.start(stop=4)
    served.done(run)
    for name in ("studio.json", "..%2fballoon.mp4", "resume"):
        assert served.ask(f"/api/runs/{run}/export/files/{name}")[0] == 404


def test_requests_of_other_sites_are_refused(served):
    for host in ("evil.example", f"evil.example:{served.port}", f"127.0.0.1:{served.port + 1}", "127.0.0.1"):
        status, headers, answer = served.ask("/api/about", headers={"Host": host})
        assert status == 421
        assert "not called" in answer["error"]
    assert served.ask("/api/about", headers={"Host": f"localhost:{served.port}"})[0] == 200
    status, headers, _ = served.ask("/api/runs", {}, headers={"Origin": "http://evil.example"})
    assert status == 403
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    run = served.start(stop=3)
    with pytest.raises(InvalidStatus), served.watch(run, origin="http://evil.example"):
        pass
    with served.watch(run, origin=served.address) as page:
        assert receive(page)[0]["begin"] == 0
    with pytest.raises(InvalidStatus) as refused, served.watch("nobody"):
        pass
    assert "no run 'nobody'" in json.loads(refused.value.response.body)["error"]
