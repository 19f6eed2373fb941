"""The studio as a person meets it, in a browser without a screen."""

import io
import json
import re
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrack.draw.palette import TARGETS, from_hex
from metrack.frames.formats import read_jsonl
from metrack.studio import protocol
from support.browsing import browser, missing, needed
from support.studio import BOX, CLIP, HIDDEN, paint, studio

AXE = Path(__file__).parents[2] / ".venv" / "axe-core" / "axe.min.js"
STATIC = Path(protocol.__file__).parent / "static"
GREEN = TARGETS[0]  # of the first target
ANYWHERE = re.compile("^(?!data:|blob:)")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
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


class Visitor:
    """A page, everything it asked for, and everything it complained about."""

    def __init__(self, chromium, address, **options):
        self.context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.asked, self.complaints = [], []
        self.page = self.tab()
        self.address = address

    def tab(self):
        page = self.context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        return page

    def visit(self, hash="#/", page=None):
        page = page or self.page
        page.goto(f"{self.address}/{hash}")
        page.wait_for_selector("body[data-ready]")
        return page

    def foreign_requests(self):
        ours = (f"{self.address}/", f"{self.address}/".replace("http", "ws"))
        return [url for url in self.asked if ANYWHERE.match(url) and not url.startswith(ours)]


@pytest.fixture
def visitor(chromium, served, request):
    visitor = Visitor(chromium, served.address, **getattr(request, "param", {}))
    yield visitor
    visitor.context.close()
    assert visitor.foreign_requests() == []
    assert visitor.complaints == []


def area(page):
    """Where the video is on the page, and how large a pixel of it is there."""
    place = page.locator("#picture").bounding_box()
    return place["x"], place["y"], place["width"] / CLIP.size[0]


def drag(page, start, end):
    left, top, scale = area(page)
    way = [start, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), end]
    for place, (x, y) in enumerate(way):
        page.mouse.move(left + x * scale, top + y * scale)
        if place == 0:
            page.mouse.down()
    page.mouse.up()


def draw_by_mouse(page, box):
    x, y, w, h = box
    drag(page, (x, y), (x + w, y + h))


def open_clip(page):
    page.get_by_role("button", name="Try the built-in clip").click()
    until(page, "document.getElementById('place').textContent.startsWith('Frame 0')")


def last_frame(studio_, run):
    """The last frame of a paused run; a pause is answered when the frame in hand is done."""
    studio_.get(f"/api/runs/{run}/pause", method="POST")
    return studio_.get(f"/api/runs/{run}")["status"]["frames"] - 1


def frame_shown(page):
    return int(page.locator("#place").inner_text().split()[1])


def state(page, *words):
    until(
        page, "words => words.some(word => document.getElementById('chip').textContent.startsWith(word))", list(words)
    )


def until(page, expression, argument=None):
    """Wait for something to become true; the page's policy lets no script of ours wait inside it."""
    limit = time.monotonic() + 60
    while not page.evaluate(expression, argument):
        assert time.monotonic() < limit, (expression, argument, page.locator("#chip").inner_text())
        page.wait_for_timeout(20)


def followed(page, count):
    until(page, f"Number(document.getElementById('place').textContent.split(' ')[1]) >= {count}")


def seen(page):
    """The picture with all that is drawn over it, in pixels of the video times four."""
    left, top, scale = area(page)
    width, height = (side * scale for side in CLIP.size)
    clip = {"x": left, "y": top, "width": width, "height": height}
    picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    return np.asarray(picture.resize((CLIP.size[0] * 4, CLIP.size[1] * 4), Image.Resampling.NEAREST), int)


def green(page):
    """Where the colour of the first target is seen."""
    return np.abs(seen(page) - GREEN).max(axis=2) < 40


def outline(mask, box):
    """Extent of what is seen of a box: left, right and bottom; above it may be its label."""
    y, h = (round(4 * side) for side in (box[1], box[3]))
    rows = mask[y + h // 2 : y + 2 * h]
    across, down = np.flatnonzero(rows.any(axis=0)), np.flatnonzero(rows.any(axis=1))
    return across[0] / 4, (across[-1] + 1) / 4, (down[-1] + 1 + y + h // 2) / 4


def test_a_person_opens_draws_tracks_corrects_understands_exports_and_finds_it_again(visitor, served):
    page = visitor.visit()
    open_clip(page)
    assert "Draw a box" in page.locator("#hint").inner_text()
    assert page.locator("#main").is_disabled()

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

    page.uncheck("#fast")
    page.get_by_role("button", name="Track", exact=True).click()
    followed(page, 12)
    page.get_by_role("button", name="Pause").click()
    state(page, "paused")
    head = last_frame(served, page.url.rpartition("/")[2])
    until(page, f"document.getElementById('place').textContent.startsWith('Frame {head} ')")
    shown, with_particles = frame_shown(page), seen(page)
    page.uncheck("#cloud")
    assert (np.abs(with_particles - seen(page)).max(axis=2) > 60).sum() > 200
    mask, truth = green(page), CLIP.truth[shown].box
    left, right, bottom = outline(mask, truth.to_xywh())
    np.testing.assert_allclose([left, right, bottom], [truth.x, truth.x + truth.w, truth.y + truth.h], atol=4)

    page.get_by_role("button", name="Step").click()
    until(page, f"document.getElementById('place').textContent.startsWith('Frame {shown + 1} ')")
    page.get_by_role("button", name="Correct the box here").click()
    for _ in range(2):
        page.locator(".box").press("ArrowRight")
    page.check("#fast")
    page.get_by_role("button", name="Go on from here").click()
    state(page, "done")
    run = page.url.rpartition("/")[2]
    before, at = read_jsonl(served.runs / run / "trajectory.jsonl")[shown : shown + 2]
    assert at.box.x - before.box.x > 5
    assert page.locator(".mark.corrected").count() == 1

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

    page.get_by_role("tab", name="Export").click()
    assert "metrack track" in page.locator("#command").inner_text()
    with page.expect_download() as download:
        page.click("#export-zip")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert len(archive.read(f"{run}/trajectory.jsonl").splitlines()) == len(CLIP)

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


def visitor_command(page):
    page.get_by_role("tab", name="Export").click()
    return page.locator("#command").inner_text()


def test_a_wrong_file_is_refused_with_a_reason_and_a_right_one_opens(visitor, served, tmp_path):
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


def test_two_tabs_share_a_run_and_reconnect_after_a_restart(chromium, tmp_path):
    paint(tmp_path / "balloon.mp4")
    with studio(tmp_path) as first:
        visitor = Visitor(chromium, first.address)
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
        visitor.context.close()


def evaluate(page, module, expression, argument=None):
    """Evaluate an expression with the exports of one of the page's modules."""
    return page.evaluate(
        f"async (argument) => {{ const m = await import('/static/{module}'); return {expression}; }}", argument
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_uses_the_names_limits_and_colours_that_python_sends(chromium, served, scheme):
    visitor = Visitor(chromium, served.address, color_scheme=scheme)
    page = visitor.visit()
    about = json.loads(json.dumps(protocol.about()))
    told = evaluate(page, "store.js", "m.state.about")
    assert {name: told[name] for name in about} == about
    open_clip(page)
    legend = page.locator("#legend .dot")
    painted = [legend.nth(n).evaluate("e => getComputedStyle(e).backgroundColor") for n in range(legend.count())]
    expected = [from_hex(each[scheme]["mark"]) for each in about["states"]]
    assert painted == ["rgb({}, {}, {})".format(*colour) for colour in expected]
    assert page.locator("#legend").inner_text().split() == [each["name"] for each in about["states"]]
    for _ in range(about["most_targets"] + 1):
        page.locator("#add").click()
    assert page.locator(".box").count() == about["most_targets"]
    colours = page.locator(".swatch").evaluate_all("all => all.map(e => e.style.background)")
    assert colours == ["rgb({}, {}, {})".format(*colour) for colour in TARGETS[: about["most_targets"]]]
    visitor.context.close()


def test_new_records_take_the_place_of_old_ones(visitor):
    page = visitor.visit()
    known = [{"score": [0.1, 0.2, 0.3], "state": ["a", "b", "c"]}]
    more = [{"score": [0.5, 0.6], "state": ["d", "e"], "identity": [None, "anna"]}]
    joined = "(m.replaceFrom(argument[0], 2, argument[1]), m.replaceFrom(argument[0], 4, argument[2]), argument[0])"
    (columns,) = evaluate(page, "records.js", joined, [known, more, [{"score": [0.7], "state": ["f"]}]])
    assert columns["score"] == [0.1, 0.2, 0.5, 0.6, 0.7]
    assert columns["state"] == ["a", "b", "d", "e", "f"]
    assert columns["identity"] == [None, None, None, "anna", None]
    shown = "m.recordsAt(argument, 3).concat(m.recordsAt(argument, 5), m.recordsAt(argument, -1))"
    assert evaluate(page, "records.js", shown, [columns]) == [
        {"target": 1, "score": 0.6, "state": "e", "identity": "anna"}
    ]


def test_a_setting_that_is_on_or_off_is_a_checkbox(visitor):
    page = visitor.visit()
    open_clip(page)
    draw_by_mouse(page, BOX)
    page.get_by_role("tab", name="Settings").click()
    page.locator("summary", has_text="regression").click()
    enabled = page.get_by_role("checkbox", name="enabled")
    assert enabled.is_checked()
    enabled.uncheck()
    assert "regression.enabled = false" in page.locator(".changes").inner_text()
    enabled.check()
    assert page.locator(".changes").count() == 0
    enabled.uncheck()
    page.locator("summary", has_text="confidence").click()
    page.get_by_role("combobox", name="weights").select_option("particles")  # those for trackers without regression
    page.fill("#stop-at", "3")
    page.get_by_role("button", name="Track", exact=True).click()
    state(page, "done")
    assert evaluate(page, "store.js", "m.state.run.job.changes") == {
        "regression.enabled": False,
        "confidence.weights": "particles",
    }
    assert "--set regression.enabled=" in visitor_command(page)


def test_a_panel_is_one_module_and_one_place_in_the_list(visitor):
    """The recipe in panels/list.js, followed to the letter."""
    path = STATIC / "panels" / "list.js"
    lines = [line[5:] for line in path.read_text().splitlines() if line.startswith("//   ")]
    recipe = "\n".join(lines)
    listed = path.read_text().replace("[targets,", "[notes, targets,") + '\nimport { notes } from "./notes.js";\n'
    page = visitor.page
    for name, text in (("list", listed), ("notes", recipe)):
        page.route(
            f"**/static/panels/{name}.js",
            lambda route, _, text=text: route.fulfill(body=text, content_type="text/javascript"),
        )
    visitor.visit()
    open_clip(page)
    assert page.get_by_role("tab").first.inner_text() == "Notes"
    page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('panel-notes').innerText.includes('Frame 1')")


@pytest.mark.parametrize(
    ("visitor", "rules"),
    [({"color_scheme": "light"}, None), ({"color_scheme": "dark"}, ["color-contrast"])],
    indirect=["visitor"],
    ids=["light", "dark"],
)
def test_axe_finds_no_serious_barrier(visitor, served, rules):
    if not AXE.is_file():
        missing("axe-core is not here; make axe-core fetches it with npm")
    page = visitor.visit()
    found = serious(page, rules)
    open_clip(page)
    draw_by_mouse(page, BOX)
    found += serious(page, rules)
    if not rules:
        page.get_by_role("tab", name="Settings").click()
        page.locator("summary").first.click()
        found += serious(page, rules)
    run = served.start(stop=80)
    served.done(run)
    visitor.visit(f"#/run/{run}")
    page.reload()
    state(page, "done")
    page.get_by_role("tab", name="Why").click()
    page.wait_for_selector("#panel-why .memory >> nth=1")
    found += serious(page, rules)
    if not rules:
        page.get_by_role("tab", name="Export").click()
        page.wait_for_selector("#command")
        found += serious(page, rules)
    page.get_by_role("tab", name="Targets").click()
    assert found + serious(page, rules) == []


def serious(page, rules):
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text() + "; undefined")
    results = page.evaluate("rules => axe.run(document, rules ? { runOnly: rules } : {})", rules)
    return [
        (each["id"], each["nodes"][0]["html"][:160], each["nodes"][0].get("failureSummary", "")[:300])
        for each in results["violations"]
        if each["impact"] in ("serious", "critical")
    ]
