"""A small evaluation of the built-in clips, and what is written of it: numbers, tables, and a page in a browser."""

import base64
import csv
import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from metrack.draw.palette import PALETTE, Look
from metrack.evaluation.by_frame import absent
from metrack.evaluation.comparison import FIGURES, Comparison, ScoredRun, TrackerScores, score_runs
from metrack.evaluation.evaluate import EvaluationSetup, evaluate
from metrack.evaluation.pictures import ImagePictures
from metrack.evaluation.plan import RunProtocol
from metrack.evaluation.published import Published
from metrack.evaluation.report import write_comparison
from metrack.evaluation.result import RunResult
from metrack.evaluation.sequences import Sequence, builtin_sequences, choose_sequences
from metrack.evaluation.strips import boxes_html
from metrack.evaluation.tables import sequence_rows, summary_rows, to_csv, to_json, to_latex
from metrack.evaluation.trackers import parse_trackers
from support.browsing import needed, opened_page
from support.in_process import InProcess

NAMES = ("balloon-calm", "balloon-trip")
HOSTILE = "<img src=x onerror=alert(1)> & 50%_$"


def evaluated(folder, trackers, protocol):
    specs = parse_trackers(trackers)
    sequences = choose_sequences(builtin_sequences(frames=60, size=(160, 120)), NAMES)
    setup = EvaluationSetup("some/where/clips", None, protocol, NAMES, {each.label: each.settings() for each in specs})
    evaluate(setup, specs, sequences, folder, InProcess())
    return setup, score_runs(folder, protocol, [each.label for each in specs], sequences)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    needed("cv2")
    protocol = RunProtocol(repetitions=2)
    return evaluated(tmp_path_factory.mktemp("runs") / "ope", ["static", "kcf", "paper"], protocol)


@pytest.fixture(scope="module")
def comparison(made):
    """Our runs, one that failed on a sequence, a label that means harm, and figures somebody printed."""
    _, ours = made
    calm, trip = NAMES
    failed = [ScoredRun(trip, 1, 0, RunResult.failed("it could not start on a box outside"), np.empty((0, 4)))]
    half = TrackerScores("half", {calm: ours.tracker("static").runs[calm], trip: failed})
    hostile = TrackerScores(HOSTILE, ours.tracker("static").runs)
    printed = Published("Paper (published)", {}, {calm: {"auc": 0.99, "error": 1.5}, trip: {"auc": 0.98}})
    return replace(ours, trackers=[*ours.trackers, half, hostile, printed])


@pytest.fixture(scope="module")
def report(comparison, made, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    seen = []
    path = write_comparison(comparison, out, title="A <test>", setup=made[0], watch=lambda *step: seen.append(step))
    assert path == out / "report.html"
    assert seen == [(0, 2), (1, 2), (2, 2)]
    return path


def test_rows_are_what_was_judged_best_first(comparison):
    rows = summary_rows(comparison)
    known = [row["auc"] for row in rows]
    assert known == sorted(known, reverse=True)
    assert rows[0]["tracker"] == "Paper (published)"
    for row in rows:
        mean = comparison.tracker(row["tracker"]).mean(NAMES)
        assert {name: row[name] for name in FIGURES} == {
            name: None if math.isnan(value) else value for name, value in mean.items()
        }
    share = {row["tracker"]: (row["sequences"], row["of"], row["runs"]) for row in rows}
    assert share == {
        "static": (2, 2, 4),
        "kcf": (2, 2, 4),
        "paper": (2, 2, 4),
        "half": (1, 2, 2),
        HOSTILE: (2, 2, 4),
        "Paper (published)": (2, 2, 0),
    }


def test_the_spread_is_over_the_runs_on_a_sequence(comparison):
    row = next(row for row in summary_rows(comparison) if row["tracker"] == "paper")
    pairs = [[run.figures["auc"] for run in comparison.tracker("paper").runs[name]] for name in NAMES]
    by_hand = np.mean([abs(first - second) / math.sqrt(2) for first, second in pairs])
    assert by_hand > 0
    assert row["auc_spread"] == pytest.approx(by_hand)
    printed = next(row for row in summary_rows(comparison) if row["published"])
    assert printed["auc_spread"] is None


def test_json_is_the_same_numbers_with_null_for_unknown(report, comparison):
    values = json.loads(report.with_suffix(".json").read_text())
    assert values == json.loads(json.dumps({"title": "A <test>", **to_json(comparison)}, allow_nan=False))
    printed = next(row for row in values["summary"] if row["published"])
    assert printed["fps"] is None
    assert printed["error"] == 1.5
    assert values["protocol"]["repetitions"] == 2
    assert [each["frames"] for each in values["sequences"]] == [60, 60]
    (row,) = values["per_attribute"]
    assert (row["attribute"], row["sequences"]) == ("departure", 1)
    assert row["paper"] == comparison.tracker("paper").on("balloon-trip")["auc"]


def test_csv_has_a_row_per_tracker_and_one_per_sequence(comparison):
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison))))
    assert [row["table"] for row in rows] == ["summary"] * 6 + ["sequence"] * 12
    one = next(row for row in rows if row["tracker"] == "kcf" and row["sequence"] == "balloon-calm")
    figures = comparison.tracker("kcf").on("balloon-calm")
    assert {name: float(one[name]) for name in FIGURES} == pytest.approx(figures)
    failed = next(row for row in rows if row["tracker"] == "half" and row["sequence"] == "balloon-trip")
    assert failed["auc"] == ""
    assert failed["error_message"] == "it could not start on a box outside"
    assert any(row["tracker"] == HOSTILE for row in rows)


def test_latex_is_escaped_marks_the_best_and_says_of_how_many(comparison):
    text = to_latex(comparison)
    summary, each = text.split("% AUC on every sequence")
    auc = comparison.tracker("Paper (published)").mean(NAMES)["auc"]
    assert f"Paper (published) & \\textbf{{{auc:.3f}}} & " in summary
    assert "half (mean of 1 of 2 sequences) & " in summary
    assert "static & " in summary
    escaped = r"\textless{}img src=x onerror=alert(1)\textgreater{} \& 50\%\_\$"
    assert summary.count(escaped) == each.count(escaped) == 1
    for part in (summary, each):
        widths = {len(re.findall(r"(?<!\\)&", line)) for line in part.splitlines() if line.endswith(r"\\")}
        columns = len(re.search(r"\{(lr+)\}", part)[1])
        assert widths == {columns - 1}
    assert "balloon-trip & \\textbf{0.980} & " in each
    assert " -- " in each


def test_truth_that_is_absent_is_a_stretch_of_frames(comparison):
    calm, trip = comparison.sequences
    assert absent(calm) == []
    ((first, last),) = absent(trip)
    missing = np.isnan(trip.truth).any(axis=1)
    assert missing.any()
    assert (first, last) == (np.argmax(missing), np.flatnonzero(missing)[-1])


def test_the_page_has_no_place_for_markup_or_paths(report):
    text = report.read_text()
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; 50%_$" in text
    assert "<title>A &lt;test&gt;</title>" in text
    assert "some/where" not in text
    assert "Data: clips." in text
    assert "half could not run balloon-trip: it could not start on a box outside" in text
    assert "Figures as published, without runs: Paper (published)." in text
    assert "Protocol OPE: one pass from the first box. Repetitions: 2. Seed: 0." in text


def test_the_page_is_the_same_every_time(report, comparison, made, tmp_path):
    again = write_comparison(comparison, tmp_path, title="A <test>", setup=made[0])
    assert again.read_bytes() == report.read_bytes()


@pytest.mark.parametrize("kind", ["tre", "sre"])
def test_other_protocols_are_drawn_too(kind, tmp_path):
    _, scored = evaluated(tmp_path / "runs", ["static"], RunProtocol(kind, starts=3))
    text = write_comparison(scored, tmp_path, title=kind).read_text()
    assert f"Protocol {kind.upper()}, 3 starts" in text
    (row,) = summary_rows(scored)
    assert row["runs"] == 6
    assert row["auc_spread"] > 0
    assert "± AUC" in text


def test_published_figures_alone_make_a_page(comparison, tmp_path):
    alone = replace(comparison, trackers=[comparison.tracker("Paper (published)")])
    text = write_comparison(alone, tmp_path, title="printed").read_text()
    assert "0.985" in text
    assert "Success and precision" not in text
    assert "Speed against accuracy" not in text
    nobody = Comparison(comparison.sequences, [], comparison.protocol)
    assert "0 trackers on 2 sequences" in write_comparison(nobody, tmp_path, title="nobody").read_text()
    assert sequence_rows(nobody) == []


def test_boxes_are_drawn_where_they_are_on_smaller_frames(tmp_path):
    files = [tmp_path / f"{number}.png" for number in range(9)]
    for file in files:
        Image.fromarray(np.full((400, 640), 90, np.uint8)).save(file)  # grey
    truth = np.tile([400.0, 200, 120, 100], (9, 1))
    truth[4] = np.nan
    sequence = Sequence("<toy>", ImagePictures(tuple(files)), truth)
    boxes = np.tile([100.0, 80, 160, 120], (6, 1))
    result = RunResult(boxes, np.full(6, np.nan), ("",) * 6, np.full(6, np.nan))
    html = boxes_html(sequence, {"a": ScoredRun("<toy>", 1, 3, result, truth[3:])}, {"a": Look("#ff0000")})
    assert re.findall(r"<figcaption>frame (\d)", html) == ["3", "4", "5", "6", "7", "8"]
    assert "<toy>" not in html
    for number, data in enumerate(re.findall(r"base64,([^\"]+)", html), 3):
        image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))).astype(int)
        assert image.shape == (200, 320, 3)
        red = (image[..., 0] - image[..., 1]) > 60
        down, across = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
        np.testing.assert_allclose([across[0], down[0], across[-1] + 1, down[-1] + 1], [50, 40, 130, 100], atol=2)
        assert (image[100, 210:250].min(axis=-1) > 150).all() == (number != 4)  # the truth, where there is one


@pytest.fixture(scope="module")
def opened(report):
    with opened_page(report) as (tab, asked_for, complaints):
        tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        yield tab, asked_for, complaints


@pytest.fixture
def tab(opened):
    opened[0].set_viewport_size({"width": 1280, "height": 900})
    return opened[0]


def table(tab, caption):
    found = tab.locator("table").filter(has=tab.locator("caption", has_text=caption))
    assert found.count() == 1
    return found


def test_the_browser_asks_for_nothing_else(opened, report):
    _, asked_for, complaints = opened
    assert [url for url in asked_for if not url.startswith("data:")] == [report.as_uri()]
    assert complaints == []


def test_plots_are_drawn_with_all_their_curves(tab, comparison):
    sizes = tab.eval_on_selector_all(".plot > svg", "all => all.map(e => [e.clientWidth, e.clientHeight])")
    assert len(sizes) == 2 + 1 + 1 + 1 + 2 * len(NAMES)  # curves, speed, attributes, reliability, every sequence
    assert all(width > 300 and height > 150 for width, height in sizes)
    for title, points in (("Success", 21), ("Precision", 51)):
        lines = tab.eval_on_selector_all(
            f'svg[aria-label="{title}"] polyline',
            "all => all.map(e => [e.getAttribute('stroke'), e.getAttribute('points').split(' ').length])",
        )
        drawn = [count for stroke, count in lines if stroke in PALETTE and count > 2]  # the legend has lines of two
        assert drawn == [points] * (len(comparison.trackers) - 1)  # what was printed has no curve
        words = tab.eval_on_selector_all(f'svg[aria-label="{title}"] text', "all => all.map(e => e.textContent)")
        assert any(word.startswith("paper [") for word in words)
    assert tab.locator('svg[aria-label*="balloon-trip"] polyline').count() > 10


def test_tables_show_the_numbers(tab, comparison):
    rows = table(tab, "Mean over sequences").locator("tbody tr").all_inner_texts()
    for label in ("paper", "kcf", "half"):
        mean = comparison.tracker(label).mean(NAMES)
        line = next(row.split() for row in rows if row.startswith(label + "\t"))
        assert line[1] == f"{mean['auc']:.3f}"
        assert f"{mean['precision']:.3f}" in line
        assert f"{mean['fps']:.1f}" in line
    assert any(row.startswith("half\t") and row.endswith("1 of 2") for row in rows)
    assert table(tab, "Mean over sequences").locator("th[scope=col]").count() == 11
    cells = table(tab, "AUC on every sequence").locator("tbody tr").first.inner_text().split()
    assert cells[:3] == ["balloon-calm", "60", "0.990"]
    assert HOSTILE in table(tab, "AUC on every sequence").locator("thead").inner_text()


def test_a_click_sorts_and_another_turns_round(tab):
    summary = table(tab, "Mean over sequences")

    def column(place):
        return summary.locator(f"tbody tr > :nth-child({place})").all_inner_texts()

    fps = [title.strip() for title in summary.locator("thead th").all_inner_texts()].index("fps") + 1
    head = summary.locator(f"thead th:nth-child({fps})")
    head.locator("button").click()
    down = [float(text) for text in column(fps) if text != "–"]
    assert len(down) == 5
    assert down == sorted(down, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    assert column(fps)[-1] == "–"
    head.locator("button").click()
    up = [float(text) for text in column(fps) if text != "–"]
    assert up == down[::-1]
    assert column(fps)[-1] == "–"
    summary.locator("thead th:first-child button").click()
    assert [name.lower() for name in column(1)][1:] == ["half", "kcf", "paper", "paper (published)", "static"]
    assert head.get_attribute("aria-sort") is None


def test_frames_are_shown(tab):
    widths = tab.eval_on_selector_all(".strip img", "all => all.map(e => e.naturalWidth)")
    assert widths == [160] * 6 * len(NAMES)
    texts = tab.eval_on_selector_all(".strip img", "all => all.map(e => e.alt)")
    assert all(text.startswith("Frame ") and text.endswith(", and the truth") for text in texts)


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_sticks_out(tab, width):
    tab.set_viewport_size({"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_it_is_dark_where_the_reader_likes_it(tab):
    seen = {}
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = tab.evaluate("getComputedStyle(document.querySelector('.plot svg text')).fill")
        seen[scheme] = [sum(int(value) for value in re.findall(r"\d+", colour)) for colour in (ground, ink)]
    assert seen["light"][0] > 700 > 200 > seen["light"][1]
    assert seen["dark"][0] < 120 < 600 < seen["dark"][1]
