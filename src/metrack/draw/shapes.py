"""Shapes on a sheet, in pixels from its top-left corner.

:mod:`metrack.draw.svg` makes a part of a page of them, :mod:`metrack.draw.raster` a picture. Colours are ``#rrggbb``
or ``INK``. ``strength`` is the opacity, in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from metrack.arrays import Frame
from metrack.draw.marks import text_size
from metrack.draw.palette import INK, Dash

WIDEST = 1.2  # how much wider text is in the browser's fonts than in that of pictures, at most
Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Area:
    """A filled rectangle; ``title`` is its tooltip."""

    x: float
    y: float
    w: float
    h: float
    colour: str
    strength: float = 1.0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: Sequence[Point]
    colour: str
    width: float = 1.0
    strength: float = 1.0
    dash: Dash = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled outline."""

    points: Sequence[Point]
    colour: str
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text with its base line at ``y``, turned by so many degrees clockwise around ``(x, y)``."""

    x: float
    y: float
    text: str
    size: int
    anchor: Anchor = "start"
    colour: str = INK
    strength: float = 1.0
    turn: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An RGB image stretched over a rectangle, without smoothing."""

    x: float
    y: float
    w: float
    h: float
    image: Frame


Shape = Area | Line | Polygon | Text | Picture


@dataclass(slots=True)
class Drawing:
    """Shapes in the order in which they cover each other; the height grows with what is drawn."""

    width: float
    height: float = 0.0
    shapes: list[Shape] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        """Draw on top of what is there."""
        self.shapes.extend(shapes)


def length_of(text: str, size: int) -> int:
    """Return an upper bound of a text's width in pixels, for the fonts that pages are usually shown in."""
    return round(WIDEST * text_size(text, size)[0]) if text else 0
