"""Reading the folders that benchmarks come in.

A reader takes a folder, of one sequence or of many, and returns the sequences of its layout there, none where there
are none. Which layout a folder has is seen from the names of its files, in the order of ``LAYOUTS``; a folder of one
sequence will do as well as one of many. Whatever is not as it should be is a ValueError naming file and line.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from metrack.checks import did_you_mean
from metrack.evaluation.layouts import lasot, mot, otb, tld, uav123, video, vot
from metrack.evaluation.layouts.places import places_in
from metrack.evaluation.sequences import Sequence

__all__ = ["LAYOUTS", "read_folder"]


class Layout(NamedTuple):
    """What a layout looks like, how to tell that a folder has it, and how to read it."""

    sign: str
    fits: Callable[[Path], bool]
    read: Callable[[Path], list[Sequence]]


LAYOUTS = {
    "otb": Layout(otb.SIGN, otb.fits, otb.read),
    "lasot": Layout(lasot.SIGN, lasot.fits, lasot.read),
    "got10k": Layout(vot.GOT10K_SIGN, vot.fits_got10k, vot.read_got10k),
    "vot": Layout(vot.SIGN, vot.fits, vot.read),
    "uav123": Layout(uav123.SIGN, uav123.fits, uav123.read),
    "tld": Layout(tld.SIGN, tld.fits, tld.read),
    "mot": Layout(mot.SIGN, mot.fits, mot.read),
    "video": Layout(video.SIGN, video.fits, video.read),
}


def read_folder(folder: Path, layout: str | None) -> list[Sequence]:
    """Read the sequences of a folder, or of a video file with boxes; by its files' names where no layout is given."""
    if layout is not None and layout not in LAYOUTS:
        raise ValueError(f"layout must be one that is known, got {layout!r}{did_you_mean(layout, LAYOUTS)}")
    if not folder.exists():
        raise ValueError(f"sequences must be in a folder that exists, got {str(folder)!r}")
    if folder.is_file() and layout not in (None, "video"):
        raise ValueError(f"layout {layout!r} must be given with a folder, got the file {str(folder)!r}")
    folder = Path(os.path.abspath(folder))  # so that it has a name, and frames can be opened from elsewhere
    layout = layout or _recognise(folder)
    found = LAYOUTS[layout].read(folder)
    if not found:
        raise ValueError(f"{folder} must hold sequences of the layout {layout} ({LAYOUTS[layout].sign}), got none")
    return found


def _recognise(folder: Path) -> str:
    if folder.is_file():
        return "video"
    places = places_in(folder)
    for name, layout in LAYOUTS.items():
        if any(layout.fits(place) for place in places):
            return name
    understood = "; ".join(f"{name}: {layout.sign}" for name, layout in LAYOUTS.items())
    raise ValueError(f"{folder} must hold sequences in a layout that is understood ({understood}), got none of these")
