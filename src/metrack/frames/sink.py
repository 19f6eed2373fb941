"""Writing MP4 videos that browsers play.

While it is being written the file is a fragmented MP4, which can be played at any moment, also after the
process was killed (up to about the last second). Closing rearranges it, without encoding again, into an
ordinary MP4 with its index in front, so that players know its length and can seek in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Self

import av
import numpy as np
from av.codec.codec import UnknownCodecError
from av.error import FFmpegError
from av.video.stream import VideoStream

from metrack.arrays import Frame, shown
from metrack.checks import check_number, check_path, check_whole, writing
from metrack.files import replacing

TICKS = 90_000  # per second: the clock of the file, fine enough for any camera
SLOWEST = 0.001  # frames per second
WORST = 51  # crf: the scale of H.264 ends here
LARGEST = 16_384  # pixels on a side, as H.264 allows
LAST = 1e9  # seconds
SIDES = ("width", "height")
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "flush_packets": "1"}
ORDINARY = {"movflags": "+faststart"}


class VideoWriter:
    """H.264 in an MP4 file.

    Parameters
    ----------
    path : Path          the file; an older one is replaced
    size : (int, int)    width and height; an odd side is padded by repeating the last row or column
    fps : float          frame rate, used where no times are given
    crf : int            quality: 0 lossless, 18 hard to tell from it, 23 smaller
    """

    def __init__(self, path: Path | str, size: tuple[int, int], fps: float, *, crf: int = 20) -> None:
        encoder = h264_encoder()
        if encoder is None:
            raise ValueError("this build of PyAV must have an H.264 encoder to write a video, but it has none")
        self.path, self.size = check_path("path", path), _checked(size)
        self.fps = check_number("fps", fps, SLOWEST, TICKS)
        crf = check_whole("crf", crf, 0, WORST)
        self._next = 0
        self._closed = False
        with writing("path", self.path), _as_os_error():
            with suppress(FileNotFoundError):
                self.path.stat()  # fails now for a name that is too long, and not with the first image
            self._container = av.open(f"file:{self.path}", "w", format="mp4", options=FRAGMENTED)
        self._stream = self._add_stream(encoder, crf)

    def _add_stream(self, encoder: str, crf: int) -> VideoStream:
        quality = {"crf": str(crf), "preset": "veryfast", "rc-lookahead": "10"} if encoder == "libx264" else {}
        stream = self._container.add_stream(
            encoder, rate=Fraction(self.fps).limit_denominator(1001), options={"bf": "0", **quality}
        )
        assert isinstance(stream, VideoStream)
        width, height = self.size
        stream.width, stream.height, stream.pix_fmt = width + width % 2, height + height % 2, "yuv420p"
        stream.codec_context.time_base = Fraction(1, TICKS)
        stream.codec_context.gop_size = max(round(self.fps), 1)  # a fragment a second
        return stream

    def write(self, image: Frame, time: float | None = None) -> None:
        """Append one RGB image, shown from ``time`` seconds on (by default: one frame after the last one)."""
        if self._closed:
            raise ValueError("write must come before close: the video is finished")
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
            raise ValueError(f"image must be an array of uint8, got {shown(image)}")
        if image.shape != (self.size[1], self.size[0], 3):
            raise ValueError(f"image must have the shape {(self.size[1], self.size[0], 3)}, got {image.shape}")
        time = None if time is None else check_number("time", time, 0, LAST)
        ticks = self._next if time is None else max(round(time * TICKS), self._next)
        picture = av.VideoFrame.from_ndarray(_even(image), format="rgb24")
        picture.pts, picture.time_base = ticks, Fraction(1, TICKS)
        self._next = ticks + 1 if time is not None else ticks + round(TICKS / self.fps)
        with _as_os_error():
            self._container.mux(self._stream.encode(picture))

    def close(self) -> None:
        """Finish the file; without any image written, no file is left."""
        if self._closed:
            return
        self._closed = True
        if self._next == 0:
            self._container.close()
            self.path.unlink(missing_ok=True)
            return
        with _as_os_error():
            self._container.mux(self._stream.encode())
            self._container.close()
        _put_index_in_front(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(size: object) -> tuple[int, int]:
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ValueError(f"size must be two whole numbers, width and height, got {shown(size)}")
    width, height = (check_whole(f"{name} in size", each, 1, LARGEST) for name, each in zip(SIDES, size, strict=True))
    return width, height


def h264_encoder() -> str | None:
    """Return the name of the H.264 encoder of this build of PyAV, if it has one."""
    for name in ("libx264", "h264"):
        try:
            return av.codec.Codec(name, "w").name
        except UnknownCodecError:
            continue
    return None


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise what FFmpeg says of a file as what the system says of one."""
    try:
        yield
    except OSError:
        raise
    except FFmpegError as error:
        raise OSError(error.errno, error.strerror) from None


def _even(image: Frame) -> Frame:
    """Repeat the last row or column of an image with odd sides, which yuv420p cannot hold."""
    height, width = image.shape[:2]
    if height % 2 == 0 and width % 2 == 0:
        return np.ascontiguousarray(image)
    return np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")


def _put_index_in_front(path: Path) -> None:
    """Remux a fragmented MP4 into an ordinary one with its index in front; on failure leave it as it is."""
    with suppress(FFmpegError, OSError), replacing(path) as part:
        with av.open(f"file:{path}") as old, av.open(f"file:{part}", "w", format="mp4", options=ORDINARY) as new:
            stream = new.add_stream_from_template(old.streams.video[0])
            for packet in old.demux(old.streams.video[0]):
                if packet.dts is not None:
                    packet.stream = stream
                    new.mux(packet)
