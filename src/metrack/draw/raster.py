"""Drawings as pictures on white, drawn large and made smaller, so that lines are smooth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from metrack.arrays import Frame
from metrack.draw.drawing import INK, Area, Drawing, Line, Point, Shape, Text
from metrack.draw.marks import Colour, from_hex

SCALE = 2  # pixels of the picture for one of the drawing
FINER = 2  # how much larger it is drawn
DASH, GAP = 4.0, 3.0  # pixels of the drawing
WHITE, DARK = np.array((255, 255, 255)), np.array((38, 42, 50))
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def to_image(drawing: Drawing) -> Frame:
    """Return an RGB picture, ``SCALE`` times as wide as the drawing."""
    size = (round(drawing.width * SCALE), round(drawing.height * SCALE))
    sheet = Pillow.new("RGB", (size[0] * FINER, size[1] * FINER), "white")
    brush = ImageDraw.Draw(sheet)
    for shape in drawing.shapes:
        _draw(brush, shape, SCALE * FINER)
    return np.asarray(sheet.resize(size, Pillow.Resampling.BOX))


def _draw(brush: ImageDraw.ImageDraw, shape: Shape, scale: int) -> None:
    paint = _mixed(shape.colour, shape.strength)
    match shape:
        case Area():
            right, bottom = (shape.x + shape.w) * scale - 1, (shape.y + shape.h) * scale - 1
            brush.rectangle((shape.x * scale, shape.y * scale, max(right, shape.x * scale), bottom), fill=paint)
        case Line():
            for part in dashes(shape.points) if shape.dashed else [shape.points]:
                path = [(x * scale, y * scale) for x, y in part]
                brush.line(path, fill=paint, width=round(shape.width * scale), joint="curve")
        case Text():
            font = ImageFont.load_default(shape.size * scale)
            brush.text(
                (shape.x * scale, shape.y * scale), shape.text, fill=paint, font=font, anchor=ANCHORS[shape.anchor]
            )


def _mixed(colour: str, strength: float) -> Colour:
    full = DARK if colour == INK else np.array(from_hex(colour))
    red, green, blue = (WHITE + (full - WHITE) * strength).round().astype(int).tolist()
    return red, green, blue


def dashes(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Cut a line into its dashes.

    >>> [[(round(x), round(y)) for x, y in dash] for dash in dashes([(0, 0), (10, 0)])]
    [[(0, 0), (4, 0)], [(7, 0), (10, 0)]]
    """
    path = np.array(points, float)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    for begin in np.arange(0.0, along[-1], DASH + GAP):
        end = min(begin + DASH, along[-1])
        corners = along[(along > begin) & (along < end)]
        at = np.concatenate([[begin], corners, [end]])
        yield list(zip(np.interp(at, along, path[:, 0]), np.interp(at, along, path[:, 1]), strict=True))
