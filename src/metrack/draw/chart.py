"""Curves over frames: panels with a common axis of frames, and one legend below them.

A panel has curves, coloured spans behind them, notes above them that point at frames, and ribbons below them that say
what was so from one frame to another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.draw.drawing import INK, Area, Drawing, Line, Point, Text, length_of

TITLE, SMALL = 13, 11  # sizes of text
LEFT, RIGHT, GAP = 50, 10, 30  # pixels beside a panel, and between two
NOTE_ROW, NOTE_ROWS, RIBBON, LEGEND_ROW = 15, 4, 12, 20  # pixels; rows at most
GRID, QUIET = 0.14, 0.75  # strengths

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Values ``y`` of the frames ``x``; NaN leaves a gap."""

    x: Numbers
    y: Numbers
    colour: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """What was so from one frame to another, both included."""

    first: float
    last: float
    colour: str
    title: str = ""
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Note:
    """A few words about a frame; ``title`` tells more to who points at them."""

    frame: float
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A row of spans below the curves, with its name beside it."""

    name: str
    spans: Sequence[Span]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of the chart."""

    title: str
    curves: Sequence[Curve]
    y_range: tuple[float, float]
    spans: Sequence[Span] = ()
    notes: Sequence[Note] = ()
    ribbons: Sequence[Ribbon] = ()
    height: float = 120.0


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend: how it looks and what it means."""

    text: str
    colour: str
    look: str = "line"  # or "dashed" or "area"
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels over the same frames; ``columns`` of them stand beside each other where there is room."""

    label: str
    panels: Sequence[Panel]
    keys: Sequence[Key] = ()
    columns: int = 1


def draw_chart(chart: Chart, width: float, *, columns: int | None = None) -> Drawing:
    """Draw a chart that is so many pixels wide."""
    drawing, columns = Drawing(width), min(columns or chart.columns, len(chart.panels))
    each = (width - GAP * (columns - 1)) / columns
    frames = _frame_range(chart.panels)
    for first in range(0, len(chart.panels), columns):
        row = chart.panels[first : first + columns]
        bottoms = [
            _draw_panel(drawing, panel, place * (each + GAP), drawing.height, each, frames)
            for place, panel in enumerate(row)
        ]
        drawing.height = max(bottoms)
    _draw_keys(drawing, chart.keys)
    return drawing


def nice_ticks(low: float, high: float, count: int) -> list[float]:
    """Return about so many round numbers between two.

    >>> nice_ticks(0, 299, 6)
    [0.0, 50.0, 100.0, 150.0, 200.0, 250.0]
    """
    rough = max(high - low, 1e-9) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 9) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def thinned(x: Numbers, y: Numbers, pixels: float) -> Iterator[list[tuple[float, float]]]:
    """Cut a curve at its gaps and leave out points that nobody could see: of each pixel the lowest and highest stay."""
    known = np.isfinite(y)
    edges = np.flatnonzero(np.diff(known.astype(int), prepend=0, append=0))
    for first, last in edges.reshape(-1, 2).tolist():
        chosen = np.arange(first, last)
        if last - first > 2 * pixels:
            parts = np.array_split(chosen, max(round(pixels), 1))
            ends = [part[[np.argmin(y[part]), np.argmax(y[part])]] for part in parts]
            chosen = np.unique(np.concatenate([[first], *ends, [last - 1]]))
        yield list(zip(x[chosen].tolist(), y[chosen].tolist(), strict=True))


def _frame_range(panels: Sequence[Panel]) -> tuple[float, float]:
    seen = [curve.x for panel in panels for curve in panel.curves if len(curve.x)]
    low, high = min(float(x.min()) for x in seen), max(float(x.max()) for x in seen)
    return low - 0.5, high + 0.5


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where the curves of a panel lie on the sheet."""

    left: float
    top: float
    width: float
    height: float
    frames: tuple[float, float]
    values: tuple[float, float]

    def x(self, frame: float) -> float:
        low, high = self.frames
        return self.left + self.width * min(max((frame - low) / (high - low), 0.0), 1.0)

    def y(self, value: float) -> float:
        low, high = self.values
        return self.top + self.height * (1 - min(max((value - low) / (high - low), 0.0), 1.0))

    def point(self, at: tuple[float, float]) -> Point:
        return self.x(at[0]), self.y(at[1])

    @property
    def bottom(self) -> float:
        return self.top + self.height


def _draw_panel(
    drawing: Drawing, panel: Panel, left: float, top: float, width: float, frames: tuple[float, float]
) -> float:
    """Draw a panel and return where it ends."""
    drawing.add(Text(left, top + TITLE, panel.title, TITLE))
    top += TITLE + 13
    axes = _Axes(left + LEFT, top, width - LEFT - RIGHT, panel.height, frames, panel.y_range)
    rows = _rows(panel.notes, axes)
    axes = _Axes(axes.left, top + NOTE_ROW * (max(rows, default=-1) + 1), axes.width, panel.height, frames, axes.values)
    for span in panel.spans:
        drawing.add(_area(span, axes, axes.top, axes.height))
    _draw_grid(drawing, axes)
    for note, row in zip(panel.notes, rows, strict=True):
        _draw_note(drawing, note, top + NOTE_ROW * (row + 1) - 4 if row >= 0 else axes.top, axes, row >= 0)
    for curve in panel.curves:
        for part in thinned(curve.x, curve.y, axes.width):
            drawing.add(_line(curve, [axes.point(each) for each in part]))
    bottom = axes.bottom + (7 if panel.ribbons else 3)
    for ribbon in panel.ribbons:
        drawing.add(*(_area(span, axes, bottom, RIBBON) for span in ribbon.spans))
        drawing.add(Text(axes.left - 6, bottom + RIBBON - 2, ribbon.name, SMALL, "end", strength=QUIET))
        bottom += RIBBON + 2
    return _draw_frames(drawing, axes, bottom)


def _line(curve: Curve, points: list[Point]) -> Line | Area:
    if len(points) == 1:
        (x, y), size = points[0], 2.4
        return Area(x - size / 2, y - size / 2, size, size, curve.colour)
    return Line(points, curve.colour, 1.2 if curve.dashed else 1.6, dashed=curve.dashed)


def _area(span: Span, axes: _Axes, top: float, height: float) -> Area:
    left, right = axes.x(span.first - 0.5), axes.x(span.last + 0.5)
    return Area(left, top, max(right - left, 1.0), height, span.colour, span.strength, span.title)


def _draw_grid(drawing: Drawing, axes: _Axes) -> None:
    ticks = nice_ticks(*axes.values, 4)
    digits = max((len(f"{tick:g}".partition(".")[2]) for tick in ticks), default=0)
    for tick in ticks:
        y = axes.y(tick)
        drawing.add(Line([(axes.left, y), (axes.left + axes.width, y)], INK, strength=GRID))
        drawing.add(Text(axes.left - 6, y + SMALL * 0.36, f"{tick:.{digits}f}", SMALL, "end", strength=QUIET))


def _draw_frames(drawing: Drawing, axes: _Axes, top: float) -> float:
    """Write the numbers of frames below a panel."""
    base, last = top + SMALL + 3, -math.inf
    for tick in nice_ticks(*axes.frames, max(int(axes.width / 70), 2)):
        text, x = f"{tick:.0f}", axes.x(tick)
        if tick == round(tick) and x - length_of(text, SMALL) / 2 > last:
            drawing.add(Line([(x, axes.bottom), (x, axes.bottom + 3)], INK, strength=0.4))
            drawing.add(Text(x, base, text, SMALL, "middle", strength=QUIET))
            last = x + length_of(text, SMALL) / 2
    drawing.add(Text(axes.left - 14, base, "frame", SMALL, "end", strength=QUIET))
    return base + 16


def _rows(notes: Sequence[Note], axes: _Axes) -> list[int]:
    """Give every note the lowest row in which it covers no other; -1 where there is none.

    From the last to the first: so no line goes down through the words of an earlier note.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(NOTE_ROWS)]
    places: list[int] = []
    for note in reversed(notes):
        begin, end = _reach(note, axes)
        free = [row for row, spans in enumerate(taken) if all(end < low or begin > high for low, high in spans)]
        places.append(free[0] if free else -1)
        if free:
            taken[free[0]].append((begin, end))
    used = max(places, default=-1)
    return [used - place if place >= 0 else -1 for place in reversed(places)]


def _reach(note: Note, axes: _Axes) -> tuple[float, float]:
    """Tell from where to where the words of a note go: to the right of its frame, or to the left near the end."""
    x, long = axes.x(note.frame), length_of(note.text, SMALL) + 8
    return (x, x + long) if x + long <= axes.left + axes.width + RIGHT else (x - long, x)


def _draw_note(drawing: Drawing, note: Note, base: float, axes: _Axes, shown: bool) -> None:
    x, begin = axes.x(note.frame), _reach(note, axes)[0]
    drawing.add(Line([(x, base - 8 if shown else base), (x, axes.bottom)], INK, strength=0.45, title=note.title))
    if shown:
        drawing.add(Text(x + 4 if begin >= x else x - 4, base, note.text, SMALL, "start" if begin >= x else "end"))


def _draw_keys(drawing: Drawing, keys: Sequence[Key]) -> None:
    """Write the legend in as many rows as it takes."""
    x, y = float(LEFT), drawing.height + 10
    for key in keys:
        long = 24 + length_of(key.text, SMALL + 1) + 18
        if x > LEFT and x + long > drawing.width:
            x, y = float(LEFT), y + LEGEND_ROW
        drawing.add(_sample(key, x, y), Text(x + 24, y + 4, key.text, SMALL + 1, strength=0.9))
        x += long
    drawing.height = y + 12 if keys else drawing.height


def _sample(key: Key, x: float, y: float) -> Line | Area:
    if key.look == "area":
        return Area(x, y - 5, 18, 10, key.colour, key.strength)
    return Line([(x, y), (x + 18, y)], key.colour, 2.2, dashed=key.look == "dashed")
