"""A drawing is a list of shapes on a sheet, in pixels from its top-left corner; who shows it decides how.

:mod:`metrack.draw.svg` makes a part of a page of it, :mod:`metrack.draw.raster` a picture. Colours are
``#rrggbb``, or ``INK``: whatever text is written in. ``strength`` is how much of a colour covers the ground, in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from metrack.draw.marks import text_size

INK = "ink"
WIDEST = 1.2  # how much wider than the font of pictures
Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Area:
    """A filled rectangle; ``title`` is for who points at it."""

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
    dashed: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words on a base line at ``y``."""

    x: float
    y: float
    text: str
    size: int
    anchor: Anchor = "start"
    colour: str = INK
    strength: float = 1.0


Shape = Area | Line | Text


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
    """Tell how many pixels a text is long at most, in the fonts that pages are usually shown in."""
    return round(WIDEST * text_size(text, size)[0]) if text else 0
