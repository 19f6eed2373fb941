"""Cameras and network streams: always the newest frame, reconnecting after a break.

A reader thread decodes every frame and keeps the latest; frames not taken in time are dropped, so a slow consumer
still sees the present.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

import av
from av.container import InputContainer
from av.error import FFmpegError

from metrack.frames import video
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
        self._received = self._given = self._failures = 0
        self._stopping = self._over = self._gave_up = self._broken = False
        self._other_size = ""
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
            first = next(decode(container, stream, patience=video.PATIENCE), None)
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
                self._other_size, self.ended_early = f"{image.shape[1]} x {image.shape[0]}", True
                return
            self._given += 1
            yield VideoFrame(index, stamp - zero, image)
            index += 1
        self.ended_early = not self._stopping

    @property
    def dropped(self) -> int:
        """How many frames nobody took in time; the newest one may still be."""
        with self._changed:
            return self._received - self._given - (self._newest is not None)

    @property
    def notice(self) -> str | None:
        """What happened so far: breaks, dropped frames, and why it ended."""
        parts = []
        if self.reconnected:
            parts.append(f"broke off {_times(self.reconnected)} and came back")
        if self._gave_up:
            parts.append(f"broke off after {self._given} frames and did not come back in {self._retries} tries")
        if self._other_size:
            width, height = self.size
            parts.append(f"changed from {width} x {height} to {self._other_size} pixels after {self._given} frames")
        if self.dropped:
            parts.append(f"{self.dropped} frames were skipped to keep up")
        return f"{self.name}: {', '.join(parts)}" if parts else None

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
            if self._stopping:
                return None
            taken, self._newest = self._newest, None
            return taken

    def _put(self, picture: av.VideoFrame) -> None:
        with self._changed:
            if self._stopping:
                return
            self._newest = (time.monotonic(), picture)
            self._received += 1
            if self._broken:
                self.reconnected, self._failures, self._broken = self.reconnected + 1, 0, False
            self._changed.notify_all()

    def _receive(self, container: InputContainer) -> None:
        """Reader thread: read until stopped or until reconnecting fails."""
        current: InputContainer | None = container
        while current is not None:
            with closing(current), suppress(ValueError, OSError, FFmpegError, MemoryError):  # each as good as a break
                self._read_through(current)
            current = None if self._stopping else self._reconnect()
        with self._changed:
            self._over, self._gave_up = True, not self._stopping
            self._changed.notify_all()

    def _read_through(self, container: InputContainer) -> None:
        stream = video_stream(container, self.name)
        for picture in decode(container, stream, patience=video.PATIENCE):
            self._put(picture)
            if self._stopping:
                return

    def _reconnect(self) -> InputContainer | None:
        """Connect again; a connection that gave no frame counts among those that failed."""
        self._broken = True
        while self._failures < self._retries:
            self._pause(self._first_wait * 2**self._failures)
            if self._stopping:
                return None
            self._failures += 1
            with suppress(ValueError):
                return self._connect()
        return None

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopping and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, POLL))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
