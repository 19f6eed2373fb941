"""Validation of arguments, and the wording of the errors.

Every error is one sentence that names the argument, what was wanted and what was given.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from metrack.arrays import Floats, Frame, as_floats, as_number, shown
from metrack.box import Box

LARGEST_BOX = 2  # times the size of the frame
SMALLEST_SIDE = 4  # pixels: smaller regions have hardly any gradients
SMALLEST_SCORED = 0.01  # pixels: areas and ratios of such boxes are ordinary numbers
LARGEST_SIDE = 65_535  # pixels of a frame: what the formats of images and videos can hold
MOST_PIXELS = 100_000_000  # of a frame; takes some seconds
FARTHEST = 1000  # pixels outside the frame that a box to be scored may lie
MOST_BOXES = 20_000  # scored by one call: bounds the memory for their descriptors
LARGEST_SEED = 2**64 - 1  # seeds are saved as numbers
LONGEST_PATH = 4096  # bytes, as systems allow
LONGEST_NAME = 100  # characters of a name that suggestions are made for
LONGEST_LIST = 200  # characters of a list of names in a sentence


def check_frame(frame: object, like: tuple[int, ...] | None = None) -> Frame:
    """Return ``frame`` if it is a valid image; ``like`` is the shape of earlier frames, which it must keep."""
    if not isinstance(frame, np.ndarray):
        raise ValueError(f"frame must be a numpy array, got {type(frame).__name__[:LONGEST_NAME]}")
    frame = frame if type(frame) is np.ndarray else np.asarray(frame)  # masks are left out
    plausible = frame.ndim == 2 or (frame.ndim == 3 and frame.shape[2] == 3)
    if frame.dtype != np.uint8 or not plausible:
        raise ValueError(
            f"frame must be uint8 with shape (H, W) or (H, W, 3), got {str(frame.dtype)[:LONGEST_NAME]} "
            f"with shape {frame.shape}"
        )
    if min(frame.shape[:2]) < SMALLEST_SIDE:
        raise ValueError(f"frame must be at least {SMALLEST_SIDE} pixels on each side, got shape {frame.shape}")
    if max(frame.shape[:2]) > LARGEST_SIDE or frame.shape[0] * frame.shape[1] > MOST_PIXELS:
        raise ValueError(
            f"frame must be at most {LARGEST_SIDE} pixels on each side and {MOST_PIXELS:,} in all, "
            f"got shape {frame.shape}"
        )
    if like is not None and frame.shape != like:
        raise ValueError(f"frame must keep the shape {like} it had at init, got {frame.shape}")
    return frame


def check_box(box: object, frame_shape: Sequence[int]) -> Box:
    """Return ``box`` as a :class:`Box` if it marks a usable region of a frame of that shape."""
    values = box.to_xywh() if isinstance(box, Box) else box
    try:
        if isinstance(values, str | bytes):
            raise TypeError  # else the four characters of "1234" would be a box
        x, y, w, h = (as_number(v) for v in values)  # type: ignore[attr-defined]
    except Exception:  # values may raise anything of their own
        raise ValueError(f"box must be four numbers x, y, w, h, got {shown(box)}") from None
    _check_region((x, y, w, h), frame_shape)
    return Box(x, y, w, h)


def _check_region(box: tuple[float, float, float, float], frame_shape: Sequence[int]) -> None:
    x, y, w, h = box
    got = f"({x:g}, {y:g}, {w:g}, {h:g})"
    height, width = frame_shape[:2]
    if not all(map(math.isfinite, box)):
        raise ValueError(f"box must be finite numbers x, y, w, h, got {got}")
    if w <= 0 or h <= 0:
        raise ValueError(f"box must have a positive width and height, got {got}")
    if min(w, h) < SMALLEST_SIDE:
        raise ValueError(f"box must be at least {SMALLEST_SIDE} pixels on each side, got {got}")
    if w > LARGEST_BOX * width or h > LARGEST_BOX * height:
        raise ValueError(
            f"box must be at most {LARGEST_BOX} times as large as the frame of {width} x {height} pixels, got {got}"
        )
    inside_w = min(x + w, width) - max(x, 0)
    inside_h = min(y + h, height) - max(y, 0)
    if min(inside_w, inside_h) < SMALLEST_SIDE:
        raise ValueError(
            f"box must lie in the frame of {width} x {height} pixels with at least {SMALLEST_SIDE} pixels "
            f"of it visible on each side, got {got}"
        )


def check_boxes(boxes: object, frame_shape: Sequence[int]) -> Floats:
    """Return ``boxes`` ``(N, 4)`` if they can be scored: not far outside a frame of that shape, nor far larger."""
    found = as_floats("boxes", boxes, columns=4)
    height, width = frame_shape[:2]
    if not 1 <= len(found) <= MOST_BOXES:
        raise ValueError(f"boxes must be between 1 and {MOST_BOXES}, got {len(found)}")
    size, low, high = found[:, 2:], found[:, :2], np.array([width, height], np.float64)
    for wrong, wanted in (
        (~np.isfinite(found), "be finite numbers x, y, w, h"),
        (size < SMALLEST_SCORED, f"be at least {SMALLEST_SCORED:g} pixels wide and high"),
        (size > LARGEST_BOX * high, f"be at most {LARGEST_BOX} times as large as the frame of {width} x {height}"),
        ((low < -FARTHEST - size) | (low > high + FARTHEST), f"lie within {FARTHEST} pixels of the frame"),
    ):
        if wrong.any():
            got = ", ".join(f"{value:g}" for value in found[int(np.argmax(wrong.any(axis=1)))])
            raise ValueError(f"boxes must {wanted}, got ({got})")
    return found


def is_usable(box: Box, frame_shape: Sequence[int]) -> bool:
    """Whether a box marks a usable region of a frame of that shape."""
    try:
        check_box(box, frame_shape)
    except ValueError:
        return False
    return True


def check_seed(seed: object) -> int:
    """Return ``seed`` if it is a whole number of at least 0."""
    return check_whole("seed", seed, 0, LARGEST_SEED)


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return ``value`` if it is a whole number of at least ``least``; ``name`` is the argument in the error."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be a whole number of at most {most}, got {shown(value)}")
    return int(value)


def check_number(name: str, value: object, low: float = -math.inf, high: float = math.inf) -> float:
    """Return ``value`` as a float if it is a number between the two, which may be meant to be infinite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.nan
    if not low <= number <= high:
        raise ValueError(f"{name} must be a number between {low:g} and {high:g}, got {shown(value)}")
    return number


def check_pair(name: str, value: object, low: float, high: float) -> tuple[float, float]:
    """Return ``value`` if it is a tuple of two numbers between the two."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise ValueError(f"{name} must be a tuple of two numbers, got {shown(value)}")
    return check_number(name, value[0], low, high), check_number(name, value[1], low, high)


def check_switch(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_path(name: str, value: object) -> Path:
    """Return ``value`` as a path if it is the name of one, without control characters."""
    try:
        text = os.fspath(value)  # type: ignore[call-overload]
    except Exception:  # of the value's own making
        text = None
    if not isinstance(text, str) or not text:
        raise ValueError(f"{name} must be the name of a file or folder, got {shown(value)}")
    try:
        length = len(os.fsencode(text))
    except UnicodeEncodeError:
        length = 0
    if not 0 < length <= LONGEST_PATH or any(ord(character) < 32 or character == "\x7f" for character in text):
        raise ValueError(
            f"{name} must be a name of at most {LONGEST_PATH} bytes without control characters, got {shown(value)}"
        )
    return Path(text)


@contextmanager
def writing(name: str, path: Path) -> Iterator[None]:
    """Turn what the system says about a path that cannot be written into a sentence."""
    for wrong, why in (
        (os.path.isdir(path), "Is a directory"),
        (not os.path.isdir(path.parent), "No such folder"),
        (not os.access(path.parent, os.W_OK), "Permission denied"),
    ):
        if wrong:
            raise ValueError(f"{name} must be a file that can be written, got {shown(str(path))} ({why})")
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ValueError(f"{name} must be a file that can be written, got {shown(str(path))} ({why})") from None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for a near miss, else the list of what is known."""
    names = sorted(known)
    if isinstance(name, str) and len(name) <= LONGEST_NAME:
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        if close:
            return f"; did you mean {close[0]!r}?"
    listed = ", ".join(names)
    if len(listed) > LONGEST_LIST:
        listed = f"{listed[:LONGEST_LIST].rpartition(', ')[0]} and others"
    return f"; known are {listed}"
