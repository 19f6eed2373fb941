"""The layout of the TLD data: ``<NN_name>/`` with ``gt.txt``, ``init.txt`` and the images.

Lines are x1, y1, x2, y2: the first and the last pixel of the target, both counted in, from number one (the MATLAB code
of TLD has x2 - x1 + 1 for the width). NaN where the target is absent.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from metrack.evaluation.layouts.places import assemble, images_in, read_places
from metrack.evaluation.layouts.truth import CORNERS, known, read_boxes
from metrack.evaluation.sequences import Sequence

SIGN = "gt.txt, init.txt and images"


def fits(place: Path) -> bool:
    """Whether there are boxes and a first box under the names TLD gives them."""
    return (place / "gt.txt").is_file() and (place / "init.txt").is_file()


def read(folder: Path) -> list[Sequence]:
    """Read the sequences of a folder."""
    return read_places(folder, fits, _read_place)


def _read_place(place: Path) -> list[Sequence]:
    file = place / "gt.txt"
    corners = read_boxes(file, CORNERS)
    truth = np.hstack([corners[:, :2] - 1, corners[:, 2:] - corners[:, :2] + 1])
    return [assemble(place.name, images_in(place), known(truth), file)]
