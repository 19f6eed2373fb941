"""Names of sources: strange ones that exist are read as files, and nothing leads out of the file that is named."""

from __future__ import annotations

import io
import os
import socket
import wave
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.frames import VideoWriter, open_source
from metrack.frames.base import MOST_PIXELS
from metrack.frames.video import CONTAINERS, Clock, VideoFile, nominal_fps

SIZE = (64, 48)
STRANGE = (
    *("a:b.mp4", "c:video.mp4", "file:x", "concat:a|b.mp4", "data:,x.mp4", "subfile,,start,1,end,9,,:x.mp4", "pipe:0"),
    *("shot%03d.mp4", "shot[1].mp4", "shot*.mp4", "-1", "two\nlines.mp4", "²", os.fsdecode(b"\xff.mp4")),
)
LEADS_OUT = {
    "concat": "ffconcat version 1.0\nfile clip.mp4\n",
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nclip.mp4\n#EXT-X-ENDLIST\n",
    "hls of an address": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nhttp://127.0.0.1:9/clip.ts\n#EXT-X-ENDLIST\n",
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 33\n",
    "dash": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet '
    'mimeType="video/mp4"><Representation id="1"><BaseURL>clip.mp4</BaseURL></Representation></AdaptationSet>'
    "</Period></MPD>",
}


def clip(path: Path, frames: int = 5) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    memory = io.BytesIO()
    with av.open(memory, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for index in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.roll(noise, index, 1), format="rgb24")))
        container.mux(stream.encode())
    path.write_bytes(memory.getvalue())
    return path


def refusal(source: object) -> str:
    with pytest.raises(ValueError, match=r"^source must ") as caught:
        list(open_source(source))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_with_a_strange_name_is_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clip(Path(name))
    with open_source(name) as source:
        assert len(list(source)) == 5


@pytest.mark.parametrize("kind", LEADS_OUT)
def test_a_file_that_names_others_leads_nowhere(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clip(tmp_path / "clip.mp4")
    for name in ("list.mp4", "list.m3u8", "list.mpd", "list.sdp", "list.ffconcat"):
        (tmp_path / name).write_text(LEADS_OUT[kind])
        assert f"{name}' cannot be read as one (" in refusal(name)


def test_a_pattern_in_a_name_opens_no_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        Pillow.new("RGB", SIZE).save(f"shot{number}.jpeg")
    Path("shot%d.jpeg").write_text("not an image")
    assert "shot%d.jpeg' cannot be read" in refusal("shot%d.jpeg")
    Path("shot%d.tga").write_text("not an image")
    assert "shot%d.tga' cannot be read as one" in refusal("shot%d.tga")


@pytest.mark.skipif(os.name != "posix", reason="of POSIX")
def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket.mp4"))
    listener.close()
    assert "pipe.mp4' cannot be read as one (it is a named pipe and not a file)" in refusal(tmp_path / "pipe.mp4")
    assert "socket.mp4' cannot be read as one (it is a socket and not a file)" in refusal(tmp_path / "socket.mp4")
    assert "zero' cannot be read as one (it is a device and not a file)" in refusal("/dev/zero")
    with pytest.raises(ValueError, match="it is a named pipe"):
        VideoFile(str(tmp_path / "pipe.mp4"))


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lost.mp4").symlink_to("nothing")
    (tmp_path / "loop.mp4").symlink_to("loop.mp4")
    for name in ("lost.mp4", "loop.mp4"):
        assert f"{name}' is a link that leads nowhere" in refusal(tmp_path / name)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("x" * 300, "xxx...' cannot be read (File name too long)"),
        ("x/" * 5000, "cannot be read (File name too long)"),
        ("a\0b.mp4", "there is no file 'a\\x00b.mp4'"),
        ("a\0*.png", "there is no file 'a\\x00*.png'"),
        ("²", "there is no file '²'"),
        ("٣", "there is no file '٣'"),
        ("-1", "there is no file '-1'"),
        (-1, "cameras have numbers from 0 to 9999, got '-1'"),
        ("12345", "cameras have numbers from 0 to 9999, got '12345'"),
        ("9" * 5000, "cameras have numbers from 0 to 9999, got '999"),
        ("0097", "/dev/video97' cannot be read as one"),
        ("concat:a.mp4|b.mp4", "there is no file 'concat:a.mp4|b.mp4'"),
        ("a:none.mp4", "there is no file 'a:none.mp4'"),
        ("file:///etc/hostname", "begins with file://"),
    ],
)
def test_names_without_a_file_are_refused(source: object, sentence: str) -> None:
    told = refusal(source)
    assert sentence in told
    assert len(told) < 500


def test_the_cover_of_a_song_is_no_video(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "song.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0" * 800)
    cover = io.BytesIO()
    Pillow.new("RGB", SIZE).save(cover, "PNG")
    picture = b"\0image/png\0\x03\0" + cover.getvalue()
    frame = b"APIC" + len(picture).to_bytes(4, "big") + b"\0\0" + picture
    size = len(frame)
    tag = b"ID3\x03\0\0" + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127]) + frame
    (tmp_path / "song.mp3").write_bytes(tag + (b"\xff\xfb\x10\xc4" + bytes(100)) * 50)
    assert "source must hold a video stream, but song.mp3 has none" in refusal(tmp_path / "song.mp3")


@pytest.mark.parametrize("kind", ["ac3", "eac3"])
def test_sound_of_a_known_kind_is_read_as_such(tmp_path: Path, kind: str) -> None:
    with av.open(str(tmp_path / f"sound.{kind}"), "w") as container:
        stream = container.add_stream(kind, rate=48_000)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 1536), np.float32), format="fltp", layout="mono")
        sound.sample_rate = 48_000
        for _ in range(20):
            container.mux(stream.encode(sound))
    assert f"source must hold a video stream, but sound.{kind} has none" in refusal(tmp_path / f"sound.{kind}")


def test_every_container_that_is_opened_is_known_to_ffmpeg() -> None:
    known = {name for names in av.formats_available for name in names.split(",")}
    assert set(CONTAINERS) <= known


def test_a_video_of_huge_frames_is_refused_before_one_is_decoded(tmp_path: Path) -> None:
    data = b"YUV4MPEG2 W16000 H16000 F25:1 Ip A1:1 C420jpeg\nFRAME\n" + bytes(1000)
    (tmp_path / "huge.y4m").write_bytes(data)
    assert f"frames of at most {MOST_PIXELS} pixels, but those of huge.y4m have" in refusal(tmp_path / "huge.y4m")


def test_damaged_time_stamps_do_not_disturb_the_order() -> None:
    clock = Clock(fps=10.0)
    stamps = [-5.0, -4.9, -4.8, 1e12, 1e12 + 0.1, None, 3.0, 3.1]
    np.testing.assert_allclose([clock.next(stamp) for stamp in stamps], np.arange(8) / 10, atol=1e-3)
    gap = Clock(fps=10.0)
    assert [gap.next(stamp) for stamp in (1.0, 3601.0)] == [0.0, 3600.0]  # a camera that was off for an hour


@pytest.mark.parametrize("rate", [None, 0, 1e-9, 1e9, -25])
def test_frame_rates_that_cannot_be_are_not_believed(rate: float | None) -> None:
    class Stream:
        average_rate = guessed_rate = rate

    assert nominal_fps(Stream()) == 25.0  # type: ignore[arg-type]


def test_a_video_of_no_rate_can_be_written_again(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "slow.mp4", SIZE, 0.01) as video:
        for _ in range(3):
            video.write(np.zeros((48, 64, 3), np.uint8))
    with open_source(tmp_path / "slow.mp4") as source:
        assert len(list(source)) == 3


def test_a_header_cannot_take_the_memory(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    memory = io.BytesIO()
    options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    with av.open(memory, "w", format="mp4", options=options) as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), format="rgb24")))
        container.mux(stream.encode())
    data = bytearray(memory.getvalue())
    at = data.find(b"trun") + 4
    data[at : at + 8] = b"\0\0\0\0" + (50_000_000).to_bytes(4, "big")  # frames, without a byte for any
    (tmp_path / "many.mp4").write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refusal(tmp_path / "many.mp4")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kilobytes
