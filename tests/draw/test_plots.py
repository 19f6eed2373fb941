from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from metrack.draw.palette import PALETTE, looks_of
from metrack.draw.plots import bar_plot, line_plot, save, scatter_plot

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("1")</script> & $x_1$'


def curves(count=3, **options):
    x = np.linspace(0, 1, 21)
    series = {f"tracker {place}": (x, 1 - x ** (place + 1)) for place in range(count)}
    return line_plot(series, title="Success", x_label="threshold", y_label="share", **options)


def test_curves_hold_what_they_were_given():
    chart = line_plot(
        {"a": ([0, 1, 2], [3.0, np.inf, 5.0]), "b": ([0, 1, 2], [1.0, 2.0, 3.0])},
        title="t",
        x_label="x",
        y_label="y",
        y_range=(0, 9),
        bands={"b": ([0, 1, 2], [2, 3, 4])},
        spans=[(1, 2)],
        dots=["b"],
    )
    (panel,) = chart.panels
    first, second = panel.curves
    assert_allclose(first.y, [3, np.inf, 5])
    assert_allclose(second.y, [1, 2, 3])
    assert (panel.y_range, panel.axis.low, panel.axis.high) == ((0, 9), 0, 2)
    assert (first.colour, second.colour) == PALETTE[:2]
    assert first.dash != second.dash
    assert (first.marker, second.marker) == (None, 1)
    assert first.band is None
    assert_allclose(second.band, [[0, 1, 2], [2, 3, 4]])
    assert [(span.first, span.last) for span in panel.spans] == [(1, 2)]
    assert [key.text for key in chart.keys] == ["a", "b"]
    assert not curves(legend=False).keys


def test_ranges_cover_all_that_is_finite():
    series = {"a": ([0, 1], [np.nan, 3.0]), "b": ([0, 1], [1.0, np.inf])}
    chart = line_plot(series, title="", y_label="", bands={"b": ([0, 0], [5, 5])})
    low, high = chart.panels[0].y_range
    assert low == pytest.approx(-0.25)
    assert high == pytest.approx(5.25)
    assert chart.panels[0].axis is None  # frames
    nothing = line_plot({"a": ([0, 1], [np.nan, np.nan])}, title="", y_label="")
    low, high = nothing.panels[0].y_range
    assert low < high


def test_a_name_looks_the_same_in_every_plot():
    looks = looks_of(["a", "b", "c"])
    both = line_plot({"c": ([0], [0]), "a": ([0], [0])}, title="", y_label="", looks=looks).panels[0]
    alone = line_plot({"c": ([0], [0])}, title="", y_label="", looks=looks).panels[0]
    point = scatter_plot({"c": (1, 1)}, title="", x_label="", y_label="", looks=looks).panels[0]
    bars = bar_plot(["g"], {"c": [1]}, title="", y_label="", looks=looks).panels[0]
    colours = {both.curves[0].colour, alone.curves[0].colour, point.curves[0].colour, bars.bars[0].colour}
    assert colours == {PALETTE[2]}
    assert both.curves[0].dash == alone.curves[0].dash


def test_bars_stand_side_by_side():
    chart = bar_plot(["g", "h"], {"a": [1.0, np.nan], "b": [0.5, 0.25]}, title="", y_label="")
    (panel,) = chart.panels
    assert_allclose([bar.value for bar in panel.bars], [1, np.nan, 0.5, 0.25])
    ends = [(panel.bars[place].left, panel.bars[place].right) for place in (0, 2, 1, 3)]
    assert all(left[1] <= right[0] for left, right in pairwise(ends))
    assert panel.axis.names == ["g", "h"]
    assert panel.y_range[0] == 0
    assert panel.bars[3].title == "b, h: 0.25"


def test_points_are_named_and_inside_the_axes():
    (panel,) = scatter_plot({"a": (10.0, 0.5), "c": (1000.0, 0.1)}, title="", x_label="", y_label="").panels
    assert panel.axis.log
    assert panel.axis.low < 10 < 1000 < panel.axis.high
    assert [(curve.name, curve.marker) for curve in panel.curves] == [("a", 0), ("c", 1)]


def test_files_are_written_by_their_suffix(tmp_path):
    chart = line_plot({HOSTILE: ([0, 1], [0, 1])}, title=HOSTILE, x_label="x", y_label="")
    save(chart, tmp_path / "a.png")
    save(chart, tmp_path / "a.svg")
    with Image.open(tmp_path / "a.png") as image:
        assert image.width > 800
        pixels = np.asarray(image.convert("RGB"))
    assert (pixels[:20] == 255).all()
    assert (pixels < 100).any()
    text = (tmp_path / "a.svg").read_text()
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root[0].get("fill") == "#ffffff"  # the ground
    assert "currentColor" not in text  # it must be seen on white anywhere
    assert [each.text for each in root.iter(f"{SVG}text")].count(HOSTILE) == 2
    save(chart, tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == text
    with pytest.raises(ValueError, match=r"must end in \.png or \.svg, got 'a\.pdf'"):
        save(curves(), tmp_path / "a.pdf")
