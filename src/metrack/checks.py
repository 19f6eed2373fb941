"""Validation of arguments, and the wording of the errors.

Every error is one sentence that names the argument, what was wanted and what was given.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box

LARGEST_BOX = 2  # times the size of the frame
SMALLEST_SIDE = 4  # pixels: smaller regions have hardly any gradients


def check_frame(frame: object, like: tuple[int, ...] | None = None) -> Frame:
    """Return ``frame`` if it is a valid image; ``like`` is the shape of earlier frames, which it must keep."""
    if not isinstance(frame, np.ndarray):
        raise ValueError(f"frame must be a numpy array, got {type(frame).__name__}")
    plausible = frame.ndim == 2 or (frame.ndim == 3 and frame.shape[2] == 3)
    if frame.dtype != np.uint8 or not plausible:
        raise ValueError(
            f"frame must be uint8 with shape (H, W) or (H, W, 3), got {frame.dtype} with shape {frame.shape}"
        )
    if min(frame.shape[:2]) < SMALLEST_SIDE:
        raise ValueError(f"frame must be at least {SMALLEST_SIDE} pixels on each side, got shape {frame.shape}")
    if like is not None and frame.shape != like:
        raise ValueError(f"frame must keep the shape {like} it had at init, got {frame.shape}")
    return frame


def check_box(box: object, frame_shape: Sequence[int]) -> Box:
    """Return ``box`` as a :class:`Box` if it marks a usable region of a frame of that shape."""
    values = box.to_xywh() if isinstance(box, Box) else box
    try:
        if isinstance(values, str | bytes):
            raise TypeError  # else the four characters of "1234" would be a box
        x, y, w, h = (float(v) for v in values)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"box must be four numbers x, y, w, h, got {box!r}") from None
    shown = f"({x:g}, {y:g}, {w:g}, {h:g})"
    height, width = frame_shape[:2]
    if not np.all(np.isfinite((x, y, w, h))):
        raise ValueError(f"box must be finite numbers x, y, w, h, got {shown}")
    if w <= 0 or h <= 0:
        raise ValueError(f"box must have a positive width and height, got {shown}")
    if min(w, h) < SMALLEST_SIDE:
        raise ValueError(f"box must be at least {SMALLEST_SIDE} pixels on each side, got {shown}")
    if w > LARGEST_BOX * width or h > LARGEST_BOX * height:
        raise ValueError(
            f"box must be at most {LARGEST_BOX} times as large as the frame of {width} x {height} pixels, got {shown}"
        )
    inside_w = min(x + w, width) - max(x, 0)
    inside_h = min(y + h, height) - max(y, 0)
    if min(inside_w, inside_h) < SMALLEST_SIDE:
        raise ValueError(
            f"box must lie in the frame of {width} x {height} pixels with at least {SMALLEST_SIDE} pixels "
            f"of it visible on each side, got {shown}"
        )
    return Box(x, y, w, h)


def is_usable(box: Box, frame_shape: Sequence[int]) -> bool:
    """Whether a box marks a usable region of a frame of that shape."""
    try:
        check_box(box, frame_shape)
    except ValueError:
        return False
    return True


def check_seed(seed: object) -> int:
    """Return ``seed`` if it is a whole number of at least 0."""
    return check_whole("seed", seed, 0)


def check_whole(name: str, value: object, least: int) -> int:
    """Return ``value`` if it is a whole number of at least ``least``; ``name`` is the argument in the error."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for a near miss, else the list of what is known."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(names)}"
