"""From a frame to descriptors of regions.

The part of the frame that holds all regions is prepared once; describing a region in it is then cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame
from metrack.box import Box, bounding
from metrack.config import FeatureConfig
from metrack.features import hog, pixels
from metrack.features.window import cut_window

BASE_SIZE = 32.0  # side in pixels (geometric mean) to which the target is scaled
ENERGY = 0.3  # squared length of a descriptor; sets the scale of all distances
GRID = hog.cell_grid("quadrants")


@dataclass(frozen=True, slots=True)
class View:
    """A part of a frame, prepared for describing boxes in it.

    ``describe`` takes image boxes ``(N, 4)`` and returns descriptors ``(N, D)``.
    """

    region: Box
    zoom: float
    describe: Callable[[Floats], NDArray[np.float32]]

    def covers(self, boxes: Floats) -> bool:
        """Whether all boxes lie wholly inside the region."""
        return self.region.contains(bounding(boxes))

    def covered(self, boxes: Floats) -> NDArray[np.bool_]:
        """Which boxes lie wholly inside the region ``(N,)``."""
        left, top, right, bottom = self.region.to_xyxy()
        low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
        return np.asarray(((low >= (left, top)) & (high <= (right, bottom))).all(axis=1))


class Extractor:
    """Makes descriptors of the configured kind."""

    def __init__(self, config: FeatureConfig) -> None:
        self.config = config

    @property
    def dimension(self) -> int:
        """Length D of a descriptor."""
        return GRID.dimension if self.config.kind == "hog" else pixels.SIDE**2

    def look(self, frame: Frame, region: Box, zoom: float) -> View:
        """Prepare a region of the frame at ``zoom`` window pixels per image pixel."""
        window = cut_window(frame, region, zoom)
        if self.config.kind == "pixels":
            return View(region, zoom, lambda boxes: pixels.describe(window, boxes, pixels.SIDE, ENERGY))
        integral = hog.integral_histogram(window.grey)
        return View(region, zoom, lambda boxes: hog.describe(window, integral, boxes, GRID, ENERGY))
