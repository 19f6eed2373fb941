"""Where templates come from: named views of targets, ``(name, patch)``.

A folder of crops, ``FOLDER/<name>/*.jpg``; boxes on frames; or the frames of an earlier run in which the tracker was
sure. Of very many views of one target, evenly spread ones are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.estimate import TRACKING
from metrack.frames.formats import Record
from metrack.frames.images import SUFFIXES, natural_order, read_image
from metrack.identity.describe import Patch, normal_size, patch_of

MOST_TEMPLATES = 50  # of one target
CONFIDENT = 0.5  # score from which a frame of an earlier run shows its target

View = tuple[str, Patch]
Item = TypeVar("Item")


def folder_views(folder: Path) -> Iterator[View]:
    """Read crops, one folder of them per target, whose name it has. Folders are looked at before the first is read."""
    found = _crop_files(Path(folder))
    return ((name, _read(path)) for name, paths in found for path in paths)


def _read(path: Path) -> Patch:
    try:
        crop = read_image(path)
    except ValueError:
        raise ValueError(f"gallery must have readable images, but {str(path)!r} cannot be read as one") from None
    return normal_size(crop, f"crop {str(path)!r}")


def box_views(boxes: Iterable[tuple[str, Frame, Box | tuple[float, float, float, float]]]) -> Iterator[View]:
    """Cut a name's box out of a frame, for every ``(name, frame, box)``."""
    return ((name, patch_of(frame, box)) for name, frame, box in boxes)


def confident_views(
    frames: Iterable[Frame], records: Iterable[Record], names: Mapping[int, str], least: float = CONFIDENT
) -> Iterator[View]:
    """Cut out what an earlier run followed, where it was sure.

    Parameters
    ----------
    frames : images of the source, from its first frame on
    records : what ``trajectory.jsonl`` of the run holds
    names : how each target of the run is to be called; others are left out
    least : score of a frame to be taken; its state must be "tracking"
    """
    sure = [each for each in records if each.target in names and each.state == TRACKING and each.score >= least]
    kept = [each for target in names for each in spread([each for each in sure if each.target == target])]
    missing = [name for target, name in names.items() if target not in {each.target for each in kept}]
    if missing:
        raise ValueError(f"records must hold a frame of {missing[0]!r} tracked with a score of at least {least:g}")
    return _cut(frames, kept, names)


def _cut(frames: Iterable[Frame], records: Sequence[Record], names: Mapping[int, str]) -> Iterator[View]:
    left = Counter(record.frame for record in records)
    for index, frame in enumerate(frames):
        for record in records if left.pop(index, 0) else ():
            if record.frame == index:
                yield names[record.target], patch_of(frame, record.box)
        if not left:
            return
    raise ValueError(f"frames must reach to frame {max(left)}, of which there is a record")


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
