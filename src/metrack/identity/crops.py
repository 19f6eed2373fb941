"""Where templates come from: named crops of targets, ``(name, patch)``.

They are a folder of crops, ``FOLDER/<name>/*.jpg``, or boxes on frames. Of very many crops of one target, evenly spread
ones are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.frames.images import SUFFIXES, natural_order, read_image
from metrack.identity.describe import Patch, normal_size, patch_of

MOST_TEMPLATES = 50  # of one target

NamedCrop = tuple[str, Patch]
Item = TypeVar("Item")


def folder_crops(folder: Path) -> Iterator[NamedCrop]:
    """Read crops from one folder per target, which has its name. Missing images are found before the first is read."""
    found = _crop_files(Path(folder))
    return ((name, _read(path)) for name, paths in found for path in paths)


def _read(path: Path) -> Patch:
    return normal_size(read_image(path, "gallery"), f"crop {str(path)!r}")


def box_crops(boxes: Iterable[tuple[str, Frame, Box | tuple[float, float, float, float]]]) -> Iterator[NamedCrop]:
    """Cut a name's box out of a frame, for every ``(name, frame, box)``."""
    return ((name, patch_of(frame, box)) for name, frame, box in boxes)


def spread(items: Sequence[Item], most: int = MOST_TEMPLATES) -> list[Item]:
    """Return at most so many of the items, evenly spread, in their order.

    >>> spread("abcdefghi", 3)
    ['a', 'e', 'i']
    """
    places = np.unique(np.linspace(0, len(items) - 1, most).round().astype(int)) if len(items) > most else None
    return list(items) if places is None else [items[place] for place in places]


def _crop_files(folder: Path) -> list[tuple[str, list[Path]]]:
    if not folder.is_dir():
        raise ValueError(
            f"gallery must be a folder with one folder of crops per target, but there is no {str(folder)!r}"
        )
    targets = natural_order([each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")])
    if not targets:
        raise ValueError(f"gallery must hold one folder of crops per target, but {str(folder)!r} holds no folders")
    return [(target.name, spread(_images(target))) for target in targets]


def _images(folder: Path) -> list[Path]:
    images = [each for each in folder.iterdir() if each.suffix.lower() in SUFFIXES and not each.name.startswith(".")]
    if not images:
        raise ValueError(f"every target of a gallery must have an image, but {str(folder)!r} has none")
    return natural_order(images)
