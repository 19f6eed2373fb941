"""Drawing a sprite by filling shapes."""

from __future__ import annotations

import numpy as np

from metrack.synth.picture import Reals
from metrack.synth.sprite import Sprite

TEXELS = 128

Colour = tuple[float, float, float]


class Sketch:
    """A square canvas over [-1, 1]; shapes are signed distances to their outline, negative inside."""

    def __init__(self) -> None:
        axis = (np.arange(TEXELS) + 0.5) * 2 / TEXELS - 1
        self.u, self.v = np.meshgrid(axis, axis)
        self._colour = np.zeros((TEXELS, TEXELS, 3))
        self._cover = np.zeros((TEXELS, TEXELS, 1))

    def body(self, shape: Reals, colour: Colour) -> None:
        """Fill a shape that belongs to the outline."""
        share = self._share(shape)
        self._colour += share * (np.asarray(colour) - self._colour)
        self._cover = np.maximum(self._cover, share)

    def mark(self, shape: Reals, colour: Colour) -> None:
        """Fill a shape on what is already there."""
        self._colour += self._share(shape) * (np.asarray(colour) - self._colour)

    def shade(self, light: Reals) -> None:
        """Make it darker or lighter by a factor."""
        self._colour *= light[..., None]

    def ellipse(self, u: float, v: float, ru: float, rv: float) -> Reals:
        """Return the shape of an ellipse around a point."""
        return np.asarray((np.hypot((self.u - u) / ru, (self.v - v) / rv) - 1) * min(ru, rv))

    def slab(self, u: float, v: float, ru: float, rv: float, corner: float = 0.0) -> Reals:
        """Return the shape of a rectangle around a point, its corners rounded."""
        across, down = np.abs(self.u - u) - ru + corner, np.abs(self.v - v) - rv + corner
        outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
        return np.asarray(outside + np.minimum(np.maximum(across, down), 0) - corner)

    def sprite(self, aspect: float) -> Sprite:
        """Return what was drawn."""
        paint = np.concatenate([np.clip(self._colour, 0, 255) * self._cover, self._cover], axis=-1)
        return Sprite(paint.astype(np.float32), aspect)

    @staticmethod
    def _share(shape: Reals) -> Reals:
        return np.clip(0.5 - shape * TEXELS / 2, 0, 1)[..., None]
