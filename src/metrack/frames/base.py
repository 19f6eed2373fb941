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
    notice : str or None   what went wrong while reading, known once the frames have been read
    ended_early : bool     whether frames are missing at the end
    """

    name: str
    size: tuple[int, int]
    fps: float
    frames: int | None = None
    live: bool = False
    notice: str | None = None
    ended_early: bool = False

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


def without_password(address: str) -> str:
    """Remove user and password from an address, so that it may be shown and stored.

    >>> without_password("rtsp://me:secret@camera.local/live")
    'rtsp://camera.local/live'
    """
    return re.sub(r"://[^/@]*@", "://", address, count=1)
