"""The layout of MOTChallenge: ``<name>/img1/`` and ``<name>/gt/gt.txt``.

Lines are frame, identity, x, y, w, h, counted?, class, visible part; frames and pixels count from one
(motchallenge.net/instructions). Every identity is a sequence ``<name>-<identity>`` from its first to its last line; in
frames between without a line its place is unknown. Lines with a 0 for counted are passed over. The ninth number is the
visible part, but only where a line ends with it: the older form has ten, and world coordinates in their place.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.evaluation.layouts.places import assemble, images_in, read_places
from metrack.evaluation.layouts.truth import SHOWN, Boxes, known, read_lines, read_numbers
from metrack.evaluation.pictures import ImagePictures
from metrack.evaluation.sequences import Sequence

SIGN = "img1/ and gt/gt.txt"
ROW = "numbers frame,identity,x,y,w,h,..."
COUNTED, VISIBLE = 6, 8  # columns
HALF = 0.5


def fits(place: Path) -> bool:
    """Whether there are boxes where MOTChallenge has them."""
    return (place / "gt" / "gt.txt").is_file()


def read(folder: Path) -> list[Sequence]:
    """Read every identity of the sequences of a folder."""
    return read_places(folder, fits, _read_place)


def _read_place(place: Path) -> list[Sequence]:
    file, images = place / "gt" / "gt.txt", images_in(place / "img1")
    targets: dict[int, dict[int, list[float]]] = {}
    for number, line in read_lines(file):
        row = _row(file, number, line, len(images))
        frame, identity = int(row[0]), int(row[1])
        if frame in targets.setdefault(identity, {}):
            raise ValueError(
                f"{file} line {number} must be the only one of its target in a frame, got {line[:SHOWN]!r}"
            )
        targets[identity][frame] = row
    found = ((identity, _counted(rows)) for identity, rows in sorted(targets.items()))
    return [_target(f"{place.name}-{identity}", rows, images, file) for identity, rows in found if rows]


def _row(file: Path, number: int, line: str, images: int) -> list[float]:
    row = read_numbers(file, number, line, ROW)
    if len(row) < 6 or np.isnan(row[:6]).any() or row[0] % 1 or row[1] % 1:
        raise ValueError(f"{file} line {number} must be {ROW}, got {line[:SHOWN]!r}")
    if not 1 <= row[0] <= images:
        raise ValueError(f"{file} line {number} must have a frame from 1 to the {images} images, got {line[:SHOWN]!r}")
    return row


def _counted(rows: dict[int, list[float]]) -> dict[int, list[float]]:
    return {frame: row for frame, row in rows.items() if len(row) <= COUNTED or row[COUNTED] != 0}


def _target(name: str, rows: dict[int, list[float]], images: ImagePictures, file: Path) -> Sequence:
    first, last = min(rows), max(rows)
    truth: Boxes = np.full((last - first + 1, 4), np.nan)
    hidden: NDArray[np.bool_] = np.zeros(len(truth), bool)
    for frame, row in rows.items():
        truth[frame - first] = np.subtract(row[2:6], (1, 1, 0, 0))
        hidden[frame - first] = len(row) == VISIBLE + 1 and row[VISIBLE] < HALF
    tags = {"occlusion": hidden} if all(len(row) == VISIBLE + 1 for row in rows.values()) else {}
    return assemble(name, images.part(first - 1, last), known(truth), file, tags=tags)
