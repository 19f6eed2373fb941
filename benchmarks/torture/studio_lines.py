"""Lines to a studio: sockets on which anything can be said, and what its answers must be."""

from __future__ import annotations

import http.client
import json
import os
import socket
import struct

import numpy as np

from torture.campaign import MissError
from torture.studio_server import CANARY, StudioProcess

PATIENCE = 15.0  # seconds for an answer to a whole request
SHOWN = 300  # bytes of a request in what is told of a miss
UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Line:
    """One connection, opened anew where the studio closed it."""

    def __init__(self, studio: StudioProcess) -> None:
        self.studio = studio
        self._socket: socket.socket | None = None

    def ask(self, data: bytes, method: str = "GET") -> tuple[int, bytes]:
        """Send a whole request; return status and content of the answer, 0 where the connection was just closed."""
        for again in (True, False):
            fresh = self._socket is None
            try:
                self._connected().sendall(data)
                answer = http.client.HTTPResponse(self._connected(), method=method)
                answer.begin()
                content = answer.read()
            except TimeoutError:
                self.close()
                raise MissError(f"no answer within {PATIENCE:g} s to {data[:SHOWN]!r}") from None
            except (OSError, http.client.HTTPException):
                self.close()
                if fresh or not again:
                    return 0, b""
                continue  # it had been closed since the last request
            if answer.will_close or method == "CONNECT":
                self.close()
            check_answer(answer, content, data)
            return answer.status, content
        return 0, b""

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self.studio.port), PATIENCE)
        return self._socket


def check_answer(answer: http.client.HTTPResponse, content: bytes, asked: bytes) -> None:
    """Check one answer: nothing of outside in it, no failure, and one sentence where it says no."""
    told = f"{answer.status} {content[:SHOWN]!r} to {asked[:SHOWN]!r} ({len(asked)} bytes)"
    if answer.status >= 500:
        raise MissError(f"a failure: {told}")
    if CANARY in content or b"root:x:0" in content or b"import annotations" in content:
        raise MissError(f"a file of outside: {told}")
    if answer.status < 400 or not content or asked.startswith(b"HEAD"):
        return
    kind = answer.headers.get_content_type()
    if kind == "text/html" and asked.startswith(b"GET /") and asked[5:6] in b" ?":
        return
    try:
        ((name, sentence),) = json.loads(content).items()
    except (ValueError, AttributeError):
        raise MissError(f"no sentence: {told}") from None
    if kind != "application/json" or name != "error" or not 10 < len(sentence) <= 400 or "Traceback" in sentence:
        raise MissError(f"no sentence: {told}")


def say(studio: StudioProcess, data: bytes, *, wait: float, end: bool = True) -> bytes:
    """Say anything on a new connection, and return what comes back until it is closed or nothing comes."""
    with socket.create_connection(("127.0.0.1", studio.port), PATIENCE) as line:
        got = b""
        try:
            line.sendall(data)
            if end:
                line.shutdown(socket.SHUT_WR)
            line.settimeout(wait)
            while chunk := line.recv(65_536):
                got += chunk
                if len(got) > 5_000_000:
                    break
        except OSError:
            pass
    if CANARY in got:
        raise MissError(f"a file of outside to {data[:SHOWN]!r}")
    for part in got.split(b"HTTP/1.1 ")[1:]:
        if part[:1] == b"5" and part[:3].isdigit():
            raise MissError(f"a failure: {part[:SHOWN]!r} to {data[:SHOWN]!r}")
    return got


def frame(rng: np.random.Generator) -> bytes:
    """Draw a WebSocket frame, right or wrong."""
    code = int(rng.choice([0, 1, 1, 1, 2, 2, 8, 9, 10, 3, 15]))
    texts = [b"drawn", b"200", b"", b"null", b"[" * 3000, b"9" * 400, b"\xff\xfe", b'{"a":NaN}', b"-1", rng.bytes(50)]
    content = texts[rng.integers(len(texts))] if code < 8 else rng.bytes(int(rng.integers(0, 130)))
    if rng.random() < 0.05:
        content = b"x" * int(rng.choice([4097, 70_000]))
    final = 0 if rng.random() < 0.1 else 0x80
    reserved = 0x40 if rng.random() < 0.05 else 0
    mask = rng.bytes(4) if rng.random() < 0.95 else b""
    length = len(content) if rng.random() < 0.97 else 2**40
    flag = 0x80 if mask else 0
    if length < 126:
        size = struct.pack("!B", flag | length)
    elif length < 65_536:
        size = struct.pack("!BH", flag | 126, length)
    else:
        size = struct.pack("!BQ", flag | 127, length)
    if mask:
        key = (mask * (len(content) // 4 + 1))[: len(content)]
        content = bytes(a ^ b for a, b in zip(content, key, strict=True))
    return bytes([final | reserved | code]) + size + mask + content


def upgrade(studio: StudioProcess, run: str, query: str = "") -> bytes:
    """Return the request that begins a WebSocket."""
    return UPGRADE.format(path=f"/api/runs/{run}/watch{query}", host=studio.host, token=studio.token).encode()


def open_files() -> int:
    """How many files and sockets this process has open."""
    return len(os.listdir("/proc/self/fd"))
