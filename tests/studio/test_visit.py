"""The studio as a person meets it, in a browser without a screen."""

import sys
import zipfile

import numpy as np
import pytest

from metrack.draw.palette import TARGETS
from metrack.frames.formats import read_jsonl
from support.studio import BOX, CLIP, HIDDEN, paint, studio
from support.visiting import (
    Visitor,
    area,
    drag,
    draw_by_mouse,
    followed,
    frame_shown,
    last_frame,
    open_clip,
    seen,
    state,
    until,
    visitor_command,
)

GREEN = TARGETS[0]  # of the first target


def green(page):
    """Where the colour of the first target is seen."""
    return np.abs(seen(page) - GREEN).max(axis=2) < 40


def outline(mask, box):
    """Extent of what is seen of a box: left, right and bottom; above it may be its label."""
    y, h = (round(4 * side) for side in (box[1], box[3]))
    rows = mask[y + h // 2 : y + 2 * h]
    across, down = np.flatnonzero(rows.any(axis=0)), np.flatnonzero(rows.any(axis=1))
    return across[0] / 4, (across[-1] + 1) / 4, (down[-1] + 1 + y + h // 2) / 4


def open_first(page):
    """Open the built-in clip, which asks for a box."""
    open_clip(page)
    assert "Draw a box" in page.locator("#hint").inner_text()
    assert page.locator("#main").is_disabled()


def draw(page):
    """Draw a box, move and resize it by keys and mouse, and undo all that."""
    draw_by_mouse(page, BOX)
    numbers = [float(page.locator(f"#box-1-{side}").input_value()) for side in range(4)]
    np.testing.assert_allclose(numbers, BOX, atol=1)
    page.locator(".box").press("ArrowRight")
    assert float(page.locator("#box-1-0").input_value()) == pytest.approx(numbers[0] + 4, abs=0.1)
    page.locator(".box").press("Shift+ArrowDown")
    assert float(page.locator("#box-1-3").input_value()) == pytest.approx(numbers[3] + 4, abs=0.1)
    drag(page, (BOX[0] + 17, BOX[1] + 17), (BOX[0] + 47, BOX[1] + 7))
    x, y, w, h = (float(page.locator(f"#box-1-{side}").input_value()) for side in range(4))
    np.testing.assert_allclose([x, y], [numbers[0] + 34, numbers[1] - 10], atol=1)
    drag(page, (x + w, y + h), (x + w + 20, y + h + 15))
    np.testing.assert_allclose(float(page.locator("#box-1-2").input_value()), w + 20, atol=1)
    for _ in range(4):
        page.keyboard.press("Control+z")
    assert [float(page.locator(f"#box-1-{side}").input_value()) for side in range(4)] == numbers


def track(page, visited):
    """Track and pause; return the frame shown, in which the box is on the target."""
    page.uncheck("#fast")
    page.get_by_role("button", name="Track", exact=True).click()
    followed(page, 12)
    page.get_by_role("button", name="Pause").click()
    state(page, "paused")
    head = last_frame(visited, page.url.rpartition("/")[2])
    until(page, f"document.getElementById('place').textContent.startsWith('Frame {head} ')")
    shown, with_particles = frame_shown(page), seen(page)
    page.uncheck("#cloud")
    assert (np.abs(with_particles - seen(page)).max(axis=2) > 60).sum() > 200
    mask, truth = green(page), CLIP.truth[shown].box
    left, right, bottom = outline(mask, truth.to_xywh())
    np.testing.assert_allclose([left, right, bottom], [truth.x, truth.x + truth.w, truth.y + truth.h], atol=4)
    return shown


def correct(page, visited, shown):
    """Correct the next frame and go on to the end; return the run."""
    page.get_by_role("button", name="Step").click()
    until(page, f"document.getElementById('place').textContent.startsWith('Frame {shown + 1} ')")
    page.get_by_role("button", name="Correct the box here").click()
    for _ in range(2):
        page.locator(".box").press("ArrowRight")
    page.check("#fast")
    page.get_by_role("button", name="Go on from here").click()
    state(page, "done")
    run = page.url.rpartition("/")[2]
    before, at = read_jsonl(visited.runs / run / "trajectory.jsonl")[shown : shown + 2]
    assert at.box.x - before.box.x > 5
    assert page.locator(".mark.corrected").count() == 1
    return run


def understand(page):
    """Jump to the occlusion, look closer, and ask why."""
    mark = page.locator(".mark.occluded")
    assert "occluded" in mark.get_attribute("aria-label")
    mark.focus()
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.state')?.textContent === 'occluded'")
    assert frame_shown(page) in HIDDEN
    width = page.locator("#rail-inner").bounding_box()["width"]
    page.get_by_role("button", name="Zoom in").click()
    assert page.locator("#rail-inner").bounding_box()["width"] == pytest.approx(2 * width, rel=0.01)

    page.get_by_role("tab", name="Why").click()
    page.wait_for_selector("#panel-why .memory >> nth=1")
    pictures = page.locator("#panel-why img")
    until(page, "[...document.querySelectorAll('#panel-why img')].every(e => e.complete && e.naturalWidth)")
    assert pictures.count() >= 5
    assert "θ_f" in page.locator("#panel-why").inner_text()
    assert "Judged as tracking: its " in page.locator("#panel-why").inner_text()

    page.get_by_role("tab", name="Settings").click()
    assert page.locator("#preset").is_disabled()
    assert "Track again to change it" in page.locator("#panel-settings").inner_text()


def export(page, run):
    """Take the results along."""
    page.get_by_role("tab", name="Export").click()
    assert "metrack track" in page.locator("#command").inner_text()
    with page.expect_download() as download:
        page.click("#export-zip")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert len(archive.read(f"{run}/trajectory.jsonl").splitlines()) == len(CLIP)


def find_again(page, run):
    """Meet the run again after a reload and in the list of runs."""
    page.reload()
    page.wait_for_selector("body[data-ready]")
    state(page, "done")
    assert frame_shown(page) == len(CLIP) - 1
    assert page.locator(".mark.occluded").count() == 1
    page.get_by_role("link", name="metrack studio").click()
    card = page.locator(f"a.run[href='#/run/{run}']")
    assert f"{len(CLIP)} frames, done" in card.inner_text()
    card.click()
    state(page, "done")


def test_a_person_opens_draws_tracks_corrects_understands_exports_and_finds_it_again(visitor, visited):
    page = visitor.visit()
    open_first(page)
    draw(page)
    shown = track(page, visited)
    run = correct(page, visited, shown)
    understand(page)
    export(page, run)
    find_again(page, run)


@pytest.mark.parametrize("visitor", [{"viewport": {"width": 390, "height": 844}, "has_touch": True}], indirect=True)
def test_boxes_are_drawn_by_touch_on_a_narrow_screen(visitor):
    page = visitor.visit()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    open_clip(page)
    touch = visitor.context.new_cdp_session(page)
    left, top, scale = area(page)
    for box in (BOX, [40, 30, 50, 40]):
        x, y, w, h = box
        way = [(x, y), (x + w / 2, y + h / 2), (x + w, y + h)]
        for kind, (px, py) in zip(("touchStart", "touchMove", "touchMove"), way, strict=True):
            point = {"x": left + px * scale, "y": top + py * scale}
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.locator(".box").count() == 2
    assert page.locator("#panel-targets .target").count() == 2
    numbers = [float(page.locator(f"#box-2-{side}").input_value()) for side in range(4)]
    np.testing.assert_allclose(numbers, [40, 30, 50, 40], atol=1.5)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("tab", name="Settings").click()
    page.locator("summary").first.click()
    page.fill("#set-motion\\.particles", "60")
    page.locator("#set-motion\\.particles").press("Tab")
    assert "motion.particles = 60" in page.locator(".changes").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.fill("#stop-at", "8")
    page.get_by_role("button", name="Track", exact=True).click()
    state(page, "done")
    assert frame_shown(page) == 7
    assert "--set motion.particles=60" in visitor_command(page)


def test_a_wrong_file_is_refused_with_a_reason_and_a_right_one_opens(visitor, visited, tmp_path):
    page = visitor.visit()
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty.mp4").touch()
    paint(tmp_path / "mine.mp4")
    for name, words in (("notes.txt", "not a kind of video"), ("empty.mp4", "is empty (0 bytes)")):
        page.set_input_files("#file", tmp_path / name)
        until(page, f"document.getElementById('alert-text').textContent.includes({words!r})")
    visitor.complaints.clear()  # the browser itself notes that the answer was 400
    page.set_input_files("#file", tmp_path / "mine.mp4")
    page.wait_for_selector("#work:not([hidden])")
    assert page.locator("#title").inner_text() == "mine.mp4"
    assert page.locator("#alert").is_hidden()
    until(page, "[...document.querySelectorAll('#thumbs img')].every(e => e.complete && e.naturalWidth > 0)")
    page.locator("#playhead").press("End")
    until(page, "document.getElementById('place').textContent.startsWith('Frame 109 ')")
    page.keyboard.press("ArrowLeft")
    until(page, "document.getElementById('place').textContent.startsWith('Frame 108 ')")
    page.get_by_role("link", name="metrack studio").click()
    page.get_by_role("button", name="beach.mp4").click()
    until(page, "document.getElementById('title').textContent === 'beach.mp4'")


def test_a_camera_is_watched_and_its_recording_kept(visitor, monkeypatch):
    device = ("lavfi", "testsrc=size=320x240:rate=30,realtime")
    monkeypatch.setattr("metrack.frames.source.CAMERAS", {sys.platform: device})
    page = visitor.visit()
    page.locator("#camera-form button").click()
    page.wait_for_selector("#work:not([hidden])")
    until(page, "document.getElementById('place').textContent === 'Frame 0'")
    draw_by_mouse(page, [100, 80, 80, 80])
    page.get_by_role("button", name="Track", exact=True).click()
    followed(page, 5)
    page.get_by_role("button", name="Stop").click()
    state(page, "stopped")
    until(page, "document.getElementById('thumbs').childElementCount > 3")
    last = frame_shown(page)
    assert last >= 5
    page.locator("#back").click()
    until(page, f"document.getElementById('place').textContent.startsWith('Frame {last - 1} ')")


def test_two_tabs_share_a_run_and_reconnect_after_a_restart(chromium, tmp_path, monkeypatch):
    paint(tmp_path / "balloon.mp4")
    monkeypatch.setenv("METRACK_STUDIO_TOKEN", "the-same-after-a-restart")
    with studio(tmp_path) as first:
        visitor = Visitor(chromium, first)
        run = first.start(fast=False)
        one, other = visitor.visit(f"#/run/{run}"), visitor.visit(f"#/run/{run}", visitor.tab())
        for page in (one, other):
            until(page, "document.getElementById('chip').textContent.includes('2 pages')")
            followed(page, 3)
        other.get_by_role("button", name="Pause").click()
        state(one, "paused")
        seen = last_frame(first, run)
        until(one, "seen => document.getElementById('place').textContent.split(' ')[1] == seen", seen)
    until(one, "document.getElementById('alert-text').textContent.includes('does not answer')")
    assert one.locator("#alert").is_visible()
    with studio(tmp_path, port=first.port):
        state(one, "stopped")
        assert one.locator("#alert").is_hidden()
        assert frame_shown(one) == seen
        one.check("#fast")
        one.get_by_role("button", name="Go on").click()
        state(one, "done")
        assert frame_shown(one) == len(CLIP) - 1
    monkeypatch.delenv("METRACK_STUDIO_TOKEN")
    until(one, "document.getElementById('alert-text').textContent.includes('does not answer')")
    with studio(tmp_path, port=first.port):
        until(one, "document.getElementById('alert-text').textContent.includes('wants the token')")
    visitor.context.close()
