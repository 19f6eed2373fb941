"""A tracker for the vot-toolkit's protocol ``python``, which imports a class and calls it in a process of its own.

In ``trackers.ini``::

    [metrack]
    label = metrack
    protocol = python
    command = metrack.adapters.vot:VOTTracker
    convert = rectangle
    arg_preset = paper
    arg_seed = 0

A VOT rectangle is ``x, y, w, h`` with the first pixel number zero: the convention of this package, so nothing is
shifted (the toolkit's loaders of OTB and GOT-10k do not shift theirs either: those come in counted from one and
go out so). Frames are paths of files. The score is reported as the property ``confidence``. Nothing of the
toolkit is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from metrack.arrays import shown
from metrack.checks import check_path
from metrack.frames.images import read_image
from metrack.tracking.tracker import Tracker

Rectangle = tuple[float, float, float, float]
Status = tuple[Rectangle, dict[str, float]]


class VOTTracker:
    """The two verbs of a tracker for one target; its settings come from the ini file, as text."""

    multiobject = False

    def __init__(self, preset: str = "default", seed: int | str = 0) -> None:
        self.tracker = Tracker(preset, seed=_whole(seed))

    def init(self, frame: str | Mapping[str, str], target: tuple[Rectangle, dict[str, str]]) -> Status:
        """Start on the target marked in an image file, and repeat its box."""
        if not isinstance(target, (tuple, list)) or len(target) != 2:
            raise ValueError(f"target must be a rectangle and its properties, got {shown(target)}")
        box, _ = target
        self.tracker.init(read_image(_colour(frame)), box)
        return box, {"confidence": 1.0}

    def update(self, frame: str | Mapping[str, str]) -> Status:
        """Return the best guess where the target is, also when it is lost, and the score."""
        estimate = self.tracker.update(read_image(_colour(frame)))
        return estimate.box.to_xywh(), {"confidence": estimate.score}


def _colour(frame: str | Mapping[str, str]) -> Path:
    """Return the path of the colours, where a frame has more channels than these."""
    path = frame.get("color") if isinstance(frame, Mapping) else frame
    return check_path("frame", path)


def _whole(seed: int | str) -> int:
    try:
        return int(seed)
    except Exception:  # a value's own conversion may raise anything
        raise ValueError(f"arg_seed must be a whole number, got {shown(seed)}") from None
