"""Two ways to find the target in the next frame, behind one protocol.

:class:`ParticleLocator` is the paper's: particles move at random, and the one with the highest score is the estimate.
:class:`RegressionLocator` takes the peak of a correlation filter's response map; particles only search for a target
that is lost, and verify the peak. ``find`` changes neither particles nor filter; ``follow`` and ``learn`` do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame
from metrack.box import Box
from metrack.config import TrackerConfig
from metrack.features.extractor import BASE_SIZE, View
from metrack.files import Expectations, Expected
from metrack.motion.cloud import Cloud
from metrack.motion.random_walk import REFINEMENT, States, step
from metrack.motion.resampling import systematic
from metrack.motion.search import KEPT, MOST_PIXELS, scatter, search_region, window_of
from metrack.regression.regressor import Regressor
from metrack.tracking.confidence import PATIENCE
from metrack.tracking.observer import Observer
from metrack.tracking.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a locator: where is the target in this frame, after what is known of it?"""

    frame: Frame
    box: Box
    """The last estimate."""
    last_seen: Box
    """Where to start from: the last estimate that was not hidden."""
    unseen: int
    """Frames since then."""
    brief: bool
    """Skip the search over scales and the wide window that learning needs."""
    learning: bool
    """Whether this frame is to be learned from."""
    rng: np.random.Generator
    watch: Stopwatch


def widening(unseen: int) -> float:
    """Factor by which particles step wider after so many frames without an observation."""
    return math.sqrt(1 + min(unseen, PATIENCE))


class Located(NamedTuple):
    """Where the target was found: its box, the particles and their window, the estimate among them, the response."""

    box: Box
    cloud: Cloud
    view: View
    chosen: int
    response: float | None


class Locator(Protocol):
    """What the tracker asks of a locator."""

    @property
    def zoom(self) -> float:
        """Factor that brings the target, as large as it was last, to ``BASE_SIZE`` pixels."""

    def first_window(self, frame: Frame, box: Box) -> View:
        """Cut the window of the first frame, from which samples around the first box are taken."""

    def find(self, query: Query) -> Located:
        """Find the target in the next frame, and change nothing."""

    def verify(self, query: Query, box: Box) -> tuple[Cloud, View]:
        """Observe a box, which is the first of the particles, and places just beside it."""

    def follow(self, rng: np.random.Generator, cloud: Cloud, weights: NDArray[np.float64]) -> None:
        """Start the next frame from where the target was found."""

    def learn(self, frame: Frame, box: Box) -> None:
        """Learn from the target's place in a frame."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state as named arrays."""


class ParticleLocator:
    """Finds the target by particles: move, observe, draw more around the promising ones."""

    def __init__(self, config: TrackerConfig, observer: Observer, particles: States) -> None:
        self.config, self.observer, self.particles = config, observer, particles

    @classmethod
    def start(cls, config: TrackerConfig, observer: Observer, box: Box) -> Self:
        """Put all particles on the first box."""
        return cls(config, observer, np.tile(observer.bounds.to_state(box), (config.motion.explorers, 1)))

    @property
    def zoom(self) -> float:
        """Factor that brings the target, as large as it was last, to ``BASE_SIZE`` pixels."""
        return BASE_SIZE / (math.exp(self._log_scale) * self.observer.bounds.side)

    @property
    def _log_scale(self) -> float:
        return float(self.particles[:, 2].mean())

    def first_window(self, frame: Frame, box: Box) -> View:
        """Cut the window of the first frame, from which samples around the first box are taken."""
        return self.window(frame, np.array([box.to_xywh()]), box, shift=self.config.motion.shift_std / self.zoom)

    def window(self, frame: Frame, boxes: Floats, target: Box, shift: float) -> View:
        """Cut the window of candidates ``(N, 4)``, their refinements and training boxes, padded by ``shift`` pixels."""
        return self.observer.cut_for_learning(frame, boxes, self.zoom, self._margin, target, shift)

    def find(self, query: Query) -> Located:
        """Move the particles, wider and wider where the target is lost, and take the best one."""
        explored = self._move(query.rng, self.particles, widen=widening(query.unseen))
        if self.is_searching(query):
            explored, view = self._search(query, explored)
        else:
            boxes = self.observer.bounds.to_boxes(explored)
            view = self.window(query.frame, boxes, query.box, shift=self.config.motion.shift_std / self.zoom)
        query.watch.lap("look")
        cloud = self.observer.observe(view, explored)
        cloud += self.observer.observe(view, self._refine(query.rng, cloud))
        return Located(Box(*cloud.boxes[cloud.best].tolist()), cloud, view, cloud.best, None)

    def is_searching(self, query: Query) -> bool:
        """Whether the target is lost and to be searched for in more and more of the frame."""
        return query.unseen > PATIENCE and self.config.search.candidates > 0

    def verify(self, query: Query, box: Box) -> tuple[Cloud, View]:
        """Observe a box, which is the first of the particles, and places just beside it."""
        motion, observer = self.config.motion, self.observer
        states = np.tile(observer.bounds.to_state(box), (motion.particles, 1))
        states[1:] = self._move(query.rng, states[1:], shorten=REFINEMENT)
        boxes = observer.bounds.to_boxes(states)
        if query.learning:
            view = self.window(query.frame, boxes, box, shift=0.0)
        else:
            view = observer.cut(query.frame, boxes, self.zoom)
        return observer.observe(view, states), view

    def follow(self, rng: np.random.Generator, cloud: Cloud, weights: NDArray[np.float64]) -> None:
        """Resample the particles."""
        self.particles = cloud.states[systematic(rng, weights, self.config.motion.explorers)]

    def learn(self, frame: Frame, box: Box) -> None:
        """Learn nothing: particles are scored by the memory, which learns by itself."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state as named arrays."""
        return {"survivors": self.particles}

    def _search(self, query: Query, explored: States) -> tuple[States, View]:
        """Return the candidates most like the first frame, all over the search window, and that window.

        Particles that the window does not cover are left out.
        """
        observer, search, rng = self.observer, self.config.search, query.rng
        region = search_region(query.last_seen, query.unseen - PATIENCE, observer.bounds)
        window = window_of(rng, region, MOST_PIXELS / self.zoom**2)
        states = scatter(rng, search.candidates, window, self._log_scale, observer.bounds)
        boxes = observer.bounds.to_boxes(states)
        view = observer.cut(query.frame, boxes, self.zoom, self._margin)
        familiar = np.argsort(observer.appearance.template_error(view.describe(boxes)))[:KEPT]
        covered = view.covered(observer.bounds.to_boxes(explored))
        return np.vstack([states[familiar], explored[covered]]), view

    @property
    def _margin(self) -> float:
        """Distance of refined particles from their parents, in image pixels, that only rare ones exceed."""
        motion = self.config.motion
        return 3 * motion.shift_std / self.zoom / REFINEMENT

    def _refine(self, rng: np.random.Generator, cloud: Cloud) -> States:
        """Draw the remaining particles around the promising ones, with shorter steps."""
        motion = self.config.motion
        parents = systematic(rng, cloud.weights(motion.sharpness), motion.particles - len(cloud.states))
        return self._move(rng, cloud.states[parents], shorten=REFINEMENT)

    def _move(self, rng: np.random.Generator, states: States, widen: float = 1.0, shorten: float = 1.0) -> States:
        """Take a random step: ``widen`` scales it in x and y, ``shorten`` in all three."""
        motion = self.config.motion
        spread = (motion.shift_std * widen / shorten, motion.scale_std / shorten)
        return step(rng, states, spread, self.observer.bounds, BASE_SIZE)


class RegressionLocator:
    """Finds the target at the peak of a correlation filter's response, and verifies it with particles."""

    def __init__(self, particles: ParticleLocator, regressor: Regressor) -> None:
        self.particles, self.regressor = particles, regressor

    @property
    def zoom(self) -> float:
        """Factor that brings the target, as large as it was last, to ``BASE_SIZE`` pixels."""
        return self.particles.zoom

    def first_window(self, frame: Frame, box: Box) -> View:
        """Cut the window of the first frame, from which samples around the first box are taken."""
        return self.particles.window(frame, np.array([box.to_xywh()]), box, shift=0.0)

    def find(self, query: Query) -> Located:
        """Take the peak of the response around the last place or, for a lost target, around the best candidate."""
        start = self.particles.find(query).box if self.particles.is_searching(query) else query.last_seen
        peak = self.regressor.find(query.frame, start, resize=not query.brief)
        box = self.particles.observer.bounds.clip_box(peak.box)
        query.watch.lap("regress")
        return Located(box, *self.verify(query, box), 0, peak.response)

    def verify(self, query: Query, box: Box) -> tuple[Cloud, View]:
        """Observe a box, which is the first of the particles, and places just beside it."""
        return self.particles.verify(query, box)

    def follow(self, rng: np.random.Generator, cloud: Cloud, weights: NDArray[np.float64]) -> None:
        """Put all particles on the estimate."""
        self.particles.particles = np.tile(cloud.states[0], (self.particles.config.motion.explorers, 1))

    def learn(self, frame: Frame, box: Box) -> None:
        """Change the filter so that it responds at this box."""
        self.regressor.learn(frame, box)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state as named arrays."""
        return self.particles.to_arrays() | self.regressor.to_arrays()


def start_locator(config: TrackerConfig, observer: Observer, frame: Frame, box: Box) -> Locator:
    """Make the locator that a configuration asks for, on the first box of a target."""
    particles = ParticleLocator.start(config, observer, box)
    if not config.regression.enabled:
        return particles
    return RegressionLocator(particles, Regressor.start(config.regression, frame, box))


def expected_of_locator(config: TrackerConfig, *, coloured: bool) -> Expectations:
    """Say what the saved arrays of a locator must be."""
    particles = {"survivors": Expected("float64", (config.motion.explorers, 3))}
    if not config.regression.enabled:
        return particles
    return particles | dict(Regressor.expected(config.regression, coloured=coloured))


def restore_locator(config: TrackerConfig, observer: Observer, arrays: Mapping[str, NDArray[Any]]) -> Locator:
    """Make a locator again from what ``to_arrays`` returned."""
    particles = ParticleLocator(config, observer, arrays["survivors"])
    if not config.regression.enabled:
        return particles
    first = Box(0.0, 0.0, observer.bounds.width, observer.bounds.height)
    return RegressionLocator(particles, Regressor.from_arrays(config.regression, first, arrays))
