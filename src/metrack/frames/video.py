"""Decoding recordings with PyAV: video files, and addresses whose content has a known length."""

from __future__ import annotations

import ctypes
import math
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Disposition
from av.video.stream import VideoStream

from metrack.arrays import Frame
from metrack.frames.base import MOST_PIXELS, Source, VideoFrame, check_pixels, is_address, without_password

DEFAULT_FPS = 25.0  # for streams that declare none
FPS_RANGE = (0.01, 1000.0)  # what is declared outside of it is not believed
TIMEOUT = 10.0  # seconds a network source may stay silent
PATIENCE = 30.0  # seconds in which bytes may give no frame: cameras send key frames as rarely as every 20
LONGEST_GAP = 86_400.0  # seconds between two frames; a time stamp further on is damaged
MOST_REORDERED = 16  # frames, as H.264 and HEVC allow

# FFmpeg's names of what is opened. What is not named here could open other files or addresses, as playlists do, or is
# no video, as text that FFmpeg renders as a film of a terminal.
CONTAINERS = (
    *("3dostr", "aac", "ac3", "apng", "asf", "asf_o", "avi", "avs2", "avs3", "bink", "cavsvideo", "cine", "dhav"),
    *("dirac", "dv", "eac3", "flac", "flic", "flv", "gif", "gxf", "h261", "h263", "h264", "hevc", "iv8", "ivf"),
    *("live_flv", "lxf", "m4v", "matroska", "mjpeg", "mov", "mp3", "mpeg", "mpegts", "mpegvideo", "mpjpeg", "mtv"),
    *("mxf", "nsv", "nut", "obu", "ogg", "pva", "r3d", "rm", "roq", "ser", "smjpeg", "smk", "swf", "vc1", "vc1test"),
    *("vvc", "wav", "wtv", "yuv4mpegpipe"),
)
PLAYLISTS = ("dash", "hls", "rtsp", "sdp", "webvtt")  # of addresses only
OF_FILES = {"protocol_whitelist": "file", "format_whitelist": ",".join(CONTAINERS)}
OF_ADDRESSES = {
    "protocol_whitelist": "crypto,data,http,httpproxy,https,rtp,rtsp,rtsps,srtp,tcp,tls,udp",
    "format_whitelist": ",".join(CONTAINERS + PLAYLISTS),
}

LARGEST_PIECE = 8 * MOST_PIXELS  # bytes that FFmpeg may take at once: headers of 2 kB can ask for 2 GB
with suppress(AttributeError, OSError):  # where FFmpeg is a library of its own
    ctypes.CDLL(av._core.__file__).av_max_alloc(ctypes.c_size_t(LARGEST_PIECE))


class VideoFile(Source):
    """A recording, decoded frame by frame; iterating again starts over.

    A truncated recording gives the frames that can be read, then ends and says so in ``notice``.
    """

    def __init__(self, address: str) -> None:
        self.name = without_password(address) if is_address(address) else Path(address).name
        self._address = address
        with closing(open_container(address)) as container:
            stream = video_stream(container, self.name)
            first = next(decode(container, stream), None)
            if first is None:
                raise self._without_frames()
            height, width = to_rgb(first).shape[:2]
            self.size = (width, height)
            self.fps = nominal_fps(stream)
            self.frames = stream.frames if stream.frames > 0 else None
            self._last_start = _last_frame_start(stream, self.fps)

    def __iter__(self) -> Iterator[VideoFrame]:
        self._notice, self.ended_early = None, False
        count, last = 0, 0.0
        for frame in self._read():
            yield frame
            count, last = frame.index + 1, frame.time
        if count == 0:  # threads that decode together may give up where one alone does not
            raise self._without_frames()
        if not self.ended_early and self._breaks_off(count, last):
            self._end(f"ends early: {count} of {self.frames} frames could be read")

    def _read(self, only: Collection[int] | None = None) -> Iterator[VideoFrame]:
        with closing(open_container(self._address)) as container:
            stream = video_stream(container, self.name)
            stream.thread_type = "AUTO"
            clock = Clock(self.fps)
            for index, picture in enumerate(decode(container, stream, broken=self._break_off)):
                moment = clock.next(picture.time)
                if only is not None and index not in only:
                    continue
                image = to_rgb(picture)
                if image.shape[1::-1] != self.size:
                    width, height = self.size
                    self._end(f"changes its size from {width} x {height} at frame {index}; read up to there")
                    return
                yield VideoFrame(index, moment, image)

    def pick(self, numbers: Collection[int]) -> Iterator[VideoFrame]:
        """Yield only these frames; the others are decoded, but not converted to RGB."""
        last = max(numbers, default=-1)
        for frame in self._read(numbers):
            yield frame
            if frame.index >= last:
                return

    def _without_frames(self) -> ValueError:
        return ValueError(f"source must be a video, but no frame of {self.name} can be read")

    def _end(self, what: str) -> None:
        self._notice, self.ended_early = f"{self.name} {what}", True

    def _break_off(self, error: FFmpegError) -> None:
        """Say so where the network failed; what remains of a damaged file is judged by its length."""
        if is_address(self._address):
            self._end(f"broke off ({_reason(error)}); read up to there")

    def _breaks_off(self, count: int, last: float) -> bool:
        """Whether there are fewer frames than declared, and not because an edit list hides some of them."""
        return self.frames is not None and count < self.frames and last < self._last_start - 0.5 / self.fps


class Clock:
    """Times of frames, in seconds from the first one, made from time stamps that may be missing or damaged.

    A frame without a stamp, or whose stamp is far from that of the last frame, comes a usual pause later. Stamps
    slightly out of order, as those of AVI files with B-frames, only make time stand still.

    >>> clock = Clock(fps=8.0)
    >>> [clock.next(stamp) for stamp in (7.0, 7.5, None, 3.0, 3.25, 3.125)]
    [0.0, 0.5, 0.625, 0.75, 1.0, 1.0]
    """

    def __init__(self, fps: float) -> None:
        self._fps = fps
        self._longest_step_back = max(1.0, MOST_REORDERED / fps)
        self._zero: float | None = None
        self._stamped = self._last = 0.0
        self._since = -1  # frames after the last one with a stamp

    def next(self, stamp: float | None) -> float:
        """Return the time of the next frame."""
        self._since += 1
        moment = usual = self._stamped + self._since / self._fps
        if stamp is not None:
            if self._zero is None or not -self._longest_step_back <= stamp - self._zero - self._last <= LONGEST_GAP:
                self._zero = stamp - usual
            else:
                moment = stamp - self._zero
            self._stamped, self._since = max(moment, self._last), 0
        self._last = max(moment, self._last)
        return self._last


def open_container(address: str, format: str | None = None, **options: str) -> InputContainer:
    """Open a file, an address, or a device of that format for reading, or raise ValueError with the reason."""
    place, timeout = address, None
    if is_address(address):
        timeout, options = TIMEOUT, OF_ADDRESSES | options
    elif format is None:
        _check_file(address)
        place, options = f"file:{address}", OF_FILES | options  # else FFmpeg takes "a:b.mp4" for an address
    options["max_pixels"] = str(MOST_PIXELS)
    try:
        return av.open(place, "r", format=format, options=options, timeout=timeout, metadata_errors="ignore")
    except (FFmpegError, OSError, ValueError, MemoryError) as error:
        raise _refused(address, _reason(error)) from None


def _check_file(path: str) -> None:
    """Refuse what never ends or waits for somebody to write."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as error:
        raise _refused(path, _reason(error)) from None
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFIFO: "named pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
        raise _refused(path, f"it is a {kinds.get(stat.S_IFMT(mode), 'device')} and not a file")


def _refused(address: str, reason: str) -> ValueError:
    shown = without_password(address)
    return ValueError(f"source must be a video, but {shown!r} cannot be read as one ({reason})")


def _reason(error: Exception) -> str:
    if isinstance(error, av.error.ArgumentError):
        return "its content is of no known kind"
    return (getattr(error, "strerror", None) or str(error) or "no memory for it").lower()


def video_stream(container: InputContainer, name: str) -> VideoStream:
    """Return the first video stream of a container that is not the picture on its cover."""
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            break
    else:
        raise ValueError(f"source must hold a video stream, but {name} has none")
    if stream.codec_context is None:
        raise ValueError(f"source must be a video that FFmpeg can decode, but there is no decoder for {name}")
    check_pixels(name, stream.codec_context.width, stream.codec_context.height)
    stream.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
    return stream


def decode(
    container: InputContainer,
    stream: VideoStream,
    *,
    broken: Callable[[FFmpegError], object] = lambda _: None,
    patience: float = math.inf,
) -> Iterator[av.VideoFrame]:
    """Yield the decoded frames of a stream up to its end or a break; damaged packets are skipped.

    ``broken`` is told what it broke off with. It also ends after so many seconds, ``patience``, without a frame.
    """
    packets, last = container.demux(stream), time.monotonic()
    while time.monotonic() - last < patience:
        try:
            packet = next(packets)
        except StopIteration:
            return
        except FFmpegError as error:
            broken(error)
            return
        try:
            pictures = packet.decode()
        except (FFmpegError, MemoryError):
            continue
        yield from pictures
        last = time.monotonic() if pictures else last


def to_rgb(picture: av.VideoFrame) -> Frame:
    """Convert a decoded frame to uint8 RGB (H, W, 3), rotated upright as a player shows it."""
    image = picture.to_ndarray(format="rgb24")
    quarter_turns = round(getattr(picture, "rotation", 0) / 90) % 4  # counter-clockwise
    return np.ascontiguousarray(np.rot90(image, quarter_turns))


def nominal_fps(stream: VideoStream) -> float:
    """Return the frame rate a stream declares, or a usual one where that cannot be."""
    rate = float(stream.average_rate or stream.guessed_rate or 0)
    return rate if FPS_RANGE[0] <= rate <= FPS_RANGE[1] else DEFAULT_FPS


def _last_frame_start(stream: VideoStream, fps: float) -> float:
    """When the last frame should appear, in seconds from the first; infinity if the stream does not say."""
    if not stream.duration or not stream.time_base:
        return float("inf")
    return float(stream.duration * stream.time_base) - 1.0 / fps
