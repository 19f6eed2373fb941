"""Times of frames where time stamps are missing, out of order or far apart; the studio gives the same."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from metrack.frames import open_source
from metrack.frames.video import Clock
from metrack.studio.reading import Reader

SIZE = (64, 48)
B_FRAMES = {"bf": "3", "b-adapt": "0", "g": "12"}


def encode(path: Path, stamps: list[int], codec: str = "libx264", options: dict[str, str] | None = None) -> Path:
    """Write a video with a frame at each of these times, in frames at a rate of 25."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25, options=options or {})
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for number, stamp in enumerate(stamps):
            image = np.full((SIZE[1], SIZE[0], 3), 4 * number % 256, np.uint8)
            picture = av.VideoFrame.from_ndarray(image, format="rgb24")
            picture.pts = stamp
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


def times(path: Path) -> list[float]:
    with open_source(path) as source:
        return [frame.time for frame in source]


def same_after_a_jump(path: Path) -> bool:
    """Whether the studio gives, from any frame on, what the source gives."""
    reader = Reader(path)
    whole = list(open_source(path))
    for start in (1, 5, 20, len(whole) - 2):
        parts = list(reader.frames_from(start))
        if [(frame.index, frame.time) for frame in parts] != [(frame.index, frame.time) for frame in whole[start:]]:
            return False
        if not all(np.array_equal(a.image, b.image) for a, b in zip(parts, whole[start:], strict=True)):
            return False
    reader.close()
    return True


@pytest.mark.parametrize(("suffix", "codec"), [("h264", "libx264"), ("hevc", "libx265")])
def test_a_raw_stream_has_the_times_of_its_rate(tmp_path: Path, suffix: str, codec: str) -> None:
    path = encode(tmp_path / f"raw.{suffix}", list(range(40)), codec)
    assert times(path) == [index / 25 for index in range(40)]
    assert same_after_a_jump(path)


def test_b_frames_in_an_avi_do_not_slow_the_clock(tmp_path: Path) -> None:
    path = encode(tmp_path / "clip.avi", list(range(60)), options=B_FRAMES)
    found = times(path)
    assert found == sorted(found)
    np.testing.assert_allclose(found, np.arange(60) / 25, atol=0.1)
    assert same_after_a_jump(path)


@pytest.mark.parametrize(
    ("suffix", "codec", "options"),
    [
        ("mp4", "libx264", B_FRAMES),
        ("mp4", "libx264", {"bf": "0", "g": "12"}),
        ("mp4", "mpeg4", {"bf": "2", "g": "12"}),
        ("ts", "libx264", B_FRAMES),
        ("ts", "mpeg2video", {"g": "12"}),
        ("avi", "mpeg4", {"bf": "2", "g": "12"}),
    ],
)
def test_a_jump_finds_the_frames_and_times_of_an_ordinary_video(
    tmp_path: Path, suffix: str, codec: str, options: dict[str, str]
) -> None:
    path = encode(tmp_path / f"clip.{suffix}", list(range(40)), codec, options)
    np.testing.assert_allclose(times(path), np.arange(40) / 25, atol=1e-9)
    assert same_after_a_jump(path)


def test_a_stream_that_begins_between_key_frames_has_the_same_numbers_in_the_studio(tmp_path: Path) -> None:
    data = encode(tmp_path / "whole.ts", list(range(40)), options={"bf": "0", "g": "12"}).read_bytes()
    start = next(at for at in range(188 * 11, len(data), 188) if data[at + 1] & 0x40)  # a frame inside the first group
    (tmp_path / "cut.ts").write_bytes(data[: 188 * 3] + data[start:])
    assert same_after_a_jump(tmp_path / "cut.ts")


def test_a_jump_over_a_day_is_a_usual_pause_also_in_the_studio(tmp_path: Path) -> None:
    day = 100_000 * 25
    path = encode(tmp_path / "clip.mp4", [*range(20), *range(day, day + 20)], options={"bf": "0", "g": "5"})
    np.testing.assert_allclose(times(path), np.arange(40) / 25, atol=1e-6)
    assert same_after_a_jump(path)


def test_stamps_that_start_again_do_not_mix_the_frames_in_the_studio(tmp_path: Path) -> None:
    parts = [encode(tmp_path / f"{n}.ts", list(range(n, 30 + n)), "mpeg2video") for n in (1000, 0)]
    (tmp_path / "joined.ts").write_bytes(b"".join(part.read_bytes() for part in parts))
    np.testing.assert_allclose(times(tmp_path / "joined.ts"), np.arange(60) / 25, atol=1e-6)
    assert same_after_a_jump(tmp_path / "joined.ts")


def test_time_never_runs_backwards() -> None:
    clock = Clock(fps=10.0)
    found = [clock.next(stamp) for stamp in (None, None, 7.0, 6.9, 7.2, 7.1, 7.3)]
    np.testing.assert_allclose(found, [0.0, 0.1, 0.2, 0.2, 0.4, 0.4, 0.5])
