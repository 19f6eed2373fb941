"""The page in a browser: what it knows from Python, its panels, and no barriers."""

import json
from pathlib import Path

import pytest

from metrack.draw.palette import TARGETS, from_hex
from metrack.studio import protocol
from support.browsing import missing
from support.studio import BOX
from support.visiting import Visitor, draw_by_mouse, evaluate, open_clip, state, until, visitor_command

AXE = Path(__file__).parents[2] / ".venv" / "axe-core" / "axe.min.js"
STATIC = Path(protocol.__file__).parent / "static"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_uses_the_names_limits_and_colours_that_python_sends(chromium, visited, scheme):
    visitor = Visitor(chromium, visited, color_scheme=scheme)
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
def test_axe_finds_no_serious_barrier(visitor, visited, rules):
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
    run = visited.start(stop=80)
    visited.done(run)
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
