"""Decoding recordings with PyAV: video files, and addresses whose content has a known length."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.video.stream import VideoStream

from metrack.arrays import Frame
from metrack.frames.base import Source, VideoFrame, without_password

DEFAULT_FPS = 25.0  # for streams that declare none
TIMEOUT = 10.0  # seconds a network source may stay silent
NOT_VIDEO = {"tty"}  # FFmpeg renders any .txt file as a film of a terminal; nobody means that


class VideoFile(Source):
    """A recording, decoded frame by frame; iterating again starts over.

    A truncated recording gives the frames that can be read, then ends and says so in ``notice``.
    """

    def __init__(self, address: str) -> None:
        self.name = without_password(address) if "://" in address else Path(address).name
        self._address = address
        with closing(open_container(address)) as container:
            stream = video_stream(container, self.name)
            first = next(decode(container, stream), None)
            if first is None:
                raise ValueError(f"source must be a video, but no frame of {self.name} can be read")
            height, width = to_rgb(first).shape[:2]
            self.size = (width, height)
            self.fps = nominal_fps(stream)
            self.frames = stream.frames or None
            self._last_start = _last_frame_start(stream, self.fps)

    def __iter__(self) -> Iterator[VideoFrame]:
        self.notice, self.ended_early = None, False
        count, last = 0, 0.0
        for frame in self._read():
            yield frame
            count, last = frame.index + 1, frame.time
        if self.notice is None and self._breaks_off(count, last):
            self._end(f"ends early: {count} of {self.frames} frames could be read")

    def _read(self, only: Collection[int] | None = None) -> Iterator[VideoFrame]:
        with closing(open_container(self._address)) as container:
            stream = video_stream(container, self.name)
            stream.thread_type = "AUTO"
            zero: float | None = None
            for index, picture in enumerate(decode(container, stream)):
                stamp = index / self.fps if picture.time is None else float(picture.time)
                zero = stamp if zero is None else zero
                if only is not None and index not in only:
                    continue
                image = to_rgb(picture)
                if image.shape[1::-1] != self.size:
                    width, height = self.size
                    self._end(f"changes its size from {width} x {height} at frame {index}; read up to there")
                    return
                yield VideoFrame(index, max(stamp - zero, 0.0), image)

    def pick(self, numbers: Collection[int]) -> Iterator[VideoFrame]:
        """Yield only these frames; the others are decoded, but not converted to RGB."""
        last = max(numbers, default=-1)
        for frame in self._read(numbers):
            yield frame
            if frame.index >= last:
                return

    def _end(self, what: str) -> None:
        self.notice, self.ended_early = f"{self.name} {what}", True

    def _breaks_off(self, count: int, last: float) -> bool:
        """Whether there are fewer frames than declared, and not because an edit list hides some of them."""
        return self.frames is not None and count < self.frames and last < self._last_start - 0.5 / self.fps


def open_container(address: str, format: str | None = None, **options: str) -> InputContainer:
    """Open a file, device or address for reading, or raise ValueError with the reason."""
    timeout = TIMEOUT if "://" in address else None
    shown = without_password(address)
    try:
        container = av.open(address, "r", format=format, options=options, timeout=timeout, metadata_errors="ignore")
    except (FFmpegError, OSError) as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"source must be a video, but {shown!r} cannot be read as one ({reason})") from None
    if container.format.name in NOT_VIDEO:
        container.close()
        raise ValueError(f"source must be a video, but {shown!r} cannot be read as one (it is text)")
    return container


def video_stream(container: InputContainer, name: str) -> VideoStream:
    """Return the first video stream of a container."""
    if not container.streams.video:
        raise ValueError(f"source must hold a video stream, but {name} has none")
    return container.streams.video[0]


def decode(container: InputContainer, stream: VideoStream) -> Iterator[av.VideoFrame]:
    """Yield the decoded frames of a stream up to its end or a break; damaged packets are skipped."""
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except (StopIteration, FFmpegError):
            return
        try:
            pictures = packet.decode()
        except FFmpegError:
            continue
        yield from pictures


def to_rgb(picture: av.VideoFrame) -> Frame:
    """Convert a decoded frame to uint8 RGB (H, W, 3), rotated upright as a player shows it."""
    image = picture.to_ndarray(format="rgb24")
    quarter_turns = round(getattr(picture, "rotation", 0) / 90) % 4  # counter-clockwise
    return np.ascontiguousarray(np.rot90(image, quarter_turns))


def nominal_fps(stream: VideoStream) -> float:
    """Return the frame rate a stream declares."""
    rate = stream.average_rate or stream.guessed_rate
    return float(rate) if rate else DEFAULT_FPS


def _last_frame_start(stream: VideoStream, fps: float) -> float:
    """When the last frame should appear, in seconds from the first; infinity if the stream does not say."""
    if not stream.duration or not stream.time_base:
        return float("inf")
    return float(stream.duration * stream.time_base) - 1.0 / fps
