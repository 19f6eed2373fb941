"""The descriptor for identification, from a box on a frame or from a crop.

The box is scaled to a normal size and described by its colours (:mod:`metrack.features.colour`) and, with less weight,
by its shape (HOG). Boxes are rounded to whole pixels and nothing around them is used, so that a box on a frame and the
same pixels saved as a crop have the same descriptor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import SMALLEST_SIDE, check_box, check_frame
from metrack.features import colour, hog
from metrack.features.window import Window, cut_window

SIZE = 64.0  # side in pixels (geometric mean) to which a target is brought
SHAPE_SHARE = 0.1  # of the squared length of a descriptor
GRID = hog.cell_grid("corners")
DIMENSION = colour.DIMENSION + GRID.dimension
GREY = np.array([0.299, 0.587, 0.114], np.float32)

CAST, GAIN, GAMMA = 0.3, 0.4, 0.3  # spread, in logarithms, of what another camera or hour does to colours

Patch = NDArray[np.uint8]


def patch_of(frame: Frame, box: Box | tuple[float, float, float, float]) -> Patch:
    """Cut a box out of a frame, border pixels repeated beyond the frame, and bring it to normal size."""
    frame = check_frame(frame)
    x, y, w, h = check_box(box, frame.shape).to_xywh()
    columns = np.clip(np.arange(round(x), max(round(x + w), round(x) + 1)), 0, frame.shape[1] - 1)
    rows = np.clip(np.arange(round(y), max(round(y + h), round(y) + 1)), 0, frame.shape[0] - 1)
    return normal_size(frame[rows[:, None], columns])


def normal_size(crop: Frame, name: str = "crop") -> Patch:
    """Bring a crop to normal size: RGB pixels ``(h, w, 3)``; ``name`` is how a refusal calls it."""
    if min(crop.shape[:2]) < SMALLEST_SIDE:
        size = f"{crop.shape[1]} x {crop.shape[0]}"
        raise ValueError(f"{name} must be at least {SMALLEST_SIDE} pixels on each side, got {size}")
    height, width = crop.shape[:2]
    channels = crop[:, :, None] if crop.ndim == 2 else crop
    zoom = SIZE / float(np.sqrt(height * width))
    planes = [
        cut_window(np.ascontiguousarray(channels[:, :, c]), Box(0, 0, width, height), zoom).grey
        for c in range(channels.shape[2])
    ]
    patch = np.rint(np.stack(planes, axis=-1)).astype(np.uint8)
    return np.repeat(patch, 3, axis=2) if patch.shape[2] == 1 else patch


def describe(patch: Patch) -> NDArray[np.float32]:
    """Describe a patch of normal size by :data:`DIMENSION` numbers of squared length 1."""
    height, width = patch.shape[:2]
    window = Window(patch @ GREY, 0.0, 0.0, 1.0)
    whole = np.array([[0.0, 0.0, width, height]])
    shape = hog.describe(window, hog.integral_histogram(window.grey), whole, GRID, SHAPE_SHARE)[0]
    return np.concatenate([np.sqrt(np.float32(1 - SHAPE_SHARE)) * colour.strips_of_colour(patch), shape])


def relight(rng: np.random.Generator, patch: Patch) -> Patch:
    """Vary brightness, contrast and tint of a patch at random, as another camera would."""
    gain = np.exp(rng.normal(0, CAST, 3) + rng.normal(0, GAIN))
    light = np.minimum(colour.LINEAR[:, None] ** np.exp(rng.normal(0, GAMMA)) * gain, 1.0)  # (256, 3)
    values = np.searchsorted(colour.LINEAR, light.ravel()).clip(0, 255).reshape(256, 3).astype(np.uint8)
    return np.stack([values[patch[:, :, c], c] for c in range(3)], axis=-1)


def family(rng: np.random.Generator, patch: Patch, copies: int) -> NDArray[np.float32]:
    """Describe a patch and copies of it in other light: ``(1 + copies, D)``, the patch itself first."""
    return np.array([describe(patch), *(describe(relight(rng, patch)) for _ in range(copies))])
