"""The layout of OTB: ``<Name>/img/0001.jpg ...`` and ``<Name>/groundtruth_rect.txt``.

Lines are x, y, w, h and the first pixel is number one (MATLAB). ``groundtruth_rect.1.txt``, ``.2.txt`` ... are several
targets of the same images and give ``Name-1``, ``Name-2``. Some sequences are known to be annotated in part. Attributes
come from ``attrs.txt`` beside the boxes, or from a table beside the sequences or in ``published/`` beside their folder.
"""

from __future__ import annotations

import csv
from pathlib import Path

from metrack.evaluation.layouts.places import assemble, images_in, read_places
from metrack.evaluation.layouts.truth import Boxes, read_lines, read_one_based
from metrack.evaluation.pictures import ImagePictures
from metrack.evaluation.sequences import Sequence

TRUTH = "groundtruth_rect.txt"
SIGN = f"img/ and {TRUTH}"
TABLES = ("attributes.csv", "otb_attributes.csv")
FIRST_ONLY = {"diving": 215, "football1": 74, "freeman3": 460, "freeman4": 283}  # boxes; there are more images
DAVID = slice(299, 770)  # the 471 images of it that have a box
TIGER1_FRAMES, TIGER1_START = 354, 5  # the benchmark begins with its sixth frame


def fits(place: Path) -> bool:
    """Whether there are boxes under one of the names OTB gives them."""
    return any((place / name).is_file() for name in (TRUTH, "groundtruth_rect.1.txt", "groundtruth_rect.2.txt"))


def read(folder: Path) -> list[Sequence]:
    """Read the sequences of a folder."""
    return read_places(folder, lambda place: fits(place) or (place / "img").is_dir(), _read_place)


def _read_place(place: Path) -> list[Sequence]:
    several = [file for file in place.glob("groundtruth_rect.*.txt") if file.stat().st_size]
    if not several:
        return [_read_target(place, place.name, place / TRUTH)]
    return [_read_target(place, f"{place.name}-{file.suffixes[0][1:]}", file) for file in several]


def _read_target(place: Path, name: str, file: Path) -> Sequence:
    images, truth = _annotated(place.name.lower(), images_in(place / "img"), read_one_based(file))
    return assemble(name, images, truth, file, _attributes(place, name))


def _annotated(name: str, images: ImagePictures, truth: Boxes) -> tuple[ImagePictures, Boxes]:
    """Leave out the images that the benchmark's authors did not annotate, or annotated and do not use."""
    if name == "david" and len(images) >= DAVID.stop and len(truth) == DAVID.stop - DAVID.start:
        return images.part(DAVID.start, DAVID.stop), truth
    if name == "tiger1" and len(images) == TIGER1_FRAMES:
        start = TIGER1_START if len(truth) == len(images) else 0
        return images.part(TIGER1_START), truth[start:]
    if FIRST_ONLY.get(name) == len(truth) < len(images):
        return images.part(0, len(truth)), truth
    return images, truth


def _attributes(place: Path, name: str) -> tuple[str, ...]:
    beside = place / "attrs.txt"
    if beside.is_file():
        letters = ",".join(line for _, line in read_lines(beside)).split(",")
        return tuple(letter.strip() for letter in letters if letter.strip())
    for folder in (place.parent, place.parent.parent / "published"):
        for table in TABLES:
            if (folder / table).is_file():
                return _look_up(folder / table, (name, place.name))
    return ()


def _look_up(table: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    rows = csv.DictReader(line for _, line in read_lines(table))
    if "sequence" not in (rows.fieldnames or ()):
        raise ValueError(f"{table} line 1 must name a column 'sequence', got {','.join(rows.fieldnames or ())!r}")
    known = {row["sequence"]: row for row in rows}
    row = next((known[name] for name in names if name in known), {})
    return tuple(letters for letters, value in row.items() if value == "1")
