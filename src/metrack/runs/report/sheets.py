"""Pictures of a run for papers: frames above curves, on white."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from metrack.arrays import Frame
from metrack.draw.chart import Chart
from metrack.draw.layout import draw_chart
from metrack.draw.marks import text_size, write_text
from metrack.draw.page import WIDE
from metrack.draw.palette import TEXT
from metrack.draw.pictures import grid, write_picture
from metrack.draw.raster import SCALE, to_image
from metrack.runs.report.curves import identification, occlusion, timeline
from metrack.runs.report.reading import RunData
from metrack.runs.report.strip import Shot, shots

MARGIN = 20  # pixels of a drawing
COLUMNS, MOST = 4, 8  # shots beside each other, and in all
GAP, CAPTION, TEXT_SIZE = 12 * SCALE, 24 * SCALE, 12 * SCALE  # pixels of the picture


def write_sheets(run: RunData, out: Path) -> list[Path]:
    """Write ``events.png``, and ``occlusion.png`` and ``identification.png`` where the run has such curves."""
    sheets = {"events.png": events_sheet(run), "occlusion.png": _charts_sheet([occlusion(run)])}
    sheets["identification.png"] = _charts_sheet([identification(run, target) for target in run.records])
    written = []
    for name, sheet in sheets.items():
        if sheet is not None:
            write_picture(out / name, sheet)
            written.append(out / name)
    return written


def events_sheet(run: RunData) -> Frame:
    """Draw the frames of the events above the scores of all frames."""
    width = (WIDE * SCALE - GAP * (COLUMNS - 1)) // COLUMNS
    tiles = [_captioned(shot) for shot in shots(run, MOST, width)]
    curves = to_image(draw_chart(timeline(run), WIDE))
    return _framed([grid(tiles, COLUMNS, GAP), curves] if tiles else [curves])


def _charts_sheet(charts: Sequence[Chart | None]) -> Frame | None:
    drawn = [to_image(draw_chart(chart, WIDE)) for chart in charts if chart is not None]
    return _framed(drawn) if drawn else None


def _captioned(shot: Shot) -> Frame:
    """Write why a frame is shown below it."""
    tile = np.pad(shot.image, ((0, CAPTION), (0, 0), (0, 0)), constant_values=255)
    text = _fitting(f"frame {shot.moment.frame}: {shot.moment.why}", tile.shape[1])
    write_text(tile, text, 0, shot.image.shape[0] + 4 * SCALE, TEXT_SIZE, TEXT)
    return tile


def _fitting(text: str, width: int) -> str:
    """Cut a text where it would be longer than the picture above it."""
    if text_size(text, TEXT_SIZE)[0] <= width:
        return text
    return next(cut for k in range(len(text), 0, -1) if text_size(cut := f"{text[:k]}...", TEXT_SIZE)[0] <= width)


def _framed(parts: Sequence[Frame]) -> Frame:
    """Stack pictures of one width with a margin around them."""
    edge = MARGIN * SCALE
    stacked = np.concatenate([np.pad(part, ((0, edge), (0, 0), (0, 0)), constant_values=255) for part in parts])
    return np.pad(stacked, ((edge, 0), (edge, edge), (0, 0)), constant_values=255)
