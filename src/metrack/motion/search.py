"""Where to search for a lost target: farther and farther around its last place, then everywhere.

The searched region doubles in size every few frames. Candidates cover it evenly: one in every cell of a grid, at a
random place in the cell and a random scale.
"""

from __future__ import annotations

import math

import numpy as np

from metrack.box import Box
from metrack.motion.random_walk import Bounds, States

DOUBLES_EVERY = 3  # frames
MOST_DOUBLED = 64.0  # times: by then it is larger than any frame
SCALE_REACH = 0.25  # largest change of log-scale since the target was last visible
KEPT = 20  # candidates most like the first frame's samples, which join the particles
MOST_PIXELS = 400_000  # searched in one frame, counted with the target at its normal size


def search_region(last: Box, searched: int, bounds: Bounds) -> Box:
    """Return the region to search after ``searched`` frames of searching, clipped to the frame.

    >>> search_region(Box(40, 40, 10, 10), 3, Bounds(10, 10, 100, 60))
    Box(x=25.0, y=25.0, w=40.0, h=35.0)
    """
    doubled = min(searched / DOUBLES_EVERY, MOST_DOUBLED)
    grown = last.grow(*(side * (2**doubled - 0.5) for side in (last.w, last.h)))
    left, top, right, bottom = grown.to_xyxy()
    left, top = max(left, 0.0), max(top, 0.0)
    right, bottom = min(right, bounds.frame_width), min(bottom, bounds.frame_height)
    return Box(left, top, max(right - left, 1.0), max(bottom - top, 1.0))


def window_of(rng: np.random.Generator, region: Box, most: float) -> Box:
    """Return the region or, where its area exceeds ``most``, a random part of the same shape."""
    share = min(math.sqrt(most / region.area), 1.0)
    w, h = region.w * share, region.h * share
    return Box(region.x + rng.random() * (region.w - w), region.y + rng.random() * (region.h - h), w, h)


def scatter(rng: np.random.Generator, count: int, region: Box, log_scale: float, bounds: Bounds) -> States:
    """Return about ``count`` states whose centres cover a region evenly, at scales around the last one."""
    columns = max(round(math.sqrt(count * region.w / region.h)), 1)
    rows = max(round(count / columns), 1)
    cells = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    places = (cells + rng.random(cells.shape)) * (region.w / columns, region.h / rows) + (region.x, region.y)
    scales = log_scale + rng.uniform(-SCALE_REACH, SCALE_REACH, (len(cells), 1))
    return bounds.clip(np.hstack([places, scales]))
