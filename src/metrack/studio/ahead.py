"""Decoding while the tracker works: a thread reads the next frames before they are asked for.

It steps back for the tracker, as do the threads that a decoder starts within it: a few frames are ready anyhow.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

from metrack.frames import VideoFrame
from metrack.studio.priority import step_back

FRAMES_AHEAD = 2
LOOK = 0.5  # seconds between looks at whether anybody still wants frames


class Ahead(Iterator[VideoFrame]):
    """The same frames in the same order, read a little ahead; to be closed after use."""

    def __init__(self, frames: Iterator[VideoFrame]) -> None:
        self._ready: queue.Queue[VideoFrame | Exception | None] = queue.Queue(FRAMES_AHEAD)
        self._closed = self._over = False
        self._thread = threading.Thread(target=self._fill, args=(frames,), name="decoding", daemon=True)
        self._thread.start()

    def __next__(self) -> VideoFrame:
        """Return the next frame, or raise what reading it raised."""
        if self._over:
            raise StopIteration
        frame = self._ready.get()
        if isinstance(frame, VideoFrame):
            return frame
        self._over = True
        if frame is None:
            raise StopIteration
        raise frame

    def close(self) -> None:
        """Read no further."""
        self._closed = self._over = True
        self._thread.join(2 * LOOK)

    def _fill(self, frames: Iterator[VideoFrame]) -> None:
        step_back()
        try:
            for frame in frames:
                if not self._offer(frame):
                    return
            self._offer(None)
        except Exception as error:
            self._offer(error)

    def _offer(self, frame: VideoFrame | Exception | None) -> bool:
        while not self._closed:
            try:
                self._ready.put(frame, timeout=LOOK)
                return True
            except queue.Full:
                continue
        return False
