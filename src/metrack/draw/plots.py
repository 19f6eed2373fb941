"""Charts of one panel from named series: curves, bars and points, for pages and papers.

A name has one colour, line style and marker in all plots that are given the same ``looks``
(:func:`metrack.draw.palette.looks_of`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from metrack.draw.chart import Axis, Bar, Chart, Curve, Key, Numbers, Panel, Range, Span
from metrack.draw.layout import draw_chart
from metrack.draw.page import PLOT
from metrack.draw.palette import INK, TEXT, WHITE, Look, looks_of, to_hex
from metrack.draw.pictures import write_picture
from metrack.draw.raster import SCALE, to_image
from metrack.draw.shapes import Area
from metrack.draw.svg import to_svg
from metrack.files import replace_text

HEIGHT = 190.0  # pixels of a panel
MARGIN = 12  # pixels around a chart in a file
FRAME = "frame"
NO_TRUTH = 0.18  # strength of grey spans

Series = tuple[ArrayLike, ArrayLike]


def line_plot(
    series: Mapping[str, Series],
    *,
    title: str,
    x_label: str = FRAME,
    y_label: str,
    y_range: Range | None = None,
    bands: Mapping[str, Series] = {},
    spans: Sequence[tuple[float, float]] = (),
    looks: Mapping[str, Look] | None = None,
    legend: bool = True,
    dots: Collection[str] = (),
    height: float = HEIGHT,
) -> Chart:
    """Draw ``(x, y)`` per name; a band is ``(low, high)`` around the curve of its name, a span a range of frames.

    ``dots`` names the curves whose points are marked; values that are not finite leave gaps.
    """
    looks = looks if looks is not None else looks_of(series)
    curves = {name: _curve(points, looks[name], bands.get(name), name in dots) for name, points in series.items()}
    shown = curves.values()
    values = [each for curve in shown for each in (curve.y, *(curve.band or ()))]
    panel = Panel(
        title=title,
        curves=list(shown),
        y_range=y_range or _padded(values, 0.05),
        spans=[Span(first, last, INK, strength=NO_TRUTH) for first, last in spans],
        height=height,
        axis=None if x_label == FRAME else Axis(*_padded([curve.x for curve in shown], 0.0), x_label),
        y_label=y_label,
    )
    keys = [Key(name, each.colour, dash=each.dash, marker=each.marker) for name, each in curves.items()]
    return Chart(title, [panel], keys if legend else [])


def bar_plot(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    y_label: str,
    looks: Mapping[str, Look] | None = None,
) -> Chart:
    """Draw one bar per name in every group; a value that is not known (NaN) leaves its place empty."""
    looks = looks if looks is not None else looks_of(series)
    thick = 0.8 / max(len(series), 1)
    bars = [
        Bar(at, at + 0.92 * thick, value, looks[name].colour, f"{name}, {group}: {value:.3g}")
        for place, (name, values) in enumerate(series.items())
        for number, (group, value) in enumerate(zip(groups, values, strict=True))
        for at in [number - 0.4 + place * thick]
    ]
    low, high = _padded([np.array([bar.value for bar in bars])], 0.05)
    axis = Axis(-0.5, max(len(groups), 1) - 0.5, names=groups)
    panel = Panel(title, [], (min(low, 0.0), max(high, 0.0)), height=HEIGHT, bars=bars, axis=axis, y_label=y_label)
    return Chart(title, [panel], [Key(name, looks[name].colour, "area") for name in series])


def scatter_plot(
    points: Mapping[str, tuple[float, float]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    looks: Mapping[str, Look] | None = None,
) -> Chart:
    """Draw one point per name, with the name beside it, over a logarithmic axis."""
    looks = looks if looks is not None else looks_of(points)
    curves = [
        Curve(np.array([x]), np.array([y]), looks[name].colour, marker=looks[name].marker, name=name)
        for name, (x, y) in points.items()
    ]
    low, high = _padded([np.log([x for x, _ in points.values()])], 0.18)
    panel = Panel(
        title=title,
        curves=curves,
        y_range=_padded([curve.y for curve in curves], 0.14),
        height=HEIGHT,
        axis=Axis(math.exp(low), math.exp(high), x_label, log=True),
        y_label=y_label,
    )
    return Chart(title, [panel])


def save(chart: Chart, path: Path) -> None:
    """Write a chart on white as PNG or SVG, by the suffix of the path."""
    drawing = draw_chart(chart, PLOT)
    if path.suffix == ".png":
        edge = MARGIN * SCALE
        write_picture(path, np.pad(to_image(drawing), ((edge, edge), (edge, edge), (0, 0)), constant_values=255))
    elif path.suffix == ".svg":
        width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
        ground = Area(-MARGIN, -MARGIN, width, height, to_hex(WHITE))
        text = to_svg(replace(drawing, shapes=[ground, *drawing.shapes]), chart.label, margin=MARGIN)
        replace_text(path, text.replace("currentColor", to_hex(TEXT)))
    else:
        raise ValueError(f"path must end in .png or .svg, got {path.name!r}")


def _curve(points: Series, look: Look, band: Series | None, marked: bool) -> Curve:
    x, y = (np.asarray(each, float) for each in points)
    around = None if band is None else (np.asarray(band[0], float), np.asarray(band[1], float))
    return Curve(x, y, look.colour, look.dash, look.marker if marked else None, band=around)


def _padded(arrays: Iterable[Numbers], share: float) -> Range:
    """Return the range of all finite values, enlarged by a share of it at either end; never empty."""
    values = np.concatenate([np.empty(0), *(np.ravel(each) for each in arrays)])
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low - share * (high - low), high + share * (high - low)
