"""A studio to test with: a real server in this process, on loopback, with a short clip."""

import http.client
import json
import socket
import struct
import threading
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
from websockets.sync import client

from metrack.frames import VideoWriter
from metrack.frames.formats import read_jsonl
from metrack.studio.server import prepare
from metrack.synth import builtin_clip

CLIP = builtin_clip(110, (320, 240), departure=False)
BOX = [round(side, 1) for side in CLIP.first_box.to_xywh()]
HIDDEN = range(66, 80)  # frames in one of which the balloon is seen to be hidden


@cache
def painted():
    with TemporaryDirectory() as folder:
        path = Path(folder) / "balloon.mp4"
        with VideoWriter(path, CLIP.size, CLIP.fps, crf=16) as video:
            for image in CLIP:
                video.write(image)
        return path.read_bytes()


def paint(path):
    path.write_bytes(painted())


class Studio:
    """A running server and a way to ask it."""

    def __init__(self, port, runs, token):
        self.port, self.runs, self.token = port, runs, token

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def bearer(self):
        return {"Authorization": f"Bearer {self.token}"}

    def watch(self, run, query="", **options):
        """Connect as a page that watches a run does."""
        address = f"ws://127.0.0.1:{self.port}/api/runs/{run}/watch{query}"
        return client.connect(address, additional_headers=self.bearer, **options)

    def ask(self, path, body=None, method=None, headers=None):
        """Return status, headers and the answer, decoded where it is JSON."""
        return self.ask_without_token(path, body, method, self.bearer | (headers or {}))

    def ask_without_token(self, path, body=None, method=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        usual = {"Content-Type": "application/json"} if sent is not None else {}
        connection.request(method or ("GET" if sent is None else "POST"), path, sent, usual | (headers or {}))
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, answer.headers, json.loads(data) if is_json else data

    def get(self, path, body=None, method=None):
        status, _, answer = self.ask(path, body, method)
        assert status < 300, answer
        return answer

    def start(self, boxes=(BOX,), source="clip", **options):
        return self.get("/api/runs", {"source": source, "boxes": list(boxes), **options})["id"]

    def wait(self, run, condition, seconds=60):
        until = time.monotonic() + seconds
        while not condition(status := self.get(f"/api/runs/{run}")["status"]):
            assert time.monotonic() < until, status
            time.sleep(0.02)
        return status

    def done(self, run):
        return self.wait(run, lambda status: status["state"] in ("done", "ended early", "failed"))


@contextmanager
def studio(
    runs, folder=None, *, host="127.0.0.1", upload_limit=3_000_000, uploads_limit=30_000_000, gallery=None, port=0
):
    """Serve on a free port of loopback, whatever the host that visitors are to believe in."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    config, address = prepare(folder, runs, host, listener.getsockname()[1], upload_limit, uploads_limit, gallery)
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield Studio(listener.getsockname()[1], runs, address.partition("token=")[2])
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
        assert not thread.is_alive()


def records(served, run):
    return read_jsonl(served.runs / run / "trajectory.jsonl")


def receive(socket):
    message = socket.recv(timeout=60)
    length = struct.unpack(">I", message[:4])[0]
    return json.loads(message[4 : 4 + length]), message[4 + length :]
