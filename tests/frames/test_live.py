"""Live streams from a server that misbehaves: they go on or end, and what happened is told truly."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
import pytest

from metrack.cli import run
from metrack.frames import open_source, video
from metrack.frames.live import LiveStream
from metrack.frames.video import open_container
from support.command import LIGHT
from torture.servers import Server, Visit, jpegs, recording

PICTURES = jpegs(8)
IMPATIENT = 0.4  # seconds, for TIMEOUT


@contextmanager
def serving(story: Callable[[Visit], None], **places: str) -> Iterator[Server]:
    server = Server(story, places)
    try:
        yield server
    finally:
        server.close()


def follow(server: Server, retries: int = 2) -> LiveStream:
    """Take all frames of a stream."""
    source = LiveStream("door", lambda: open_container(server.address), retries=retries, first_wait=0.02)
    for _ in source:
        pass
    source.close()
    return source


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "TIMEOUT", IMPATIENT)
    monkeypatch.setattr(video, "PATIENCE", IMPATIENT)


def test_a_stream_that_comes_back_without_frames_ends() -> None:
    def story(visit: Visit) -> None:
        visit.live()
        visit.pictures(PICTURES, 5 if visit.number == 0 else 0, 0.01)

    with serving(story) as server:
        source = follow(server)
        assert server.served.requests == 3
    assert source.ended_early
    assert source.reconnected == 0
    assert "did not come back in 2 tries" in (source.notice or "")


def test_a_stream_of_noise_ends(impatient: None) -> None:
    def story(visit: Visit) -> None:
        visit.live()
        visit.pictures(PICTURES, 3, 0.01)
        while True:
            visit.send(b"noise" * 200)

    with serving(story) as server:
        assert follow(server, retries=0).ended_early


def test_a_stream_that_stalls_comes_back_and_says_so(impatient: None) -> None:
    def story(visit: Visit) -> None:
        visit.live()
        if visit.number < 3:
            visit.pictures(PICTURES, 4, 0.01)
            visit.stall(30)

    with serving(story) as server:
        source = follow(server)
        assert source.reconnected == 2
        assert sum(server.served.frames) == 12
    assert (source.notice or "").startswith("door: broke off 2 times and came back, broke off after ")


def frames_of_a_camera(count: int, key_frame_every: int) -> list[bytes]:
    """Return a transport stream of 5 frames a second, cut before each."""
    noise, memory, found = np.random.default_rng(0), io.BytesIO(), []
    with av.open(memory, "w", format="mpegts", options={"flush_packets": "1"}) as container:
        stream = container.add_stream("libx264", rate=5, options={"tune": "zerolatency", "sc_threshold": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.gop_size = key_frame_every
        for _ in range(count):
            image = noise.integers(0, 256, (48, 64, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            found.append(memory.getvalue()[sum(map(len, found)) :])
    return found


def test_a_camera_joined_long_before_its_next_key_frame_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "TIMEOUT", IMPATIENT)
    frames = frames_of_a_camera(110, key_frame_every=90)

    def story(visit: Visit) -> None:
        visit.head("video/mp2t")
        for number in range(5, 110):  # FFmpeg looks for a picture in the first ones, for 5 seconds by their stamps
            visit.send(frames[number])
            time.sleep(0.05 if number > 60 else 0.0)

    with serving(story) as server:
        source = follow(server, retries=0)
    assert "broke off after " in (source.notice or "")


def test_every_frame_is_either_given_or_counted_as_dropped() -> None:
    def story(visit: Visit) -> None:
        visit.live()
        visit.pictures(PICTURES, 300 if visit.number == 0 else 0, 0.002)

    taken = 0
    with serving(story) as server:
        source = LiveStream("door", lambda: open_container(server.address), retries=0)
        for _ in source:
            taken += 1
            time.sleep(0.02)
        source.close()
    assert source.dropped > 100
    assert taken + source.dropped == 300
    assert f"{source.dropped} frames were skipped to keep up" in (source.notice or "")


@pytest.mark.parametrize("place", ["file://{file}", "{file}", "/live"])
def test_a_redirect_leads_neither_to_a_file_nor_for_ever(tmp_path: Path, place: str) -> None:
    (tmp_path / "secret.mp4").write_bytes(recording("mp4", 3))

    def story(visit: Visit) -> None:
        visit.head("text/html", 0, 302, Location=visit.fill(place))

    with serving(story, file=str(tmp_path / "secret.mp4")) as server:
        with pytest.raises(ValueError, match=r"^source must be a video, but 'http.*' cannot be read as one"):
            open_source(server.address)
        assert server.served.requests < 20


@pytest.mark.parametrize("entry", ["file://{file}", "{file}"])
def test_a_playlist_leads_to_no_file(tmp_path: Path, entry: str) -> None:
    (tmp_path / "secret.ts").write_bytes(recording("mpegts", 3))
    text = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{entry}\n#EXT-X-ENDLIST\n"

    def story(visit: Visit) -> None:
        data = visit.fill(text).encode()
        visit.head("application/vnd.apple.mpegurl", len(data))
        visit.send(data)

    with serving(story, file=str(tmp_path / "secret.ts")) as server, pytest.raises(ValueError, match=r"^source must "):
        list(open_source(server.address))


def test_a_recording_that_breaks_off_on_the_way_says_so() -> None:
    data = recording("mpegts", 50)

    def story(visit: Visit) -> None:
        visit.head("video/mp2t", len(data))
        visit.send(data[: len(data) // 2])

    with serving(story) as server, open_source(server.address) as source:
        assert 5 < len(list(source)) < 50
        assert source.ended_early
        assert "broke off (" in (source.notice or "")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_keeps_what_was_dropped_and_how_often_it_came_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def story(visit: Visit) -> None:
        visit.live()
        visit.pictures(PICTURES, 200 if visit.number == 0 else 1_000_000, 0.002)

    def interrupt() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and server.served.requests < 2:
            time.sleep(0.05)
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    with serving(story) as server:
        thread = threading.Thread(target=interrupt)
        thread.start()
        words = ["track", server.address, "--box", "18,12,26,22", "--no-video", "-o", str(tmp_path / "out"), *LIGHT]
        assert run(words) == 2
        thread.join()
    told = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert told["status"] == "interrupted"
    assert told["reconnected"] == 1
    assert told["dropped"] > 0
    assert told["frames"] + told["dropped"] <= sum(server.served.frames)
    assert "broke off once and came back" in told["notice"]
    assert f"{told['dropped']} frames were skipped to keep up" in told["notice"]
    assert told["notice"] in " ".join(capsys.readouterr().out.split())
