import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from metrack.draw import page as page_module
from metrack.draw.page import Column, Section, page, plots_html, table_html
from metrack.draw.plots import (
    DASHES,
    INK,
    PALETTE,
    bar_plot,
    colours_of,
    image_plot,
    key_html,
    line_plot,
    save,
    scatter_plot,
    to_svg,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("1")</script> & $x_1$'
SIGHTS = {  # what the eye of the colour-blind makes of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def curves(count=3, **options):
    x = np.linspace(0, 1, 21)
    series = {f"tracker {place}": (x, 1 - x ** (place + 1)) for place in range(count)}
    return line_plot(series, title="Success", x_label="threshold", y_label="share", **options)


def linear(colour):
    values = np.array(list(bytes.fromhex(colour[1:]))) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(values):
    xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]] @ np.clip(values, 0, 1)
    f = np.cbrt(xyz / [0.9505, 1, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(colour, ground):
    low, high = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (colour, ground))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_out_on_light_and_dark_pages():
    css = Path(page_module.__file__).with_name("page.css").read_text()
    grounds = re.findall(r"--paper: (#\w{6})", css)
    assert len(grounds) == 2
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    for ground in grounds:
        assert min(contrast(colour, ground) for colour in PALETTE) >= 3


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_told_apart(sight):
    seen = [lab(np.asarray(SIGHTS[sight]) @ linear(colour)) for colour in PALETTE]
    gaps = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(range(len(PALETTE)), 2)}
    assert min(gaps.values()) > 10
    assert min(gap for (_, last), gap in gaps.items() if last < 4) > 20  # the usual number of trackers


def test_curves_hold_what_they_were_given():
    figure = line_plot(
        {"a": ([0, 1, 2], [3.0, np.inf, 5.0]), "b": ([0, 1, 2], [1.0, 2.0, 3.0])},
        title="t",
        x_label="x",
        y_label="y",
        y_range=(0, 9),
        bands={"b": ([0, 1, 2], [2, 3, 4])},
        spans=[(0.5, 1.5)],
        dots=["b"],
    )
    (axes,) = figure.axes
    first, second = axes.lines
    assert_allclose(first.get_ydata(), [3, np.nan, 5])
    assert_allclose(second.get_ydata(), [1, 2, 3])
    assert axes.get_ylim() == (0, 9)
    assert (first.get_color(), second.get_color()) == PALETTE[:2]
    assert first.get_linestyle() != second.get_linestyle()
    assert (first.get_marker(), second.get_marker()) == ("None", "s")
    (band,) = axes.collections
    assert_allclose(band.get_datalim(axes.transData).bounds, (0, 0, 2, 4))
    (span,) = axes.patches
    assert (span.get_x(), span.get_width()) == (0.5, 1.0)


def test_a_name_looks_the_same_in_every_plot():
    colours = colours_of(["a", "b", "c"])
    both = line_plot({"c": ([0], [0]), "a": ([0], [0])}, title="", x_label="", y_label="", colours=colours).axes[0]
    alone = line_plot({"c": ([0], [0])}, title="", x_label="", y_label="", colours=colours).axes[0]
    point = scatter_plot({"c": (1, 1)}, title="", x_label="", y_label="", colours=colours).axes[0]
    bars = bar_plot(["g"], {"c": [1]}, title="", y_label="", colours=colours).axes[0]
    assert both.lines[0].get_color() == alone.lines[0].get_color() == point.lines[0].get_color() == PALETTE[2]
    assert both.lines[0].get_linestyle() == alone.lines[0].get_linestyle()
    assert bars.patches[0].get_facecolor()[:3] == pytest.approx(
        [int(PALETTE[2][i : i + 2], 16) / 255 for i in (1, 3, 5)]
    )
    assert f'stroke="{PALETTE[2]}"' in key_html("c", colours)
    assert 'stroke-dasharray=""' in key_html("a", colours)


def test_more_names_than_colours_differ_in_their_lines():
    names = [str(number) for number in range(2 * len(PALETTE))]
    lines = line_plot({name: ([0], [0]) for name in names}, title="", x_label="", y_label="").axes[0].lines
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines}
    assert len(looks) == len(names)
    assert len({str(dash) for dash in DASHES}) == 4


def test_the_legend_reads_row_by_row_and_has_room():
    names = ["best", "second", "third", "fourth", "fifth"]
    figure = line_plot({name: ([0], [0]) for name in names}, title="", x_label="", y_label="")
    columns = figure.legends[0]._ncols
    written = [text.get_text() for text in figure.legends[0].get_texts()]
    assert columns > 1
    assert written[0] == "best"
    rows = -(-len(names) // columns)
    assert written[rows] == "second"  # at the head of the second column
    assert figure.get_figheight() > curves(2, legend=False).get_figheight()
    assert not curves(2, legend=False).legends


def test_bars_stand_side_by_side_and_unknown_ones_leave_a_gap():
    axes = bar_plot(["g", "h"], {"a": [1.0, np.nan], "b": [0.5, 0.25]}, title="", y_label="").axes[0]
    assert_allclose([bar.get_height() for bar in axes.patches], [1, np.nan, 0.5, 0.25])
    places = [bar.get_x() for bar in axes.patches]
    assert places[0] < places[2] < places[1] < places[3]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["g", "h"]


def test_points_have_names_that_do_not_lie_on_each_other():
    points = {"a": (10.0, 0.5), "b": (10.5, 0.5), "c": (1000.0, 0.1)}
    axes = scatter_plot(points, title="", x_label="", y_label="", x_log=True).axes[0]
    assert axes.get_xscale() == "log"
    assert {text.get_text() for text in axes.texts} == set(points)
    places = {text.get_text(): text.xy for text in axes.texts}
    assert places["a"][1] - places["b"][1] > 0.05
    assert [text.get_ha() for text in axes.texts if text.get_text() == "c"] == ["right"]


def test_heat_maps_share_one_scale():
    figure = image_plot({"low": np.zeros((4, 5)), "high": np.full((4, 5), 7.0)}, title="maps")
    shown = [axes.images[0] for axes in figure.axes if axes.images]
    assert [image.get_clim() for image in shown] == [(0, 7), (0, 7)]
    assert [axes.get_title() for axes in figure.axes[:2]] == ["low", "high"]
    assert "data:image/png;base64," in to_svg(figure)
    with pytest.raises(ValueError, match="at least one array"):
        image_plot({}, title="none")


def test_svg_is_one_element_that_takes_the_colour_of_its_page():
    svg = to_svg(curves())
    root = ElementTree.fromstring(svg)
    assert svg.startswith("<svg ")
    assert (root.tag, root.get("role"), root.get("aria-label")) == (f"{SVG}svg", "img", "Success")
    assert root.get("width") is None
    assert "width:100%" in root.get("style")
    assert "currentColor" in svg
    assert INK not in svg
    for colour in PALETTE[:3]:
        assert f"stroke: {colour}" in svg
    assert {text.text for text in root.iter(f"{SVG}text")} >= {"Success", "threshold", "share", "tracker 2"}
    outside = re.findall(r"https?://[^\s\"]+", svg)
    assert set(outside) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names, not addresses


def test_svg_is_the_same_every_time_and_its_ids_are_its_own():
    figure = curves()
    first = to_svg(figure)
    assert to_svg(figure) == first
    assert to_svg(curves()) == first
    other = to_svg(curves(2))
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (first, other)]
    assert all(ids)
    assert not ids[0] & ids[1]
    for svg, own in zip((first, other), ids, strict=True):
        assert set(re.findall(r"#([\w-]+-p\w+)\)", svg)) <= own


def test_names_are_text_not_markup_nor_mathematics():
    figure = line_plot({HOSTILE: ([0, 1], [0, 1])}, title=HOSTILE, x_label=HOSTILE, y_label="")
    root = ElementTree.fromstring(to_svg(figure))
    assert root.get("aria-label") == HOSTILE
    assert [text.text for text in root.iter(f"{SVG}text")].count(HOSTILE) == 3


def test_files_are_written_by_their_suffix(tmp_path):
    save(curves(), tmp_path / "a.png")
    save(curves(), tmp_path / "a.svg")
    with Image.open(tmp_path / "a.png") as image:
        assert image.width > 600
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"
    with pytest.raises(ValueError, match=r"must end in \.png or \.svg, got 'a\.pdf'"):
        save(curves(), tmp_path / "a.pdf")


def test_a_missing_matplotlib_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ValueError, match=r"needs matplotlib, which is not here: pip install 'metrack\[report\]'"):
        curves()


def test_nothing_global_is_touched():
    code = (
        "import sys, metrack.draw.plots as plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "import matplotlib; before = matplotlib.rcParams.copy()\n"
        "plots.to_svg(plots.line_plot({'a': ([0, 1], [0, 1])}, title='t', x_label='x', y_label='y'))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert matplotlib.rcParams.copy() == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


COLUMNS = [Column("Tracker"), Column("AUC", 1), Column("Error", -1, 1), Column("Frames", 0, 0)]
ROWS = [["a", 0.5, 3.0, 10], ["b", 0.7, 9.04, 20], ["c", float("nan"), 9.01, None], ["d", 0.6, 20.0, 30]]


def cells(html):
    found = ElementTree.fromstring(re.search(r"<table>.*</table>", html, re.DOTALL)[0])
    return [[ElementTree.tostring(cell, encoding="unicode") for cell in row] for row in found.find("tbody")]


def test_the_best_is_bold_and_the_second_underlined():
    rows = cells(table_html(COLUMNS, ROWS, caption="c"))
    assert [("<b>" in row[1], "<u>" in row[1]) for row in rows] == [
        (False, False),
        (True, False),
        (False, False),
        (False, True),
    ]
    assert "<b>3.0</b>" in rows[0][2]
    assert "<u>9.0</u>" in rows[1][2]  # equal as far as can be seen
    assert "<u>9.0</u>" in rows[2][2]
    assert not any("<b>" in row[3] for row in rows)
    assert "–" in rows[2][1]
    assert "data-value" not in rows[2][1]


def test_numbers_may_be_compared_across():
    columns = [Column("Sequence"), Column("a", 1, tinted=True), Column("b", 1, tinted=True)]
    rows = cells(table_html(columns, [["x", 0.2, 0.9], ["y", 0.8, 0.1]], caption="c", across=True))
    assert ["<b>" in cell for cell in rows[0]] == [False, False, True]
    assert ["<b>" in cell for cell in rows[1]] == [False, True, False]
    assert "--share:90%" in rows[0][2]


def test_two_numbers_have_a_best_but_no_second_and_one_has_neither():
    columns = [Column("Tracker"), Column("AUC", 1)]
    both = table_html(columns, [["a", 0.1], ["b", 0.2]], caption="c")
    assert "<b>0.200</b>" in both
    assert "<u>" not in both
    assert "<b>" not in table_html(columns, [["a", 0.1]], caption="c")


def test_a_row_must_fit():
    with pytest.raises(ValueError, match="one cell for each of 4 columns, got 2"):
        table_html(COLUMNS, [["a", 1.0]], caption="c")


def test_everything_given_as_text_is_escaped():
    table = table_html([Column(HOSTILE, note=HOSTILE), Column("x")], [[HOSTILE, HOSTILE]], caption=HOSTILE)
    text = page(HOSTILE, [Section(HOSTILE, table + plots_html(["<svg></svg>"]), HOSTILE)], intro=HOSTILE)
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; $x_1$") == 12
    assert "<svg></svg>" in text


def test_pages_have_a_list_of_contents():
    text = page("Title", [Section("First part", "<p>one</p>"), Section("Second", "")])
    for anchor, title in (("first-part", "First part"), ("second", "Second")):
        assert f'<a href="#{anchor}">{title}</a>' in text
        assert f'<section id="{anchor}">' in text
    assert "http" not in text
