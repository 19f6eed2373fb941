"""Descriptors as pictures: a stroke for every orientation of every cell.

A stroke lies along the edge it stands for, at a right angle to the gradient. What a direction of the metric counts
positively is drawn in one colour, what it counts negatively in another.
"""

from __future__ import annotations

import math

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from metrack.arrays import Floats, Frame
from metrack.features import pixels
from metrack.features.hog import BINS, CELLS

SIDE = 132  # pixels of a picture
FINE = 3  # drawn so many times larger, then made smaller: smooth lines
GROUND = (18, 22, 30)
MORE, LESS = (86, 204, 190), (240, 128, 96)


def picture(direction: Floats, kind: str) -> Frame:
    """Draw a direction ``(D,)`` in the space of descriptors of a kind."""
    return _patch(direction, pixels.SIDE) if kind == "pixels" else _strokes(_grid(direction))


def _grid(direction: Floats) -> Floats:
    """Return strengths ``(rows, columns, BINS)`` of the four quadrants."""
    blocks: Floats = np.asarray(direction, float).reshape(-1, CELLS, CELLS, BINS)
    top, bottom = np.concatenate(blocks[1:3], axis=1), np.concatenate(blocks[3:5], axis=1)
    return np.concatenate([top, bottom])


def _strokes(grid: Floats) -> Frame:
    rows, columns = grid.shape[:2]
    sheet = Pillow.new("RGB", (SIDE * FINE, SIDE * FINE), GROUND)
    pen, cell = ImageDraw.Draw(sheet), SIDE * FINE / max(rows, columns)
    strongest = float(np.abs(grid).max()) or 1.0
    for place in np.argsort(np.abs(grid), axis=None):  # the strongest last, on top
        row, column, bin_number = np.unravel_index(place, grid.shape)
        share = float(grid[row, column, bin_number]) / strongest
        middle = ((column + 0.5) * cell, (row + 0.5) * cell)
        _stroke(pen, middle, cell * 0.46, math.pi * (int(bin_number) + 0.5) / BINS + math.pi / 2, share)
    return np.asarray(sheet.resize((SIDE, SIDE), Pillow.Resampling.LANCZOS))


def _stroke(pen: ImageDraw.ImageDraw, middle: tuple[float, float], reach: float, angle: float, share: float) -> None:
    strength = abs(share)
    if strength < 0.06:
        return
    dx, dy = reach * math.cos(angle) * strength, reach * math.sin(angle) * strength
    paint = MORE if share > 0 else LESS
    colour = tuple(round(low + (high - low) * strength**0.7) for low, high in zip(GROUND, paint, strict=True))
    x, y = middle
    pen.line((x - dx, y - dy, x + dx, y + dy), fill=colour, width=round(2 * FINE))


def _patch(direction: Floats, side: int) -> Frame:
    values = np.asarray(direction, float).reshape(side, side)
    share = values / (float(np.abs(values).max()) or 1.0)
    ground, more, less = (np.array(colour, float) for colour in (GROUND, MORE, LESS))
    paint = (
        ground + np.clip(share, 0, 1)[..., None] * (more - ground) + np.clip(-share, 0, 1)[..., None] * (less - ground)
    )
    small = Pillow.fromarray(paint.round().astype(np.uint8))
    return np.asarray(small.resize((SIDE, SIDE), Pillow.Resampling.NEAREST))
