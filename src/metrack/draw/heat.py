"""Confidence maps as pictures, beside the frame they belong to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from metrack.arrays import Floats, Frame
from metrack.box import Box
from metrack.checks import check_frame
from metrack.draw.marks import Mark, draw, text_size, write_text
from metrack.draw.palette import SHADOW, TEXT, WHITE, Colour, heat_colours
from metrack.draw.pictures import crop

Map = NDArray[np.float64]

PANEL, MARGIN, GAP = 372, 24, 18  # pixels: with two maps the picture is 1200 wide
CAPTION_SIZE, TEXT_SIZE = 17, 14
CAPTION_ROOM, FOOT_ROOM = 32, 44  # pixels above and below the panels
PAPER: Colour = (250, 250, 247)
QUIET: Colour = (120, 124, 132)
OUTLINE: Colour = (176, 198, 212)
OUTSIDE: Colour = (226, 226, 222)  # what there is of a cut-out beyond the border of the frame


def draw_confidence(frame: Frame, box: Box, maps: Mapping[str, Map], *, title: str = "frame") -> Frame:
    """Draw the surroundings of a box, and beside them its confidence maps, each under its name.

    All panels show the same place at the same scale, and all maps share one scale of colours, from the lowest score
    in any of them to the highest. A cross marks the estimate, a ring the best score.
    """
    sizes = {scores.shape for scores in maps.values()}
    if len(sizes) != 1 or not all(len(size) == 2 and size[0] == size[1] and size[0] % 2 for size in sizes):
        raise ValueError(f"maps must be square with one odd side for all, got {sorted(sizes)}")
    low = min(float(scores.min()) for scores in maps.values())
    high = max(float(scores.max()) for scores in maps.values())
    width = 2 * MARGIN + (len(maps) + 1) * (PANEL + GAP) - GAP
    sheet = np.full((MARGIN + CAPTION_ROOM + PANEL + FOOT_ROOM + MARGIN, width, 3), PAPER, np.uint8)
    radius = sizes.pop()[0] // 2
    _place(sheet, 0, _frame_panel(frame, box, radius), title, f"{2 * radius + 1} x {2 * radius + 1} pixels")
    for number, (name, scores) in enumerate(maps.items(), 1):
        panel = _map_panel(scores, box, low, high)
        _place(sheet, number, panel, name, f"{scores.min():.3f} to {scores.max():.3f}")
    _legend(sheet)
    _colour_bar(sheet, low, high)
    return sheet


def peak(scores: Map) -> tuple[int, int]:
    """Return the shift ``(dx, dy)`` with the best score, of several the shortest."""
    places = np.argwhere(scores == scores.max()) - len(scores) // 2
    dy, dx = places[np.argmin(np.hypot(*places.T))].tolist()
    return dx, dy


def heat_map(scores: Map, low: float, high: float, side: int) -> Frame:
    """Colour scores from ``low`` to ``high`` and enlarge the map smoothly to a square picture."""
    share = (scores - low) / ((high - low) or 1.0)
    smooth = Pillow.fromarray(share.astype(np.float32)).resize((side, side), Pillow.Resampling.BICUBIC)
    return heat_colours(np.asarray(smooth))


def _frame_panel(frame: Frame, box: Box, radius: int) -> Frame:
    """Cut out what the maps cover: the places where the centre of the box was put."""
    (cx, cy), reach = box.centre, radius + 0.5
    cut = crop(check_frame(frame), (cx - reach, cy - reach, cx + reach, cy + reach), PANEL, OUTSIDE)
    return draw(cut, [Mark(_outline(box, radius))])


def _map_panel(scores: Map, box: Box, low: float, high: float) -> Frame:
    radius, scale = len(scores) // 2, PANEL / len(scores)
    panel = draw(heat_map(scores, low, high, PANEL), [Mark(_outline(box, radius), colour=OUTLINE, thin=True)])
    dx, dy = peak(scores)
    _cross(panel, PANEL / 2, PANEL / 2)
    _ring(panel, PANEL / 2 + dx * scale, PANEL / 2 + dy * scale)
    return panel


def _outline(box: Box, radius: int) -> Box:
    """Return the box in pixels of a panel, around its middle."""
    scale = PANEL / (2 * radius + 1)
    return Box.from_centre(PANEL / 2, PANEL / 2, box.w * scale, box.h * scale)


def _cross(canvas: Frame, x: float, y: float, colour: Colour = WHITE) -> None:
    """Draw four ticks around a point, which itself stays free."""
    place, across, down = _around(canvas, x, y)
    near, far = np.minimum(across, down), np.maximum(across, down)
    _stroke(canvas[place], np.maximum(near, np.abs(far - 11) - 3), colour)


def _ring(canvas: Frame, x: float, y: float, colour: Colour = WHITE) -> None:
    place, across, down = _around(canvas, x, y)
    _stroke(canvas[place], np.abs(np.hypot(across, down) - 5), colour)


def _around(canvas: Frame, x: float, y: float) -> tuple[tuple[slice, slice], Floats, Floats]:
    """Return the slice of a canvas around a point, and the distances of its columns and rows from the point."""
    columns, rows = (np.arange(max(int(at) - 18, 0), max(int(at) + 19, 0)) for at in (x, y))
    columns, rows = columns[columns < canvas.shape[1]], rows[rows < canvas.shape[0]]
    place = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return place, np.abs(columns + 0.5 - x), np.abs(rows + 0.5 - y)[:, None]


def _stroke(canvas: Frame, distance: Floats, colour: Colour) -> None:
    """Draw a line with a shadow where the distance from its middle, in pixels, is small."""
    for paint, half, strength in ((SHADOW, 1.7, 0.5), (colour, 0.75, 1.0)):
        cover = strength * np.clip(half + 0.5 - distance, 0, 1)[..., None]
        canvas[...] = canvas + (np.array(paint) - canvas) * cover


def _place(sheet: Frame, number: int, panel: Frame, caption: str, remark: str) -> None:
    """Put a panel in its place, a caption above it on the left, a remark on the right."""
    left, top = MARGIN + number * (PANEL + GAP), MARGIN + CAPTION_ROOM
    sheet[top : top + PANEL, left : left + PANEL] = panel
    base = top - 10
    write_text(sheet, caption, left, base - text_size(caption, CAPTION_SIZE)[1], CAPTION_SIZE, TEXT)
    wide, high = text_size(remark, TEXT_SIZE)
    write_text(sheet, remark, left + PANEL - wide, base - high, TEXT_SIZE, QUIET)


def _legend(sheet: Frame) -> None:
    x, y = MARGIN, MARGIN + CAPTION_ROOM + PANEL + FOOT_ROOM // 2 + 4
    for sign, reach, text in ((_cross, 14, "estimate"), (_ring, 6, "best score")):
        sign(sheet, x + reach, y, TEXT)
        x += 2 * reach + 8
        wide, high = text_size(text, TEXT_SIZE)
        write_text(sheet, text, x, y - high // 2, TEXT_SIZE, QUIET)
        x += wide + 28


def _colour_bar(sheet: Frame, low: float, high: float) -> None:
    """Lay the scale of colours under the maps, its two ends in numbers."""
    left, right = MARGIN + PANEL + GAP, sheet.shape[1] - MARGIN
    middle = MARGIN + CAPTION_ROOM + PANEL + FOOT_ROOM // 2 + 4
    for text, at_right in ((f"{low:.3f}", False), (f"{high:.3f}", True)):
        wide, tall = text_size(text, TEXT_SIZE)
        write_text(sheet, text, right - wide if at_right else left, middle - tall // 2, TEXT_SIZE, TEXT)
        left, right = (left, right - wide - 10) if at_right else (left + wide + 10, right)
    sheet[middle - 6 : middle + 6, left:right] = heat_colours(np.linspace(0, 1, right - left))
