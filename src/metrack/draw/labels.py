"""Text in a panel that must not cover other text: notes above it, and names beside points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metrack.draw.axes import SMALL, Axes
from metrack.draw.chart import Curve, Note
from metrack.draw.palette import INK
from metrack.draw.shapes import Drawing, Line, Text, length_of

NOTE_ROW, NOTE_ROWS = 15, 4  # pixels; rows at most
RIGHT = 10  # pixels at the right of a panel, which text may use
BESIDE = 9  # pixels between a point and its name

Rectangle = tuple[float, float, float, float]  # left, right, top, bottom


def note_rows(notes: Sequence[Note], axes: Axes) -> list[int]:
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


def draw_note(drawing: Drawing, note: Note, row: int, top: float, axes: Axes) -> None:
    """Draw a line at the frame of a note, and its words in their row from ``top`` on if it has one."""
    x, begin = axes.x(note.frame), _reach(note, axes)[0]
    base = top + NOTE_ROW * (row + 1) - 4
    drawing.add(Line([(x, base - 8 if row >= 0 else axes.top), (x, axes.bottom)], INK, strength=0.45, title=note.title))
    if row >= 0:
        drawing.add(Text(x + 4 if begin >= x else x - 4, base, note.text, SMALL, "start" if begin >= x else "end"))


def _reach(note: Note, axes: Axes) -> tuple[float, float]:
    """Return where the words of a note begin and end: to the right of its frame, or to the left near the end."""
    x, long = axes.x(note.frame), length_of(note.text, SMALL) + 8
    return (x, x + long) if x + long <= axes.right + RIGHT else (x - long, x)


def draw_names(drawing: Drawing, curves: Sequence[Curve], axes: Axes) -> None:
    """Write names beside the last points of curves, on the side with room, moved up or down where it is taken."""
    named = [(curve, axes.point((float(curve.x[-1]), float(curve.y[-1])))) for curve in curves if curve.name]
    taken = [(x - 6, x + 6, y - 6, y + 6) for _, (x, y) in named]
    for curve, (x, y) in sorted(named, key=lambda each: each[1][1]):
        long = length_of(curve.name, SMALL)
        right = x + BESIDE + long <= axes.right + RIGHT or x < axes.left + axes.width / 2
        left = x + BESIDE if right else x - BESIDE - long
        steps = sorted(np.arange(-axes.height, axes.height, 2).tolist(), key=abs)
        places = [(left, left + long, y + step - 6, y + step + 6) for step in steps]
        place = next((each for each in places if _is_free(each, taken, axes)), places[0])
        taken.append(place)
        base = (place[2] + place[3]) / 2 + SMALL * 0.36
        at = left if right else left + long
        drawing.add(Text(at, base, curve.name, SMALL, "start" if right else "end", curve.colour))


def _is_free(place: Rectangle, taken: Sequence[Rectangle], axes: Axes) -> bool:
    left, right, top, bottom = place
    inside = axes.top <= top and bottom <= axes.bottom
    return inside and all(right <= a or left >= b or bottom <= c or top >= d for a, b, c, d in taken)
