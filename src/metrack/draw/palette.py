"""Every colour, line style and marker of pictures, plots and pages.

Boxes on video are bright. Lines and text on pages have a contrast of at least 3 on white and on dark ground; the
colours of ``PALETTE`` and ``SHADES`` can also be told apart by the colour-blind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.estimate import LOST, OCCLUDED, TRACKING

Colour = tuple[int, int, int]
Dash = tuple[float, ...]  # pixels drawn and skipped in turn; empty for a solid line

INK = "ink"  # in drawings: the colour of the page's text
TEXT: Colour = (38, 42, 50)  # what INK is on white
WHITE: Colour = (255, 255, 255)
SHADOW: Colour = (16, 18, 22)  # around boxes, so that they show on any ground
TARGETS: tuple[Colour, ...] = (
    (64, 224, 120),
    (255, 176, 32),
    (72, 168, 255),
    (255, 96, 144),
    (190, 132, 255),
    (64, 220, 220),
    (236, 224, 72),
    (255, 132, 84),
)
LINE_LUMINANCE = 0.2  # contrast of about 4.2 on white and on dark pages
PALETTE = ("#3188df", "#d34719", "#119268", "#ad448f", "#c28b00", "#18a0c4", "#7948d1", "#5e8019")
DASHED: Dash = (4, 3)
DASHES: tuple[Dash, ...] = ((), (8, 2.6), (8, 2.2, 1.6, 2.2), (2.2, 2))
STATE_COLOURS = {  # of signs and of text, on light and on dark ground
    TRACKING: {"light": {"mark": "#1c8f58", "text": "#15703f"}, "dark": {"mark": "#44c283", "text": "#44c283"}},
    OCCLUDED: {"light": {"mark": "#c07a00", "text": "#8a5600"}, "dark": {"mark": "#f0b040", "text": "#f0b040"}},
    LOST: {"light": {"mark": "#c8392c", "text": "#b02b1f"}, "dark": {"mark": "#ff7d70", "text": "#ff7d70"}},
}
STATES = {  # colour and strength of the frames in a state, behind curves
    state: (STATE_COLOURS[state]["light"]["mark"], strength) for state, strength in ((OCCLUDED, 0.30), (LOST, 0.38))
}
SHADES: tuple[Colour, ...] = (  # of heat maps, from low to high: lightness 10, 30, 50, 70, 90
    (12, 24, 66),
    (5, 72, 130),
    (20, 130, 149),
    (106, 188, 130),
    (248, 229, 79),
)


def _corners(count: int, turn: float, inner: float = 1.0) -> NDArray[np.float64]:
    """Return the corners ``(n, 2)`` of a regular polygon, or of a star where every other corner is pulled inwards."""
    angle = 2 * np.pi * (np.arange(count) / count + turn / 360)
    radius = np.where(np.arange(count) % 2, inner, 1.0)
    return np.stack([radius * np.sin(angle), -radius * np.cos(angle)], axis=1)


MARKERS = (  # outlines around (0, 0): circle, square, diamond, triangles up and down, cross, cross turned, star
    0.85 * _corners(16, 0),
    _corners(4, 45),
    _corners(4, 0),
    1.1 * _corners(3, 0),
    1.1 * _corners(3, 60),
    1.2 * _corners(8, 0, 0.4),
    1.2 * _corners(8, 45, 0.4),
    1.2 * _corners(10, 0, 0.45),
)


@dataclass(frozen=True, slots=True)
class Look:
    """How the curve of a name looks in every plot: colour, line style, and an index of ``MARKERS``."""

    colour: str
    dash: Dash = ()
    marker: int = 0


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Give every name its own look; beyond eight names colours repeat with other line styles."""
    return {name: _look(place) for place, name in enumerate(names)}


def _look(place: int) -> Look:
    rounds, colour = divmod(place, len(PALETTE))
    return Look(PALETTE[colour], DASHES[(place + rounds) % len(DASHES)], place % len(MARKERS))


def target_colour(target: int) -> str:
    """Return the colour of a target's curves: that of its boxes, darkened to show on light and dark pages alike."""
    linear = (np.array(TARGETS[(target - 1) % len(TARGETS)]) / 255) ** 2.2
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return to_hex(255 * (linear * LINE_LUMINANCE / luminance) ** (1 / 2.2))


def heat_colours(share: NDArray[np.floating[Any]]) -> Frame:
    """Colour an array of numbers in [0, 1] with ``SHADES``: equal steps look like equal steps of lightness."""
    at = np.linspace(0, 1, len(SHADES))
    return np.stack([np.interp(share, at, tints) for tints in zip(*SHADES, strict=True)], axis=-1).astype(np.uint8)


def from_hex(colour: str) -> Colour:
    """Read a colour that is written as ``#rrggbb``."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def to_hex(colour: Iterable[float]) -> str:
    """Write a colour as ``#rrggbb``.

    >>> to_hex((64, 224, 120))
    '#40e078'
    """
    return "#" + bytes(round(float(part)) for part in colour).hex()
