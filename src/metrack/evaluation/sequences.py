"""Sequences with truth, read from disk.

OTB folders: ``<name>/img/*.jpg`` and ``<name>/groundtruth_rect.txt``, one ``x,y,w,h`` per frame counted from one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from metrack.box import Box
from metrack.checks import Frame

TRUTH = "groundtruth_rect.txt"


@dataclass(frozen=True, slots=True)
class Sequence:
    """Image files and the truth box of each, in this package's coordinates."""

    name: str
    images: tuple[Path, ...]
    truth: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.images)

    def part(self, start: int, stop: int | None = None) -> Self:
        """Return the sequence from one frame to the one before another."""
        return type(self)(self.name, self.images[start:stop], self.truth[start:stop])

    def frames(self) -> Iterator[Frame]:
        """Decode the images one after another."""
        for path in self.images:
            with Image.open(path) as image:
                yield np.asarray(image if image.mode == "L" else image.convert("RGB"))


def read_otb(folder: Path) -> Sequence:
    """Read one OTB sequence."""
    images = tuple(sorted((folder / "img").glob("*.jpg")))
    truth_file = folder / TRUTH
    if not truth_file.is_file():
        raise ValueError(f"folder must hold {TRUTH}, but there is none in {folder}")
    truth = [_read_box(truth_file, i, line) for i, line in enumerate(truth_file.read_text().splitlines(), 1)]
    if len(images) != len(truth):
        raise ValueError(f"{folder} must hold one truth box per image, got {len(truth)} for {len(images)}")
    return Sequence(folder.name, images, np.array([box.to_xywh() for box in truth]))


def _read_box(path: Path, number: int, line: str) -> Box:
    try:
        return Box.from_otb([float(value) for value in re.split(r"[,\s]+", line.strip())])
    except ValueError:
        raise ValueError(f"{path} line {number} must be four numbers x,y,w,h, got {line!r}") from None


def data_folder() -> Path | None:
    """Where the real data is: ``METRACK_DATA``, or the folder shared beside the project; None where absent."""
    beside = Path(__file__).parents[4] / "shared" / "data"
    folder = Path(os.environ.get("METRACK_DATA", beside))
    return folder if (folder / "sequences").is_dir() else None


def development_sequences() -> list[Sequence]:
    """Every OTB sequence under the data folder, by name; none where there is no data."""
    folder = data_folder()
    return [read_otb(path.parent) for path in sorted(folder.glob(f"sequences/*/{TRUTH}"))] if folder else []
