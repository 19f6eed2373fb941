"""Which regions of a frame become samples: those on the target, and those around it.

Boxes have the size of the estimate. Foreground boxes lie within a small radius of it, the first exactly on it;
background boxes lie in a ring around it, whose radii are in units of the target's own size.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats
from metrack.box import Box
from metrack.config import MemoryConfig


def foreground_boxes(rng: np.random.Generator, estimate: Box, config: MemoryConfig) -> Floats:
    """Boxes ``(positives, 4)`` on the target, uniform over the disc of the positive radius."""
    radius = config.positive_radius * np.sqrt(rng.random(config.positives))
    radius[0] = 0.0
    return _shifted(estimate, *_directions(rng, radius))


def background_boxes(rng: np.random.Generator, estimate: Box, config: MemoryConfig) -> Floats:
    """Boxes ``(negatives, 4)`` beside the target, uniform over the ring; an ellipse for a target that is not square."""
    inner, outer = config.negative_inner, config.reach
    radius = np.sqrt(inner**2 + (outer**2 - inner**2) * rng.random(config.negatives))
    dx, dy = _directions(rng, radius)
    return _shifted(estimate, dx * estimate.w, dy * estimate.h)


def _directions(rng: np.random.Generator, radius: Floats) -> tuple[Floats, Floats]:
    angle = rng.random(len(radius)) * 2 * np.pi
    return radius * np.cos(angle), radius * np.sin(angle)


def _shifted(box: Box, dx: Floats, dy: Floats) -> Floats:
    size = np.ones_like(dx)
    return np.stack([box.x + dx, box.y + dy, box.w * size, box.h * size], axis=1)
