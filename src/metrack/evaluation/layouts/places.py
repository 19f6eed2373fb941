"""Where in a folder the sequences are, and how pictures and boxes become one.

The folder given may be a single sequence, or hold sequences one or two floors down (classes, splits). A ``list.txt``
that names folders beside it says which of them belong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.evaluation.layouts.truth import Boxes, read_lines
from metrack.evaluation.pictures import ImagePictures, Pictures, VideoPictures
from metrack.evaluation.sequences import Sequence
from metrack.frames.images import SUFFIXES, natural_order

Tags = Mapping[str, NDArray[np.bool_]]
FLOORS = 2


def read_places(folder: Path, fits: Callable[[Path], bool], read: Callable[[Path], list[Sequence]]) -> list[Sequence]:
    """Read every place of a folder that fits; sequences of one name get the folder they are in in front."""
    found = [(place, sequence) for place in places_in(folder) if fits(place) for sequence in read(place)]
    shared = Counter(sequence.name for _, sequence in found)
    return in_order([_told_apart(place, seq) if shared[seq.name] > 1 else seq for place, seq in found])


def places_in(folder: Path, floors: int = FLOORS) -> list[Path]:
    """Return a folder and the folders in it, down to two floors."""
    below = _inner(folder) if floors else []
    return [folder, *(place for inner in below for place in places_in(inner, floors - 1))]


def in_order(sequences: list[Sequence]) -> list[Sequence]:
    """Sort by name as people count, and see that no name is there twice."""
    found = {sequence.name: sequence for sequence in sequences}
    if len(found) < len(sequences):
        twice, _ = Counter(sequence.name for sequence in sequences).most_common(1)[0]
        raise ValueError(f"sequences must have different names, got {twice!r} more than once")
    return [found[str(name)] for name in natural_order([Path(name) for name in found])]


def images_in(folder: Path) -> ImagePictures:
    """Return the images of a folder as people count, at least one."""
    files = folder.iterdir() if folder.is_dir() else ()
    images = [file for file in files if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")]
    if not images:
        raise ValueError(f"{folder} must hold the images of a sequence, got none")
    return ImagePictures(tuple(natural_order(images)))


def assemble(
    name: str,
    pictures: Pictures,
    truth: Boxes,
    file: Path,
    attributes: tuple[str, ...] = (),
    tags: Tags | None = None,
) -> Sequence:
    """Join pictures and the boxes of a file; the sequence starts at its first frame that has one."""
    if len(pictures) != len(truth):
        raise ValueError(f"{file} must hold one truth box per image, got {len(truth)} for {len(pictures)}")
    whole = Sequence(name, pictures, truth, attributes, tags or {})
    present = whole.present()
    if not len(present):
        raise ValueError(f"{file} must hold the target's box in at least one frame, got none")
    return whole.part(int(present[0]))


def _told_apart(place: Path, sequence: Sequence) -> Sequence:
    pictures = sequence.pictures
    outer = pictures.file.parent if isinstance(pictures, VideoPictures) else place.parent
    return replace(sequence, name=f"{outer.name}-{sequence.name}")


def _inner(folder: Path) -> list[Path]:
    folders = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    index = folder / "list.txt"
    names = [(number, line) for number, line in read_lines(index) if line] if index.is_file() else []
    if not any((folder / name).is_dir() for _, name in names):
        return natural_order(folders)
    for number, name in names:
        if not (folder / name).is_dir():
            raise ValueError(f"{index} line {number} must name a folder beside it, got {name!r}")
    return [folder / name for _, name in names]
