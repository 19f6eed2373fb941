"""A studio on a shared machine, attacked over HTTP and WebSockets while a run goes on in it.

Everything stays on loopback. After every case the studio must live, have said nothing on the screen, answer its owner
within two seconds, and have followed more frames of the run that was going on before.
"""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from metrack.studio.sockets import MOST_CONNECTIONS
from torture.campaign import Campaign, MissError
from torture.studio_lines import Line, frame, say, upgrade
from torture.studio_requests import Ask, leading_out, spoiled, valid
from torture.studio_server import StudioProcess

AT_ONCE = 200  # sockets
UNREAD, UNREAD_REQUESTS = MOST_CONNECTIONS + 20, 1000  # sockets that read nothing, and requests on each
SLOWEST = 13.0  # seconds after which nobody who said too little may still be connected


class Studio(Campaign):
    """Requests of every wrong kind to a studio with a run."""

    name, unit, aim, share = "studio", "requests", 20_000, 6.0
    passes = "no failure, no file of outside, one sentence to every wrong request, and the run goes on"

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self._studio: StudioProcess | None = None

    def prepare(self) -> None:
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        self._studio = StudioProcess(self.folder)

    def close(self) -> None:
        if self._studio is not None:
            self._studio.close()

    def case(self, rng: np.random.Generator) -> int:
        assert self._studio is not None
        kind = KINDS[rng.choice(len(KINDS), p=[each[1] for each in KINDS])][0]
        asked = kind(self._studio, rng)
        self._studio.tidy()
        self._studio.check()
        self.figures["slowest answer to its owner, s"] = round(self._studio.slowest, 2)
        return asked


def spoiled_requests(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Valid requests, most of them spoiled, one after another on one connection."""
    line = Line(studio)
    for _ in range(200):
        ask = valid(rng, studio)
        right = rng.random() < 0.1
        ask = ask if right else spoiled(rng, ask)
        status, content = line.ask(ask.encode(studio), ask.method)
        if status == 0:
            studio.check()
            if right:
                raise MissError(f"no answer to a right request: {ask.encode(studio)[:300]!r}")
        if right and status >= 400 and (ask.path == "/api/open" or (ask.method == "GET" and "/why" not in ask.path)):
            raise MissError(f"{status} {content[:300]!r} to a right request: {ask.encode(studio)[:300]!r}")
    line.close()
    return 200


def paths_and_links(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Requests for files outside, by paths and by links."""
    line = Line(studio)
    for _ in range(200):
        ask = leading_out(rng, studio)
        status, content = line.ask(ask.encode(studio), ask.method)
        harmless = ask.method == "GET" and ("short" in ask.path or b'"entries":[' in content or b"<!doctype" in content)
        found = status in (200, 201) and not harmless
        if found and any(word in f"{ask.path} {ask.body!r}" for word in ("canary", "away", "text.mp4", "passwd")):
            raise MissError(f"{status} {content[:300]!r} to {ask.encode(studio)[:300]!r}")
    line.close()
    return 200


def strangers(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Right requests of those who may not ask: none of them is granted."""
    line = Line(studio)
    port, token = studio.port, studio.token
    origins = ("http://evil.example", "null", f"http://localhost:{port}", f"https://{studio.host}", "file://", "")
    hosts = ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", "[::1", "", "a" * 5000)
    tokens = ("Bearer", "Bearer x", f"Basic {token}", f"Bearer {token[:-1]}", f"Bearer {token}x", "")
    for _ in range(200):
        ask, kind = valid(rng, studio), int(rng.integers(4))
        changed = [
            ("Origin", origins[rng.integers(len(origins))]),
            ("Host", hosts[rng.integers(len(hosts))]),
            ("Sec-Fetch-Site", ("cross-site", "same-site", "other")[rng.integers(3)]),
            ("Authorization", tokens[rng.integers(len(tokens))]),
        ][kind]
        ask = replace(ask, headers=(*ask.headers, changed))
        status, content = line.ask(ask.encode(studio, token=kind != 3), ask.method)
        if status and status not in (400, 401, 403, 421):
            raise MissError(f"{status} {content[:200]!r} to a stranger: {ask.encode(studio)[:300]!r}")
    line.close()
    for head in (b"Origin: http://evil.example\r\n", b"Sec-Fetch-Site: same-site\r\n"):
        got = say(studio, upgrade(studio, studio.main).replace(b"Upgrade: ", head + b"Upgrade: ", 1), wait=5)
        if not got.startswith(b"HTTP/1.1 403"):
            raise MissError(f"a stranger's WebSocket was answered {got[:200]!r}")
    return 202


def broken_http(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Half requests, wrong lengths, wrong chunks, many requests at once, and noise."""
    for _ in range(60):
        ask = spoiled(rng, valid(rng, studio)) if rng.random() < 0.5 else valid(rng, studio)
        data, kind = ask.encode(studio), int(rng.integers(7))
        head, _, body = data.partition(b"\r\n\r\n")
        bare = b"\r\n".join(each for each in head.split(b"\r\n") if not each.lower().startswith(b"content-length"))
        chunked = bare + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
        made = [
            data[: rng.integers(len(data))],
            bare + b"\r\nContent-Length: %d\r\n\r\n" % rng.choice([len(body) + 5, max(len(body) - 3, 0), 2**62]) + body,
            chunked + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body) or 1, body or b"x"),
            chunked + b"%x\r\n%b" % (rng.choice([1, 2**40, 3]), body) + rng.bytes(9),
            data * int(rng.integers(2, 6)),
            rng.bytes(int(rng.integers(1, 3000))),
            head + b"\r\nContent-Length: 7\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
        ][kind]
        say(studio, made, wait=0.5)
    return 60


def web_sockets(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Pages that watch the run and say anything."""
    for _ in range(40):
        run = studio.main if rng.random() < 0.8 else ("nobody", "%00", "a" * 300)[rng.integers(3)]
        query = ("", "?width=64", "?width=-1", "?width=nan", "?width=" + "9" * 500)[rng.integers(5)]
        said = b"".join(frame(rng) for _ in range(rng.integers(0, 30)))
        begun = upgrade(studio, run, query)
        if rng.random() < 0.1:
            begun = begun.replace(
                (b"GET ", b"Version: 13", b"Key: dG")[rng.integers(3)], (b"POST ", b"Key: ")[rng.integers(2)]
            )
        say(studio, begun + said if rng.random() < 0.3 else begun, wait=0.05)
        with suppress(OSError), socket.create_connection(("127.0.0.1", studio.port), 5) as line:
            line.sendall(begun)
            line.recv(4096)
            line.sendall(said)
            line.settimeout(0.05)
            while line.recv(65_536):
                pass
    return 80


def many_sockets(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Two hundred sockets at one time, silent or half-way through a request, while its owner asks."""
    with ExitStack() as stack:
        for _ in range(AT_ONCE):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", studio.port), 10))
            data = valid(rng, studio).encode(studio, token=rng.random() < 0.5)
            data = (b"", data[: rng.integers(len(data))], upgrade(studio, studio.main))[rng.integers(3)]
            with suppress(OSError):
                line.sendall(data)
        studio.check()
        studio.check()
    return AT_ONCE


def unread_answers(studio: StudioProcess, rng: np.random.Generator) -> int:
    """More sockets of strangers than there are places, who ask and ask and read nothing, while its owner asks."""
    heads = ("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n", "GET /{x} HTTP/1.1\r\nHost: {host}\r\n\r\n")
    said = heads[rng.integers(2)].format(host=studio.host, x="x" * 9).encode() * UNREAD_REQUESTS
    with ExitStack() as stack:
        for _ in range(UNREAD):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", studio.port))
            line.setblocking(False)
            with suppress(OSError):
                line.send(said)
        time.sleep(1)  # the burst itself costs what it costs; what is shown is that who stays takes nobody's place
        for _ in range(3):
            studio.check()
    return UNREAD


def slow_uploads(studio: StudioProcess, rng: np.random.Generator) -> int:
    """Uploads and heads that come byte by byte, a few seconds long; now and then until they are put out."""
    lines, count = [], 30
    with ExitStack() as stack:
        for n in range(count):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", studio.port), 10))
            put = Ask("PUT", f"/api/uploads/slow{n}.mp4", b"", (("Content-Length", "900000"),)).encode(studio)
            post = Ask(
                "POST", "/api/open", b"", (("Content-Length", "900"), ("Content-Type", "application/json"))
            ).encode(studio)
            line.sendall((put, post, put[:-2])[n % 3])
            lines.append(line)
        for_long = rng.random() < 0.1
        until = time.monotonic() + (SLOWEST if for_long else 1.5)
        while time.monotonic() < until:
            for line in lines:
                with suppress(OSError):
                    line.sendall(rng.bytes(1))
            studio.check()
            time.sleep(0.3)
        if for_long and any(_is_open(line) for line in lines[1::3] + lines[2::3]):
            raise MissError(f"who said a byte at a time is still connected after {SLOWEST:g} s")
    return count


def _is_open(line: socket.socket) -> bool:
    """Whether the other side has neither answered nor closed."""
    line.settimeout(0.01)
    try:
        line.recv(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


KINDS: list[tuple[Callable[[StudioProcess, np.random.Generator], int], float]] = [
    (spoiled_requests, 0.42),
    (paths_and_links, 0.2),
    (strangers, 0.1),
    (broken_http, 0.08),
    (web_sockets, 0.08),
    (many_sockets, 0.05),
    (unread_answers, 0.02),
    (slow_uploads, 0.05),
]
