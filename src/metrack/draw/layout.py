"""Drawing a chart at a given width: its panels in rows, and the legend below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from metrack.arrays import Frame
from metrack.draw.axes import QUIET, SMALL, Axes, draw_axis, draw_grid, value_ticks
from metrack.draw.chart import Axis, Bar, Chart, Curve, Key, Numbers, Panel, Ribbon, Span
from metrack.draw.labels import NOTE_ROW, RIGHT, draw_names, draw_note, note_rows
from metrack.draw.palette import INK, MARKERS, heat_colours
from metrack.draw.shapes import Area, Drawing, Line, Picture, Point, Polygon, Text, length_of
from metrack.draw.stretches import stretches_where

TITLE = 13  # size of text
LEFT, GAP = 50, 30  # pixels at the left of a panel at least, and between two
RIBBON, LEGEND_ROW, SAMPLE = 12, 20, 18  # pixels
LINE, THIN_LINE, SIGN = 1.6, 1.2, 4.0  # widths of lines, and half that of a marker of the legend
BAND = 0.18  # strength


def draw_chart(chart: Chart, width: float, *, columns: int | None = None) -> Drawing:
    """Draw a chart at a width in pixels."""
    drawing, columns = Drawing(width), min(columns or chart.columns, len(chart.panels))
    if chart.title:
        drawing.add(Text(0, TITLE, chart.title, TITLE))
        drawing.height = TITLE + 9
    each = (width - GAP * (columns - 1)) / columns
    frames = _frame_axis(chart.panels)
    for first in range(0, len(chart.panels), columns):
        row = chart.panels[first : first + columns]
        bottoms = [
            _draw_panel(drawing, panel, place * (each + GAP), drawing.height, each, panel.axis or frames)
            for place, panel in enumerate(row)
        ]
        drawing.height = max(bottoms)
    _draw_keys(drawing, chart.keys)
    return drawing


def thinned(x: Numbers, y: Numbers, pixels: float) -> Iterator[list[tuple[float, float]]]:
    """Cut a curve at its gaps and drop points that nobody could see: of each pixel the lowest and highest stay."""
    for first, last in stretches_where(np.isfinite(y)):
        chosen = np.arange(first, last + 1)
        if len(chosen) > 2 * pixels:
            parts = np.array_split(chosen, max(round(pixels), 1))
            ends = [part[[np.argmin(y[part]), np.argmax(y[part])]] for part in parts]
            chosen = np.unique(np.concatenate([[first], *ends, [last]]))
        yield list(zip(x[chosen].tolist(), y[chosen].tolist(), strict=True))


def _frame_axis(panels: Sequence[Panel]) -> Axis:
    """Return one axis for the frames of all panels, with half a frame of room at either end."""
    seen = [curve.x for panel in panels for curve in panel.curves if len(curve.x)]
    low, high = min((float(x.min()) for x in seen), default=0), max((float(x.max()) for x in seen), default=1)
    return Axis(low - 0.5, high + 0.5, "frame", whole=True)


def _draw_panel(drawing: Drawing, panel: Panel, left: float, top: float, width: float, axis: Axis) -> float:
    """Draw a panel and return where it ends."""
    drawing.add(Text(left, top + TITLE, panel.title, TITLE))
    top += TITLE + 13
    if panel.y_label:
        drawing.add(Text(left, top + 3, panel.y_label, SMALL, strength=QUIET))
        top += SMALL + 4
    if panel.image is not None:
        return _draw_image(drawing, panel, panel.image, left, top, width)
    margin = max(LEFT, *(length_of(text, SMALL) + 10 for _, text in value_ticks(panel.y_range, panel.height)))
    axes = Axes(left + margin, top, width - margin - RIGHT, panel.height, axis, panel.y_range)
    rows = note_rows(panel.notes, axes)
    axes = replace(axes, top=top + NOTE_ROW * (max(rows, default=-1) + 1))
    drawing.add(*(_area(span, axes, axes.top, axes.height) for span in panel.spans))
    draw_grid(drawing, axes)
    for note, row in zip(panel.notes, rows, strict=True):
        draw_note(drawing, note, row, top, axes)
    drawing.add(*(_bar(bar, axes) for bar in panel.bars if np.isfinite(bar.value)))
    for curve in panel.curves:
        _draw_curve(drawing, curve, axes)
    draw_names(drawing, panel.curves, axes)
    return draw_axis(drawing, axes, _draw_ribbons(drawing, panel.ribbons, axes))


def _draw_image(drawing: Drawing, panel: Panel, image: Frame, left: float, top: float, width: float) -> float:
    """Draw an image and the curves over it."""
    rows, columns = len(image), len(image[0])
    axes = Axes(left, top - 4, width, width * rows / columns, Axis(0, columns), (rows, 0))
    drawing.add(Picture(axes.left, axes.top, axes.width, axes.height, image))
    for curve in panel.curves:
        _draw_curve(drawing, curve, axes)
    return axes.bottom + 8


def _draw_curve(drawing: Drawing, curve: Curve, axes: Axes) -> None:
    if curve.band is not None:
        low, high = curve.band
        for first, last in stretches_where(np.isfinite(low) & np.isfinite(high)):
            there, back = range(first, last + 1), range(last, first - 1, -1)
            border = [(curve.x[k], high[k]) for k in there] + [(curve.x[k], low[k]) for k in back]
            drawing.add(Polygon([axes.point(each) for each in border], curve.colour, BAND))
    for part in thinned(curve.x, curve.y, axes.width):
        points = [axes.point(each) for each in part]
        if len(points) > 1:
            drawing.add(Line(points, curve.colour, THIN_LINE if curve.colour == INK else LINE, dash=curve.dash))
        elif curve.marker is None:  # a frame alone between gaps
            (x, y), size = points[0], 2.4
            drawing.add(Area(x - size / 2, y - size / 2, size, size, curve.colour))
        if curve.marker is not None:
            drawing.add(*(_marker(curve.marker, point, curve.colour, curve.size) for point in points))


def _draw_ribbons(drawing: Drawing, ribbons: Sequence[Ribbon], axes: Axes) -> float:
    bottom = axes.bottom + (7 if ribbons else 3)
    for ribbon in ribbons:
        drawing.add(*(_area(span, axes, bottom, RIBBON) for span in ribbon.spans))
        drawing.add(Text(axes.left - 6, bottom + RIBBON - 2, ribbon.name, SMALL, "end", strength=QUIET))
        bottom += RIBBON + 2
    return bottom


def _marker(marker: int, at: Point, colour: str, size: float) -> Polygon:
    return Polygon([(at[0] + size * x, at[1] + size * y) for x, y in MARKERS[marker].tolist()], colour)


def _area(span: Span, axes: Axes, top: float, height: float) -> Area:
    left, right = axes.x(span.first - 0.5), axes.x(span.last + 0.5)
    return Area(left, top, max(right - left, 1.0), height, span.colour, span.strength, span.title)


def _bar(bar: Bar, axes: Axes) -> Area:
    left, right, top, bottom = axes.x(bar.left), axes.x(bar.right), axes.y(bar.value), axes.y(0.0)
    return Area(left, top, right - left, max(bottom - top, 1.0), bar.colour, title=bar.title)


def _draw_keys(drawing: Drawing, keys: Sequence[Key]) -> None:
    """Write the legend in as many rows as it takes."""
    x, y = float(LEFT), drawing.height + 10
    for key in keys:
        wide = 4 * SAMPLE if key.look == "scale" else SAMPLE
        long = wide + 6 + length_of(key.text, SMALL + 1) + 18
        if x > LEFT and x + long > drawing.width:
            x, y = float(LEFT), y + LEGEND_ROW
        _draw_sample(drawing, key, x, y, wide)
        drawing.add(Text(x + wide + 6, y + 4, key.text, SMALL + 1, strength=0.9))
        x += long
    drawing.height = y + 12 if keys else drawing.height


def _draw_sample(drawing: Drawing, key: Key, x: float, y: float, wide: float) -> None:
    if key.look == "scale":
        drawing.add(Picture(x, y - 5, wide, 10, heat_colours(np.linspace(0, 1, 64))[None]))
    elif key.look == "area":
        drawing.add(Area(x, y - 5, wide, 10, key.colour, key.strength))
    elif key.look == "line":
        drawing.add(Line([(x, y), (x + wide, y)], key.colour, 2.2, dash=key.dash))
    if key.marker is not None:
        drawing.add(_marker(key.marker, (x + wide / 2, y), key.colour, SIGN))
