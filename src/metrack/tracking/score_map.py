"""The confidence map: the score of every shift of the target's box (the paper's figure 1).

Entry ``[dy + radius, dx + radius]`` of a map is the score of the tracker's box shifted by ``(dx, dy)`` image pixels.
A map with the metric beside one without shows what the metric does: the lower the surroundings of the peak, the less
there is to mistake for the target.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame, shown
from metrack.box import Box
from metrack.tracking.tracker import Tracker

LARGEST_RADIUS = 200  # pixels: takes some seconds
BOXES_AT_ONCE = 10_000  # bounds the memory for their descriptors


def confidence_map(tracker: Tracker, frame: Frame, radius: int, *, metric: bool = True) -> NDArray[np.float64]:
    """Score the tracker's box at every whole-pixel shift of at most ``radius`` in x and y, and change nothing.

    Parameters
    ----------
    tracker : one that has been given its target
    frame : usually the one updated with last, of which samples have been learned by then
    radius : 1 to 200 pixels
    metric : whether to compare in the learned metric, or as if none had been learned

    Returns
    -------
    scores : (2 radius + 1, 2 radius + 1)   row ``dy + radius``, column ``dx + radius``

    >>> from metrack.synth import builtin_clip
    >>> clip = builtin_clip(frames=60, occlusion=False, departure=False)
    >>> tracker = Tracker("paper")
    >>> tracker.init(clip[0], clip.first_box)
    >>> scores = confidence_map(tracker, clip[0], 20)
    >>> scores.shape, bool(scores[20, 20] > scores[20, 0])  # the box itself; twenty pixels left of it
    ((41, 41), True)
    """
    if not isinstance(tracker, Tracker):
        raise ValueError(f"tracker must be a Tracker, got {shown(tracker)}")
    radius = check_radius(radius)
    boxes = _shifted(tracker.box, radius)
    corners = boxes[[0, -1]]  # part of every piece, so that all pieces are cut from the same window
    pieces = np.array_split(boxes, -(-len(boxes) // BOXES_AT_ONCE))
    scores = [tracker.score(frame, np.vstack([piece, corners]), metric=metric)[:-2] for piece in pieces]
    return np.concatenate(scores).reshape(2 * radius + 1, 2 * radius + 1)


def check_radius(radius: object) -> int:
    """Return ``radius`` if a map can be that large."""
    if isinstance(radius, bool) or not isinstance(radius, (int, np.integer)) or not 1 <= radius <= LARGEST_RADIUS:
        raise ValueError(f"radius must be a whole number of pixels from 1 to {LARGEST_RADIUS}, got {shown(radius)}")
    return int(radius)


def usual_radius(box: Box) -> int:
    """Return how far it is worth looking: about a target's size."""
    return min(max(round(max(box.w, box.h)), 1), LARGEST_RADIUS)


def _shifted(box: Box, radius: int) -> Floats:
    """Shift a box everywhere, row by row from the top left: ``((2 radius + 1)^2, 4)``."""
    shifts = np.arange(-radius, radius + 1)
    dy, dx = (grid.ravel() for grid in np.meshgrid(shifts, shifts, indexing="ij"))
    boxes: Floats = np.array(box.to_xywh()) + np.stack([dx, dy, 0 * dx, 0 * dy], axis=1)
    return boxes
