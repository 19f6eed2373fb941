"""Which regions of a frame become training samples.

Foreground boxes have the size of the estimate and lie within a small radius of it, the first exactly on it. Background
boxes lie in a ring around it. Boxes for ranking lie all over a disc, at various sizes. Radii of ring and disc are in
units of the target's own size.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats
from metrack.box import Box

POSITIVE_RADIUS = 1.0  # pixels: largest distance of a foreground box
NEGATIVE_INNER, NEGATIVE_OUTER = 0.5, 1.5  # target sizes: the ring of background boxes
RANKED = 60  # boxes for ranking
RANKED_REACH = 1.0  # target sizes: largest distance of a box for ranking
RANKED_SCALE_REACH = 0.3  # largest difference of its log-scale
REACH = max(NEGATIVE_OUTER, RANKED_REACH)  # target sizes: largest distance of any box but a foreground one


def foreground_boxes(rng: np.random.Generator, estimate: Box, count: int) -> Floats:
    """Draw boxes ``(count, 4)`` on the target, uniform over the disc of the positive radius."""
    radius = POSITIVE_RADIUS * np.sqrt(_from_zero(rng, count))
    return _shifted(estimate, *_directions(rng, radius))


def background_boxes(rng: np.random.Generator, estimate: Box, count: int) -> Floats:
    """Draw boxes ``(count, 4)`` beside the target, uniform over the ring."""
    inner, outer = NEGATIVE_INNER**2, NEGATIVE_OUTER**2
    return _beside(rng, estimate, np.sqrt(inner + (outer - inner) * rng.random(count)))


def ranked_boxes(rng: np.random.Generator, estimate: Box) -> Floats:
    """Draw boxes ``(RANKED, 4)`` on and around the target, uniform over disc and scales, the first exactly on it."""
    boxes = _beside(rng, estimate, RANKED_REACH * np.sqrt(_from_zero(rng, RANKED)))
    log_scale = rng.uniform(-RANKED_SCALE_REACH, RANKED_SCALE_REACH, RANKED)
    log_scale[0] = 0.0
    size = boxes[:, 2:] * np.exp(log_scale)[:, None]
    return np.hstack([boxes[:, :2] + (boxes[:, 2:] - size) / 2, size])


def _from_zero(rng: np.random.Generator, count: int) -> Floats:
    """Draw random numbers below 1, and make the first of them 0."""
    numbers: Floats = rng.random(count)
    numbers[0] = 0.0
    return numbers


def _beside(rng: np.random.Generator, estimate: Box, radius: Floats) -> Floats:
    """Draw boxes at radii ``(n,)`` in units of the target's size: on an ellipse for a target that is not square."""
    dx, dy = _directions(rng, radius)
    return _shifted(estimate, dx * estimate.w, dy * estimate.h)


def _directions(rng: np.random.Generator, radius: Floats) -> tuple[Floats, Floats]:
    angle = rng.random(len(radius)) * 2 * np.pi
    return radius * np.cos(angle), radius * np.sin(angle)


def _shifted(box: Box, dx: Floats, dy: Floats) -> Floats:
    size = np.ones_like(dx)
    return np.stack([box.x + dx, box.y + dy, box.w * size, box.h * size], axis=1)
