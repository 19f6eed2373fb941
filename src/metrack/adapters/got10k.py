"""A tracker for the experiments of the got10k toolkit.

The toolkit hands over the numbers of the annotation files as they are, and records what it gets back the same way.
In OTB files and their descendants the first pixel is number one, which is what is assumed here (``one_based``);
for files whose first pixel is number zero say ``one_based=False``. Needs got10k, which in its turn needs six.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from metrack.arrays import as_floats, shown
from metrack.box import Box
from metrack.config import TrackerConfig
from metrack.tracking.tracker import Tracker

try:
    from got10k.trackers import Tracker as Base
except ImportError as missing:  # of got10k, or of six, which it forgets to ask for
    Base, MISSING = object, str(missing)
else:
    MISSING = ""


class GOT10kTracker(Base):  # type: ignore[misc]
    """The two verbs of a got10k tracker: images of pillow, boxes as arrays ``x, y, w, h``."""

    def __init__(
        self,
        preset: str | TrackerConfig = "default",
        *,
        seed: int = 0,
        name: str = "metrack",
        one_based: bool = True,
    ) -> None:
        if MISSING:
            raise ValueError(f"GOT10kTracker must have the toolkit: pip install got10k six, got {MISSING!r}")
        super().__init__(name=name, is_deterministic=True)  # same frames and seed, same boxes: run once
        self.tracker = Tracker(preset, seed=seed)
        self.one_based = one_based

    def init(self, image: Image.Image, box: NDArray[np.float64]) -> None:
        """Start on the target marked in a picture."""
        x, y, w, h = as_floats("box", [box], columns=4)[0].tolist()
        first = Box.from_otb((x, y, w, h)) if self.one_based else Box(x, y, w, h)
        self.tracker.init(_to_rgb(image), first)

    def update(self, image: Image.Image) -> NDArray[np.float64]:
        """Return the best guess where the target is, also when it is lost."""
        box = self.tracker.update(_to_rgb(image)).box
        return np.array(box.to_otb() if self.one_based else box.to_xywh())


def _to_rgb(image: Image.Image) -> NDArray[np.uint8]:
    if not isinstance(image, Image.Image):
        raise ValueError(f"image must be a picture of pillow, got {shown(image)}")
    return np.array(image.convert("RGB"))
