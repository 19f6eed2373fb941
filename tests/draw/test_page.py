import re
from xml.etree import ElementTree

import numpy as np
import pytest

from metrack.draw.chart import Chart, Curve, Panel
from metrack.draw.page import Column, Section, chart_html, legend_html, page, plots_html, strip_html, table_html
from metrack.draw.palette import DASHED, Look

HOSTILE = '<script>alert("1")</script> & $x_1$'

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


def test_charts_are_drawn_for_wide_and_narrow_pages():
    chart = Chart("a label", [Panel("t", [Curve(np.arange(3.0), np.arange(3.0), "#ff0000")], (0, 2))])
    html = chart_html(chart)
    assert re.findall(r'viewBox="0 0 (\d+)', html) == ["1160", "350"]
    assert re.findall(r'class="(\w+)" role="img" aria-label="a label"', html) == ["wide", "narrow"]
    assert re.findall(r'class="plot"><svg|class="plot"><p', plots_html([chart, "<p></p>"])) != []


def test_legends_and_strips_show_names_looks_and_pictures():
    legend = legend_html({HOSTILE: Look("#123456", DASHED)})
    assert 'stroke="#123456"' in legend
    assert 'stroke-dasharray="4 3"' in legend
    strip = strip_html([(np.zeros((4, 4, 3), np.uint8), HOSTILE, "<b>caption</b>")], "moments")
    assert "<script>" not in legend + strip
    assert '<div class="strip moments"><figure><img src="data:image/jpeg;base64,' in strip
    assert "<figcaption><b>caption</b></figcaption>" in strip
