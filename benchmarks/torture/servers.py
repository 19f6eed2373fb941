"""A server on loopback that gives out video and misbehaves, as a story says."""

from __future__ import annotations

import io
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av
import numpy as np
from PIL import Image

BOUNDARY = b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
Places = dict[str, str | int]
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: a close sends RST


def picture(number: int, size: tuple[int, int]) -> np.ndarray:
    """Return a frame: a square that wanders, over noise that stays."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 80, (size[1], size[0], 3), dtype=np.uint8)
    left = 20 + number % 12
    pixels[14:32, left : left + 22] += np.array([130, 90, 20], np.uint8)
    return pixels


def jpegs(count: int, size: tuple[int, int] = (64, 48)) -> list[bytes]:
    """Return frames as files."""
    found = []
    for number in range(count):
        memory = io.BytesIO()
        Image.fromarray(picture(number, size)).save(memory, "JPEG", quality=90)
        found.append(memory.getvalue())
    return found


def recording(container: str, frames: int, size: tuple[int, int] = (64, 48)) -> bytes:
    """Return a video as a file."""
    memory = io.BytesIO()
    with av.open(memory, "w", format=container) as file:
        stream = file.add_stream("mpeg2video" if container == "mpegts" else "libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for number in range(frames):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number, size), format="rgb24")))
        file.mux(stream.encode())
    return memory.getvalue()


@dataclass(slots=True)
class Served:
    """What the server did: requests it got, and whole frames it sent in each."""

    requests: int = 0
    frames: list[int] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)  # the campaign is done with it


class Visit:
    """One request, to be answered by a story."""

    def __init__(self, handler: BaseHTTPRequestHandler, served: Served, number: int, places: Places) -> None:
        self.handler, self.served, self.number, self.places = handler, served, number, places
        self.served.frames.append(0)

    def head(self, kind: str, length: int | None = None, status: int = 200, **headers: str) -> None:
        """Send status and headers."""
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", kind)
        if length is not None:
            self.handler.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()

    def live(self) -> None:
        """Announce a stream of pictures."""
        self.head("multipart/x-mixed-replace; boundary=frame")

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def picture(self, jpeg: bytes) -> None:
        """Send one frame of such a stream."""
        self.send(BOUNDARY % len(jpeg) + jpeg + b"\r\n")
        self.served.frames[self.number] += 1

    def pictures(self, files: list[bytes], count: int, pause: float) -> None:
        """Send frames, over and over, with a pause between them."""
        for number in range(count):
            self.picture(files[number % len(files)])
            if pause:
                time.sleep(pause)

    def stall(self, seconds: float) -> None:
        """Send nothing for so long, or until all is over."""
        self.served.closed.wait(seconds)

    def reset(self) -> None:
        """Break the connection off, not politely."""
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    def fill(self, text: str) -> str:
        """Put the port of the other server, and the file that must not be read, into a text."""
        return text.format(**self.places)


Story = Callable[[Visit], None]


class Server:
    """Answers every request with the same story."""

    def __init__(self, story: Story, places: Places | None = None) -> None:
        self.served = served = Served()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.close_connection = True
                number, served.requests = served.requests, served.requests + 1
                with suppress(OSError):  # whoever asked has left
                    story(Visit(self, served, number, places or {}))

            def handle(self) -> None:
                with suppress(OSError):
                    super().handle()

            def finish(self) -> None:
                with suppress(OSError):
                    super().finish()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.port = int(self._server.server_address[1])
        self.address = f"http://127.0.0.1:{self.port}/live"

    def close(self) -> None:
        """Stop, also what waits."""
        self.served.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
