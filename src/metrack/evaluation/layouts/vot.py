"""The layouts of VOT and GOT-10k: ``<name>/groundtruth.txt`` with the images beside it or in ``color/``.

VOT counts pixels from zero and means places in the image by its numbers, so a box is taken as it is written, a polygon
as the box from its least to its greatest coordinates (so does the VOT toolkit). GOT-10k counts from one, as its author
says (got-10k/toolkit, issue 6). ``*.tag`` and ``*.label`` hold a 0 or 1 per frame; frames after their end are 0.
In GOT-10k ``cover.label`` is how much can be seen, 0 to 8 for none to all of it, and the hidden test split has a
box for the first frame only: its other frames are unknown.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.evaluation.layouts.places import Tags, assemble, images_in, read_places
from metrack.evaluation.layouts.truth import SHOWN, Boxes, read_flags, read_lines, read_one_based, read_regions
from metrack.evaluation.pictures import ImagePictures
from metrack.evaluation.sequences import Sequence

TRUTH = "groundtruth.txt"
SIGN = f"{TRUTH} and color/ or images"
GOT10K_SIGN = f"{TRUTH}, absence.label and images"
COVER = "cover.label"
HALF_SEEN = 4  # grade of cover


def fits(place: Path) -> bool:
    """Whether there are boxes under the name VOT gives them."""
    return (place / TRUTH).is_file()


def fits_got10k(place: Path) -> bool:
    """Whether there is also what only GOT-10k has."""
    marks = any((place / name).is_file() for name in ("absence.label", "meta_info.ini"))
    return fits(place) and (marks or place.name.startswith("GOT-10k_"))


def read(folder: Path) -> list[Sequence]:
    """Read the VOT sequences of a folder."""
    return read_places(folder, fits, _read_vot)


def read_got10k(folder: Path) -> list[Sequence]:
    """Read the GOT-10k sequences of a folder."""
    return read_places(folder, fits, _read_got10k)


def _read_vot(place: Path) -> list[Sequence]:
    file = place / TRUTH
    truth = read_regions(file)
    return [assemble(place.name, _pictures(place), truth, file, tags=_tags(place, len(truth)))]


def _read_got10k(place: Path) -> list[Sequence]:
    file, images = place / TRUTH, images_in(place)
    truth = read_one_based(file)
    if len(truth) == 1:
        truth = np.vstack([truth, np.full((len(images) - 1, 4), np.nan)])
    tags = dict(_tags(place, len(truth)))
    if (place / COVER).is_file():
        tags["occlusion"] = _fill(_grades(place / COVER) < HALF_SEEN, len(truth), place / COVER)
    return [assemble(place.name, images, _without(truth, tags.get("absence")), file, tags=tags)]


def _without(truth: Boxes, absent: NDArray[np.bool_] | None) -> Boxes:
    return truth if absent is None else np.where(absent[:, None], np.nan, truth)


def _pictures(place: Path) -> ImagePictures:
    said = _said(place / "sequence")
    pattern = said.get(f"channels.{said.get('channel.default', 'color')}")
    if pattern:
        return images_in((place / pattern).parent)
    return images_in(place / "color" if (place / "color").is_dir() else place)


def _said(file: Path) -> dict[str, str]:
    lines = [line.partition("=") for _, line in read_lines(file)] if file.is_file() else []
    return {key.strip(): value.strip() for key, _, value in lines}


def _tags(place: Path, count: int) -> Tags:
    files = sorted(file for end in ("tag", "label") for file in place.glob(f"*.{end}") if file.name != COVER)
    return {file.stem: _fill(read_flags(file), count, file) for file in files}


def _grades(file: Path) -> NDArray[np.intp]:
    for number, line in read_lines(file):
        if line not in set("012345678"):
            raise ValueError(f"{file} line {number} must be a grade from 0 to 8, got {line[:SHOWN]!r}")
    return np.array([int(line) for _, line in read_lines(file)], np.intp)


def _fill(flags: NDArray[np.bool_], count: int, file: Path) -> NDArray[np.bool_]:
    if len(flags) > count:
        raise ValueError(f"{file} must hold at most one value per truth box, got {len(flags)} for {count}")
    return np.concatenate([flags, np.zeros(count - len(flags), bool)])
