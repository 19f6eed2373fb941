"""From a frame to descriptors: look once, then ask about as many regions as you like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.box import Box
from metrack.checks import Frame
from metrack.config import FeatureConfig
from metrack.features import hog, pixels
from metrack.features.window import cut_window

Describe = Callable[[Floats], NDArray[np.float32]]
"""Image boxes ``(N, 4)`` in, descriptors ``(N, D)`` out."""


class Extractor:
    """The descriptor a configuration asks for."""

    def __init__(self, config: FeatureConfig) -> None:
        self.config = config
        self._grid = hog.cell_grid(config.divisions)

    @property
    def dimension(self) -> int:
        """Length D of a descriptor."""
        return self._grid.dimension if self.config.kind == "hog" else self.config.patch_side**2

    def look(self, frame: Frame, region: Box, zoom: float) -> Describe:
        """Prepare ``region`` of the frame once and return the function that describes boxes in it."""
        energy = self.config.energy
        window = cut_window(frame, region, zoom)
        if self.config.kind == "pixels":
            return lambda boxes: pixels.describe(window, boxes, self.config.patch_side, energy)
        integral = hog.integral_histogram(window.grey)
        return lambda boxes: hog.describe(window, integral, boxes, self._grid, energy)
