"""The layout of UAV123: ``anno/UAV123/<name>.txt`` and the images in ``data_seq/UAV123/<name>/``.

Lines are x, y, w, h, NaN where the target is absent; the first pixel is taken to be number one, as in the MATLAB code
of OTB that this benchmark is run with. The images of ``car6`` may serve ``car6_1``, ``car6_2`` ...: which of them
belong to which is said by ``configSeqs.m`` in the folder. Where it is absent, parts that fill the images from first to
last, each beginning with the image its predecessor ends with, are still understood: nearly all are of this kind.
Of several sets in ``anno/`` (UAV20L) the one named UAV123 is read, or the one given: ``anno/UAV20L``.
"""

from __future__ import annotations

import re
from pathlib import Path

from metrack.evaluation.layouts.places import assemble, images_in, in_order, places_in
from metrack.evaluation.layouts.truth import read_lines, read_one_based
from metrack.evaluation.pictures import ImagePictures
from metrack.evaluation.sequences import Sequence
from metrack.frames.images import natural_order

SIGN = "anno/UAV123/ and data_seq/UAV123/"
LISTING = "configSeqs.m"
ENTRY = re.compile(r"'name'\s*,\s*'([^']+)'.*?'startFrame'\s*,\s*(\d+)\s*,\s*'endFrame'\s*,\s*(\d+)")


def fits(place: Path) -> bool:
    """Whether images and boxes are where UAV123 has them; the folder may be that of one set of boxes."""
    root = _root(place)
    return (root / "anno").is_dir() and (root / "data_seq").is_dir()


def read(folder: Path) -> list[Sequence]:
    """Read the sequences of a folder."""
    place = next((place for place in places_in(folder) if fits(place)), None)
    if place is None:
        return []
    root = _root(place)
    boxes = place if place != root else _usual_set(root / "anno")
    images = root / "data_seq" / (boxes.name if (root / "data_seq" / boxes.name).is_dir() else "UAV123")
    listing = _read_listing(root / LISTING)
    return in_order([_read_target(file, images, listing) for file in natural_order(list(boxes.glob("*.txt")))])


def _root(folder: Path) -> Path:
    return folder.parent.parent if folder.parent.name == "anno" else folder


def _usual_set(folder: Path) -> Path:
    sets = natural_order([path for path in folder.iterdir() if path.is_dir()])
    return sets[0] if sets and folder / "UAV123" not in sets else folder / "UAV123"


def _read_listing(file: Path) -> list[tuple[str, int, int]]:
    """Return name, first and last image of every sequence listed; a name may be there once per set."""
    lines = read_lines(file) if file.is_file() else []
    return [(name, int(first), int(last)) for _, line in lines for name, first, last in ENTRY.findall(line)]


def _read_target(file: Path, folder: Path, listing: list[tuple[str, int, int]]) -> Sequence:
    truth = read_one_based(file)
    own = (folder / file.stem).is_dir()
    images = images_in(folder / (file.stem if own else re.sub(r"_\d+$", "", file.stem)))
    listed = [(first, last) for name, first, last in listing if name == file.stem]
    fitting = [(first, last) for first, last in listed if last - first + 1 == len(truth)]
    if fitting:
        images = images.part(fitting[0][0] - 1, fitting[0][1])
    elif not own:
        start = _start_in_chain(file, images)
        images = images.part(start, start + len(truth))
    return assemble(file.stem, images, truth, file)


def _start_in_chain(file: Path, images: ImagePictures) -> int:
    """Return the first image of a part, if all parts together are a chain from the first image to the last."""
    stem = re.escape(re.sub(r"\d+$", "", file.stem)) + r"\d+"
    parts = [part for part in natural_order(list(file.parent.glob("*.txt"))) if re.fullmatch(stem, part.stem)]
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(read_lines(part)) - 1)
    if starts[-1] + 1 != len(images):
        raise ValueError(
            f"{file} must belong to a sequence that {LISTING} lists with its first and last image, "
            f"or be part of a chain through the {len(images)} images there are, got neither"
        )
    return starts[parts.index(file)]
