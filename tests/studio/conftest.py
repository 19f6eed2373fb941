"""Studios to ask and to visit."""

import pytest
from PIL import Image

from support.browsing import browser, needed
from support.studio import CLIP, paint, studio
from support.visiting import Visitor


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder, runs = tmp_path_factory.mktemp("videos"), tmp_path_factory.mktemp("runs")
    paint(runs / "balloon.mp4")
    (folder / "holiday").mkdir()
    (folder / "holiday" / "beach.mp4").write_bytes((runs / "balloon.mp4").read_bytes())
    (folder / "notes.txt").write_text("not a video")
    (folder / "shots").mkdir()
    for number in range(3):
        Image.fromarray(CLIP[number]).save(folder / "shots" / f"{number}.png")
    (folder / "way-out").symlink_to(runs)
    with studio(runs, folder) as served:
        yield served


@pytest.fixture(scope="module")
def visited(tmp_path_factory):
    runs, folder = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("videos")
    paint(runs / "balloon.mp4")
    paint(folder / "beach.mp4")
    with studio(runs, folder) as served:
        yield served


@pytest.fixture(scope="module")
def chromium():
    play = needed("playwright.sync_api").sync_playwright().start()
    program = play.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
    yield program
    program.close()
    play.stop()


@pytest.fixture
def visitor(chromium, visited, request):
    visitor = Visitor(chromium, visited, **getattr(request, "param", {}))
    yield visitor
    visitor.context.close()
    assert visitor.foreign_requests() == []
    assert visitor.complaints == []
