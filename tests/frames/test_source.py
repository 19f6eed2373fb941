"""Frame sources: files, folders, streams over a real loopback server, and what is refused."""

from __future__ import annotations

import io
import threading
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.frames import VideoWriter, open_source
from metrack.frames.images import natural_order
from metrack.frames.live import LiveStream
from metrack.frames.video import open_container

SIZE = (64, 48)


def grey(level: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    return np.full((size[1], size[0], 3), level, np.uint8)


def write_clip(path: Path, frames: int, fps: float = 25, size: tuple[int, int] = SIZE) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    with VideoWriter(path, size, fps) as video:
        for index in range(frames):
            video.write(np.roll(noise, 3 * index, axis=1))
    return path


def write_images(folder: Path, count: int = 12) -> Path:
    folder.mkdir()
    for index in range(count):
        Pillow.fromarray(grey(10 * index)).save(folder / f"shot{index}.png")
    return folder


def refusal(source: str | int | Path) -> str:
    with pytest.raises(ValueError) as caught:
        list(open_source(source))
    assert str(caught.value).startswith("source must ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- recordings


def test_a_video_file_gives_numbered_rgb_frames_with_times(tmp_path: Path) -> None:
    with open_source(write_clip(tmp_path / "clip.mp4", 20)) as source:
        frames = list(source)
        assert (source.size, source.fps, source.frames, source.live) == (SIZE, 25.0, 20, False)
        assert source.notice is None
        assert not source.ended_early
    assert [frame.index for frame in frames] == list(range(20))
    np.testing.assert_allclose([frame.time for frame in frames], np.arange(20) / 25, atol=1e-4)
    assert frames[0].image.shape == (48, 64, 3)
    assert frames[0].image.dtype == np.uint8


def test_iterating_again_starts_over(tmp_path: Path) -> None:
    source = open_source(write_clip(tmp_path / "clip.mp4", 5))
    first, second = list(source), list(source)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.image, other.image)


def test_colour_channels_are_in_rgb_order(tmp_path: Path) -> None:
    image = grey(0)
    image[:, :, 0] = 200
    with VideoWriter(tmp_path / "red.mp4", SIZE, 25) as video:
        video.write(image)
    np.testing.assert_allclose(next(iter(open_source(tmp_path / "red.mp4"))).image, image, atol=6)


def test_a_rotated_video_comes_upright(tmp_path: Path) -> None:
    image = grey(0)
    image[:, :32] = 255  # as stored: the left half is bright
    with av.open(str(tmp_path / "phone.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        stream.set_display_rotation(90)
        container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    source = open_source(tmp_path / "phone.mp4")
    turned = next(iter(source)).image
    assert source.size == (48, 64)
    np.testing.assert_allclose(turned, np.rot90(image), atol=40)  # a quarter turn counter-clockwise


def test_a_truncated_video_gives_what_can_be_read_and_says_so(tmp_path: Path) -> None:
    whole = write_clip(tmp_path / "whole.mp4", 100).read_bytes()
    (tmp_path / "cut.mp4").write_bytes(whole[: len(whole) // 2])
    source = open_source(tmp_path / "cut.mp4")
    count = len(list(source))
    assert 20 < count < 80
    assert source.ended_early
    assert source.notice == f"cut.mp4 ends early: {count} of 100 frames could be read"


def test_a_video_of_which_threads_read_no_frame_is_refused(tmp_path: Path) -> None:
    options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    with av.open(str(tmp_path / "pieces.mp4"), "w", options=options) as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        noise = np.random.default_rng(0).integers(0, 256, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
        for index in range(4):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.roll(noise, index, 1), format="rgb24")))
        container.mux(stream.encode())
    data = bytearray((tmp_path / "pieces.mp4").read_bytes())
    size = data.find(b"trun") + 30  # of the second frame, its lower half
    data[size : size + 2] = b"\xff\xff"
    (tmp_path / "pieces.mp4").write_bytes(data)
    source, frames, told = open_source(tmp_path / "pieces.mp4"), [], ""  # one thread alone reads a frame
    try:
        frames = list(source)
    except ValueError as error:
        told = str(error)
    assert bool(frames) != (told == "source must be a video, but no frame of pieces.mp4 can be read")


def test_a_video_that_changes_its_size_ends_there(tmp_path: Path) -> None:
    with (tmp_path / "joined.ts").open("wb") as joined:
        for number, size in enumerate([SIZE, (96, 80)]):
            part = tmp_path / f"{number}.ts"
            with av.open(str(part), "w", format="mpegts") as container:
                stream = container.add_stream("mpeg2video", rate=25)
                stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
                for level in range(10):
                    picture = av.VideoFrame.from_ndarray(grey(level * 20, size), format="rgb24")
                    container.mux(stream.encode(picture))
                container.mux(stream.encode())
            joined.write(part.read_bytes())
    source = open_source(tmp_path / "joined.ts")
    assert {frame.image.shape for frame in source} == {(48, 64, 3)}
    assert source.ended_early
    assert source.notice is not None
    assert "changes its size from 64 x 48" in source.notice


# --- images


def test_a_folder_is_read_in_natural_order(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "shots")
    (folder / "notes.txt").write_text("not an image")
    (folder / ".hidden.png").write_text("not an image")
    with open_source(folder) as source:
        levels = [int(frame.image[0, 0, 0]) for frame in source]
        assert (source.size, source.frames, source.fps) == (SIZE, 12, 30.0)
    assert levels == [10 * index for index in range(12)]


def test_a_glob_chooses_files(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "shots")
    frames = list(open_source(f"{folder}/shot1*.png"))
    assert [int(frame.image[0, 0, 0]) for frame in frames] == [10, 100, 110]


def test_numbers_in_file_names_are_sorted_as_numbers() -> None:
    names = ["a10.png", "a9.png", "a1b2.png", "a1b10.png", "b.png", "a.png"]
    expected = ["a1b2.png", "a1b10.png", "a9.png", "a10.png", "a.png", "b.png"]
    assert [path.name for path in natural_order([Path(name) for name in names])] == expected


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "I;16", "1"])
def test_every_kind_of_image_becomes_rgb(tmp_path: Path, mode: str) -> None:
    if mode == "I;16":
        picture = Pillow.fromarray(np.full((48, 64), 200 << 8, np.uint16))
    elif mode == "P":
        picture = Pillow.fromarray(grey(200)).quantize(4)
    else:
        picture = Pillow.fromarray(grey(255 if mode == "1" else 200)).convert(mode)
    picture.save(tmp_path / "one.png")
    image = next(iter(open_source(str(tmp_path / "*.png")))).image
    np.testing.assert_array_equal(image, grey(255 if mode == "1" else 200))


# --- refusals


def test_missing_sources_are_refused(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.mp4")
    assert "no file matches" in refusal(str(tmp_path / "*.png"))
    assert "got an empty text" in refusal("")
    assert "begins with ftp://" in refusal("ftp://example.org/clip.mp4")
    assert "/dev/video97" in refusal(97)


def test_files_that_are_no_videos_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("hello " * 500)
    (tmp_path / "notes.txt").write_text("hello " * 500)
    (tmp_path / "empty.mp4").touch()
    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0" * 8000)
    assert "text.mp4' cannot be read as one" in refusal(tmp_path / "text.mp4")
    assert "notes.txt' cannot be read as one" in refusal(tmp_path / "notes.txt")
    assert "empty.mp4' is empty" in refusal(tmp_path / "empty.mp4")
    assert "sound.wav has none" in refusal(tmp_path / "sound.wav")


def test_folders_without_usable_images_are_refused(tmp_path: Path) -> None:
    assert "has no files" in refusal(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    assert "none among its 1 files" in refusal(tmp_path)
    Pillow.fromarray(grey(1)).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_text("hello")
    assert "b.png' cannot be read (it is not an image)" in refusal(tmp_path)
    Pillow.fromarray(grey(1, (32, 24))).save(tmp_path / "b.png")
    assert "b.png is 32 x 24 and a.png is 64 x 48" in refusal(tmp_path)


def test_a_truncated_image_is_named_when_it_is_read(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "shots", 3)
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    Pillow.fromarray(noise).save(folder / "shot1.png")
    (folder / "shot1.png").write_bytes((folder / "shot1.png").read_bytes()[:2000])
    assert "shot1.png' cannot be read" in refusal(folder)


# --- streams, over loopback


class Served:
    """What the loopback server gives out, and what it has given so far."""

    def __init__(self, clip: bytes = b"", counts: tuple[int, ...] = (), pause: float = 0.02) -> None:
        self.clip, self.counts, self.pause = clip, list(counts), pause
        self.sent = 0


@contextmanager
def server(served: Served) -> Iterator[str]:
    """Serve /clip.mp4 as a recording, and /live as motion JPEG with ``counts`` frames per connection."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/clip.mp4":
                self.send_response(200)
                self.send_header("Content-Length", str(len(served.clip)))
                self.end_headers()
                self.wfile.write(served.clip)
            elif not served.counts:
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
                self.end_headers()
                self._stream(served.counts.pop(0))

        def _stream(self, count: int) -> None:
            for _ in range(count):
                jpeg = io.BytesIO()
                Pillow.fromarray(grey(served.sent % 256)).save(jpeg, "JPEG", quality=95)
                head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {jpeg.tell()}\r\n\r\n"
                self.wfile.write(head.encode() + jpeg.getvalue() + b"\r\n")
                served.sent += 1
                time.sleep(served.pause)

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the client has left
                pass

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def test_an_address_with_a_length_is_a_recording(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", 30)
    with server(Served(path.read_bytes())) as address, open_source(f"{address}/clip.mp4") as source:
        assert not source.live
        assert source.frames == 30
        for over_http, on_disk in zip(source, open_source(path), strict=True):
            np.testing.assert_array_equal(over_http.image, on_disk.image)


def test_a_live_stream_gives_a_slow_consumer_the_newest_frame() -> None:
    served = Served(counts=(120,), pause=0.01)
    lags, times = [], []
    with server(served) as address:
        source = LiveStream("door", lambda: open_container(f"{address}/live"), retries=0)
        for frame in source:
            if frame.index > 1:  # opening a stream reads ahead to learn what it is
                lags.append(served.sent - int(frame.image[0, 0, 0]))
            times.append(frame.time)
            time.sleep(0.1)
        source.close()
    assert source.live
    assert 5 <= len(times) < 40
    assert max(lags) <= 6  # frames; a queue would have made it a hundred
    assert times == sorted(times)
    assert source.notice is not None
    assert "frames were skipped to keep up" in source.notice


def test_a_live_stream_comes_back_after_a_break() -> None:
    served = Served(counts=(15, 15), pause=0.02)
    with server(served) as address:
        source = LiveStream("door", lambda: open_container(f"{address}/live"), retries=2, first_wait=0.05)
        levels = [int(frame.image[0, 0, 0]) for frame in source]
        source.close()
    assert levels == sorted(levels)
    assert min(levels) < 15 <= max(levels)
    assert source.ended_early
    assert source.notice is not None
    assert f"broke off after {len(levels)} frames and did not come back in 2 tries" in source.notice


def test_open_source_recognises_a_live_stream_and_stop_ends_it() -> None:
    with server(Served(counts=(500,), pause=0.02)) as address, open_source(f"{address}/live") as source:
        assert source.live
        assert source.frames is None
        frames = iter(source)
        assert next(frames).index == 0
        source.stop()
        assert next(frames, None) is None
        assert not source.ended_early


def test_a_stream_that_is_not_there_is_refused_without_its_password() -> None:
    with server(Served()) as address:
        assert "404" in refusal(f"{address}/live")
        told = refusal(f"{address.replace('http://', 'http://me:secret@')}/live")
    assert "secret" not in told
