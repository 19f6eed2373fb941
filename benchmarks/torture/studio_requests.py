"""Requests to a studio: valid ones, ways to spoil them, and paths that try to lead out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

import numpy as np

from torture.studio_server import LINKS, StudioProcess

JSON = "application/json"
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW", "get", "G" * 300)
NUMBERS = (-1, 0, 3, 2**31, 2**63, 2**64, 10**30, 1e308, float("nan"), float("inf"), -0.0, True, None, "7", [], {})
TEXTS = (
    "",
    "\0",
    "a" * 300,
    "é" * 300,
    "../" * 9,
    "%2e%2e/",
    "\ud800",
    "‥",
    "a\nb",
    "<script>",
    "clip",
    "camera:x",
    "1e9",
)
HEADERS = (
    ("Content-Type", "text/plain"),
    ("Content-Type", "multipart/form-data; boundary=x"),
    ("Content-Type", "application/json; charset=utf-16"),
    ("Content-Type", "a" * 5000),
    ("Content-Encoding", "gzip"),
    ("Accept", "text/html"),
    ("Range", "bytes=0-5"),
    ("Range", "bytes=5-1,-,99999999999-"),
    ("If-None-Match", '"x"'),
    ("If-Modified-Since", "yesterday"),
    ("X-Forwarded-Host", "evil.example"),
    ("X-Forwarded-For", "203.0.113.9"),
    ("Cookie", "metrack_studio_1=\x7f; ;;=;"),
    ("Expect", "100-continue"),
    ("Upgrade", "h2c"),
    ("X-Long", "b" * 9000),
    ("Connection", "close"),
)
UP = ("..", "%2e%2e", "%2E.", "..%2f", "..%5c", "..\\", "%c0%ae%c0%ae", "....//", "%252e%252e", ".", "‥", "%00")
GOALS = ("outside/canary.txt", "canary.txt", "outside/canary.png", "etc/passwd", "server.py", "studio.json", "")


@dataclass(frozen=True)
class Ask:
    """One request."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = field(default=())

    def encode(self, studio: StudioProcess, *, token: bool = True) -> bytes:
        """Return the bytes to send."""
        given = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {self.path} HTTP/1.1"]
        lines += [] if "host" in given else [f"Host: {studio.host}"]
        lines += [f"Authorization: Bearer {studio.token}"] if token else []
        lines += [f"Content-Length: {len(self.body)}"] if self.body and "content-length" not in given else []
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace") + self.body


def valid(rng: np.random.Generator, studio: StudioProcess) -> Ask:
    """Draw a request that is right."""
    run, n = studio.spare, int(rng.integers(5))
    box = [*studio.box[:2], *(side + n for side in studio.box[2:])]
    asks: list[tuple[str, str, Any]] = [
        ("GET", "/", None),
        ("GET", "/static/app.js", None),
        ("GET", "/api/about", None),
        ("GET", "/api/runs", None),
        ("GET", "/api/files?under=shots", None),
        ("GET", f"/api/frame?source=file:short.mp4&n={n}&width=64", None),
        ("GET", f"/api/frame?source=file:shots&n={n % 2}", None),
        ("GET", f"/api/runs/{run}", None),
        ("GET", f"/api/runs/{run}/why?target=1", None),
        ("GET", f"/api/runs/{run}/why/with.png", None),
        ("GET", f"/api/runs/{run}/export", None),
        ("GET", f"/api/runs/{run}/export/command", None),
        ("GET", f"/api/runs/{run}/export/zip", None),
        ("GET", f"/api/runs/{run}/export/files/trajectory.jsonl", None),
        ("POST", f"/api/runs/{run}/export/video", {}),
        ("POST", f"/api/runs/{run}/export/report", {}),
        ("POST", f"/api/runs/{run}/correct", {"frame": n, "target": 1, "box": box}),
        ("POST", f"/api/runs/{run}/pace", {"fast": bool(n % 2)}),
        *(("POST", f"/api/runs/{run}/{action}", {}) for action in ("pause", "step", "stop", "undo", "go")),
        ("POST", "/api/open", {"source": "file:short.mp4"}),
        ("POST", "/api/open", {"source": "file:shots"}),
        ("POST", "/api/runs", {"source": "file:short.mp4", "boxes": [box], "stop": 2 + n, "changes": {}, "seed": n}),
        ("PUT", "/api/uploads/a.mp4", b"\0\0\0\x18ftypisom" + rng.bytes(100)),
    ]
    method, path, body = asks[rng.integers(len(asks))]
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Ask(method, path, data, (("Content-Type", JSON),) if isinstance(body, dict) else ())


def spoiled(rng: np.random.Generator, ask: Ask) -> Ask:
    """Spoil a request in one to three ways."""
    for _ in range(rng.integers(1, 4)):
        ask = WAYS[rng.integers(len(WAYS))](rng, ask)
    return ask


def _method(rng: np.random.Generator, ask: Ask) -> Ask:
    return replace(ask, method=METHODS[rng.integers(len(METHODS))])


def _segment(rng: np.random.Generator, ask: Ask) -> Ask:
    path, mark, query = ask.path.partition("?")
    parts = path.split("/")
    parts[rng.integers(len(parts))] = quote(_text(rng), errors="replace")
    return replace(ask, path=("/" + "/".join(parts).lstrip("/")) + mark + query)


def _query(rng: np.random.Generator, ask: Ask) -> Ask:
    path, _, query = ask.path.partition("?")
    names = [part.partition("=")[0] for part in query.split("&") if part] or ["n"]
    values = [
        f"{name}={quote(_text(rng) if rng.random() < 0.5 else str(_number(rng)), errors='replace')}" for name in names
    ]
    return replace(ask, path=f"{path}?{'&'.join(values * int(rng.integers(1, 4)))}")


def _header(rng: np.random.Generator, ask: Ask) -> Ask:
    name, value = HEADERS[rng.integers(len(HEADERS))]
    kept = tuple(each for each in ask.headers if each[0] != name)
    return replace(ask, headers=(*kept, (name, value)))


def _value(rng: np.random.Generator, ask: Ask) -> Ask:
    try:
        values = json.loads(ask.body)
        name = list(values)[rng.integers(len(values))]
    except (ValueError, TypeError, RecursionError):
        return _bytes(rng, ask)
    values[name] = _text(rng) if rng.random() < 0.4 else _number(rng)
    return replace(ask, body=json.dumps(values).encode())


def _bytes(rng: np.random.Generator, ask: Ask) -> Ask:
    data, kind = ask.body or b'{"source": "file:short.mp4"}', int(rng.integers(7))
    cut = int(rng.integers(len(data)))
    bodies: list[Callable[[], bytes]] = [
        lambda: data[:cut],
        lambda: data[:cut] + rng.bytes(3) + data[cut:],
        lambda: data.decode("latin-1").encode("utf-16"),
        lambda: gzip.compress(data),
        lambda: b"[" * 5000,
        lambda: b'{"source": ' + b"9" * 4500 + b"}",
        lambda: b" " * 250_000,
    ]
    return replace(ask, body=bodies[kind]())


def _text(rng: np.random.Generator) -> str:
    return TEXTS[rng.integers(len(TEXTS))]


def _number(rng: np.random.Generator) -> Any:
    return NUMBERS[rng.integers(len(NUMBERS))]


WAYS = (_method, _segment, _query, _header, _value, _bytes)


def leading_out(rng: np.random.Generator, studio: StudioProcess) -> Ask:
    """Draw a request for a file that is not to be had."""
    up = "/".join([UP[rng.integers(len(UP))]] * int(rng.integers(0, 7)))
    goal = GOALS[rng.integers(len(GOALS))]
    link = list(LINKS)[rng.integers(len(LINKS))]
    ways = [
        f"{up}/{goal}",
        f"/{goal}",
        f"{link}/{goal}",
        f"{link}/{up}/{goal}",
        link,
        f"shots/{up}/{goal}",
        str(studio.folder / goal),
    ]
    way = ways[rng.integers(len(ways))]
    kind = ("file:", "upload:", "run:", "")[rng.integers(4)]
    source = json.dumps({"source": f"{kind}{way}", "boxes": [studio.box]}).encode()
    asks = [
        Ask("GET", f"/static/{way}"),
        Ask("GET", f"/{way}"),
        Ask("GET", f"/api/files?under={quote(way)}"),
        Ask("GET", f"/api/frame?source={quote(kind + way)}&n=0"),
        Ask("GET", f"/api/runs/{way}"),
        Ask("GET", f"/api/runs/{studio.spare}/export/files/{way}"),
        Ask("GET", f"/api/runs/{studio.spare}/why/{quote(way, safe='')}"),
        Ask("POST", "/api/open", source, (("Content-Type", JSON),)),
        Ask("POST", "/api/runs", source, (("Content-Type", JSON),)),
        Ask("PUT", f"/api/uploads/{quote(way, safe='%')}.mp4", b"\0\0\0\x18ftypisom" + rng.bytes(50)),
    ]
    return asks[rng.integers(len(asks))]
