"""Boxes on pictures: colour tells the target, the line tells the state, the bar below tells the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from metrack.arrays import Frame
from metrack.box import Box
from metrack.draw.palette import SHADOW, TARGETS, WHITE, Colour

DASHES = {"tracking": (1, 0), "occluded": (7, 5), "lost": (2, 5)}  # drawn and skipped, in line widths
FARTHEST = 1e6  # pixels: boxes beyond are drawn as if they ended there


@dataclass(frozen=True, slots=True)
class Mark:
    """One box to draw; ``target`` counts from 1, and a mark without a score has neither label nor bar."""

    box: Box
    target: int = 1
    score: float | None = None
    state: str = "tracking"
    colour: Colour | None = None
    thin: bool = False
    name: str | None = None


def draw(image: Frame, marks: Sequence[Mark], *, bold: int | None = None) -> Frame:
    """Return a copy of an RGB image with the marks drawn on it; boxes may lie partly or wholly outside.

    Lines are ``bold`` pixels wide, by default in proportion to the picture; text is in proportion to lines.
    """
    canvas = image.copy()
    width = bold or line_width(image)
    named = len({mark.target for mark in marks if mark.score is not None}) > 1
    for mark in marks:
        if np.all(np.isfinite(mark.box.to_xywh())):
            _draw_mark(canvas, mark, width, named)
    return canvas


def line_width(image: Frame) -> int:
    """Return the width of a bold line, in proportion to the picture."""
    height, width = image.shape[:2]
    return max(2, round(int(min(height, width)) / 200))


def write_text(canvas: Frame, text: str, x: int, y: int, size: int, colour: Colour = WHITE) -> None:
    """Write text into an image in place, its top-left corner at ``(x, y)``."""
    ink = _ink(text, size)
    rows, columns = _clip(y, y + ink.shape[0], canvas.shape[0]), _clip(x, x + ink.shape[1], canvas.shape[1])
    cut = ink[rows.start - y : rows.stop - y, columns.start - x : columns.stop - x, None]
    below = canvas[rows, columns]
    canvas[rows, columns] = (below + (np.array(colour) - below) * cut).astype(np.uint8)


def text_size(text: str, size: int) -> tuple[int, int]:
    """Return width and height of a text in pixels."""
    height, width = _ink(text, size).shape
    return width, height


def _draw_mark(canvas: Frame, mark: Mark, width: int, named: bool) -> None:
    colour = mark.colour or TARGETS[(mark.target - 1) % len(TARGETS)]
    left, top, right, bottom = (round(min(max(v, -FARTHEST), FARTHEST)) for v in mark.box.to_xyxy())
    if mark.thin:
        _frame(canvas, (left, top, right, bottom), 1, (1, 0), colour)
        return
    _frame(canvas, (left - 1, top - 1, right + 1, bottom + 1), width + 2, (1, 0), SHADOW, strength=0.45)
    _frame(canvas, (left, top, right, bottom), width, DASHES[mark.state], colour)
    if mark.score is not None:
        _bar(canvas, (left, right, bottom + 2 * width), width, mark.score, colour)
        _label(canvas, mark, (left, top), width, colour, named)


def _frame(
    canvas: Frame,
    corners: tuple[int, int, int, int],
    width: int,
    dash: tuple[int, int],
    colour: Colour,
    strength: float = 1.0,
) -> None:
    """Draw a rectangle just inside its corners."""
    left, top, right, bottom = corners
    for y in (top, bottom - width):
        _fill(canvas, left, y, right, y + width, colour, strength, dash=(dash[0] * width, dash[1] * width, 1))
    for x in (left, right - width):
        inner = (top + width, bottom - width)
        _fill(canvas, x, inner[0], x + width, inner[1], colour, strength, (dash[0] * width, dash[1] * width, 0))


def _fill(
    canvas: Frame,
    left: int,
    top: int,
    right: int,
    bottom: int,
    colour: Colour,
    strength: float = 1.0,
    dash: tuple[int, int, int] = (1, 0, 0),
) -> None:
    """Blend a colour into a rectangle, whole or in dashes along an axis (0 down, 1 across)."""
    rows, columns = _clip(top, bottom, canvas.shape[0]), _clip(left, right, canvas.shape[1])
    area = canvas[rows, columns]
    on, off, axis = dash
    paint = (area * (1 - strength) + np.array(colour) * strength).astype(np.uint8)
    start = (rows.start - top, columns.start - left)[axis]
    drawn = (np.arange(area.shape[axis]) + start) % (on + off) < on
    area[...] = np.where(drawn[:, None, None] if axis == 0 else drawn[None, :, None], paint, area)


def _bar(canvas: Frame, at: tuple[int, int, int], width: int, score: float, colour: Colour) -> None:
    left, right, top = at
    share = min(max(score, 0.0), 1.0) if np.isfinite(score) else 0.0
    _fill(canvas, left, top, right, top + width, SHADOW, strength=0.6)
    _fill(canvas, left, top, left + round((right - left) * share), top + width, colour)


def _label(canvas: Frame, mark: Mark, at: tuple[int, int], width: int, colour: Colour, named: bool) -> None:
    """Put a tab with the score above the box, or inside it where there is no room above."""
    words = [mark.name] if mark.name else [str(mark.target)] if named else []
    words += [mark.state] if mark.state != "tracking" else []
    text = "  ".join([*words, f"{mark.score:.2f}"])
    size = 5 * width + 2
    wide, high = (side + 2 * width for side in text_size(text, size))
    left = min(max(at[0], 0), max(canvas.shape[1] - wide, 0))
    top = at[1] - high - 1
    top = min(max(top if top >= 0 else at[1] + width, 0), max(canvas.shape[0] - high, 0))
    solid = mark.state == "tracking"
    _fill(canvas, left, top, left + wide, top + high, colour if solid else SHADOW, 1.0 if solid else 0.75)
    write_text(canvas, text, left + width, top + width, size, SHADOW if solid else colour)


def _clip(low: int, high: int, limit: int) -> slice:
    start = min(max(low, 0), limit)
    return slice(start, min(max(high, start), limit))


@lru_cache(maxsize=512)
def _ink(text: str, size: int) -> NDArray[np.float32]:
    """Return how much ink a text leaves on every pixel, in [0, 1]."""
    font = ImageFont.load_default(size)
    _, top, _, bottom = font.getbbox("0g|")  # one height for all texts, so that labels do not jump
    sheet = Pillow.new("L", (int(font.getbbox(text)[2]) + 1, int(bottom - top) + 1))
    ImageDraw.Draw(sheet).text((0, -top), text, fill=255, font=font)
    return np.asarray(sheet, np.float32) / np.float32(255)
