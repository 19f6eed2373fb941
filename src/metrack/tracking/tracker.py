"""The tracker: predict, look, score, estimate, learn, once per frame."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame
from metrack.box import Box, bounding, iou
from metrack.checks import check_box, check_frame, check_seed, is_usable
from metrack.config import TrackerConfig, preset
from metrack.estimate import TRACKING, Estimate, Evidence, Identity, Info
from metrack.features.colour import colours_of
from metrack.features.extractor import BASE_SIZE, ENERGY, Extractor, View
from metrack.files import read_state, write_state
from metrack.identity import Gallery, Identifier
from metrack.memory.training_boxes import POSITIVE_RADIUS, REACH, background_boxes, foreground_boxes, ranked_boxes
from metrack.metric.schedule import due
from metrack.motion.cloud import Cloud
from metrack.motion.random_walk import REFINEMENT, Bounds, States, step
from metrack.motion.resampling import effective_size, systematic
from metrack.motion.search import KEPT, MOST_PIXELS, scatter, search_region, window_of
from metrack.regression.regressor import Regressor
from metrack.threads import one_blas_thread
from metrack.tracking.appearance import Appearance, Lesson
from metrack.tracking.confidence import PATIENCE, Presence, log_odds, probability
from metrack.tracking.observer import Observer
from metrack.tracking.stopwatch import Stopwatch

RETURN = 4.0  # log odds by which a hidden target must be better to take a place from one that is seen there


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a look at a frame has brought: a box, the cloud and the view it came from, and the evidence for it."""

    box: Box
    cloud: Cloud
    view: View
    evidence: Evidence
    watch: Stopwatch


class Tracker:
    """Follows one target from a single box.

    Parameters
    ----------
    preset : name of a preset, or a configuration of your own
    seed : everything random in the tracker follows from it
    gallery : known targets, of which estimates then say who it is

    >>> from metrack.synth import builtin_clip
    >>> clip = builtin_clip(frames=60, occlusion=False, departure=False)
    >>> tracker = Tracker(seed=1)
    >>> tracker.init(clip[0], clip.first_box)
    >>> estimate = tracker.update(clip[1])
    >>> estimate.state, estimate.box.iou(clip.truth[1].box) > 0.5
    ('tracking', True)
    """

    def __init__(
        self, preset: str | TrackerConfig = "default", *, seed: int = 0, gallery: Gallery | None = None
    ) -> None:
        self.config = _configuration(preset)
        self.seed = check_seed(seed)
        self._identifier = None if gallery is None else Identifier(gallery)
        self._extractor = Extractor(self.config.features)
        self._shape: tuple[int, ...] | None = None

    def init(self, frame: Frame, box: Box | tuple[float, float, float, float]) -> None:
        """Start on the target that ``box`` (x, y, w, h) marks in ``frame``; may be called again at any time."""
        frame = check_frame(frame)
        first = check_box(box, frame.shape)
        self._shape = frame.shape
        self._rng = np.random.default_rng(self.seed)
        self._bounds = Bounds.around(first, frame.shape)
        self._survivors: States = np.tile(self._bounds.to_state(first), (self.config.motion.explorers, 1))
        self._box = self._last_seen = first
        self._colours = colours_of(frame, first)
        self._frame = 0
        self._unseen = 0  # frames since the cloud last followed an observation
        self._presence = Presence()
        if self._identifier is not None:
            self._identifier.reset()
        self._appearance = Appearance(self.config, self._extractor.dimension)
        self._observer = Observer(self.config, self._bounds, self._appearance)
        regression = self.config.regression
        self._regressor = Regressor.start(regression, frame, first) if regression.enabled else None
        with one_blas_thread():
            self._learn(frame, self._look(frame, np.array([first.to_xywh()])))

    def update(self, frame: Frame) -> Estimate:
        """Find the target in the next frame. A best-guess box is always given, also when the target is gone."""
        if self._shape is None:
            raise ValueError("update needs a target: call init(frame, box) first")
        frame = check_frame(frame, like=self._shape)
        with one_blas_thread():
            return self._conclude(frame, self._find(frame))

    def _find(self, frame: Frame, *, brief: bool = False) -> Sighting:
        """Look for the target in the next frame; nothing follows from it yet.

        In brief, what regression finds keeps its size, and nothing is prepared for learning.
        """
        watch = Stopwatch()
        self._frame += 1
        searching = self._unseen > PATIENCE and self.config.search.candidates > 0
        response: float | None = None
        box = self._last_seen
        if searching or self._regressor is None:
            cloud, view = self._scatter(frame, searching, watch)
            box = Box(*cloud.boxes[cloud.best].tolist())
        if self._regressor is not None:
            found = self._regressor.find(frame, box, resize=not brief)
            response, box = found.response, self._bounds.clip_box(found.box)
            watch.lap("regress")
            cloud, view = self._verify(frame, box, learning=not brief and due(self._frame, self.config.memory.every))
        watch.lap("score")
        self._box = box
        best = cloud.best if self._regressor is None else 0
        evidence = self._evidence(frame, cloud, best, response)
        watch.lap("estimate")
        return Sighting(self._box, cloud, view, evidence, watch)

    def _scatter(self, frame: Frame, searching: bool, watch: Stopwatch) -> tuple[Cloud, View]:
        """Let the particles look for the target, over more and more of the frame where it is searched for."""
        explored = self._move(self._survivors, widen=self._widening)
        if searching:
            explored, view = self._search(frame, explored)
        else:
            view = self._look(frame, self._bounds.to_boxes(explored))
        watch.lap("look")
        cloud = self._observer.observe(view, explored)
        return cloud + self._observer.observe(view, self._refine(cloud)), view

    def _verify(self, frame: Frame, box: Box, *, learning: bool = False) -> tuple[Cloud, View]:
        """Look at a box, which is the first of the particles, and at places just beside it, farther if to learn."""
        self._box = box
        states = np.tile(self._bounds.to_state(box), (self.config.motion.particles, 1))
        states[1:] = self._move(states[1:], shorten=REFINEMENT)
        boxes = self._bounds.to_boxes(states)
        view = self._look(frame, boxes) if learning else self._extractor.look(frame, bounding(boxes), self._zoom)
        return self._observer.observe(view, states), view

    def _conclude(self, frame: Frame, seen: Sighting, *, learn: bool = True, hidden: bool = False) -> Estimate:
        """Judge what was found, and learn from it unless that must wait; ``hidden`` says that the target is not there.

        Of a hidden target nothing is learned, and the particles stay where it was last seen.
        """
        watch, weights = seen.watch, seen.cloud.weights(self.config.motion.sharpness)
        watch.go_on()
        state = self._presence.hide() if hidden else self._presence.judge(seen.evidence)
        self._appearance.steps_taken = 0
        if hidden or (state != TRACKING and self.config.memory.learn_when == "tracking"):
            self._unseen += 1
        else:
            self._unseen, self._last_seen = 0, self._box
            self._survivors = self._surviving(seen.cloud, weights)
            if learn and due(self._frame, self.config.memory.every):
                self._learn(frame, seen.view)
                if self._regressor is not None:
                    self._regressor.learn(frame, self._box)
        watch.lap("learn")
        sure = probability(seen.evidence)
        identity = self._identify(frame, sure) if state == TRACKING else None
        watch.lap("identify")
        return Estimate(self._box, sure, state, self._info(seen.cloud, weights, seen.evidence, watch), identity)

    def _surviving(self, cloud: Cloud, weights: NDArray[np.float64]) -> States:
        """Where the particles start from in the next frame: at the estimate, where there is one without them."""
        explorers = self.config.motion.explorers
        if self._regressor is not None:
            return np.tile(cloud.states[0], (explorers, 1))
        return cloud.states[systematic(self._rng, weights, explorers)]

    def _claim(self, seen: Sighting) -> float:
        """Log odds that the place found is the target's own, by its looks and by the way there from its last place.

        A target that was hidden must make a better case. Minus infinity where it looks as if it still were.
        """
        if self._presence.is_hidden(seen.evidence):
            return -math.inf
        step = max(self.config.motion.shift_std / self._zoom * self._widening, 1e-9)
        away = seen.box.centre_distance(self._last_seen) / step
        return log_odds(seen.evidence) - away**2 / 2 - 2 * math.log(self._widening) - (RETURN if self._unseen else 0.0)

    def _elsewhere(self, frame: Frame, seen: Sighting, taken: Floats, overlap: float) -> Sighting:
        """Guess at the best particle that overlaps no box of ``(K, 4)`` by more than that, else at its last place."""
        cloud, view = seen.cloud, seen.view
        free = np.all([iou(cloud.boxes, box[None]) <= overlap for box in taken], axis=0)
        best = int(np.argmax(np.where(free, cloud.scores, -np.inf)))
        if not free.any():
            cloud, view = self._verify(frame, self._last_seen)
            best = 0
        self._box = Box(*cloud.boxes[best].tolist())
        evidence = self._evidence(frame, cloud, best, seen.evidence.response)
        return Sighting(self._box, cloud, view, evidence, seen.watch)

    @property
    def _widening(self) -> float:
        """How much wider the particles step for want of a recent observation."""
        return math.sqrt(1 + min(self._unseen, PATIENCE))

    def _identify(self, frame: Frame, sure: float) -> Identity | None:
        """Say who it is, where there is a gallery and enough of the target in the frame."""
        if self._identifier is None or not is_usable(self._box, frame.shape):
            return None
        return self._identifier.identify(frame, self._box, sure)

    def score(self, frame: Frame, boxes: Floats, *, metric: bool = True) -> NDArray[np.float64]:
        """Score boxes ``(N, 4)`` of a frame by what is remembered, and change nothing.

        Without the metric, the same samples are compared as if none had been learned.
        """
        if self._shape is None:
            raise ValueError("score needs a target: call init(frame, box) first")
        frame = check_frame(frame, like=self._shape)
        with one_blas_thread():
            view = self._extractor.look(frame, bounding(boxes), self._zoom)
            appearance = self._appearance if metric else self._appearance.without_metric()
            descriptors = view.describe(boxes)
            return self._observer.score(*appearance.energies(descriptors), self._appearance.strangeness(descriptors))

    def _evidence(self, frame: Frame, cloud: Cloud, best: int, response: float | None) -> Evidence:
        """Say what speaks for and against the estimate; beside it, a better aligned box may look more familiar."""
        energy = ENERGY
        beside = iou(cloud.boxes, cloud.boxes[best : best + 1]) > 0.5
        template = float(cloud.strangeness[beside].min(initial=cloud.strangeness[best]))
        gap = colours_of(frame, self._box) - self._colours
        colour, scale = float(gap @ gap), float(cloud.states[best, 2])
        return Evidence(float(cloud.theta_f[best]) / energy, template / energy, colour, scale, response)

    def _search(self, frame: Frame, explored: States) -> tuple[States, View]:
        """Look for the target beyond its last place; return the most familiar candidates and the view that has them.

        Particles that the view does not cover are left out.
        """
        zoom, search = self._zoom, self.config.search
        region = search_region(self._last_seen, self._unseen - PATIENCE, self._bounds)
        window = window_of(self._rng, region, MOST_PIXELS / zoom**2)
        log_scale = float(self._survivors[:, 2].mean())
        states = scatter(self._rng, search.candidates, window, log_scale, self._bounds)
        boxes = self._bounds.to_boxes(states)
        view = self._extractor.look(frame, bounding(boxes).grow(self._refining, self._refining), zoom)
        familiar = np.argsort(self._appearance.strangeness(view.describe(boxes)))[:KEPT]
        covered = view.covered(self._bounds.to_boxes(explored))
        return np.vstack([states[familiar], explored[covered]]), view

    @property
    def _refining(self) -> float:
        """How far refined particles lie from their parents at most, in pixels, but for rare ones."""
        motion = self.config.motion
        return 3 * motion.shift_std / self._zoom / REFINEMENT

    def _refine(self, cloud: Cloud) -> States:
        """Draw the rest of the particles around the promising ones, with shorter steps."""
        motion = self.config.motion
        weights = cloud.weights(motion.sharpness)
        parents = systematic(self._rng, weights, motion.particles - len(cloud.states))
        return self._move(cloud.states[parents], shorten=REFINEMENT)

    def _move(self, states: States, widen: float = 1.0, shorten: float = 1.0) -> States:
        """Take a random step: wider in place the longer the target has been unseen, shorter in all when refining."""
        motion = self.config.motion
        spread = (motion.shift_std * widen / shorten, motion.scale_std / shorten)
        return step(self._rng, states, spread, self._bounds, BASE_SIZE)

    def _info(self, cloud: Cloud, weights: NDArray[np.float64], evidence: Evidence, watch: Stopwatch) -> Info:
        return Info(
            particles=cloud.boxes,
            weights=weights,
            theta_f=cloud.theta_f,
            theta_b=cloud.theta_b,
            likelihood=float(cloud.scores[cloud.best]),
            evidence=evidence,
            effective_size=effective_size(weights),
            steps_taken=self._appearance.steps_taken,
            seconds=watch.laps,
        )

    @property
    def box(self) -> Box:
        """Where the target was last."""
        if self._shape is None:
            raise ValueError("there is no box yet: call init(frame, box) first")
        return self._box

    @property
    def _zoom(self) -> float:
        """Brings the target, at its size when last seen, to its normal size."""
        return BASE_SIZE / (float(np.exp(self._survivors[:, 2].mean())) * self._bounds.side)

    def _look(self, frame: Frame, boxes: Floats) -> View:
        """Prepare the part of the frame that holds the boxes, those that refine them and, most likely, all to learn."""
        zoom = self._zoom
        refined = bounding(boxes).grow(self._refining, self._refining)
        margin = POSITIVE_RADIUS
        if self._regressor is None:  # then the target has yet to be found
            margin += self.config.motion.shift_std / zoom
        learned = self._box.grow(self._box.w * REACH + margin, self._box.h * REACH + margin)
        region = bounding(np.array([refined.to_xywh(), learned.to_xywh()]))
        return self._extractor.look(frame, region, zoom)

    def _learn(self, frame: Frame, view: View) -> None:
        """Take the samples around the estimate into memory, and learn from them."""
        positives, negatives = self.config.memory.counts(self._frame)
        near = foreground_boxes(self._rng, self._box, positives)
        beside = background_boxes(self._rng, self._box, negatives)
        ranked: Floats = np.empty((0, 4))
        if due(self._frame, self.config.ranking.every) and self.config.metric.learning != "off":
            ranked = ranked_boxes(self._rng, self._box)
        boxes = np.vstack([near, beside, ranked])
        if not view.covers(boxes):  # the target has moved farther than usual
            view = self._extractor.look(frame, bounding(boxes), view.zoom)
        self.taught = (near, beside)  # for whoever shows the memory
        foreground, background, around = np.split(view.describe(boxes), [len(near), len(near) + len(beside)])
        overlaps = iou(ranked, np.array([self._box.to_xywh()]))
        self._appearance.learn(self._rng, self._frame, Lesson(foreground, background, around, overlaps))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything the next frame needs to an ``.npz`` file (no pickle)."""
        if self._shape is None:
            raise ValueError("save needs a target: call init(frame, box) first")
        write_state(Path(path), *self._state())

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return everything the next frame needs, as JSON and as named arrays."""
        assert self._shape is not None
        meta = {
            "config": self.config.to_dict(),
            "seed": self.seed,
            "rng": self._rng.bit_generator.state,
            "shape": list(self._shape),
            "bounds": self._bounds.to_dict(),
            "box": list(self._box.to_xywh()),
            "last_seen": list(self._last_seen.to_xywh()),
            "frame": self._frame,
            "unseen": self._unseen,
            "presence": self._presence.to_dict(),
            "identifier": None if self._identifier is None else self._identifier.to_dict(),
        }
        learned = {} if self._regressor is None else self._regressor.to_arrays()
        return meta, {
            "survivors": self._survivors,
            "colours": self._colours,
            **self._appearance.to_arrays(),
            **learned,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, gallery: Gallery | None = None) -> Self:
        """Read a file made by :meth:`save` and go on exactly where it stopped, with the gallery it had, if any."""
        meta, arrays = read_state(Path(path))
        try:
            return cls._from_state(meta, arrays, gallery)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"path must name a saved tracker, but {path} lacks {error}") from None

    @classmethod
    def _from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], gallery: Gallery | None = None
    ) -> Self:
        """Go on from what :meth:`_state` returned."""
        tracker = cls(TrackerConfig.from_dict(meta["config"]), seed=meta["seed"])
        tracker._restore(meta, arrays)
        if gallery is not None:
            sums = meta["identifier"]
            tracker._identifier = Identifier.from_dict(gallery, sums) if sums else Identifier(gallery)
        return tracker

    def _restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._shape = tuple(meta["shape"])
        self._rng = np.random.default_rng()
        self._rng.bit_generator.state = meta["rng"]
        self._bounds = Bounds(**meta["bounds"])
        self._box, self._last_seen = Box(*meta["box"]), Box(*meta["last_seen"])
        self._frame, self._unseen = meta["frame"], meta["unseen"]
        self._presence = Presence(**meta["presence"])
        self._survivors, self._colours = arrays["survivors"], arrays["colours"]
        self._appearance = Appearance(self.config, self._extractor.dimension)
        self._observer = Observer(self.config, self._bounds, self._appearance)
        with one_blas_thread():
            self._appearance.restore(arrays)
        regression, first = self.config.regression, Box(0.0, 0.0, self._bounds.width, self._bounds.height)
        self._regressor = Regressor.from_arrays(regression, first, arrays) if regression.enabled else None


def _configuration(chosen: str | TrackerConfig) -> TrackerConfig:
    if isinstance(chosen, TrackerConfig):
        return chosen
    if isinstance(chosen, str):
        return preset(chosen)
    raise ValueError(f"preset must be a name or a TrackerConfig, got {type(chosen).__name__}")
