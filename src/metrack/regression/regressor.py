"""A correlation filter that finds the target: one look at the window, several scales, then learning."""

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
from metrack.files import Expectations, Expected
from metrack.regression.cells import BLOCK
from metrack.regression.colour_names import is_coloured
from metrack.regression.colour_odds import SHARES, ColourOdds
from metrack.regression.feature_map import FeatureMap
from metrack.regression.peak import Peak, climb_from, find_peak
from metrack.regression.ridge import Spectrum, fit, respond, to_spectrum

CELL = 4  # pixels of the window along the side of a cell
LABEL_SPREAD = 0.0625  # of the response wanted at the target, in target sizes
ROUNDS = 2  # of the alternating method per frame
FIRST_ROUNDS = 6  # of the first fit, which has no earlier one to build on
SMALLEST_HEIGHT = 1e-9
AVERAGED_OVER = 20  # frames over which the height of the response is averaged
SAME_PLACE = 1.5  # cells between peaks at different scales, down and right together, that are one place
SLACK = 12  # pixels of the window beyond the largest grid: a target that moved no farther is learned from the same look


@dataclass(frozen=True, slots=True)
class SearchWindow:
    """Where the window that was last looked at lies in its frame; ``side`` is its own, in pixels of the frame."""

    frame: Frame
    left: float
    top: float
    side: float
    zoom: float

    def covers(self, frame: Frame, box: Box) -> bool:
        """Whether it contains the whole of a box on a frame."""
        x, y = box.x - self.left, box.y - self.top
        return self.frame is frame and min(x, y) >= 0 and max(x + box.w, y + box.h) <= self.side


@dataclass(frozen=True, slots=True)
class Found:
    """Where the target is, and the height of the response there, relative to the average of frames learned from."""

    box: Box
    response: float


class Peaks(NamedTuple):
    """Peak of the response of all channels, and near it the peak of those that vote on the size.

    The first tells the place; the second tells which scale fits best there, and where exactly.
    """

    whole: Peak
    sizing: Peak


class Regressor:
    """A correlation filter over a feature map around the target."""

    def __init__(self, config: RegressionConfig, target: Box, odds: ColourOdds | None) -> None:
        self.config = config
        self.filter: Spectrum | None = None
        self.height = 0.0  # average height of the response in frames learned from
        self.learned = 0  # number of such frames, up to as many as are averaged over
        self.odds = odds  # None for a target without colours
        self._window: SearchWindow | None = None
        count = config.cells
        self._scales = config.scale_step ** (np.arange(config.scales) - config.scales // 2)
        blocks = 2 * math.ceil((count * CELL * self._scales[-1] / 2 + CELL + SLACK) / BLOCK)
        self._features = FeatureMap(blocks, count, coloured=odds is not None)
        self._label = to_spectrum(label(count, LABEL_SPREAD * count / config.reach))
        side = self._side(target)
        self._own = own_cells(count, target.h / side * count, target.w / side * count)

    @classmethod
    def start(cls, config: RegressionConfig, frame: Frame, box: Box) -> Self:
        """Learn a target from its first box."""
        regressor = cls(config, box, ColourOdds() if is_coloured(frame) else None)
        regressor._learn_colours(frame, box)  # the first feature map depends on them
        regressor.learn(frame, box)
        return regressor

    @staticmethod
    def expected(config: RegressionConfig, *, coloured: bool) -> Expectations:
        """Say what saved arrays must be; only frames of three channels may have colours."""
        planes, count = "planes", config.cells
        colours = {"regression_colours": Expected("float32", SHARES, 0, 1, optional=True)} if coloured else {}
        return {
            "regression_filter": Expected("complex64", (planes, count, count // 2 + 1)),
            "regression_usual": Expected("float64", (2,)),
            **colours,
        }

    @classmethod
    def from_arrays(cls, config: RegressionConfig, target: Box, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Go on from what :meth:`to_arrays` returned; of the target only its first size matters."""
        shares = arrays.get("regression_colours")
        regressor = cls(config, target, None if shares is None else ColourOdds(shares))
        regressor.filter = arrays["regression_filter"]
        if len(regressor.filter) != len(regressor._features.planes):  # saved with other channels
            raise KeyError("regression_colours")
        height, learned = arrays["regression_usual"]
        if not 1 <= learned <= AVERAGED_OVER:
            raise ValueError(f"regression_usual must tell of 1 to {AVERAGED_OVER} frames, got {learned}")
        regressor.height, regressor.learned = float(height), int(learned)
        return regressor

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learned, for saving."""
        assert self.filter is not None
        colours = {} if self.odds is None else {"regression_colours": self.odds.shares}
        usual = np.array([self.height, self.learned])
        return {"regression_filter": self.filter, "regression_usual": usual, **colours}

    def find(self, frame: Frame, last: Box, *, resize: bool = True) -> Found:
        """Find the target around its last box, at several scales or, without ``resize``, at its last size."""
        assert self.filter is not None
        window = self._look(frame, last)
        scales = self._scales.tolist() if resize else [1.0]
        peaks = [self._respond(self._describe(window, last, scale)) for scale in scales]
        place = max((each.whole for each in peaks), key=lambda peak: peak.height)
        there = [k for k, each in enumerate(peaks) if not each.whole.cells_from(place) > SAME_PLACE]
        best = max(there, key=lambda k: peaks[k].sizing.height)
        (whole, sizing), scale = peaks[best], scales[best]
        cell = self._side(last) * scale / self.config.cells
        (x, y), w, h = last.centre, last.w * scale, last.h * scale
        box = Box.from_centre(x + sizing.right * cell, y + sizing.down * cell, w, h)
        return Found(box, whole.height / max(self.height, SMALLEST_HEIGHT))

    def _respond(self, spectrum: Spectrum) -> Peaks:
        """Find the peaks of the filter's response to a feature map, given by its spectrum."""
        assert self.filter is not None
        votes = self._features.votes_on_size
        sizing = respond(self.filter, spectrum, votes)
        if votes.all():
            peak = find_peak(sizing)
            return Peaks(peak, peak)
        whole = find_peak(sizing + respond(self.filter, spectrum, ~votes))
        return Peaks(whole, climb_from(sizing, whole))

    def learn(self, frame: Frame, box: Box) -> None:
        """Train the filter, and the target's colours, on a box."""
        side = self._side(box) * (1 + 2 / self.config.cells)  # of the grid and the ring around it
        window = self._window
        if window is None or not window.covers(frame, Box.from_centre(*box.centre, side, side)):
            window = self._look(frame, box)
        spectrum = self._describe(window, box)
        rounds = FIRST_ROUNDS if self.filter is None else ROUNDS
        self.filter = fit(spectrum, self._label, self._own, self.filter, self.config.temporal_regularisation, rounds)
        everything = np.ones(len(self.filter), np.bool_)
        self._average(float(irfft2(respond(self.filter, spectrum, everything), s=self._own.shape)[0, 0]))
        self._learn_colours(frame, box)

    def _learn_colours(self, frame: Frame, box: Box) -> None:
        if self.odds is not None:
            self.odds.learn(frame, box)

    def _average(self, height: float) -> None:
        """Take the height of the response in a frame that was learned from into the average."""
        self.learned = min(self.learned + 1, AVERAGED_OVER)
        self.height += (height - self.height) / self.learned

    def _side(self, box: Box) -> float:
        """Side of the grid around a box, in pixels of the frame."""
        return self.config.reach * math.sqrt(box.area)

    def _look(self, frame: Frame, box: Box) -> SearchWindow:
        """Sum the features of a window around a box."""
        zoom = self.config.cells * CELL / self._side(box)
        size = self._features.blocks * BLOCK
        (x, y), half = box.centre, size / 2 / zoom
        window = cut_pixels(frame, (x - half, y - half), zoom, (size, size))
        self._features.look(window, frame, self.odds)
        self._window = SearchWindow(frame, window.left, window.top, 2 * half, zoom)
        return self._window

    def _describe(self, window: SearchWindow, box: Box, scale: float = 1.0) -> Spectrum:
        """Return the spectrum of the feature map around a box enlarged by a scale."""
        side, (x, y) = self._side(box) * scale, box.centre
        left, top = x - side / 2 - window.left, y - side / 2 - window.top
        cell = side / self.config.cells * window.zoom
        return to_spectrum(self._features.around(left * window.zoom, top * window.zoom, cell))


def label(count: int, spread: float) -> NDArray[np.float32]:
    """Return the response wanted ``(count, count)``: a bell of height 1 at the first cell, which wraps around."""
    distance = np.minimum(np.arange(count), count - np.arange(count))
    bell = np.exp(-0.5 * np.square(distance / spread))
    return np.outer(bell, bell).astype(np.float32)


def own_cells(count: int, height: float, width: float) -> NDArray[np.float32]:
    """Mark the cells ``(count, count)`` that a box in the middle touches, its sides given in cells."""
    distance = np.abs(np.arange(count) + 0.5 - count / 2) - 0.5
    return np.outer(distance < height / 2, distance < width / 2).astype(np.float32)
