"""What requests may cost, and what names of files may be: nothing takes more than its share or leads out."""

import json
import os
import socket
import time
from contextlib import ExitStack, closing, suppress

import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed, InvalidStatus

from metrack.studio import limits, sockets, watching
from metrack.studio.threads import RequestQueue
from support.studio import BOX, CLIP, paint, receive, studio

WRONG = [
    ("GET", "/api/nothing", None, {}, 404),
    ("GET", "/static/nothing.js", None, {}, 404),
    ("DELETE", "/api/runs", None, {}, 405),
    ("POST", "/api/runs", b"a=b", {"Content-Type": "text/plain"}, 415),
    ("POST", "/api/runs", b"{", {}, 422),
    ("POST", "/api/runs", b"[1, 2]", {}, 422),
    ("POST", "/api/runs", b"\xff\xfe\xfd", {}, 400),
    ("POST", "/api/runs", b"[" * 100_000, {}, 400),
    ("POST", "/api/open", b'{"source": 5}', {}, 422),
    ("POST", "/api/open", b'{"source": "file:\\ud800"}', {}, 422),
    ("POST", "/api/open", json.dumps({"source": "file:" + "a" * 300}).encode(), {}, 404),
    ("POST", "/api/open", json.dumps({"source": "file:" + "a" * 5000}).encode(), {}, 422),
    ("POST", "/api/open", b" " * 200_001, {}, 413),
    ("GET", "/api/frame?source=clip&n=1e3", None, {}, 422),
    ("GET", f"/api/frame?source=clip&n={2**70}", None, {}, 422),
    ("GET", f"/api/runs/{'a' * 300}", None, {}, 404),
    ("GET", "/api/runs/%00", None, {}, 404),
    ("GET", f"/{'a' * 4001}", None, {}, 414),
    ("GET", f"/api/files?under={'a' * 8000}", None, {}, 414),
    ("GET", f"/api/files?under={'a' * 300}", None, {}, 404),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "code"), WRONG, ids=[f"{w[1][:30]}-{w[4]}-{n}" for n, w in enumerate(WRONG)]
)
def test_every_answer_to_a_wrong_request_is_one_sentence(served, method, path, body, headers, code):
    status, answered, answer = served.ask(path, body, method, headers)
    assert (status, list(answer)) == (code, ["error"])
    assert answer["error"].endswith((".", ")")) or "got" in answer["error"]
    assert len(answer["error"]) <= 400
    assert answered["X-Frame-Options"] == "DENY"


def run_with(**changes):
    return {"source": "clip", "boxes": [BOX], "stop": 2, **changes}


@pytest.mark.parametrize(
    "body",
    [
        run_with(start=2**64),
        run_with(start=-1),
        run_with(seed=2**64),
        run_with(boxes=[[float("nan"), 0, 9, 9]]),
        run_with(boxes=[[0, 0, 10**400, 9]]),
        run_with(boxes=[BOX] * 9),
        run_with(changes={"motion.particles": 10**30}),
        run_with(changes={"motion.particles": float("inf")}),
        run_with(changes={"a" * 101: 1}),
        run_with(preset="p" * 101),
        run_with(changes={str(n): 1 for n in range(201)}),
    ],
    ids=range(11),
)
def test_numbers_that_make_no_sense_start_nothing(served, body):
    known = len(served.get("/api/runs"))
    status, _, answer = served.ask("/api/runs", body)
    assert (status in (400, 422), list(answer)) == (True, ["error"])
    assert len(served.get("/api/runs")) == known


def head(served, line, **headers):
    lines = [line, f"Host: 127.0.0.1:{served.port}", f"Authorization: Bearer {served.token}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()


def answer_of(line):
    line.settimeout(20)
    got = b""
    while chunk := line.recv(65_536):
        got += chunk
    return got


def test_what_is_no_http_is_answered_in_json(served):
    for data in (
        b"hello\r\n\r\n",
        head(served, "GET / HTTP/1.1", Long="a" * 200_000),
        head(served, "POST /api/runs/any/watch HTTP/1.1", Upgrade="websocket", Connection="upgrade"),
    ):
        with closing(socket.create_connection(("127.0.0.1", served.port))) as line:
            line.sendall(data)
            got = answer_of(line)
        assert got.startswith(b"HTTP/1.1 400")
        assert list(json.loads(got.partition(b"\r\n\r\n")[2])) == ["error"]


def test_a_body_that_breaks_off_in_nonsense_is_no_fault_of_the_studio(served, capfd):
    chunked = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}
    with closing(socket.create_connection(("127.0.0.1", served.port))) as line:
        line.sendall(head(served, "POST /api/open HTTP/1.1", **chunked) + b"5\r\n{}")
        time.sleep(0.1)  # until the request is being answered
        line.sendall(b"    what is this\r\n")
        got = answer_of(line)
    assert got.startswith(b"HTTP/1.1 400")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("size", [300_000, 10])
def test_a_body_that_nobody_wants_does_not_disturb_the_answer(served, monkeypatch, capfd, size):
    monkeypatch.setattr(limits, "PATIENCE", 0.2)
    run = served.start(stop=2)
    served.done(run)
    large = served.runs / run / "large.bin"
    large.write_bytes(bytes(20_000_000))
    asked = head(served, f"GET /api/runs/{run}/export/files/large.bin HTTP/1.1", **{"Transfer-Encoding": "chunked"})
    with closing(socket.create_connection(("127.0.0.1", served.port))) as line:
        line.sendall(asked + b"%x\r\n%b" % (size, b"x" * (size - 5)))
        time.sleep(0.5)  # while the answer waits to be read
        got = 0
        while got < large.stat().st_size and (chunk := line.recv(1 << 20)):
            got += len(chunk)
    assert got >= large.stat().st_size
    large.unlink()
    assert capfd.readouterr().err == ""


def test_files_come_whole_whatever_part_is_wanted(served):
    for wanted in ("bytes=0-5", "bytes=5-1,-", "bytes=99999999-", "lines=1"):
        status, _, page = served.ask("/", headers={"Range": wanted})
        assert (status, page[:15]) == (200, b"<!doctype html>")


def test_who_is_slow_is_told_so_and_who_says_nothing_is_put_out(served, monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE", 0.3)
    monkeypatch.setattr(limits, "UPLOAD_PATIENCE", 0.3)
    for line in ("POST /api/runs HTTP/1.1", "PUT /api/uploads/a.mp4 HTTP/1.1"):
        with closing(socket.create_connection(("127.0.0.1", served.port))) as slow:
            slow.sendall(
                head(
                    served,
                    line,
                    **{"Content-Length": "1000", "Content-Type": "application/json", "Connection": "close"},
                )
                + b"{"
            )
            got = answer_of(slow)
        assert got.startswith(b"HTTP/1.1 408")
        assert b"too slowly" in got
    assert not list((served.runs / "uploads").glob(".*.part"))
    monkeypatch.setattr(sockets, "PATIENCE", 0.2)
    for data in (b"", b"GET / HT"):
        with closing(socket.create_connection(("127.0.0.1", served.port))) as silent:
            silent.sendall(data)
            silent.settimeout(20)
            with suppress(ConnectionResetError):
                assert not silent.recv(1)


def test_sockets_that_do_nothing_take_nobodys_place(served, monkeypatch):
    monkeypatch.setattr(sockets, "MOST_CONNECTIONS", 20)
    run = served.start(stop=60, fast=False)
    with ExitStack() as stack, served.watch(run) as page:
        for _ in range(60):
            stack.enter_context(closing(socket.create_connection(("127.0.0.1", served.port))))
        began = time.monotonic()
        assert served.get("/api/about")["version"]
        assert time.monotonic() - began < 2
        assert receive(page)[0]["begin"] == 0
    served.get(f"/api/runs/{run}/stop", method="POST")


def small(served, taken):
    """Connect as one who takes few bytes at a time."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, taken)
    line.connect(("127.0.0.1", served.port))
    return line


def unread(served):
    """Connect as a stranger who asks much and reads nothing."""
    line = small(served, 4096)
    line.settimeout(1)
    with suppress(TimeoutError):
        line.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode() * 2000)
    return line


def test_who_asks_and_does_not_read_takes_nobodys_place(served, monkeypatch):
    monkeypatch.setattr(sockets, "MOST_CONNECTIONS", 6)
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(closing(unread(served)))
        time.sleep(0.5)
        for _ in range(8):
            began = time.monotonic()
            assert served.get("/api/about")["version"]
            assert time.monotonic() - began < 2


def test_strangers_lose_their_places_first(served, monkeypatch):
    with closing(socket.create_connection(("127.0.0.1", served.port))) as owner, ExitStack() as stack:
        for _ in range(2):  # the second time after many strangers
            owner.sendall(head(served, "HEAD /static/icon.svg HTTP/1.1"))
            assert owner.recv(65_536).startswith(b"HTTP/1.1 200")
            monkeypatch.setattr(sockets, "MOST_CONNECTIONS", 6)
            for _ in range(20):
                stack.enter_context(closing(socket.create_connection(("127.0.0.1", served.port))))
            time.sleep(0.1)


def test_who_reads_slowly_but_steadily_gets_all(served, monkeypatch):
    monkeypatch.setattr(sockets, "PATIENCE", 0.2)
    monkeypatch.setattr(sockets, "LOOK_AFTER", 0.05)
    run = served.start(stop=2)
    served.done(run)
    large = served.runs / run / "large.bin"
    large.write_bytes(bytes(4_000_000))
    with closing(small(served, 65_536)) as line:
        line.sendall(head(served, f"GET /api/runs/{run}/export/files/large.bin HTTP/1.1"))
        got = 0
        while got < large.stat().st_size and (chunk := line.recv(40_000)):
            got += len(chunk)
            time.sleep(0.02)
    assert got >= large.stat().st_size
    large.unlink()


def say_all(page, said):
    for each in said:
        page.send(each)
    list(page)


def test_a_page_may_say_anything_but_not_too_much(served):
    run = served.start(stop=40, fast=False)
    for said in (b"\x00\xff", "null", "[" * 4000, "9" * 400, '{"a": NaN}'):
        with served.watch(run) as page:
            page.send(said)
            assert receive(page)[0]["status"]
    for said, code in ((["a" * 5000], 1009), (["drawn"] * (watching.UNASKED + 50), 1008)):
        with served.watch(run) as page, pytest.raises(ConnectionClosed) as closed:
            say_all(page, said)
        assert closed.value.rcvd.code == code
    assert served.done(run)["frames"] == 40


def test_there_are_not_too_many_watchers_and_runs(served, monkeypatch):
    monkeypatch.setattr("metrack.studio.server.MOST_WATCHERS", 2)
    monkeypatch.setattr("metrack.studio.loaded.MOST_IN_MEMORY", 5)
    run = served.start(fast=False)
    with served.watch(run) as one, served.watch(run) as two:
        assert receive(one)
        assert receive(two)
        with pytest.raises(InvalidStatus) as refused, served.watch(run):
            pass
        assert refused.value.response.status_code == 429
    started = [run]
    while (asked := served.ask("/api/runs", run_with()))[0] == 201:
        started.append(asked[2]["id"])
    assert (asked[0], len(started) <= 5) == (429, True)
    assert "wait for their turn" in asked[2]["error"]
    for each in started:
        served.get(f"/api/runs/{each}/stop", method="POST")


def test_uploads_have_a_limit_together(tmp_path):
    paint(tmp_path / "balloon.mp4")
    video = (tmp_path / "balloon.mp4").read_bytes()
    with studio(tmp_path, uploads_limit=round(1.5 * len(video))) as served:
        assert served.ask("/api/uploads/a.mp4", video, "PUT")[0] == 200
        for _ in range(2):
            status, _, answer = served.ask("/api/uploads/b.mp4", video, "PUT")
            assert (status, "together" in answer["error"]) == (413, True)
        (tmp_path / "uploads" / "a.mp4").unlink()
        assert served.ask("/api/uploads/b.mp4", video, "PUT")[0] == 200
        assert [path.name for path in (tmp_path / "uploads").iterdir()] == ["b.mp4"]


def test_a_long_name_of_an_upload_is_cut(served):
    status, _, answer = served.ask(
        f"/api/uploads/{'%C3%A9' * 400}.mp4", (served.runs / "balloon.mp4").read_bytes(), "PUT"
    )
    assert status == 200
    assert answer["source"].endswith("é.mp4")


def test_odd_names_are_listed_and_links_do_not_lead_out(tmp_path):
    folder, runs, outside = tmp_path / "videos", tmp_path / "runs", tmp_path / "outside"
    for each in (folder / "shots", runs, outside):
        each.mkdir(parents=True)
    paint(runs / "balloon.mp4")
    for number in range(2):
        Image.fromarray(CLIP[number]).save(folder / "shots" / f"{number}.png")
    Image.fromarray(CLIP[2]).save(outside / "2.png")
    odd = [
        "new\nline.mp4",
        "<img src=x onerror=alert(1)>.mp4",
        "‥／…．mp4.mp4",
        "a" * 251 + ".mp4",
        "back\\slash.mp4",
        "http:x.mp4",
    ]
    for name in odd:
        paint(folder / name)
    (folder / os.fsdecode(b"no-text-\xff.mp4")).write_bytes(b"")
    (folder / "circle.mp4").symlink_to("circle.mp4")
    (folder / "out.mp4").symlink_to(runs / "balloon.mp4")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "pipe.mp4")
    with studio(runs, folder) as served:
        assert {each["name"] for each in served.get("/api/files")["entries"]} == {*odd, "shots"}
        for name in odd:
            assert served.get("/api/open", {"source": f"file:{name}"})["frames"] == 110
        for name in ("circle.mp4", "out.mp4", "linked", "linked/2.png", "pipe.mp4"):
            assert served.ask("/api/open", {"source": f"file:{name}"})[0] == 400, name
        assert served.get("/api/open", {"source": "file:shots"})["frames"] == 2
        (folder / "shots" / "2.png").symlink_to(outside / "2.png")
        for path, body in (
            ("/api/open", {"source": "file:shots"}),
            ("/api/frame?source=file:shots&n=2", None),
            ("/api/runs", {"source": "file:shots", "boxes": [BOX]}),
        ):
            status, _, answer = served.ask(path, body)
            assert (status, "2.png is a link that leads outside" in answer["error"]) == (400, True), path
        (folder / "shots" / "2.png").unlink()
        (folder / "shots" / "2.png").symlink_to("1.png")  # a link that stays inside is one of the images
        assert served.get("/api/frame?source=file:shots&n=1")[:2] == b"\xff\xd8"


def test_who_asks_and_goes_away_does_no_harm():
    requests = RequestQueue("closed")
    gone, there = requests.add(lambda: 1), requests.add(lambda: 2)
    assert gone.cancel()
    while requests.process(0):
        pass
    assert there.result() == 2
