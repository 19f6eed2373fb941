"""Description of a chart: panels of curves, bars or a heat map, and one legend below them.

A panel also has coloured spans behind its curves, notes above that point at frames, and ribbons below that say what
held from one frame to another. :func:`metrack.draw.layout.draw_chart` draws it at any width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.draw.palette import Dash

Numbers = NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Values ``y`` at ``x``; NaN leaves a gap.

    ``marker`` (an index of the palette's) marks every point, and is twice ``size`` pixels wide; ``band`` is
    ``(low, high)`` around the curve; ``name`` is written beside the last point.
    """

    x: Numbers
    y: Numbers
    colour: str
    dash: Dash = ()
    marker: int | None = None
    size: float = 4.0
    band: tuple[Numbers, Numbers] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from zero to a value, from ``left`` to ``right`` on the axis."""

    left: float
    right: float
    value: float
    colour: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of frames, both ends included, in a colour of its own."""

    first: float
    last: float
    colour: str
    title: str = ""
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Note:
    """A few words about a frame; ``title`` is its tooltip."""

    frame: float
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A row of spans below the curves, with its name beside it."""

    name: str
    spans: Sequence[Span]


@dataclass(frozen=True, slots=True)
class Axis:
    """The horizontal axis of a panel, from ``low`` to ``high``.

    ``log`` scales it logarithmically, ``whole`` allows whole numbers only, and ``names`` stand at 0, 1, 2, ...
    """

    low: float
    high: float
    label: str = ""
    log: bool = False
    whole: bool = False
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One plot of a chart; panels without an ``axis`` share one axis of frames."""

    title: str
    curves: Sequence[Curve]
    y_range: Range
    spans: Sequence[Span] = ()
    notes: Sequence[Note] = ()
    ribbons: Sequence[Ribbon] = ()
    height: float = 120.0
    bars: Sequence[Bar] = ()
    axis: Axis | None = None
    y_label: str = ""
    image: Frame | None = None
    """Shown in place of axes, with curves over it in pixels of the image."""


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend; ``look`` is ``line``, ``area``, ``mark``, or ``scale`` for the colours of heat maps."""

    text: str
    colour: str
    look: str = "line"
    strength: float = 1.0
    dash: Dash = ()
    marker: int | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels and a legend; ``columns`` panels stand beside each other where there is room.

    ``label`` describes the chart to those who cannot see it; a ``title`` stands above all panels.
    """

    label: str
    panels: Sequence[Panel]
    keys: Sequence[Key] = ()
    columns: int = 1
    title: str = ""
