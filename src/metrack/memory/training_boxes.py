"""Which regions of a frame become samples: those on the target, and those around it.

Foreground boxes have the size of the estimate and lie within a small radius of it, the first exactly on it.
Background boxes lie in a ring around it, or in its place but at the wrong size. Boxes to be ranked lie all over the
disc. Radii of ring and disc are in units of the target's own size.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats
from metrack.box import Box
from metrack.config import MemoryConfig, RankingConfig


def foreground_boxes(rng: np.random.Generator, estimate: Box, config: MemoryConfig) -> Floats:
    """Boxes ``(positives, 4)`` on the target, uniform over the disc of the positive radius."""
    radius = config.positive_radius * np.sqrt(_from_zero(rng, config.positives))
    return _shifted(estimate, *_directions(rng, radius))


def ranked_boxes(rng: np.random.Generator, estimate: Box, config: RankingConfig) -> Floats:
    """Boxes ``(boxes, 4)`` on and around the target, uniform over disc and scales, the first exactly on it."""
    boxes = _beside(rng, estimate, config.reach * np.sqrt(_from_zero(rng, config.boxes)))
    off = rng.uniform(-config.scale_reach, config.scale_reach, config.boxes)
    off[0] = 0.0
    return _rescaled(boxes, np.exp(off))


def background_boxes(rng: np.random.Generator, estimate: Box, config: MemoryConfig) -> Floats:
    """Boxes ``(negatives, 4)`` that are not the target: beside it, uniform over the ring, or at the wrong size."""
    misscaled = min(config.misscaled, config.negatives)
    inner, outer = config.negative_inner, config.reach
    radius = np.sqrt(inner**2 + (outer**2 - inner**2) * rng.random(config.negatives - misscaled))
    beside = _beside(rng, estimate, radius)
    return np.vstack([beside, _misscaled(rng, estimate, misscaled, config)]) if misscaled else beside


def _misscaled(rng: np.random.Generator, estimate: Box, count: int, config: MemoryConfig) -> Floats:
    """Boxes ``(count, 4)`` in the target's place but too large or too small, either as likely."""
    off = rng.uniform(config.misscale_inner, max(config.misscale_inner, config.misscale_outer), count)
    in_place = np.tile(estimate.to_xywh(), (count, 1))
    return _rescaled(in_place, np.exp(off * rng.choice([-1.0, 1.0], count)))


def _from_zero(rng: np.random.Generator, count: int) -> Floats:
    """Random numbers below 1, the first of them 0."""
    numbers: Floats = rng.random(count)
    numbers[0] = 0.0
    return numbers


def _beside(rng: np.random.Generator, estimate: Box, radius: Floats) -> Floats:
    """Boxes at radii ``(n,)`` in units of the target's size: on an ellipse for a target that is not square."""
    dx, dy = _directions(rng, radius)
    return _shifted(estimate, dx * estimate.w, dy * estimate.h)


def _directions(rng: np.random.Generator, radius: Floats) -> tuple[Floats, Floats]:
    angle = rng.random(len(radius)) * 2 * np.pi
    return radius * np.cos(angle), radius * np.sin(angle)


def _rescaled(boxes: Floats, factors: Floats) -> Floats:
    """Boxes ``(n, 4)`` with the same centres, each larger by its factor ``(n,)``."""
    size = boxes[:, 2:] * factors[:, None]
    return np.hstack([boxes[:, :2] + (boxes[:, 2:] - size) / 2, size])


def _shifted(box: Box, dx: Floats, dy: Floats) -> Floats:
    size = np.ones_like(dx)
    return np.stack([box.x + dx, box.y + dy, box.w * size, box.h * size], axis=1)
