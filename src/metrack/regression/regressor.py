"""Finding the target by regression: look once, ask at several scales, learn from where it was found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft2

from metrack.arrays import Frame
from metrack.box import Box
from metrack.config import RegressionConfig
from metrack.features.window import cut_pixels
from metrack.regression.cells import BLOCK, DIRECTIONS, GRADIENTS, normalise, sum_blocks, sum_cells
from metrack.regression.colour_names import is_coloured, name_table
from metrack.regression.colour_odds import ColourOdds
from metrack.regression.peak import Peak, climb_from, find_peak
from metrack.regression.ridge import Spectrum, fit, respond, to_spectrum

FIRST_ROUNDS = 6  # of the first fit, which has no earlier one to build on
SMALLEST_HEIGHT = 1e-9
USUAL_OVER = 20  # frames over which the height of the answer is averaged
SAME_PLACE = 1.5  # cells between tops of maps of different sizes, down and right together, that are one place
SLACK = 12  # pixels of the window beyond what is asked about: a target that moved no farther is learned from one look


@dataclass(frozen=True, slots=True)
class View:
    """Where the window that was last looked at lies in its frame; ``side`` is its own, in pixels of the frame."""

    frame: Frame
    left: float
    top: float
    side: float
    zoom: float

    def covers(self, frame: Frame, box: Box) -> bool:
        """Whether it shows the whole of a box on a frame."""
        x, y = box.x - self.left, box.y - self.top
        return self.frame is frame and min(x, y) >= 0 and max(x + box.w, y + box.h) <= self.side


@dataclass(frozen=True, slots=True)
class Found:
    """Where the target is, and how high all channels answer there, relative to what is usual in frames learned from."""

    box: Box
    response: float


class Answer(NamedTuple):
    """What the filter says of a map: the top of all channels, and beside it that of all but the target's own colours.

    A spot of colours has no clear edges: it knows where the target is better than how large. So the whole tells the
    place, and the rest, called shape here, which of the maps of that place fits best and where exactly.
    """

    whole: Peak
    shape: Peak


class Regressor:
    """Knows where a target is by a filter over a map of what surrounds it."""

    def __init__(self, config: RegressionConfig, target: Box, odds: ColourOdds | None) -> None:
        self.config = config
        self.target = target
        self.filter: Spectrum | None = None
        self.height = 0.0  # of the usual answer in frames learned from
        self.learned = 0  # such frames, up to as many as are averaged over
        self.odds = odds  # None for a target without colours
        self._view: View | None = None
        self._prepare()

    @classmethod
    def start(cls, config: RegressionConfig, frame: Frame, box: Box) -> Self:
        """Learn what a target looks like from its first box."""
        regressor = cls(config, box, ColourOdds() if is_coloured(frame) else None)
        regressor._learn_colours(frame, box)  # what the filter is learned from depends on them
        regressor.learn(frame, box)
        return regressor

    @classmethod
    def from_arrays(cls, config: RegressionConfig, target: Box, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Go on from what :meth:`to_arrays` returned; of the target only its first size matters."""
        shares = arrays.get("regression_colours")
        regressor = cls(config, target, None if shares is None else ColourOdds(shares))
        regressor.filter = arrays["regression_filter"]
        if len(regressor.filter) != len(regressor._map):  # saved before colours were kept
            raise KeyError("regression_colours")
        height, learned = arrays["regression_usual"]
        regressor.height, regressor.learned = float(height), int(learned)
        return regressor

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what it has learned, for saving."""
        assert self.filter is not None
        colours = {} if self.odds is None else {"regression_colours": self.odds.shares}
        usual = np.array([self.height, self.learned])
        return {"regression_filter": self.filter, "regression_usual": usual, **colours}

    def _prepare(self) -> None:
        """Lay out what depends on the settings, the first box and what is known of colours."""
        config, count = self.config, self.config.cells
        self._scales = config.scale_step ** (np.arange(config.scales) - config.scales // 2)
        self._by_colour = np.empty((1, 0), np.float32)  # what a colour gives to each channel of colours
        if self.odds is not None:
            self._by_colour = np.column_stack([name_table(), np.empty(len(name_table()), np.float32)])
            self.odds.fill(self._by_colour[:, -1])
        channels = DIRECTIONS + 1 + self._by_colour.shape[1]
        blocks = 2 * math.ceil((count * config.cell * self._scales[-1] / 2 + config.cell + SLACK) / BLOCK)
        self._integral = np.empty((blocks + 1, blocks + 1, channels), np.float32)
        self._map = np.empty((channels - DIRECTIONS + GRADIENTS, count, count), np.float32)
        taper = np.hanning(count + 2)[1:-1]
        self._taper = np.outer(taper, taper).astype(np.float32)
        self._label = to_spectrum(label(count, config.sharpness * count / config.reach))
        side = self._side(self.target)
        self._own = own_cells(count, self.target.h / side * count, self.target.w / side * count)

    def find(self, frame: Frame, last: Box, *, resize: bool = True) -> Found:
        """Look around the last box, and unless it keeps its size a little larger and smaller."""
        assert self.filter is not None
        view = self._look(frame, last)
        scales = self._scales.tolist() if resize else [1.0]
        answers = [self._ask(self._describe(view, last, scale)) for scale in scales]
        place = max((answer.whole for answer in answers), key=lambda peak: peak.height)
        there = [k for k, answer in enumerate(answers) if not answer.whole.cells_from(place) > SAME_PLACE]
        best = max(there, key=lambda k: answers[k].shape.height)
        (whole, shape), scale = answers[best], scales[best]
        cell = self._side(last) * scale / self.config.cells
        (x, y), w, h = last.centre, last.w * scale, last.h * scale
        box = Box.from_centre(x + shape.right * cell, y + shape.down * cell, w, h)
        return Found(box, whole.height / max(self.height, SMALLEST_HEIGHT))

    def _ask(self, spectrum: Spectrum) -> Answer:
        """Ask the filter about a map, given by its spectrum."""
        assert self.filter is not None
        if self.odds is None:
            peak = find_peak(respond(self.filter, spectrum))
            return Answer(peak, peak)
        by_shape = respond(self.filter[:-1], spectrum[:-1])
        whole = find_peak(by_shape + respond(self.filter[-1:], spectrum[-1:]))
        return Answer(whole, climb_from(by_shape, whole))

    def learn(self, frame: Frame, box: Box) -> None:
        """Change the filter so that it answers at this box, and what is known of colours."""
        side = self._side(box) * (1 + 2 / self.config.cells)  # of the map and the ring around it
        view = self._view
        if view is None or not view.covers(frame, Box.from_centre(*box.centre, side, side)):
            view = self._look(frame, box)
        spectrum = self._describe(view, box)
        rounds = FIRST_ROUNDS if self.filter is None else self.config.rounds
        self.filter = fit(spectrum, self._label, self._own, self.filter, self.config.inertia, rounds)
        self._average(float(irfft2(respond(self.filter, spectrum), s=self._own.shape)[0, 0]))
        self._learn_colours(frame, box)

    def _learn_colours(self, frame: Frame, box: Box) -> None:
        """Take the colours in and around a box into what is known of them; the next look sees by it."""
        if self.odds is not None:
            self.odds.learn(frame, box)
            self.odds.fill(self._by_colour[:, -1])

    def _average(self, height: float) -> None:
        """Take the answer in a frame that was learned from into what is usual."""
        self.learned = min(self.learned + 1, USUAL_OVER)
        self.height += (height - self.height) / self.learned

    def _side(self, box: Box) -> float:
        """Side of the map around a box, in pixels of the frame."""
        return self.config.reach * math.sqrt(box.area)

    def _look(self, frame: Frame, box: Box) -> View:
        """Sum what a window around a box has to show."""
        zoom = self.config.cells * self.config.cell / self._side(box)
        size = (len(self._integral) - 1) * BLOCK
        (x, y), half = box.centre, size / 2 / zoom
        window = cut_pixels(frame, (x - half, y - half), zoom, (size, size))
        pixels = frame if frame.ndim == 3 else frame[:, :, None]
        sum_blocks(window.grey, pixels, window.left, window.top, zoom, self._by_colour, self._integral)
        self._view = View(frame, window.left, window.top, 2 * half, zoom)
        return self._view

    def _describe(self, view: View, box: Box, scale: float = 1.0) -> Spectrum:
        """Spectrum of the map around a box taken larger by a scale."""
        side, (x, y) = self._side(box) * scale, box.centre
        left, top, cell = x - side / 2 - view.left, y - side / 2 - view.top, side / self.config.cells * view.zoom
        sums = sum_cells(self._integral, left * view.zoom, top * view.zoom, cell, self.config.cells)
        normalise(sums, cell * cell, self._taper, self._map)
        return to_spectrum(self._map)


def label(count: int, spread: float) -> NDArray[np.float32]:
    """The answer wanted ``(count, count)``: a bell of height 1 at the first cell, which wraps around."""
    distance = np.minimum(np.arange(count), count - np.arange(count))
    bell = np.exp(-0.5 * np.square(distance / spread))
    return np.outer(bell, bell).astype(np.float32)


def own_cells(count: int, height: float, width: float) -> NDArray[np.float32]:
    """Say which cells ``(count, count)`` a box in the middle touches, its sides given in cells."""
    distance = np.abs(np.arange(count) + 0.5 - count / 2) - 0.5
    return np.outer(distance < height / 2, distance < width / 2).astype(np.float32)
