"""Where a chart puts its curves, notes, bars, names and legend, and how it looks as SVG and as a picture."""

from xml.etree import ElementTree

import numpy as np
import pytest

from metrack.draw.axes import SMALL, log_ticks, nice_ticks
from metrack.draw.chart import Axis, Bar, Chart, Curve, Key, Note, Panel, Span
from metrack.draw.labels import RIGHT
from metrack.draw.layout import LEFT, draw_chart, thinned
from metrack.draw.palette import DASHED, INK
from metrack.draw.raster import SCALE, dashes, to_image
from metrack.draw.shapes import Area, Drawing, Line, Picture, Polygon, Text, length_of
from metrack.draw.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
RED, BLUE = "#ff0000", "#0000ff"
X = np.arange(100.0)


def drawn(panel, width=400, **options):
    return draw_chart(Chart("label", [panel], **options), width)


def shapes(drawing, kind, colour=None):
    return [s for s in drawing.shapes if isinstance(s, kind) and colour in (None, getattr(s, "colour", None))]


def texts(drawing):
    return {text.text: text for text in shapes(drawing, Text)}


def test_long_curves_keep_their_ends_and_extremes():
    x, y = np.arange(5000.0), np.sin(np.arange(5000) / 90)
    y[1234], y[3000:3010] = 9.0, np.nan
    parts = list(thinned(x, y, 300))
    assert len(parts) == 2
    assert sum(map(len, parts)) < 1300
    assert (1234.0, 9.0) in parts[0]
    assert (parts[0][0][0], parts[0][-1][0], parts[1][0][0], parts[1][-1][0]) == (0, 2999, 3010, 4999)


@pytest.mark.parametrize("width", [350, 1160])
def test_notes_cover_neither_each_other_nor_the_border(width):
    notes = [Note(frame, f"reappeared {frame}") for frame in (0, 40, 41, 43, 60, 90, 99)]
    drawing = drawn(Panel("", [Curve(X, X / 99, RED)], (0, 1), notes=notes), width)
    found = [text for text in shapes(drawing, Text) if "reappeared" in text.text]
    places = [(t.x if t.anchor == "start" else t.x - length_of(t.text, t.size), t.y, t) for t in found]
    assert len(found) >= (5 if width == 350 else 7)
    for left, y, text in places:
        assert 0 <= left <= width - length_of(text.text, text.size) + RIGHT
        assert not [
            t
            for other, z, t in places
            if t is not text and z == y and 0 <= other - left < length_of(text.text, text.size)
        ]
    (curve,) = shapes(drawing, Line, RED)
    assert curve.points[0][0] >= LEFT
    red = (to_image(drawing) == [255, 0, 0]).all(axis=-1)
    down, across = np.nonzero(red)
    assert down[np.argmin(across)] > down[np.argmax(across)]  # it rises


def test_gaps_bands_and_markers_are_drawn_where_the_values_are():
    y = np.array([0.0, 0.5, np.nan, 1.0, np.inf])
    curve = Curve(np.arange(5.0), y, RED, DASHED, marker=1, band=(y - 0.1, y + 0.1))
    drawing = drawn(Panel("", [curve], (0, 1), axis=Axis(0, 4, "x")))
    (line,) = shapes(drawing, Line, RED)  # the point after the gap stands alone
    assert line.dash == DASHED
    bands = [each for each in shapes(drawing, Polygon, RED) if each.strength < 1]
    markers = [each for each in shapes(drawing, Polygon, RED) if each.strength == 1]
    assert [len(band.points) for band in bands] == [4, 2]
    centres = [tuple(np.mean(marker.points, axis=0).round(6)) for marker in markers]
    np.testing.assert_allclose(centres[:2], line.points)
    assert len(centres) == 3
    (left, low), (right, high) = line.points
    assert low > high  # pixels count downwards
    np.testing.assert_allclose((right - left) * 4, 400 - LEFT - RIGHT, atol=12)


def test_values_outside_are_drawn_at_the_border():
    drawing = drawn(Panel("", [Curve(X, X, RED)], (0, 10)))
    (line,) = shapes(drawing, Line, RED)
    tops = [y for _, y in line.points[12:]]
    assert min(tops) == max(tops)


def test_spans_reach_half_a_frame_beyond_their_ends():
    drawing = drawn(Panel("", [Curve(X, X, RED)], (0, 99), spans=[Span(10, 19, BLUE)]))
    (span,), (line,) = shapes(drawing, Area, BLUE), shapes(drawing, Line, RED)
    frame = line.points[1][0] - line.points[0][0]
    np.testing.assert_allclose(span.w, 10 * frame)
    np.testing.assert_allclose(span.x, line.points[10][0] - frame / 2)


def test_bars_rise_from_zero_and_unknown_ones_leave_a_gap():
    bars = [Bar(-0.4, 0, 1.0, RED), Bar(0, 0.4, -0.5, RED), Bar(0.6, 1, np.nan, RED)]
    areas = shapes(drawn(Panel("", [], (-1, 1), bars=bars, axis=Axis(-0.5, 1.5, names=["g", "h"]), height=100)), Area)
    assert [area.h for area in areas] == [50, 1]
    assert areas[0].x + areas[0].w == pytest.approx(areas[1].x)


@pytest.mark.parametrize(
    ("names", "turn"), [(["short", "names"], 0), ([f"a rather long name {n}" for n in "abcd"], -35)]
)
def test_names_of_groups_are_turned_where_they_would_cover_each_other(names, turn):
    panel = Panel("", [], (0, 1), bars=[], axis=Axis(-0.5, len(names) - 0.5, names=names))
    drawing = drawn(panel)
    assert [texts(drawing)[name].turn for name in names] == [turn] * len(names)
    lowest = max(texts(drawing)[name].y for name in names)
    room = np.sin(np.radians(-turn)) * max(length_of(name, SMALL) for name in names)
    assert drawing.height >= lowest + room


def test_names_beside_points_cover_neither_points_nor_each_other():
    places = {"first": (10.0, 0.5), "second": (10.5, 0.5), "third": (11.0, 0.5), "far away": (990.0, 0.5)}
    curves = [Curve(np.array([x]), np.array([y]), RED, marker=0, name=name) for name, (x, y) in places.items()]
    drawing = drawn(Panel("", curves, (0, 1), axis=Axis(5, 1000, "x", log=True)))
    found = [texts(drawing)[name] for name in places]
    rows = sorted(text.y for text in found[:3])
    assert min(np.diff(rows)) >= SMALL
    assert (found[0].anchor, found[3].anchor) == ("start", "end")
    for text in found:
        left = text.x - (length_of(text.text, SMALL) if text.anchor == "end" else 0)
        assert 0 <= left <= left + length_of(text.text, SMALL) <= 400


def test_ticks_are_round_numbers():
    assert nice_ticks(0, 1, 4) == [0, 0.25, 0.5, 0.75, 1]
    assert nice_ticks(-0.5, 299.5, 6) == [0, 50, 100, 150, 200, 250]
    assert log_ticks(8, 300) == [10, 20, 50, 100, 200]
    assert log_ticks(0.5, 50_000) == [1, 10, 100, 1000, 10_000]


def test_numbers_of_frames_are_whole_and_apart():
    drawing = drawn(Panel("", [Curve(X[:4], X[:4], RED)], (0, 3)))
    numbers = [t for t in shapes(drawing, Text) if t.anchor == "middle"]
    assert [t.text for t in numbers] == ["0", "1", "2", "3"]
    assert "frame" in texts(drawing)


def test_long_numbers_get_room():
    drawing = drawn(Panel("", [Curve(X, 0.9999 + X / 1e6, RED)], (0.9999, 1.0)))
    for text in shapes(drawing, Text):
        if text.anchor == "end":
            assert text.x >= length_of(text.text, text.size)


def test_the_legend_wraps_and_shows_every_look():
    keys = [Key("a line", RED, dash=DASHED, marker=0), Key("an area", BLUE, "area", 0.5), Key("a scale", INK, "scale")]
    panel = Panel("", [Curve(X, X, RED)], (0, 99))
    wide, narrow = drawn(panel, 500, keys=keys), drawn(panel, 200, keys=keys)
    assert len({texts(wide)[key.text].y for key in keys}) == 1
    assert len({texts(narrow)[key.text].y for key in keys}) == 3
    assert wide.height > drawn(panel, 500).height
    assert len(shapes(wide, Picture)) == 1
    assert [line.dash for line in shapes(wide, Line, RED)] == [(), DASHED]
    assert shapes(wide, Area, BLUE)[0].strength == 0.5


def test_panels_stand_beside_each_other_and_share_their_frames():
    panels = [Panel("one", [Curve(X[:50], X[:50], RED)], (0, 99)), Panel("two", [Curve(X, X, BLUE)], (0, 99))]
    drawing = draw_chart(Chart("", panels, columns=2, title="both"), 800)
    one, two = texts(drawing)["one"], texts(drawing)["two"]
    assert one.y == two.y > texts(drawing)["both"].y
    (first,), (second,) = shapes(drawing, Line, RED), shapes(drawing, Line, BLUE)
    np.testing.assert_allclose(second.points[0][0] - first.points[0][0], two.x - one.x)
    np.testing.assert_allclose(second.points[49][0] - first.points[49][0], two.x - one.x)


def everything():
    image = np.zeros((2, 2, 3), np.uint8)
    image[0, 1] = (0, 255, 0)
    return Drawing(
        100,
        60,
        [
            Area(10, 10, 20, 20, RED, title="an <area>"),
            Line([(10, 50), (90, 50)], INK, 2, dash=DASHED),
            Polygon([(40, 10), (60, 10), (60, 30), (40, 30)], BLUE, 0.5),
            Picture(70, 10, 20, 20, image),
            Text(5, 58, "<b> & $x$", 11, turn=-90),
        ],
    )


def test_svg_holds_every_shape_and_escapes_text():
    root = ElementTree.fromstring(to_svg(everything(), "all & <b>", "wide", margin=5))
    assert (root.tag, root.get("role"), root.get("aria-label")) == (f"{SVG}svg", "img", "all & <b>")
    assert root.get("viewBox") == "-5 -5 110 70"
    assert [child.tag.removeprefix(SVG) for child in root] == ["rect", "polyline", "polygon", "image", "text"]
    assert root[0][0].text == "an <area>"
    assert (root[1].get("stroke"), root[1].get("stroke-dasharray")) == ("currentColor", "4 3")
    assert root[2].get("opacity") == "0.5"
    assert root[3].get("href").startswith("data:image/png;base64,")
    assert (root[4].text, root[4].get("transform")) == ("<b> & $x$", "rotate(-90 5 58)")


def test_pictures_show_every_shape():
    image = to_image(everything()).astype(int)
    assert image.shape == (60 * SCALE, 100 * SCALE, 3)

    def at(x, y):
        return image[y * SCALE, x * SCALE].tolist()

    assert at(20, 20) == [255, 0, 0]
    np.testing.assert_allclose(at(50, 20), [127, 127, 255], atol=1)
    assert (at(75, 15), at(85, 15)) == ([0, 0, 0], [0, 255, 0])
    dark = image[50 * SCALE, 10 * SCALE : 90 * SCALE].max(axis=-1) < 128
    assert 0.4 < dark.mean() < 0.75  # dashes and gaps
    assert (image[20 * SCALE : 58 * SCALE, : 8 * SCALE] < 128).any()  # the text goes upwards


def test_dashes_follow_any_pattern_around_corners():
    path = [(0, 0), (10, 0), (10, 10)]
    lengths = [sum(np.hypot(*np.diff(dash, axis=0).T)) for dash in dashes(path, (6, 2, 1, 2))]
    np.testing.assert_allclose(lengths, [6, 1, 6, 1])
    assert [tuple(map(float, point)) for point in next(dashes(path, (12, 100)))] == [(0, 0), (10, 0), (10, 2)]
