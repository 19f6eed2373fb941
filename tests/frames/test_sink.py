"""Videos that a browser plays, also when the process that wrote them was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import numpy as np
import pytest

from metrack.frames import VideoWriter, open_source

FOREVER = """
import sys, time, numpy as np
from metrack.frames import VideoWriter
video = VideoWriter(sys.argv[1], (64, 48), 25)
noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
for index in range(100_000):
    video.write(np.roll(noise, index, axis=1))
    time.sleep(0.001)
"""


def smooth(width: int, height: int) -> np.ndarray:
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) * 255 // (width + height)], 2).astype(np.uint8)


def boxes_of_mp4(data: bytes) -> list[str]:
    names, at = [], 0
    while at < len(data):
        names.append(data[at + 4 : at + 8].decode())
        at += int.from_bytes(data[at : at + 4], "big")
    return names


@pytest.mark.parametrize("size", [(64, 48), (63, 48), (64, 47), (65, 49)])
def test_frames_come_back_nearly_as_they_went_in(tmp_path: Path, size: tuple[int, int]) -> None:
    image = smooth(*size)
    with VideoWriter(tmp_path / "v.mp4", size, 25) as video:
        for _ in range(3):
            video.write(image)
    source = open_source(tmp_path / "v.mp4")
    assert source.size == (size[0] + size[0] % 2, size[1] + size[1] % 2)
    for frame in source:
        np.testing.assert_allclose(frame.image[: size[1], : size[0]].astype(int), image, atol=24)
        np.testing.assert_allclose(frame.image[-1].astype(int), frame.image[-2], atol=24)  # padded by its edge


def test_the_file_is_what_browsers_play(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 29.97) as video:
        for _ in range(40):
            video.write(smooth(64, 48))
    with av.open(str(tmp_path / "v.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt, stream.frames) == ("h264", "yuv420p", 40)
        np.testing.assert_allclose(float(stream.average_rate), 29.97, rtol=1e-3)
    parts = boxes_of_mp4((tmp_path / "v.mp4").read_bytes())
    assert parts.index("moov") < parts.index("mdat")
    assert "moof" not in parts
    assert [path.name for path in tmp_path.iterdir()] == ["v.mp4"]


@pytest.mark.parametrize("name", ["run:1/v.mp4", "http:v.mp4", "file:v.mp4"])
def test_a_relative_path_with_a_colon_is_a_file(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    with VideoWriter(name, (64, 48), 25) as video:
        video.write(smooth(64, 48))
    assert boxes_of_mp4(Path(name).read_bytes()).count("moof") == 0
    assert len(list(open_source(name))) == 1


def test_given_times_are_kept(tmp_path: Path) -> None:
    times = [0.0, 0.1, 0.15, 0.9, 1.7]
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 25) as video:
        for moment in times:
            video.write(smooth(64, 48), moment)
    np.testing.assert_allclose([frame.time for frame in open_source(tmp_path / "v.mp4")], times, atol=1e-3)


def test_wrong_sizes_are_refused_and_no_frames_leave_no_file(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 25) as video:
        with pytest.raises(ValueError, match=r"image must have the shape \(48, 64, 3\), got \(48, 65, 3\)"):
            video.write(smooth(65, 48))
    assert not (tmp_path / "v.mp4").exists()


def test_a_killed_writer_leaves_a_file_that_plays(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    process = subprocess.Popen([sys.executable, "-c", FOREVER, str(path)])
    try:
        until = time.monotonic() + 60
        while not (path.exists() and path.stat().st_size > 300_000) and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with av.open(str(path)) as container:
        frames = sum(1 for _ in container.decode(video=0))  # a strict reader: no damaged packet at the end
    assert frames >= 25
    assert "moof" in boxes_of_mp4(path.read_bytes())


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"path": 5}, "path must be the name of a file"),
        ({"path": "/nowhere/of/that/name.mp4"}, "path must be a file that can be written"),
        ({"size": (0, 48)}, "width in size must be a whole number of at least 1"),
        ({"size": (64, 10**9)}, "height in size must be a whole number of at most 16384"),
        ({"size": None}, "size must be two whole numbers"),
        ({"fps": float("nan")}, "fps must be a number between"),
        ({"fps": 0}, "fps must be a number between"),
        ({"crf": 99}, "crf must be a whole number of at most 51"),
    ],
)
def test_what_no_video_is_made_of(tmp_path, changed, wanted):
    with pytest.raises(ValueError, match=wanted):
        VideoWriter(**{"path": tmp_path / "v.mp4", "size": (64, 48), "fps": 25} | changed)
    assert not list(tmp_path.iterdir())


def test_images_are_checked_and_none_comes_after_the_end(tmp_path):
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 25) as video:
        video.write(np.zeros((48, 64, 3), np.uint8))
        for image, time in ((None, None), (np.zeros((48, 64, 3)), None), (np.zeros((48, 64, 3), np.uint8), np.nan)):
            with pytest.raises(ValueError, match="must be"):
                video.write(image, time)
    video.close()
    with pytest.raises(ValueError, match="write must come before close"):
        video.write(np.zeros((48, 64, 3), np.uint8))
