"""Lines of numbers in annotation files.

One line per frame, separated by commas, tabs or blanks. A box is x, y, w, h; a polygon of four corners or more stands
for the box around it. A row of NaN says that the target is absent or its place unknown: ``nan`` in the file, or a box
without area, which is how annotators mark a frame they passed over. Complaints name file and line.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]
BOX = "four numbers x,y,w,h"
POLYGON = "four numbers x,y,w,h or the corners x1,y1,x2,y2,... of a polygon"
SHOWN = 60  # characters of a line, in a complaint
CORNERS = "four numbers x1,y1,x2,y2"


def read_boxes(file: Path, wanted: str = BOX) -> Boxes:
    """Read one box per line as they are written: ``(T, 4)``."""
    return np.array([_four(file, number, line, wanted) for number, line in read_lines(file)]).reshape(-1, 4)


def read_one_based(file: Path) -> Boxes:
    """Read boxes x, y, w, h whose first pixel is number one, as this package counts."""
    return known(read_boxes(file) - (1, 1, 0, 0))


def read_regions(file: Path) -> Boxes:
    """Read one box or polygon per line as boxes, coordinates as they are written."""
    rows = [_around(file, number, line) for number, line in read_lines(file)]
    return known(np.array(rows).reshape(-1, 4))


def known(boxes: Boxes) -> Boxes:
    """Return the boxes with whole rows of NaN where a number is missing or there is no area."""
    unknown = np.isnan(boxes).any(axis=1, keepdims=True) | (boxes[:, 2:] <= 0).any(axis=1, keepdims=True)
    return np.where(unknown, np.nan, boxes)


def read_flags(file: Path) -> NDArray[np.bool_]:
    """Read zeros and ones, on one line or on many."""
    flags: list[bool] = []
    for number, line in read_lines(file):
        parts = _split(line)
        if not set(parts) <= {"0", "1"}:
            raise ValueError(f"{file} line {number} must hold zeros and ones, got {line[:SHOWN]!r}")
        flags += [part == "1" for part in parts]
    return np.array(flags, bool)


def read_lines(file: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a text file, without the empty ones at its end."""
    if not file.is_file():
        raise ValueError(f"{file.parent} must hold {file.name}, got no such file")
    text = file.read_text(encoding="utf-8-sig", errors="replace").rstrip()
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]


def read_numbers(file: Path, number: int, line: str, wanted: str) -> list[float]:
    """Return the numbers of a line, NaN among them; nothing infinite."""
    try:
        values = [float(part) for part in _split(line)]
    except ValueError:
        raise _unlike(file, number, line, wanted) from None
    if np.isinf(values).any():
        raise _unlike(file, number, line, wanted)
    return values


def _four(file: Path, number: int, line: str, wanted: str) -> list[float]:
    values = read_numbers(file, number, line, wanted)
    if len(values) != 4:
        raise _unlike(file, number, line, wanted)
    return values


def _around(file: Path, number: int, line: str) -> list[float]:
    values = read_numbers(file, number, line, POLYGON)
    if len(values) == 4:
        return values
    if len(values) < 8 or len(values) % 2:
        raise _unlike(file, number, line, POLYGON)
    x, y = values[::2], values[1::2]
    left, top = float(np.min(x)), float(np.min(y))
    return [left, top, float(np.max(x)) - left, float(np.max(y)) - top]


def _split(line: str) -> list[str]:
    return re.split(r"\s*,\s*|\s+", line.strip().rstrip(","))


def _unlike(file: Path, number: int, line: str, wanted: str) -> ValueError:
    return ValueError(f"{file} line {number} must be {wanted}, got {line[:SHOWN]!r}")
