"""The interface of every frame source: an iterable of :class:`VideoFrame`, to be closed after use.

A frame's image is uint8 RGB of shape (H, W, 3), and all frames of one source have the same shape. Frames are
numbered from 0 in the order in which the source gives them; ``time`` is in seconds from the first one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Self

from metrack.arrays import Frame

MOST_PIXELS = (
    36_000_000  # of one frame of a video, which takes up to 20 bytes each while it is read; one of 8K has 35 million
)


@dataclass(frozen=True, slots=True, eq=False)
class VideoFrame:
    """One frame with its index and its time in seconds."""

    index: int
    time: float
    image: Frame


class Source(ABC):
    """A video, a folder of images, a camera or a stream.

    Attributes
    ----------
    name : str             shown in messages
    size : (int, int)      width and height of every frame, in pixels
    fps : float            nominal frames per second
    frames : int or None   how many frames there should be; None where the source does not say
    live : bool            whether frames arrive in real time and are dropped if nobody takes them
    notice : str or None   what went wrong while reading, as far as it was read
    ended_early : bool     whether frames are missing at the end
    dropped : int          frames of a live source that nobody took in time
    reconnected : int      how often a live source broke off and came back
    """

    name: str
    size: tuple[int, int]
    fps: float
    frames: int | None = None
    live: bool = False
    ended_early: bool = False
    reconnected: int = 0
    _notice: str | None = None

    @property
    def notice(self) -> str | None:
        """What went wrong while reading."""
        return self._notice

    @property
    def dropped(self) -> int:
        """How many frames nobody took in time."""
        return 0

    @abstractmethod
    def __iter__(self) -> Iterator[VideoFrame]:
        """Yield all frames from the first one on."""

    def pick(self, numbers: Collection[int]) -> Iterator[VideoFrame]:
        """Yield only the frames with these indices, in order; indices past the end are skipped."""
        last = max(numbers, default=-1)
        for frame in self:
            if frame.index in numbers:
                yield frame
            if frame.index >= last:
                return

    def stop(self) -> None:
        """Ask a source that waits for frames to end; may be called from a signal handler."""
        return  # a recording never waits

    def close(self) -> None:
        """Release files, devices and threads."""
        self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_pixels(name: str, width: int, height: int, most: int = MOST_PIXELS) -> None:
    """Refuse frames that would take too much memory."""
    if width * height > most:
        raise too_large(name, f"{width} x {height} = {width * height}", most)


def too_large(name: str, pixels: str = "more", most: int = MOST_PIXELS) -> ValueError:
    """Return the error that refuses frames of so many pixels."""
    return ValueError(f"source must have frames of at most {most} pixels, but those of {name} have {pixels}")


def is_address(text: str) -> bool:
    """Whether a text is an address and not a path.

    >>> is_address("rtsp://camera.local/live"), is_address("shots/a://b.mp4")
    (True, False)
    """
    return re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE) is not None


def is_camera(text: str) -> bool:
    """Whether a text is the number of a camera.

    >>> is_camera("0"), is_camera("²")
    (True, False)
    """
    return text.isascii() and text.isdigit()


def without_password(address: str) -> str:
    """Remove user and password from an address, so that it may be shown and stored.

    >>> without_password("rtsp://me:secret@camera.local/live")
    'rtsp://camera.local/live'
    """
    return re.sub(r"://[^/@]*@", "://", address, count=1)
