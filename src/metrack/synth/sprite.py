"""Sprites that rotate, scale and bend, with their exact bounding boxes.

A sprite is a square picture with coverage, spread over [-1, 1] by [-1, 1] (v points down). A pose maps that square to
the frame: bent by two waves, stretched, rotated, moved. The map has an exact inverse, by which pixels look up their
colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metrack.box import Box
from metrack.synth.picture import Picture, Place, Reals

WAVES = 2.6  # radians of a bend from the centre of a sprite to its border

Window = tuple[int, int, int, int]  # left, top, right, bottom of the pixels that matter


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a sprite is in a frame, in pixels and radians; bends are in halves of its size."""

    x: float
    y: float
    width: float
    height: float
    angle: float = 0.0
    bend: tuple[float, float] = (0.0, 0.0)
    phase: tuple[float, float] = (0.0, 0.0)

    def to_frame(self, u: Reals, v: Reals) -> tuple[Reals, Reals]:
        """Map points of the sprite to the frame."""
        u = u + self.bend[0] * np.sin(WAVES * v + self.phase[0])
        v = v + self.bend[1] * np.sin(WAVES * u + self.phase[1])
        x, y, cos, sin = u * self.width / 2, v * self.height / 2, np.cos(self.angle), np.sin(self.angle)
        return self.x + x * cos - y * sin, self.y + x * sin + y * cos

    def to_sprite(self, x: Reals, y: Reals) -> tuple[Reals, Reals]:
        """Map points of the frame to the sprite: the inverse of :meth:`to_frame`."""
        x, y, cos, sin = x - self.x, y - self.y, np.cos(self.angle), np.sin(self.angle)
        u, v = (x * cos + y * sin) * 2 / self.width, (y * cos - x * sin) * 2 / self.height
        v = v - self.bend[1] * np.sin(WAVES * u + self.phase[1])
        return u - self.bend[0] * np.sin(WAVES * v + self.phase[0]), v


@dataclass(frozen=True)
class Sprite:
    """A picture with coverage ``(N, N, 4)``, N a power of two, and its aspect ratio, width by height."""

    texels: Picture
    aspect: float

    @cached_property
    def levels(self) -> list[Picture]:
        """The mip map: the picture at full size, half, a quarter ..., against aliasing."""
        found = [self.texels]
        while len(found[-1]) > 4:
            n = len(found[-1]) // 2
            found.append(found[-1].reshape(n, 2, n, 2, 4).mean(axis=(1, 3)))
        return found

    @cached_property
    def outline(self) -> tuple[Reals, Reals]:
        """Points u, v on the outline."""
        solid = np.pad(self.texels[..., 3] > 0.5, 1)
        inner = solid[2:, 1:-1] & solid[:-2, 1:-1] & solid[1:-1, 2:] & solid[1:-1, :-2]
        rows, cols = np.nonzero(solid[1:-1, 1:-1] & ~inner)
        n = len(self.texels)
        return (cols + 0.5) * 2 / n - 1, (rows + 0.5) * 2 / n - 1

    def box(self, pose: Pose) -> Box:
        """Return the bounding box of the sprite in a pose."""
        x, y = pose.to_frame(*self.outline)
        left, top = float(x.min()), float(y.min())
        return Box(left, top, float(x.max()) - left, float(y.max()) - top)

    def stamp(self, pose: Pose, window: Window) -> tuple[Place, Picture]:
        """Return the pixels of a window that a pose touches, and their paint ``(h, w, 4)``."""
        place = _pixels(self.box(pose).grow(1, 1), window)
        (top, bottom), (left, right) = ((side.start, side.stop) for side in place)
        rows = np.arange(top, bottom, dtype=np.float32)[:, None] + np.float32(0.5)
        cols = np.arange(left, right, dtype=np.float32) + np.float32(0.5)
        return place, _look_up(self._level(pose), *pose.to_sprite(cols, rows))

    def _level(self, pose: Pose) -> Picture:
        """Return the mip level with about one texel per pixel."""
        texels = len(self.texels) / max(min(pose.width, pose.height), 1.0)
        return self.levels[int(np.clip(round(np.log2(max(texels, 1.0))), 0, len(self.levels) - 1))]


def _pixels(box: Box, window: Window) -> Place:
    x0, y0, x1, y1 = box.to_xyxy()
    left, right = (int(np.clip(edge, window[0], window[2])) for edge in (np.floor(x0), np.ceil(x1)))
    top, bottom = (int(np.clip(edge, window[1], window[3])) for edge in (np.floor(y0), np.ceil(y1)))
    return np.s_[top:bottom, left:right]


def _look_up(texels: Picture, u: Reals, v: Reals) -> Picture:
    """Interpolate colours at points; outside the sprite they are transparent."""
    padded = np.pad(texels, ((1, 1), (1, 1), (0, 0)))
    n = len(texels)
    col, row = (np.clip((at + 1) * n / 2 + 0.5, 0, n + 1 - 1e-3) for at in (u, v))
    c, r = col.astype(np.intp), row.astype(np.intp)
    p, q = (col - c).astype(np.float32)[..., None], (row - r).astype(np.float32)[..., None]
    flat, at = padded.reshape(-1, 4), r * (n + 2) + c
    upper = flat[at] * (1 - p) + flat[at + 1] * p
    lower = flat[at + n + 2] * (1 - p) + flat[at + n + 3] * p
    return np.asarray(upper * (1 - q) + lower * q)
