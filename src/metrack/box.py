"""Boxes, and the pixel convention of this package.

A box is ``(x, y, w, h)`` in floats and continuous image coordinates: pixel ``i`` covers ``[i, i + 1)``, the
top-left corner of the image is ``(0, 0)``, the centre of a box is ``x + w / 2``. Every other convention is a
named conversion, done where values come in. Where public toolkits disagree, this package says: the overlap of
two boxes is 0 when either has no area, and boxes that only touch do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrack.arrays import Floats, as_floats, as_number, shown

LARGEST = 1e150  # pixels: areas of larger boxes cannot be computed


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in an image: four numbers, not finite ones where a place is not known.

    >>> Box(10, 20, 30, 40).centre
    (25.0, 40.0)
    >>> Box(0, 0, 2, 2).iou(Box(1, 0, 2, 2))
    0.3333333333333333
    """

    x: float
    y: float
    w: float
    h: float

    def __post_init__(self) -> None:
        for name in ("x", "y", "w", "h"):
            value = getattr(self, name)
            if type(value) is not float:
                object.__setattr__(self, name, _coordinate(name, value))

    @classmethod
    def from_otb(cls, values: Sequence[float]) -> Box:
        """Build a box from one-based ``x, y, w, h``, as MATLAB-era benchmarks write it."""
        try:
            if isinstance(values, str | bytes):
                raise TypeError  # else "1234" would be a box
            x, y, w, h = (as_number(v) for v in values)
        except Exception:  # values may raise anything of their own
            raise ValueError(f"values must be four numbers x, y, w, h, got {shown(values)}") from None
        return cls(x - 1.0, y - 1.0, w, h)

    @classmethod
    def from_centre(cls, cx: float, cy: float, w: float, h: float) -> Box:
        """Build a box of size ``w`` by ``h`` around its centre."""
        cx, cy, w, h = (_coordinate(*each) for each in (("cx", cx), ("cy", cy), ("w", w), ("h", h)))
        return cls(cx - w / 2, cy - h / 2, w, h)

    @property
    def centre(self) -> tuple[float, float]:
        """Centre point x, y."""
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def area(self) -> float:
        """Width times height; 0 if either is negative."""
        return max(self.w, 0.0) * max(self.h, 0.0)

    def to_otb(self) -> tuple[float, float, float, float]:
        """Return one-based ``x, y, w, h``."""
        return self.x + 1.0, self.y + 1.0, self.w, self.h

    def to_xywh(self) -> tuple[float, float, float, float]:
        """Return ``x, y, w, h``."""
        return self.x, self.y, self.w, self.h

    def to_xyxy(self) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom."""
        return self.x, self.y, self.x + self.w, self.y + self.h

    def grow(self, x: float, y: float) -> Box:
        """Return the box enlarged by ``x`` on the left and right and by ``y`` above and below."""
        x, y = _coordinate("x", x), _coordinate("y", y)
        return Box(self.x - x, self.y - y, self.w + 2 * x, self.h + 2 * y)

    def contains(self, other: Box) -> bool:
        """Whether the other box lies entirely in this one."""
        left, top, right, bottom = self.to_xyxy()
        inner_left, inner_top, inner_right, inner_bottom = _other(other).to_xyxy()
        return left <= inner_left and top <= inner_top and inner_right <= right and inner_bottom <= bottom

    def iou(self, other: Box) -> float:
        """Intersection over union with another box, in [0, 1]."""
        return float(iou(np.array([self.to_xywh()]), np.array([_other(other).to_xywh()]))[0])

    def centre_distance(self, other: Box) -> float:
        """Distance between the two centres in pixels."""
        return float(centre_distance(np.array([self.to_xywh()]), np.array([_other(other).to_xywh()]))[0])


def _coordinate(name: str, value: object) -> float:
    """Return an int as it is, and other numbers as a float of Python's own: those of numpy would warn."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if isinstance(value, float) or abs(value) <= LARGEST:
            return float(value) if isinstance(value, float) else value
    elif isinstance(value, (np.integer, np.floating)):
        return float(value)
    raise ValueError(f"{name} must be a number, got {shown(value)}")


def _other(box: object) -> Box:
    if not isinstance(box, Box):
        raise ValueError(f"other must be a Box, got {shown(box)}")
    return box


def bounding(boxes: Floats) -> Box:
    """Return the smallest box that contains all boxes ``(N, 4)``, N at least 1.

    >>> bounding(np.array([[0.0, 0.0, 2.0, 2.0], [1.0, -1.0, 4.0, 1.0]]))
    Box(x=0.0, y=-1.0, w=5.0, h=3.0)
    """
    left, top = boxes[:, :2].min(axis=0).tolist()
    right, bottom = (boxes[:, :2] + boxes[:, 2:]).max(axis=0).tolist()
    return Box(left, top, right - left, bottom - top)


def iou(first: ArrayLike, second: ArrayLike) -> Floats:
    """Intersection over union of boxes row by row; 0 where either box has no area.

    Parameters
    ----------
    first, second : (N, 4)   x, y, w, h; one of them may have a single row

    Returns
    -------
    overlap : (N,)           in [0, 1]; NaN where a coordinate is NaN
    """
    a, b = _pairs(first, second)
    size_a, size_b = np.maximum(a[:, 2:], 0), np.maximum(b[:, 2:], 0)
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.maximum(a[:, :2], b[:, :2])
        high = np.minimum(a[:, :2] + size_a, b[:, :2] + size_b)
        shared = np.prod(np.maximum(high - low, 0), axis=1)
        union = np.prod(size_a, axis=1) + np.prod(size_b, axis=1) - shared
        overlap: Floats = np.divide(shared, union, out=np.where(np.isnan(union), np.nan, 0.0), where=union > 0)
    return _known(np.minimum(overlap, 1.0), union, a, b)


def centre_distance(first: ArrayLike, second: ArrayLike) -> Floats:
    """Distance between box centres row by row, in pixels."""
    a, b = _pairs(first, second)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (a[:, :2] + a[:, 2:] / 2) - (b[:, :2] + b[:, 2:] / 2)
        distance: Floats = np.hypot(gap[:, 0], gap[:, 1])
    return _known(distance, distance, a, b)


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    a, b = as_floats("first", first, columns=4), as_floats("second", second, columns=4)
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        raise ValueError(f"second must have as many boxes as first, or one of them a single box, got {len(b)}")
    return a, b


def _known(values: Floats, check: Floats, *boxes: Floats) -> Floats:
    """Return values computed from boxes; where they are not finite, the boxes must be so because of a NaN."""
    if not np.isfinite(check).all() and any((np.abs(each) > LARGEST).any() for each in boxes):
        raise ValueError(f"boxes must have coordinates up to {LARGEST:g} pixels, or NaN, got larger ones")
    return values
