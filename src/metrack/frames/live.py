"""Cameras and network streams: always the newest frame, reconnecting after a break.

A reader thread decodes every frame and keeps the latest; frames not taken in time are dropped, so a slow consumer
still sees the present.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import av
from av.container import InputContainer

from metrack.frames.base import Source, VideoFrame
from metrack.frames.video import decode, nominal_fps, to_rgb, video_stream

POLL = 0.1  # seconds between checks whether to stop


class LiveStream(Source):
    """A source whose frames arrive in real time.

    Parameters
    ----------
    name : str           shown in messages
    connect : callable   opens the stream; used again after a break
    retries : int        attempts to reconnect before giving up
    first_wait : float   seconds before the first of them; each further wait is twice as long
    """

    live = True

    def __init__(
        self,
        name: str,
        connect: Callable[[], InputContainer],
        *,
        container: InputContainer | None = None,
        retries: int = 5,
        first_wait: float = 0.5,
    ) -> None:
        self.name, self._connect, self._retries, self._first_wait = name, connect, retries, first_wait
        self._changed = threading.Condition()
        self._newest: tuple[float, av.VideoFrame] | None = None
        self._received = self._breaks = 0
        self._stopping = self._over = False
        container = container or connect()
        first = self._start(container)
        height, width = to_rgb(first).shape[:2]
        self.size = (width, height)
        self._thread = threading.Thread(target=self._receive, args=(container,), daemon=True)
        self._thread.start()

    def _start(self, container: InputContainer) -> av.VideoFrame:
        try:
            stream = video_stream(container, self.name)
            self.fps = nominal_fps(stream)
            first = next(decode(container, stream), None)
            if first is None:
                raise ValueError(f"source must be a video stream, but no frame of {self.name} can be read")
        except ValueError:
            container.close()
            raise
        self._put(first)
        return first

    def __iter__(self) -> Iterator[VideoFrame]:
        index, zero = 0, None
        while (taken := self._take()) is not None:
            stamp, picture = taken
            zero = stamp if zero is None else zero
            image = to_rgb(picture)
            if image.shape[1::-1] != self.size:
                self.notice, self.ended_early = f"{self.name} changed its frame size after {index} frames", True
                return
            yield VideoFrame(index, stamp - zero, image)
            index += 1
        self._sum_up(index)

    def stop(self) -> None:
        """Ask the reader thread, and an iteration that waits for it, to end."""
        self._stopping = True

    def close(self) -> None:
        """Stop, and give the reader thread a moment to release the device."""
        self.stop()
        self._thread.join(timeout=2.0)

    def _take(self) -> tuple[float, av.VideoFrame] | None:
        """Wait for a frame that was not taken yet; None when there will be no more."""
        with self._changed:
            while self._newest is None and not self._over and not self._stopping:
                self._changed.wait(POLL)
            taken, self._newest = self._newest, None
            return None if self._stopping else taken

    def _put(self, picture: av.VideoFrame) -> None:
        with self._changed:
            self._newest = (time.monotonic(), picture)
            self._received += 1
            self._changed.notify_all()

    def _receive(self, container: InputContainer) -> None:
        """Reader thread: read until stopped or until reconnecting fails."""
        current: InputContainer | None = container
        while current is not None:
            with closing(current):
                self._read_through(current)
            current = None if self._stopping else self._reconnect()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _read_through(self, container: InputContainer) -> None:
        for picture in decode(container, container.streams.video[0]):
            self._put(picture)
            if self._stopping:
                return

    def _reconnect(self) -> InputContainer | None:
        self._breaks += 1
        for attempt in range(self._retries):
            self._pause(self._first_wait * 2**attempt)
            if self._stopping:
                return None
            try:
                container = self._connect()
                video_stream(container, self.name)
                return container
            except ValueError:
                continue
        return None

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopping and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, POLL))

    def _sum_up(self, given: int) -> None:
        """Set ``notice`` after the last frame: breaks and dropped frames."""
        parts = []
        if self._over and not self._stopping:
            self.ended_early = True
            parts.append(f"broke off after {given} frames and did not come back in {self._retries} tries")
        elif self._breaks:
            parts.append(f"broke off {self._breaks} times and came back")
        if dropped := self._received - given - (self._newest is not None):
            parts.append(f"{dropped} frames were skipped to keep up")
        if parts:
            self.notice = f"{self.name}: {', '.join(parts)}"
