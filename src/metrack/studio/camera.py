"""A camera before the run: one picture at a time, to draw a box on.

The picture that a page saw last is the first frame of the run; the stream stays open in between.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from metrack.frames import Source, VideoFrame, open_source
from metrack.studio.pictures import WIDEST, to_jpeg


class OpenCamera:
    """A camera that is on: its stream, and the picture taken last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.source: Source = open_source(text.partition(":")[2])
        self._frames = iter(self.source)
        self.frame = self.take()

    def take(self) -> VideoFrame:
        """Take a picture."""
        frame = next(self._frames, None)
        if frame is None:
            self.source.close()
            raise ValueError(f"{self.source.name} gives no pictures any more.")
        self.frame = replace(frame, index=0, time=0.0)
        self._since = frame.time
        return self.frame

    def following(self) -> Iterator[VideoFrame]:
        """Give the frames after that picture, numbered on from it."""
        for number, frame in enumerate(self._frames, 1):
            yield replace(frame, index=number, time=frame.time - self._since)


class Cameras:
    """At most one camera is on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OpenCamera | None = None

    def open(self, text: str) -> dict[str, Any]:
        """Switch a camera on."""
        with self._lock:
            self._switch_off()
            try:
                self._open = OpenCamera(text)
            except ValueError as error:
                raise ValueError(f"Camera {text.partition(':')[2]} cannot be opened: {_reason(error)}") from None
            (width, height), fps = self._open.source.size, self._open.source.fps
        return {
            "source": text,
            "name": f"Camera {text.partition(':')[2]}",
            "width": width,
            "height": height,
            "fps": fps,
            "frames": 1,
            "live": True,
        }

    def jpeg(self, text: str) -> bytes:
        """Take a picture."""
        with self._lock:
            return to_jpeg(self._opened(text).take().image, WIDEST)

    def hand_over(self, text: str) -> OpenCamera:
        """Give the camera to a run, which switches it off in the end."""
        with self._lock:
            given, self._open = self._opened(text), None
            return given

    def close(self) -> None:
        """Switch the camera off."""
        with self._lock:
            self._switch_off()

    def _opened(self, text: str) -> OpenCamera:
        if self._open is None or self._open.text != text:
            raise LookupError("This camera is not on; open it again.")
        return self._open

    def _switch_off(self) -> None:
        if self._open is not None:
            self._open.source.close()
            self._open = None


def _reason(error: ValueError) -> str:
    """Keep what the system said, in brackets at the end of the sentence, and leave out device names."""
    text = str(error)
    return text[text.rfind("(") + 1 : -1] if text.endswith(")") else text
