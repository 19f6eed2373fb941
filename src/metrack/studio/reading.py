"""Frames of a source for a run and for a page: any one by number, or one after another and decoded ahead.

Sources are made to be read from the first frame on. To scrub, one wants the thousandth frame now. A video is listed
once, packet by packet and without decoding, so that a frame number has a time stamp to jump to; what cannot be listed
that way is read from its beginning. Numbers are those of :func:`metrack.frames.open_source`.
"""

from __future__ import annotations

import bisect
import queue
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import closing
from fractions import Fraction
from itertools import islice
from pathlib import Path

from av.container import InputContainer
from av.error import FFmpegError
from av.video.stream import VideoStream

from metrack.frames import Source, VideoFrame, VideoWriter, open_source
from metrack.frames.images import ImageFiles, images_in, read_image
from metrack.frames.video import Clock, VideoFile, decode, open_container, to_rgb, video_stream
from metrack.studio.pictures import to_jpeg
from metrack.studio.threads import lower_priority

KEPT_BYTES = 24_000_000  # of encoded frames, for scrubbing back and forth
NOWHERE = -(10**9)  # before any frame
FRAMES_AHEAD = 2
POLL = 0.5  # seconds between looks at whether anybody still wants frames
STEPS_BACK = (0, 50, 500)  # frames, until a seek lands where it should
NEAR = 12  # frames ahead that are cheaper to decode through than to jump to


class Reader:
    """Frames of a video file or a folder of images, in any order; safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = open_source(path)
        self.size, self.fps, self.name = self.source.size, self.source.fps, self.source.name
        self._lock = threading.Lock()
        self._images = images_in(path) if isinstance(self.source, ImageFiles) else []
        listed = _listed(str(path), self.fps) if isinstance(self.source, VideoFile) else ([], [])
        self._stamps, self._times = listed
        self._running: Iterator[VideoFrame] = iter(())
        self._next = NOWHERE
        self._last: VideoFrame | None = None  # asked for often: several cuts are made of one frame
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()

    @property
    def frames(self) -> int | None:
        """How many frames there are, where that is known."""
        return len(self._images) or len(self._stamps) or self.source.frames

    def frame(self, number: int) -> VideoFrame:
        """Return one frame, or raise IndexError where there is none."""
        with self._lock:
            if number < 0:
                raise IndexError(f"frame must be 0 or more, got {number}")
            if self._images:
                return VideoFrame(number, number / self.fps, read_image(self._images[number]))
            if self._last is not None and self._last.index == number:
                return self._last
            if not self._next <= number < self._next + NEAR:
                self._running = self.frames_from(number)
                self._next = number
            frame = next(islice(self._running, number - self._next, None), None)
            self._next, self._last = (NOWHERE if frame is None else number + 1), frame
            if frame is None:
                raise IndexError(f"{self.name} has no frame {number}")
            return frame

    def frames_from(self, number: int) -> Iterator[VideoFrame]:
        """Give the frames from one on, each as the source itself would."""
        if self._images:
            return (VideoFrame(n, n / self.fps, read_image(path)) for n, path in enumerate(self._images) if n >= number)
        if 0 < number < len(self._stamps):
            return self._jump(number)
        if self._stamps and number:
            return iter(())
        return islice(open_source(self.path), number, None)

    def jpeg(self, number: int, width: int = 0) -> bytes:
        """Return one frame as a JPEG file, no wider than asked for."""
        with self._lock:
            if (number, width) in self._kept:
                self._kept.move_to_end((number, width))
                return self._kept[number, width]
        data = to_jpeg(self.frame(number).image, width)
        with self._lock:
            self._kept[number, width] = data
            while sum(map(len, self._kept.values())) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return data

    def _jump(self, number: int) -> Iterator[VideoFrame]:
        for back in STEPS_BACK:
            with closing(self._decoded(max(number - back, 0), number)) as frames:
                first = next(frames, None)
                if first is not None and first.index == number:
                    yield first
                    yield from frames
                    return
        yield from islice(open_source(self.path), number, None)

    def _decoded(self, place: int, number: int) -> Generator[VideoFrame]:
        """Seek to a place and give the frames from a number on; a seek may land behind that, as in MPEG streams."""
        with closing(open_container(str(self.path))) as container:
            stream = video_stream(container, self.name)
            stream.thread_type = "AUTO"
            container.seek(self._stamps[place], stream=stream)
            for picture in decode(container, stream):
                if picture.pts is None or picture.pts < self._stamps[number]:
                    continue
                index = bisect.bisect_left(self._stamps, picture.pts)
                if index == len(self._stamps):
                    return
                yield VideoFrame(index, self._times[index], to_rgb(picture))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._running, self._next, self._last = iter(()), NOWHERE, None
            self._kept.clear()
        self.source.close()


class Prefetcher(Iterator[VideoFrame]):
    """The same frames in the same order, decoded a little ahead by a thread of low priority; to be closed after use."""

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
        self._thread.join(2 * POLL)

    def _fill(self, frames: Iterator[VideoFrame]) -> None:
        lower_priority()
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
                self._ready.put(frame, timeout=POLL)
                return True
            except queue.Full:
                continue
        return False


class Feed(Iterator[VideoFrame]):
    """The frames of a run: a recording can be read again from any frame on, what a camera shows is recorded."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._reader: Reader | None = None
        self._frames: Iterator[VideoFrame] = iter(())
        self._writer: VideoWriter | None = None

    def start(self, frames: Iterator[VideoFrame], source: Source, recording: Path) -> None:
        """Take these frames of a source; those of a camera are written to a file."""
        if self._path is None:
            self._frames, self._writer = frames, VideoWriter(recording, source.size, source.fps)
        else:
            self._frames = Prefetcher(frames)

    def seek(self, number: int, stop: int | None) -> None:
        """Go on with a frame of the recording, up to the one before ``stop``."""
        self._stop()
        frames = islice(self._recorded().frames_from(number), None if stop is None else stop - number)
        self._frames = Prefetcher(frames)

    def __next__(self) -> VideoFrame:
        """Return the next frame."""
        frame = next(self._frames)
        if self._writer is not None:
            self._writer.write(frame.image, frame.time)
        return frame

    def frame(self, number: int) -> VideoFrame:
        """Return any frame of the recording."""
        return self._recorded().frame(number)

    def close(self) -> None:
        """Read no further, and let go of all files."""
        self._stop()
        self._frames = iter(())
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._reader is not None:
            self._reader.close()

    def _stop(self) -> None:
        if isinstance(self._frames, Prefetcher):
            self._frames.close()

    def _recorded(self) -> Reader:
        assert self._path is not None
        self._reader = self._reader or Reader(self._path)
        return self._reader


def _listed(address: str, fps: float) -> tuple[list[int], list[float]]:
    """Return time stamps and times of all frames in the order shown, or nothing if that order cannot be known."""
    with closing(open_container(address)) as container:
        stream = video_stream(container, "")
        first = next(decode(container, stream), None)
    with closing(open_container(address)) as container:
        stream = video_stream(container, "")
        if container.format.name == "avi" and stream.codec_context.has_b_frames:
            return [], []  # it stores no stamps; those that FFmpeg makes up do not follow the frames
        found = _packet_stamps(container, stream)
        tick = stream.time_base or Fraction(0)
    stamps = sorted(shown for shown, _ in found if shown is not None)
    decoded = [decoded for _, decoded in found if decoded is not None]
    if len(set(stamps)) < len(found) or decoded != sorted(decoded) or first is None or [first.pts] != stamps[:1]:
        return [], []
    clock = Clock(fps)
    return stamps, [clock.next(float(stamp * tick)) for stamp in stamps]


def _packet_stamps(container: InputContainer, stream: VideoStream) -> list[tuple[int | None, int | None]]:
    """Return when each frame is shown and when it is decoded, in the order of the file."""
    found: list[tuple[int | None, int | None]] = []
    try:
        for packet in container.demux(stream):
            if packet.size and not packet.is_discard:
                found.append((packet.pts, packet.dts))
    except FFmpegError:
        pass  # it breaks off here, and so does decoding
    return found
