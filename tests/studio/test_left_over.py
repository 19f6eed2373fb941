"""What the studio must not leave or do twice: uploads that were cut, drawings that failed, looking at links."""

import asyncio
import os
import time

import pytest
from av.error import EncoderNotFoundError
from PIL import Image

from metrack.runs.lock import try_lock
from metrack.studio import export, media
from support.studio import CLIP, paint, studio


def test_an_upload_that_was_killed_with_the_studio_takes_no_room(tmp_path):
    paint(tmp_path / "balloon.mp4")
    video = (tmp_path / "balloon.mp4").read_bytes()
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    cut, received = uploads / ".0123456789abcdef.part", uploads / ".fedcba9876543210.part"
    cut.write_bytes(bytes(len(video)))
    with received.open("wb") as other:  # which another studio with the same folder is receiving
        try_lock(other.fileno())
        with studio(tmp_path, uploads_limit=round(1.5 * len(video))) as served:
            assert (cut.exists(), received.exists()) == (False, True)
            assert served.ask("/api/uploads/a.mp4", video, "PUT")[0] == 200


def test_an_upload_is_locked_while_it_comes(tmp_path):
    library = media.Library(tmp_path, None, 1000, 1000)
    library.uploads.mkdir()
    (library.uploads / ".left.part").touch()

    async def chunks():
        yield b"x"
        media.Library(tmp_path, None, 1000, 1000)
        assert len(list(library.uploads.glob(".*.part"))) == 1
        yield b"y"

    with pytest.raises(ValueError, match="does not look like a video"):
        asyncio.run(library.take_upload("a.mp4", 2, chunks()))
    assert not list(library.uploads.iterdir())


@pytest.mark.parametrize("error", [EncoderNotFoundError(1, "no such encoder"), MemoryError(), KeyError("x")])
def test_whatever_stops_the_drawing_of_a_video_is_told(served, monkeypatch, error):
    def stop(*_):
        raise error

    run = served.start(stop=2)
    served.done(run)
    with monkeypatch.context() as patch:
        patch.setattr(export, "draw", stop)
        served.get(f"/api/runs/{run}/export/video", {})
        until = time.monotonic() + 10
        while (video := served.get(f"/api/runs/{run}/export")["video"])["state"] == "drawing":
            assert time.monotonic() < until
    assert (video["state"], type(error).__name__ in video["error"]) == ("failed", True)
    served.get(f"/api/runs/{run}/export/video", {})  # and it can be tried again
    while (video := served.get(f"/api/runs/{run}/export")["video"])["state"] == "drawing":
        pass
    assert video == {"state": "ready"}


def test_the_links_of_a_folder_are_looked_at_again_when_it_changes(tmp_path, monkeypatch):
    folder, outside = tmp_path / "videos", tmp_path / "outside.png"
    shots = folder / "shots"
    shots.mkdir(parents=True)
    Image.fromarray(CLIP[0]).save(shots / "0.png")
    Image.fromarray(CLIP[0]).save(outside)
    for number in range(1, 300):
        (shots / f"{number}.png").symlink_to("0.png")
    looked = []
    monkeypatch.setattr(media, "_is_below", lambda *paths, real=media._is_below: looked.append(paths) or real(*paths))
    library = media.Library(tmp_path, folder, 1000, 1000)

    def links():
        looked.clear()
        library.checked("file:shots")
        return len(looked) > 250

    assert links()
    assert links()  # it was changed just now, and could be once more at the same time
    os.utime(shots, ns=(0, time.time_ns() - media.SETTLED - 1))
    assert [links(), links(), links()] == [True, False, False]
    (shots / "out.png").symlink_to(outside)
    with pytest.raises(ValueError, match=r"out\.png is a link that leads outside"):
        links()
