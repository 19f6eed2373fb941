"""Axes of a panel: from values to pixels, round numbers, and the lines and numbers that show them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metrack.draw.chart import Axis, Range
from metrack.draw.palette import INK
from metrack.draw.shapes import Drawing, Line, Point, Text, length_of

SMALL = 11  # size of text
GRID, QUIET = 0.14, 0.75  # strengths
TURN = 35  # degrees, where names of groups would cover each other
ACROSS, DOWN = 55, 36  # pixels between numbers, about


@dataclass(frozen=True, slots=True)
class Axes:
    """Where the values of a panel lie on the sheet; values outside are drawn at the border."""

    left: float
    top: float
    width: float
    height: float
    axis: Axis
    values: Range

    def x(self, value: float) -> float:
        """Return the pixel of a value of the horizontal axis."""
        low, high = self.axis.low, self.axis.high
        if self.axis.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.left + self.width * min(max((value - low) / (high - low), 0.0), 1.0)

    def y(self, value: float) -> float:
        """Return the pixel of a value of the vertical axis."""
        low, high = self.values
        return self.top + self.height * (1 - min(max((value - low) / (high - low), 0.0), 1.0))

    def point(self, at: tuple[float, float]) -> Point:
        """Return the pixels of a pair of values."""
        return self.x(at[0]), self.y(at[1])

    @property
    def bottom(self) -> float:
        """Where the panel ends."""
        return self.top + self.height

    @property
    def right(self) -> float:
        """Where the panel ends at its right."""
        return self.left + self.width


def nice_ticks(low: float, high: float, count: int) -> list[float]:
    """Return about ``count`` round numbers between two.

    >>> nice_ticks(0, 299, 6)
    [0.0, 50.0, 100.0, 150.0, 200.0, 250.0]
    """
    rough = max(high - low, 1e-9) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 9) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten between two numbers, or only the powers where they are many.

    >>> log_ticks(8, 300)
    [10.0, 20.0, 50.0, 100.0, 200.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    times = (1, 2, 5) if high < 300 * low else (1,)
    return [tick for power in powers for each in times if low <= (tick := each * 10.0**power) <= high]


def value_ticks(values: Range, height: float) -> list[tuple[float, str]]:
    """Return the numbers of the vertical axis with their texts."""
    return _written(nice_ticks(*values, max(round(height / DOWN), 4)))


def draw_grid(drawing: Drawing, axes: Axes) -> None:
    """Draw lines across at the values, with their numbers at the left, and down at round numbers of the axis."""
    if not axes.axis.whole and not axes.axis.names:
        for tick, _ in _axis_ticks(axes):
            drawing.add(Line([(axes.x(tick), axes.top), (axes.x(tick), axes.bottom)], INK, strength=GRID))
    for tick, text in value_ticks(axes.values, axes.height):
        y = axes.y(tick)
        drawing.add(Line([(axes.left, y), (axes.right, y)], INK, strength=GRID))
        drawing.add(Text(axes.left - 6, y + SMALL * 0.36, text, SMALL, "end", strength=QUIET))


def draw_axis(drawing: Drawing, axes: Axes, top: float) -> float:
    """Write numbers or names, and what they are, below a panel; return where that ends."""
    base, label = top + SMALL + 3, axes.axis.label
    if axes.axis.names:
        return _draw_names(drawing, axes, base)
    last = -math.inf
    for tick, text in _axis_ticks(axes):
        x, half = axes.x(tick), length_of(text, SMALL) / 2
        if x - half > last:
            drawing.add(Line([(x, axes.bottom), (x, axes.bottom + 3)], INK, strength=0.4))
            drawing.add(Text(x, base, text, SMALL, "middle", strength=QUIET))
            last = x + half
    if axes.axis.whole:  # short: it stands beside the numbers
        drawing.add(Text(axes.left - 14, base, label, SMALL, "end", strength=QUIET))
        return base + 16
    drawing.add(Text(axes.left + axes.width / 2, base + SMALL + 5, label, SMALL, "middle", strength=QUIET))
    return base + SMALL + 21


def _axis_ticks(axes: Axes) -> Iterator[tuple[float, str]]:
    axis = axes.axis
    if axis.log:
        yield from ((tick, f"{tick:g}") for tick in log_ticks(axis.low, axis.high))
        return
    ticks = nice_ticks(axis.low, axis.high, max(int(axes.width / ACROSS), 2))
    yield from _written([tick for tick in ticks if not axis.whole or tick == round(tick)])


def _written(ticks: Sequence[float]) -> list[tuple[float, str]]:
    """Write numbers with as many digits as the longest of them needs."""
    digits = max((len(f"{tick:g}".partition(".")[2]) for tick in ticks), default=0)
    return [(tick, f"{tick:.{digits}f}") for tick in ticks]


def _draw_names(drawing: Drawing, axes: Axes, base: float) -> float:
    names = axes.axis.names
    lengths = [length_of(name, SMALL) for name in names]
    turned = max(lengths) > axes.width / len(names)
    for place, name in enumerate(names):
        x = axes.x(place)
        if turned:
            drawing.add(Text(x + 4, base, name, SMALL, "end", strength=QUIET, turn=-TURN))
        else:
            drawing.add(Text(x, base, name, SMALL, "middle", strength=QUIET))
    return base + (math.sin(math.radians(TURN)) * max(lengths) if turned else 0) + 16
