"""Boxes drawn on frames."""

from __future__ import annotations

import numpy as np
import pytest

from metrack.box import Box
from metrack.draw.marks import Mark, draw


def test_drawing_leaves_the_image_alone_and_marks_the_box() -> None:
    image = np.full((120, 160, 3), 128, np.uint8)
    drawn = draw(image, [Mark(Box(40, 50, 60, 40), 1, 0.5)])
    assert (image == 128).all()
    assert drawn.shape == image.shape
    assert drawn.dtype == np.uint8
    assert (drawn[50, 40:100] == (64, 224, 120)).all()  # the upper edge
    assert (drawn[60:80, 60:80] == 128).all()  # nothing inside
    bar = (drawn[94, 40:100] == (64, 224, 120)).all(axis=1)
    assert bar.sum() == 30  # half of its width


@pytest.mark.parametrize("state", ["tracking", "occluded", "lost"])
def test_the_line_shows_the_state(state: str) -> None:
    drawn = draw(np.full((120, 160, 3), 128, np.uint8), [Mark(Box(40, 50, 60, 40), 1, 0.5, state)])
    share = (drawn[50, 40:100] == (64, 224, 120)).all(axis=1).mean()
    low, high = {"tracking": (1.0, 1.0), "occluded": (0.5, 0.7), "lost": (0.2, 0.4)}[state]
    assert low <= share <= high


@pytest.mark.parametrize(
    "box",
    [
        Box(-30, -20, 60, 50),
        Box(140, 100, 60, 50),
        Box(-500, 3, 10, 10),
        Box(40, 900, 10, 10),
        Box(-1e12, -1e12, 2e12, 2e12),
        Box(10, 10, 0.1, 0.1),
        Box(10, 10, -5, -5),
        Box(float("nan"), 0, 5, 5),
        Box(0, 0, float("inf"), 5),
    ],
)
def test_boxes_anywhere_can_be_drawn(box: Box) -> None:
    for state in ("tracking", "lost"):
        drawn = draw(np.zeros((120, 160, 3), np.uint8), [Mark(box, 9, 0.3, state), Mark(box, thin=True)])
        assert drawn.shape == (120, 160, 3)


def test_the_smallest_images_can_be_drawn_on() -> None:
    assert draw(np.zeros((4, 4, 3), np.uint8), [Mark(Box(0, 0, 4, 4), 1, 1.0)]).shape == (4, 4, 3)
