"""Drawings as pictures on white, drawn large and scaled down, so that lines are smooth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from metrack.arrays import Frame
from metrack.draw.palette import INK, TEXT, WHITE, Colour, Dash, from_hex
from metrack.draw.shapes import Area, Drawing, Line, Picture, Point, Polygon, Shape, Text

SCALE = 2  # pixels of the picture for one of the drawing
FINER = 2  # how much larger it is drawn
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def to_image(drawing: Drawing) -> Frame:
    """Return an RGB picture, ``SCALE`` times as wide as the drawing."""
    size = (round(drawing.width * SCALE), round(drawing.height * SCALE))
    sheet = Pillow.new("RGB", (size[0] * FINER, size[1] * FINER), "white")
    for shape in drawing.shapes:
        _draw(sheet, shape, SCALE * FINER)
    return np.asarray(sheet.resize(size, Pillow.Resampling.BOX))


def _draw(sheet: Pillow.Image, shape: Shape, scale: int) -> None:
    brush = ImageDraw.Draw(sheet)
    match shape:
        case Area():
            brush.rectangle(_corners(shape, scale), fill=_mixed(shape.colour, shape.strength))
        case Line():
            paint, width = _mixed(shape.colour, shape.strength), round(shape.width * scale)
            for part in dashes(shape.points, shape.dash) if shape.dash else [shape.points]:
                brush.line(_scaled(part, scale), fill=paint, width=width, joint="curve")
        case Polygon():
            mask = Pillow.new("L", sheet.size)
            ImageDraw.Draw(mask).polygon(_scaled(shape.points, scale), fill=round(255 * shape.strength))
            sheet.paste(_mixed(shape.colour, 1.0), mask=mask)
        case Text():
            _write(sheet, shape, scale)
        case Picture():
            left, top, right, bottom = (round(each) for each in _corners(shape, scale))
            size = (right - left + 1, bottom - top + 1)
            sheet.paste(Pillow.fromarray(shape.image).resize(size, Pillow.Resampling.NEAREST), (left, top))


def _write(sheet: Pillow.Image, text: Text, scale: int) -> None:
    at, mask = (text.x * scale, text.y * scale), Pillow.new("L", sheet.size) if text.turn else None
    brush, paint = ImageDraw.Draw(mask or sheet), _mixed(text.colour, text.strength)
    font = ImageFont.load_default(text.size * scale)
    brush.text(at, text.text, fill=255 if mask else paint, font=font, anchor=ANCHORS[text.anchor])
    if mask:
        sheet.paste(paint, mask=mask.rotate(-text.turn, Pillow.Resampling.BICUBIC, center=at))


def _corners(shape: Area | Picture, scale: int) -> tuple[float, float, float, float]:
    left, top = shape.x * scale, shape.y * scale
    return left, top, max((shape.x + shape.w) * scale - 1, left), max((shape.y + shape.h) * scale - 1, top)


def _scaled(points: Sequence[Point], scale: int) -> list[Point]:
    return [(x * scale, y * scale) for x, y in points]


def _mixed(colour: str, strength: float) -> Colour:
    full, ground = np.array(TEXT if colour == INK else from_hex(colour)), np.array(WHITE)
    red, green, blue = (ground + (full - ground) * strength).round().astype(int).tolist()
    return red, green, blue


def dashes(points: Sequence[Point], pattern: Dash) -> Iterator[list[Point]]:
    """Cut a line into its dashes.

    >>> [[(round(x), round(y)) for x, y in dash] for dash in dashes([(0, 0), (10, 0)], (4, 3))]
    [[(0, 0), (4, 0)], [(7, 0), (10, 0)]]
    """
    path = np.array(points, float)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    begin = 0.0
    for place, end in enumerate(accumulate(cycle(pattern))):
        if begin >= along[-1]:
            return
        if place % 2 == 0:
            last = min(end, along[-1])
            at = np.array([begin, *along[(along > begin) & (along < last)], last])
            yield list(zip(np.interp(at, along, path[:, 0]), np.interp(at, along, path[:, 1]), strict=True))
        begin = end
