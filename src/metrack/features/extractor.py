"""From a frame to descriptors: look once, then ask about as many regions as you like."""

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


@dataclass(frozen=True, slots=True)
class View:
    """A part of a frame, ready to be asked about.

    ``describe`` takes image boxes ``(N, 4)`` and returns descriptors ``(N, D)``.
    """

    region: Box
    zoom: float
    describe: Callable[[Floats], NDArray[np.float32]]

    def covers(self, boxes: Floats) -> bool:
        """Whether the whole of every box lies in the part looked at."""
        return self.region.contains(bounding(boxes))

    def covered(self, boxes: Floats) -> NDArray[np.bool_]:
        """Which boxes lie wholly in the part looked at ``(N,)``."""
        left, top, right, bottom = self.region.to_xyxy()
        low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
        return np.asarray(((low >= (left, top)) & (high <= (right, bottom))).all(axis=1))


class Extractor:
    """The descriptor a configuration asks for."""

    def __init__(self, config: FeatureConfig) -> None:
        self.config = config
        self._grid = hog.cell_grid(config.divisions)

    @property
    def dimension(self) -> int:
        """Length D of a descriptor."""
        return self._grid.dimension if self.config.kind == "hog" else self.config.patch_side**2

    def look(self, frame: Frame, region: Box, zoom: float) -> View:
        """Prepare ``region`` of the frame once, to be asked about as many boxes in it as you like."""
        energy = self.config.energy
        window = cut_window(frame, region, zoom)
        if self.config.kind == "pixels":
            return View(region, zoom, lambda boxes: pixels.describe(window, boxes, self.config.patch_side, energy))
        integral = hog.integral_histogram(window.grey)
        return View(region, zoom, lambda boxes: hog.describe(window, integral, boxes, self._grid, energy))
