"""Confidence maps as charts: heat maps of the surroundings of a target, beside the frame they belong to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import check_frame
from metrack.draw.chart import Chart, Curve, Key, Panel
from metrack.draw.layout import draw_chart
from metrack.draw.palette import INK, PALETTE, SHADOW, TARGETS, WHITE, Colour, heat_colours, to_hex
from metrack.draw.pictures import crop
from metrack.draw.plots import MARGIN
from metrack.draw.raster import SCALE, to_image

Map = NDArray[np.float64]

SIDE = 288  # pixels of a map and of the frame beside it
WIDTH = 576  # pixels of a drawing with a frame and two maps: one for every two of the picture
OUTSIDE: Colour = (226, 226, 222)  # beyond the border of the frame
SIGN, OUTLINE = PALETTE[1], "#b0c6d4"
CROSS, DOT = 6, 0  # markers


def draw_confidence(frame: Frame, box: Box, maps: Mapping[str, Map], *, title: str = "frame") -> Frame:
    """Draw the surroundings of a box, and beside them its confidence maps, each under its name."""
    drawing = draw_chart(confidence_chart(box, maps, title=title, frame=frame), WIDTH * (len(maps) + 1) // 3)
    edge = MARGIN * SCALE
    return np.pad(to_image(drawing), ((edge, edge), (edge, edge), (0, 0)), constant_values=255)


def confidence_chart(box: Box, maps: Mapping[str, Map], *, title: str, frame: Frame | None = None) -> Chart:
    """Chart the confidence maps around a box, after the frame if there is one.

    All panels show the same place at the same scale, and all maps share one colour scale. A cross marks the estimate,
    a dot the best score.
    """
    sizes = {scores.shape for scores in maps.values()}
    if len(sizes) != 1 or not all(len(size) == 2 and size[0] == size[1] and size[0] % 2 for size in sizes):
        raise ValueError(f"maps must be square with one odd side for all, got {sorted(sizes)}")
    low = min(float(scores.min()) for scores in maps.values())
    high = max(float(scores.max()) for scores in maps.values())
    panels = [_map_panel(name, scores, box, low, high) for name, scores in maps.items()]
    if frame is not None:
        panels.insert(0, _frame_panel(title, frame, box, sizes.pop()[0]))
    keys = [
        Key(f"{low:.3f} to {high:.3f}", INK, "scale"),
        Key("estimate", SIGN, "mark", marker=CROSS),
        Key("best score", INK, "mark", marker=DOT),
    ]
    return Chart(f"Confidence maps: {title}", panels, keys, len(panels), "" if frame is not None else title)


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


def _frame_panel(title: str, frame: Frame, box: Box, size: int) -> Panel:
    """Show the part of a frame that the maps cover: the places where the centre of the box was put."""
    (cx, cy), reach = box.centre, size / 2
    cut = crop(check_frame(frame), (cx - reach, cy - reach, cx + reach, cy + reach), SIDE, OUTSIDE)
    return Panel(title, _outline(box, size, to_hex(TARGETS[0])), (0, 1), y_label=f"{size} x {size} pixels", image=cut)


def _map_panel(name: str, scores: Map, box: Box, low: float, high: float) -> Panel:
    middle, (dx, dy), scale = SIDE / 2, peak(scores), SIDE / len(scores)
    signs = [
        Curve(np.array([middle + x * scale]), np.array([middle + y * scale]), colour, marker=marker, size=size)
        for x, y, marker, colour, size in (
            (0, 0, CROSS, to_hex(WHITE), 6.5),
            (0, 0, CROSS, SIGN, 4.8),
            (dx, dy, DOT, to_hex(SHADOW), 1.8),
        )
    ]
    curves = [*_outline(box, len(scores), OUTLINE), *signs]
    remark = f"{scores.min():.3f} to {scores.max():.3f}"
    return Panel(name, curves, (0, 1), y_label=remark, image=heat_map(scores, low, high, SIDE))


def _outline(box: Box, size: int, colour: str) -> list[Curve]:
    """Return the outline of the box around the middle of a panel, if it fits."""
    half = 0.5 * np.array([box.w, box.h]) * SIDE / size
    x, y = SIDE / 2 + np.outer(half, (-1, 1, 1, -1, -1))[0], SIDE / 2 + np.outer(half, (-1, -1, 1, 1, -1))[1]
    return [Curve(x, y, colour)] if max(box.w, box.h) <= size else []
