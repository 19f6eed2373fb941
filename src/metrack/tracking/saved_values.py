"""The values saved beside the arrays of a target, checked one by one before anything is made from them.

Whatever passes here is what a target that was followed could have: nothing made from it fails later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from metrack.box import Box
from metrack.checks import LARGEST_BOX, SMALLEST_SIDE
from metrack.files import LARGEST
from metrack.motion.random_walk import Bounds, States
from metrack.tracking.confidence import Presence

MOST_FRAMES = 1 << 53  # a float still tells them apart
LARGEST_FRAME = 1 << 20  # pixels along a side
GENERATOR = "PCG64"
ROUNDING = 1e-6  # relative, of sides and log-scales at their limits


@dataclass(frozen=True, slots=True)
class SavedTarget:
    """What is known of a saved target beside its arrays."""

    shape: tuple[int, ...]
    bounds: Bounds
    box: Box
    last_seen: Box
    frame: int
    unseen: int
    presence: Presence
    randomness: Mapping[str, Any]

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> Self:
        """Read and check the values of :meth:`TargetState.to_saved`."""
        shape = checked_shape(meta["shape"])
        bounds = _bounds(meta["bounds"], shape)
        frame = whole("frame", meta["frame"], MOST_FRAMES)
        return cls(
            shape,
            bounds,
            _box("box", meta["box"], shape),
            _box("last_seen", meta["last_seen"], shape),
            frame,
            whole("unseen", meta["unseen"], frame),
            _presence(meta["presence"]),
            _randomness(meta["rng"]),
        )

    def generator(self) -> np.random.Generator:
        """Return the random generator as it was."""
        rng = np.random.default_rng()
        rng.bit_generator.state = self.randomness
        return rng

    def check_particles(self, states: States) -> None:
        """Refuse particles far from the frame, or of a size that none can have."""
        height, width = self.shape[:2]
        clipped = self.bounds.clip(states)
        apart = np.abs(states - clipped) <= (LARGEST_BOX * width, LARGEST_BOX * height, ROUNDING)
        if not apart.all():
            raise ValueError("survivors must lie on the frame and be of sizes between the limits")


def checked_shape(values: object) -> tuple[int, ...]:
    """Return the shape of frames."""
    if not isinstance(values, list) or len(values) not in (2, 3) or values[2:] not in ([], [3]):
        raise ValueError(f"shape must be that of grey or colour frames, got {_short(values)}")
    return tuple(whole("shape", value, LARGEST_FRAME, SMALLEST_SIDE) for value in values[:2]) + tuple(values[2:])


def whole(name: str, value: object, most: int, least: int = 0) -> int:
    """Return a whole number between two others."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number between {least} and {most}, got {_short(value)}")
    return value


def number(name: str, value: object, low: float = -LARGEST, high: float = LARGEST) -> float:
    """Return a finite number between two others."""
    if type(value) not in (int, float) or not low <= value <= high:  # type: ignore[operator]
        raise ValueError(f"{name} must be a number between {low:g} and {high:g}, got {_short(value)}")
    return value  # type: ignore[return-value]


def checked_sums(values: object) -> Mapping[str, Any] | None:
    """Return the sums of an identifier: one per known target, and their weight; None where there was no gallery."""
    if values is None:
        return None
    if not isinstance(values, dict) or not isinstance(values["sums"], list):
        raise ValueError(f"identifier must have sums and a weight, got {_short(values)}")
    for value in (values["weight"], *values["sums"]):
        number("identifier", value, 0)
    return values


def _box(name: str, values: object, shape: tuple[int, ...]) -> Box:
    """Return a box that has some of a frame of that shape in it."""
    if not isinstance(values, list) or len(values) != 4:
        raise ValueError(f"{name} must be four numbers, got {_short(values)}")
    box, (height, width) = Box(*(number(name, value) for value in values)), shape[:2]
    most = LARGEST_BOX + ROUNDING
    fits = _is_side(box.w, most * width) and _is_side(box.h, most * height)
    left, top, right, bottom = box.to_xyxy()
    if not fits or left > width or top > height or right < 0 or bottom < 0:
        raise ValueError(f"{name} must lie on the frame of {width} x {height} pixels, got {_short(values)}")
    return box


def _bounds(values: Mapping[str, Any], shape: tuple[int, ...]) -> Bounds:
    bounds = Bounds(**{name: number(f"bounds {name}", value) for name, value in values.items()})
    height, width = shape[:2]
    sides = _is_side(bounds.width, LARGEST_BOX * width) and _is_side(bounds.height, LARGEST_BOX * height)
    if not sides or (bounds.frame_width, bounds.frame_height) != (width, height):
        raise ValueError(f"bounds must be those of a target in frames of {width} x {height} pixels, got {bounds}")
    return bounds


def _is_side(side: float, most: float) -> bool:
    return SMALLEST_SIDE * (1 - ROUNDING) <= side <= most


def _presence(values: Mapping[str, Any]) -> Presence:
    if values.keys() != {each.name for each in fields(Presence)}:
        raise ValueError(f"presence must have the fields of one, got {_short(list(values))}")
    counts = {name: whole(f"presence {name}", values[name], MOST_FRAMES) for name in ("seen", "missing")}
    usual = {name: number(f"presence {name}", values[name]) for name in values.keys() - counts.keys()}
    return Presence(**usual, **counts)  # type: ignore[arg-type]


def _randomness(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of a random generator."""
    state = values["state"]
    whole("rng state", state["state"], (1 << 128) - 1)
    whole("rng inc", state["inc"], (1 << 128) - 1)
    whole("rng has_uint32", values["has_uint32"], 1)
    whole("rng uinteger", values["uinteger"], (1 << 32) - 1)
    if values["bit_generator"] != GENERATOR or not state["inc"] % 2:
        raise ValueError(f"rng must be the state of a {GENERATOR} generator")
    return values


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
