"""Plots for pages and papers, thin over matplotlib, which is imported only when a plot is made.

Every function returns a ``Figure`` of its own; nothing global is touched. A name has one colour and one line style in
all plots that are given the same ``colours`` (:func:`colours_of`). Colours are told apart by the colour-blind, and have
a contrast of at least 3 on white and on dark pages; in :func:`to_svg` text and axes take the colour of the page's text.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#3188df", "#d34719", "#119268", "#ad448f", "#c28b00", "#18a0c4", "#7948d1", "#5e8019")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (5, 1.4, 1, 1.4)), (0, (1.4, 1.2)))
MARKERS = "osD^vPX*"
INK = "#5b6470"  # the only grey: in SVG it becomes the colour of the page's text
WIDTH, HEIGHT = 4.8, 3.1  # inches, so narrow that text can be read on a telephone too
SIZE = 9.5  # points

Curve = tuple[ArrayLike, ArrayLike]


def check_matplotlib() -> None:
    """Refuse to go on where no plot can be made."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ValueError("a plot needs matplotlib, which is not here: pip install 'metrack[report]'") from None


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Give every name its colour, in the order of the palette."""
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(names)}


def key_html(name: str, colours: Mapping[str, str]) -> str:
    """Return a short line that looks as the curves of a name do, for legends outside of plots."""
    dash = _dash(list(colours).index(name))
    array = "" if dash == "-" else " ".join(f"{2 * length:g}" for length in dash[1])
    return (
        '<svg width="28" height="10" aria-hidden="true"><line x1="0" x2="28" y1="5" y2="5" '
        f'stroke="{colours[name]}" stroke-width="3" stroke-dasharray="{array}"/></svg>'
    )


def line_plot(
    series: Mapping[str, Curve],
    *,
    title: str,
    x_label: str,
    y_label: str,
    y_range: tuple[float, float] | None = None,
    bands: Mapping[str, Curve] = {},
    spans: Sequence[tuple[float, float]] = (),
    colours: Mapping[str, str] | None = None,
    legend: bool = True,
    dots: Collection[str] = (),
    height: float = HEIGHT,
) -> Figure:
    """Draw ``(x, y)`` per name; a band is ``(low, high)`` around the curve of its name, a span a grey stretch of x.

    ``dots`` names the curves whose points are marked; values that are not finite leave gaps.
    """
    figure, axes = _figure(title, WIDTH, height)
    for first, last in spans:
        axes.axvspan(first, last, color=INK, alpha=0.18, linewidth=0)
    for name, (x, y) in series.items():
        colour, place = _look(name, series, colours)
        known = np.where(np.isfinite(np.asarray(y, float)), y, np.nan)
        marker = MARKERS[place % len(MARKERS)] if name in dots else None
        axes.plot(x, known, marker=marker, ms=4.5, color=colour, ls=_dash(place), lw=1.6, label=_text(name))
        if name in bands:
            axes.fill_between(np.asarray(x), *bands[name], color=colour, alpha=0.15, linewidth=0)
    axes.set(xlabel=_text(x_label), ylabel=_text(y_label))
    axes.margins(x=0)
    if y_range is not None:
        axes.set_ylim(*y_range)
    if legend:
        _legend(figure, axes)
    return figure


def bar_plot(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    y_label: str,
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one bar per name in every group; a value that is not known (NaN) leaves its place empty."""
    figure, axes = _figure(title, WIDTH, HEIGHT)
    thick = 0.8 / max(len(series), 1)
    for place, (name, values) in enumerate(series.items()):
        colour, _ = _look(name, series, colours)
        at = np.arange(len(groups)) + (place - (len(series) - 1) / 2) * thick
        axes.bar(at, np.asarray(values, float), thick * 0.92, color=colour, label=_text(name))
    axes.set(ylabel=_text(y_label))
    crowded = sum(len(group) for group in groups) > 50
    axes.set_xticks(
        np.arange(len(groups)),
        [_text(group) for group in groups],
        rotation=40 if crowded else 0,
        ha="right" if crowded else "center",
    )
    axes.grid(visible=False, axis="x")
    _legend(figure, axes)
    return figure


def scatter_plot(
    points: Mapping[str, tuple[float, float]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one labelled point per name."""
    figure, axes = _figure(title, WIDTH, HEIGHT)
    for name, (x, y) in points.items():
        colour, place = _look(name, points, colours)
        axes.plot([x], [y], MARKERS[place % len(MARKERS)], color=colour, markersize=8, markeredgewidth=0)
    if x_log:
        _log_scale(axes)
    axes.set(xlabel=_text(x_label), ylabel=_text(y_label))
    axes.margins(x=0.18, y=0.14)
    _name_points(axes, points, {name: _look(name, points, colours)[0] for name in points})
    return figure


def image_plot(images: Mapping[str, ArrayLike], *, title: str) -> Figure:
    """Draw heat maps side by side with one colour scale."""
    if not images:
        raise ValueError("images must hold at least one array, got none")
    arrays = {name: np.asarray(image, float) for name, image in images.items()}
    known = np.concatenate([array[np.isfinite(array)] for array in arrays.values()])
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    figure = _empty(title, max(WIDTH, 2.4 * len(arrays) + 0.6), 2.9)
    panels = figure.subplots(1, len(arrays), squeeze=False)[0]
    for axes, (name, array) in zip(panels, arrays.items(), strict=True):
        shown = axes.imshow(array, cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
        axes.set_title(_text(name), fontsize=SIZE, color=INK)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    bar = figure.colorbar(shown, ax=list(panels), fraction=0.05, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SIZE, colors=INK, length=0)
    return figure


def to_svg(figure: Figure) -> str:
    """Return a bare ``<svg>`` element as wide as its place; the same plot always gives the same text."""
    import matplotlib

    _settle(figure)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "metrack", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text[text.index("<svg") :], flags=re.DOTALL)
    body = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", body.replace(INK, "currentColor"))
    body = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), body)  # a hundredth is enough
    box = re.search(r'viewBox="[^"]*"', body)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box[0] if box else ""} '
        f'role="img" aria-label="{escape(str(figure.get_label()))}" style="width:100%;height:auto;display:block">'
    )
    return _own_names(opening + body[body.index(">") + 1 :].strip())


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG on white, by the suffix of the path."""
    if path.suffix not in (".png", ".svg"):
        raise ValueError(f"path must end in .png or .svg, got {path.name!r}")
    import matplotlib

    _settle(figure)
    with matplotlib.rc_context({"svg.hashsalt": "metrack"}):
        figure.savefig(path, dpi=160, facecolor="white", metadata={"Date": None} if path.suffix == ".svg" else None)


def _settle(figure: Figure) -> None:
    """Find the layout once: looked for again at every drawing, it would move by a hair."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _empty(title: str, width: float, height: float) -> Figure:
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.set_label(title)
    figure.suptitle(_text(title), x=0.01, ha="left", fontsize=SIZE + 1, fontweight="bold", color=INK)
    return figure


def _figure(title: str, width: float, height: float) -> tuple[Figure, Axes]:
    figure = _empty(title, width, height)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=INK, alpha=0.5)
    axes.grid(color=INK, alpha=0.15, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.patch.set_visible(False)
    axes.tick_params(which="both", length=0, labelsize=SIZE, labelcolor=INK, pad=4)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=INK, fontsize=SIZE)
    return figure, axes


def _legend(figure: Figure, axes: Axes) -> None:
    """Write the names below the plot, where they cover nothing, row by row, and make room for them."""
    handles, names = axes.get_legend_handles_labels()
    if not names:
        return
    columns = max(1, min(len(names), 64 // (max(len(name) for name in names) + 7)))
    order = [place for column in range(columns) for place in range(column, len(names), columns)]
    figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(names) // columns))
    figure.legend(
        [handles[place] for place in order],
        [names[place] for place in order],
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=SIZE,
        labelcolor=INK,
        handlelength=2.4,
    )


def _look(name: str, names: Mapping[str, Any], colours: Mapping[str, str] | None) -> tuple[str, int]:
    """Return colour and place of a name: among the colours given, otherwise among the names."""
    known = colours if colours is not None and name in colours else colours_of(names)
    return known[name], list(known).index(name)


def _dash(place: int) -> Any:
    return DASHES[(place + place // len(PALETTE)) % len(DASHES)]


def _text(text: str) -> str:
    return text.replace("$", r"\$")  # no mathematics in names


def _log_scale(axes: Axes) -> None:
    """Write plain numbers, and 2 and 5 between the powers of ten where there is room."""
    axes.set_xscale("log")
    axes.margins(x=0.18)
    low, high = axes.get_xlim()
    between = "25" if high < 300 * low else ""
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:.0e}"[0] in between else "")


def _name_points(axes: Axes, points: Mapping[str, tuple[float, float]], colours: Mapping[str, str]) -> None:
    """Write names beside points: on the side with more room, lower where another name is in the way."""
    axes.autoscale_view()
    taken: list[tuple[float, float]] = []
    for name, point in sorted(points.items(), key=lambda item: -item[1][1]):
        x, y = axes.transAxes.inverted().transform(axes.transData.transform(point))
        down = 0.0
        while any(abs(y - down - other_y) < 0.055 and abs(x - other_x) < 0.35 for other_x, other_y in taken):
            down += 0.01
        taken.append((x, y - down))
        axes.annotate(
            _text(name),
            (x, y - down),
            xycoords="axes fraction",
            xytext=(8 if x < 0.6 else -8, 0),
            textcoords="offset points",
            ha="left" if x < 0.6 else "right",
            va="center",
            fontsize=SIZE,
            color=colours[name],
        )


def _own_names(svg: str) -> str:
    """Keep only the ids that something refers to, and make them differ from those of other plots on a page."""
    used = set(re.findall(r"(?:url\(|href=\")#([\w-]+)", svg))
    own = f"{zlib.crc32(svg.encode()):08x}"
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{own}-{found[1]}"' if found[1] in used else "", svg)
    return re.sub(r"(url\(|href=\")#([\w-]+)", rf"\1#{own}-\2", svg)
