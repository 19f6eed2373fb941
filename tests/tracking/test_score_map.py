"""The confidence map: its numbers, its picture, and the command that makes it."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

import metrack
from metrack import Box, Tracker, confidence_map
from metrack.cli import run
from metrack.config import preset
from metrack.draw.heat import draw_confidence, peak
from metrack.draw.pictures import PICTURE_FORMATS
from metrack.frames import VideoWriter, open_source
from metrack.runs.mapping import check_picture_path, draw_map, save_picture
from metrack.synth import Clip, builtin_clip
from metrack.tracking.score_map import LARGEST_RADIUS, check_radius, usual_radius

CHANGES = {"motion.particles": 40, "memory.size": 30, "metric.triplets": 60}
LIGHT = [part for name, value in CHANGES.items() for part in ("--set", f"{name}={value}")]


@pytest.fixture(scope="module")
def clip() -> Clip:
    return builtin_clip(60, occlusion=False, departure=False)


def followed(clip: Clip, count: int, config: metrack.TrackerConfig, seed: int = 0) -> Tracker:
    tracker = Tracker(config, seed=seed)
    tracker.init(clip[0], clip.first_box)
    for index in range(1, count + 1):
        tracker.update(clip[index])
    return tracker


@pytest.fixture(scope="module")
def tracker(clip: Clip) -> Tracker:
    return followed(clip, 8, preset("paper").replace(CHANGES))


def shifted(box: Box, *shifts: tuple[float, float]) -> np.ndarray:
    return np.array([(box.x + dx, box.y + dy, box.w, box.h) for dx, dy in shifts])


# --- the numbers


@pytest.mark.parametrize("metric", [True, False])
def test_an_entry_is_the_score_of_the_box_shifted_so(clip: Clip, tracker: Tracker, metric: bool) -> None:
    scores = confidence_map(tracker, clip[8], 15, metric=metric)
    assert scores.shape == (31, 31)
    assert scores.dtype == np.float64
    for dx, dy in [(0, 0), (15, 0), (0, 15), (-15, 0), (0, -15), (11, -4), (-2, 13), (15, 15)]:
        boxes = shifted(tracker.box, (dx, dy), (-15, -15), (15, 15))  # so that the window is that of the map
        expected = tracker.score(clip[8], boxes, metric=metric)[0]
        assert scores[dy + 15, dx + 15] == pytest.approx(expected, abs=1e-5)
        if dx != dy:
            assert abs(scores[dy + 15, dx + 15] - scores[dx + 15, dy + 15]) > 1e-4  # x and y are no equals here


def test_boxes_looked_at_one_by_one_score_alike(clip: Clip, tracker: Tracker) -> None:
    scores = confidence_map(tracker, clip[8], 15)
    places = [(dx, dy) for dx in range(-15, 16, 5) for dy in range(-15, 16, 5)]
    single = [tracker.score(clip[8], shifted(tracker.box, place))[0] for place in places]
    mapped = [scores[dy + 15, dx + 15] for dx, dy in places]
    swapped = [scores[dx + 15, dy + 15] for dx, dy in places]
    assert np.corrcoef(single, mapped)[0, 1] > 0.95 > np.corrcoef(single, swapped)[0, 1]


def test_a_large_map_is_made_of_small_pieces_without_seams(
    clip: Clip, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = confidence_map(tracker, clip[8], 12)
    counts = []
    score = tracker.score
    monkeypatch.setattr(tracker, "score", lambda f, boxes, **k: counts.append(len(boxes)) or score(f, boxes, **k))
    monkeypatch.setitem(confidence_map.__globals__, "BOXES_AT_ONCE", 60)
    np.testing.assert_allclose(confidence_map(tracker, clip[8], 12), whole, atol=1e-5)
    assert len(counts) == 11
    assert max(counts) <= 60 + 2


def test_the_metric_matters_and_without_one_there_is_no_difference(clip: Clip, tracker: Tracker) -> None:
    on, off = (confidence_map(tracker, clip[8], 10, metric=metric) for metric in (True, False))
    assert np.abs(on - off).max() > 1e-3
    plain = followed(clip, 8, tracker.config.replace({"metric.learning": "off"}))
    on, off = (confidence_map(plain, clip[8], 10, metric=metric) for metric in (True, False))
    np.testing.assert_allclose(on, off, atol=1e-6)


def test_the_tracker_does_not_notice(clip: Clip, tmp_path: Path) -> None:
    config = preset("paper").replace(CHANGES)
    asked, left_alone = followed(clip, 6, config), followed(clip, 6, config)
    asked.save(tmp_path / "before.npz")
    for metric in (True, False):
        confidence_map(asked, clip[6], 20, metric=metric)
    asked.save(tmp_path / "after.npz")
    assert (tmp_path / "before.npz").read_bytes() == (tmp_path / "after.npz").read_bytes()
    assert [asked.update(clip[i]) for i in (7, 8)] == [left_alone.update(clip[i]) for i in (7, 8)]


def test_the_best_place_is_near_the_estimate_and_stands_out_more_with_the_metric(clip: Clip, seed: int) -> None:
    tracker = followed(clip, 30, preset("paper"), seed)
    heights = []
    for metric in (False, True):
        scores = confidence_map(tracker, clip[30], usual_radius(tracker.box), metric=metric)
        assert math.hypot(*peak(scores)) <= 3
        assert 0 < scores.min() < scores.max() < 1
        heights.append(scores.max() - np.median(scores))
    assert heights[1] > 1.15 * heights[0]


@pytest.mark.parametrize("radius", [0, -3, LARGEST_RADIUS + 1, 2.0, True, "3", None, float("nan")])
def test_a_radius_that_cannot_be_is_refused(clip: Clip, tracker: Tracker, radius: object) -> None:
    with pytest.raises(ValueError, match=r"^radius must be a whole number of pixels from 1 to 200, got "):
        confidence_map(tracker, clip[8], radius)  # type: ignore[arg-type]


def test_radii_that_can_be() -> None:
    assert [check_radius(radius) for radius in (1, np.int64(7), 200)] == [1, 7, 200]
    assert [usual_radius(Box(0, 0, *sides)) for sides in ((20, 30.6), (0.2, 0.3), (900, 5))] == [31, 1, 200]


def test_without_a_target_there_is_no_map(clip: Clip) -> None:
    with pytest.raises(ValueError, match="call init"):
        confidence_map(Tracker(), clip[0], 5)


# --- the picture


@pytest.mark.parametrize("suffix", [*PICTURE_FORMATS, ".PNG"])
def test_the_name_tells_the_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "deep" / f"picture{suffix}"
    check_picture_path(path)
    save_picture(path, np.full((20, 30, 3), 200, np.uint8))
    with Pillow.open(path) as picture:
        assert (picture.format, picture.size) == (PICTURE_FORMATS[suffix.lower()], (30, 20))


def test_a_failed_write_leaves_the_old_picture_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "map.png").write_text("older")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ValueError, match=r"path must be a picture that can be written, got .*No space left"):
        save_picture(tmp_path / "map.png", np.zeros((4, 4, 3), np.uint8))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]


# --- the command


@pytest.fixture(scope="module")
def small() -> Clip:
    return builtin_clip(30, (160, 120), occlusion=False, departure=False)


@pytest.fixture(scope="module")
def video(small: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    with VideoWriter(path, small.size, small.fps) as writer:
        for image in small:
            writer.write(image)
    return path


@pytest.fixture(scope="module")
def box(small: Clip) -> str:
    return ",".join(str(side) for side in small.first_box.to_xywh())


def pixels(path: Path) -> np.ndarray:
    with Pillow.open(path) as picture:
        return np.array(picture)


def test_the_command_draws_what_the_library_gives(
    video: Path, box: str, small: Clip, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "map.png"
    options = ["--at", "6", "--radius", "25", "--seed", "3", "--preset", "default", *LIGHT]
    assert run(["map", str(video), "--box", box, "-o", str(out), *options]) == 0
    assert sorted(tmp_path.rglob("*")) == [out.parent, out]

    tracker = Tracker(preset("default").replace(CHANGES), seed=3)
    frames = [frame.image for frame in open_source(video)][:7]
    tracker.init(frames[0], small.first_box)
    for frame in frames[1:]:
        tracker.update(frame)
    plain, weighted = (confidence_map(tracker, frames[6], 25, metric=metric) for metric in (False, True))
    maps = {"without metric": plain, "with metric": weighted}
    np.testing.assert_array_equal(
        pixels(out), draw_confidence(frames[6], tracker.box, maps, title="frame 6"), strict=True
    )

    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith(f"{out} shows frame 6; without metric: best score {plain.max():.3f}, ")
    assert f"{math.hypot(*peak(weighted)):.1f} px from the estimate, " in told.partition("with metric")[2]
    assert told.endswith(f"{weighted.max() - np.median(weighted):.3f} above the median")


def test_without_options_it_takes_the_paper_and_the_size_of_the_target(
    video: Path, box: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []
    original = confidence_map

    def spy(tracker: Tracker, frame: np.ndarray, radius: int, *, metric: bool) -> np.ndarray:
        asked.append((tracker.config == preset("paper"), radius == round(max(tracker.box.w, tracker.box.h)), metric))
        return original(tracker, frame, radius, metric=metric)

    monkeypatch.setitem(draw_map.__globals__, "confidence_map", spy)
    monkeypatch.chdir(tmp_path)
    assert run(["map", str(video), "--box", box, "--start", "5", "--at", "0"]) == 0
    assert asked == [(True, True, False), (True, True, True)]
    assert [path.name for path in tmp_path.iterdir()] == ["map.png"]
    told = capsys.readouterr().out
    assert "map.png shows frame 5;" in told
    assert "note" not in told


def test_a_source_that_ends_sooner_is_mapped_at_its_end(
    video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "map.jpg"
    out.write_text("an older picture")
    assert run(["map", str(video), "--box", box, "--start", "24", "-o", str(out), *LIGHT]) == 0
    told = capsys.readouterr().out
    assert "shows frame 29" in told
    assert "note: clip.mp4 ends with frame 29, sooner than --at asks for" in told
    assert pixels(out).shape == (526, 1200, 3)


def test_a_truncated_video_is_mapped_where_it_breaks_off(
    video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = video.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) * 2 // 3])
    assert run(["map", str(tmp_path / "cut.mp4"), "--box", box, "-o", str(tmp_path / "map.png"), *LIGHT]) == 1
    told = capsys.readouterr()
    assert told.err.startswith("metrack: cut.mp4 ends early: ")
    assert told.err.count("\n") == 1
    assert "map.png shows frame" in told.out
    assert pixels(tmp_path / "map.png").shape == (526, 1200, 3)


def test_interrupted_it_leaves_nothing(
    video: Path, box: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    update, calls = Tracker.update, []

    def interrupting(self: Tracker, frame: np.ndarray) -> metrack.Estimate:
        calls.append(1)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return update(self, frame)

    monkeypatch.setattr(Tracker, "update", interrupting)
    assert run(["map", str(video), "--box", box, "-o", str(tmp_path / "map.png"), *LIGHT]) == 2
    assert capsys.readouterr().err == "metrack: interrupted\n"
    assert len(calls) == 5
    assert list(tmp_path.iterdir()) == []


Arguments = Callable[[Path, str, str], Sequence[str]]


def images(folder: Path) -> str:
    (folder / "shots").mkdir()
    for index in range(3):
        Pillow.fromarray(np.full((120, 160, 3), 40 * index, np.uint8)).save(folder / "shots" / f"{index}.png")
    return str(folder / "shots")


def a_folder(folder: Path) -> str:
    (folder / "taken.png").mkdir()
    return str(folder / "taken.png")


def below_a_file(folder: Path) -> str:
    (folder / "file").write_text("mine")
    return str(folder / "file" / "map.png")


REFUSED: dict[str, tuple[Arguments, str]] = {
    "no such file": (lambda t, v, b: [str(t / "none.mp4"), "--box", b], "there is no file"),
    "empty source": (lambda t, v, b: ["", "--box", b], "got an empty text"),
    "no source": (lambda t, v, b: [], "SOURCE"),
    "no box": (lambda t, v, b: [v], "--box must be given"),
    "two boxes": (lambda t, v, b: [v, "--box", b, "--box", "1,2,30,40"], "--box must be given once for a map, got"),
    "box of three": (lambda t, v, b: [v, "--box", "1,2,3"], "--box must be four numbers X,Y,W,H, got '1,2,3'"),
    "box outside": (lambda t, v, b: [v, "--box", "500,10,20,20"], "must lie in the frame of 160 x 120"),
    "negative length": (lambda t, v, b: [v, "--box", b, "--at", "-1"], "--at must be 0 or more, got -1"),
    "negative start": (lambda t, v, b: [v, "--box", b, "--start", "-1"], "--start must be 0 or more, got -1"),
    "start beyond the end": (lambda t, v, b: [v, "--box", b, "--start", "30"], "which has 30 frames, got 30"),
    "negative seed": (lambda t, v, b: [v, "--box", b, "--seed", "-1"], "--seed must be 0 or more, got -1"),
    "radius 0": (lambda t, v, b: [v, "--box", b, "--radius", "0"], "from 1 to 200, got 0"),
    "huge radius": (lambda t, v, b: [v, "--box", b, "--radius", "201"], "from 1 to 200, got 201"),
    "word for a radius": (lambda t, v, b: [v, "--box", b, "--radius", "x"], "--radius"),
    "unknown preset": (lambda t, v, b: [v, "--box", b, "--preset", "papre"], "did you mean 'paper'?"),
    "unknown setting": (lambda t, v, b: [v, "--box", b, "--set", "memory.sise=3"], "did you mean 'memory.size'?"),
    "setting without value": (lambda t, v, b: [v, "--box", b, "--set", "memory.size"], "--set must be NAME=VALUE"),
    "not a picture": (lambda t, v, b: [v, "--box", b, "-o", str(t / "map.mp4")], "ending in .png, .jpg, .jpeg, .webp"),
    "out is a folder": (lambda t, v, b: [v, "--box", b, "-o", a_folder(t)], "taken.png' is a folder"),
    "out below a file": (lambda t, v, b: [v, "--box", b, "-o", below_a_file(t)], "file' does not allow it"),
    "out cannot be made": (
        lambda t, v, b: [v, "--box", b, "--at", "1", "-o", "/proc/metrack/map.png", *LIGHT],
        "--out must be a picture that can be written",
    ),
    "out among the images": (
        lambda t, v, b: [images(t), "--box", b, "-o", str(t / "shots" / "map.png")],
        "--out must lie outside the source, got",
    ),
    "out is one of the images": (
        lambda t, v, b: [images(t) + "/*.png", "--box", b, "-o", str(t / "shots" / "1.png")],
        "--out must lie outside the source, got",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_gets_one_sentence_and_leaves_nothing(
    case: str, video: Path, box: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, sentence = REFUSED[case]
    arguments = ["map", "-o", str(tmp_path / "map.png"), *make(tmp_path, str(video), box)]
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert run(arguments) == 1
    told = capsys.readouterr().err
    assert told.startswith("metrack: ")
    assert told.count("\n") == 1
    assert sentence in told
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before
