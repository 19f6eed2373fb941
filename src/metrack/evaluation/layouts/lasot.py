"""The layout of LaSOT: ``<class>/<class-N>/img/`` and ``groundtruth.txt`` beside it.

Lines are x, y, w, h and the least coordinate is one, as its author says (LaSOT_Evaluation_Toolkit, issue 14). What the
boxes say where ``full_occlusion.txt`` or ``out_of_view.txt`` has a 1 is arbitrary (issue 19 there): such frames have no
truth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.evaluation.layouts.places import assemble, images_in, read_places
from metrack.evaluation.layouts.truth import read_flags, read_one_based
from metrack.evaluation.sequences import Sequence

TRUTH = "groundtruth.txt"
SIGN = f"img/ and {TRUTH}"
UNSEEN = ("full_occlusion", "out_of_view")


def fits(place: Path) -> bool:
    """Whether boxes and images are where LaSOT has them."""
    return (place / "img").is_dir() and (place / TRUTH).is_file()


def read(folder: Path) -> list[Sequence]:
    """Read the sequences of a folder."""
    return read_places(folder, lambda place: (place / "img").is_dir(), _read_place)


def _read_place(place: Path) -> list[Sequence]:
    file = place / TRUTH
    truth = read_one_based(file)
    flags = [place / f"{name}.txt" for name in UNSEEN]
    tags = {flag.stem: _one_each(flag, len(truth)) for flag in flags if flag.is_file()}
    for unseen in tags.values():
        truth[unseen] = np.nan
    return [assemble(place.name, images_in(place / "img"), truth, file, tags=tags)]


def _one_each(file: Path, count: int) -> NDArray[np.bool_]:
    flags = read_flags(file)
    if len(flags) != count:
        raise ValueError(f"{file} must hold one 0 or 1 per truth box, got {len(flags)} for {count}")
    return flags
