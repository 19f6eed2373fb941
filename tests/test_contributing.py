"""The worked examples of docs/contributing.md: the Python runs, the panel shows, and the lines they build on exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.browsing import browser, needed

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "contributing.md").read_text()
EXAMPLES = dict(re.findall(r"^## (Add .*?)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE))


def blocks(example: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", EXAMPLES[example], re.DOTALL)


def changed(diff: str, text: str) -> str:
    """Apply a diff: '-' is replaced by the '+' after it, else '+' comes after ' '; '...' is any text."""
    lines, at, kept = text.split("\n"), 0, ""
    for mark, line in ((row[:1], row[1:]) for row in diff.strip("\n").split("\n")[1:]):
        if mark == "+":
            lines.insert(at, line.replace("...", kept))
            at += 1
            continue
        pattern = re.compile(re.escape(line).replace(re.escape("..."), "(.*)"))
        found = [(number, match) for number, each in enumerate(lines) if (match := pattern.match(each))]
        assert len(found) == 1, f"{len(found)} lines like: {line}"
        (number, match), at = found[0], found[0][0] + (mark == " ")
        kept = "".join(match.groups())
        if mark == "-":
            del lines[number]
    return "\n".join(lines)


def test_there_are_six_examples():
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize("example", [name for name in EXAMPLES if blocks(name, "python")])
def test_the_python_of_an_example_runs(example, tmp_path):
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks(example, "python")))
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_lines_around_a_change_exist(example):
    for diff in blocks(example, "diff"):
        path = ROOT / diff.split("\n")[0].removeprefix("# ")
        assert changed(diff, path.read_text()) != path.read_text()


def test_new_files_are_new():
    named = re.findall(r"```(?:python|js)\n(?:#|//) (src/\S+)\n", TEXT)
    edited = re.findall(r"```diff\n# (src/\S+)\n", TEXT)
    assert len(named) == 5
    assert all((ROOT / name).is_file() == (name in edited) for name in [*named, *edited])


def test_the_panel_of_the_example_shows(tmp_path):
    from support.studio import paint, studio
    from support.visiting import let_in

    example = "Add a panel to the studio"
    (module,), (diff,) = blocks(example, "js"), blocks(example, "diff")
    path = diff.split("\n")[0].removeprefix("# ")
    listed = changed(diff, (ROOT / path).read_text())
    paint(tmp_path / "balloon.mp4")
    script = {"content_type": "text/javascript"}
    with studio(tmp_path, tmp_path) as served, needed("playwright.sync_api").sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        page = chromium.new_page()
        let_in(page.context, served)
        page.route("**/panels/list.js", lambda route: route.fulfill(body=listed, **script))
        page.route("**/panels/notes.js", lambda route: route.fulfill(body=module, **script))
        page.goto(f"{served.address}/#/")
        page.get_by_role("button", name="Try the built-in clip").click()
        page.click("#tab-notes")
        page.wait_for_selector("#panel-notes p:has-text('Frame 0')")
        chromium.close()
