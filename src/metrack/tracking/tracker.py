"""The tracker of one target: look, judge, learn, once per frame."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame, as_floats, shown
from metrack.box import Box, iou
from metrack.checks import (
    check_box,
    check_boxes,
    check_frame,
    check_number,
    check_pair,
    check_path,
    check_seed,
    check_switch,
    is_usable,
    writing,
)
from metrack.config import TrackerConfig, preset
from metrack.estimate import TRACKING, Estimate, Evidence, Identity, Info
from metrack.features.colour import colours_of
from metrack.features.extractor import ENERGY, View
from metrack.files import Expectations, naming
from metrack.identity import Gallery, Identifier, check_gallery
from metrack.memory.training_boxes import background_boxes, foreground_boxes, ranked_boxes
from metrack.metric.schedule import due
from metrack.motion.cloud import Cloud
from metrack.motion.resampling import effective_size
from metrack.threads import one_blas_thread
from metrack.tracking.appearance import Appearance, Lesson
from metrack.tracking.confidence import log_odds, probability
from metrack.tracking.locators import Query, widening
from metrack.tracking.saved import read_tracker, write_tracker
from metrack.tracking.saved_values import checked_sums
from metrack.tracking.state import TargetState
from metrack.tracking.stopwatch import Stopwatch

REAPPEARANCE_COST = 4.0  # log odds that a hidden target must be better by to take a place from a visible one


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a look at a frame found: a box, the particles and window it came from, and the evidence for it."""

    box: Box
    cloud: Cloud
    chosen: int
    view: View
    evidence: Evidence
    odds: float
    """Log odds that the box is right."""
    randomness: Mapping[str, Any]
    """State of the random generator after the look."""
    watch: Stopwatch
    target: TargetState = field(repr=False)
    """The target that was looked for."""


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
        gallery = check_gallery(gallery)
        self.identifier = None if gallery is None else Identifier(gallery)
        self.sampled: tuple[Floats, Floats] = (np.empty((0, 4)), np.empty((0, 4)))
        """Boxes of the foreground and background samples that were taken last."""
        self._state: TargetState | None = None

    def init(self, frame: Frame, box: Box | tuple[float, float, float, float]) -> None:
        """Start on the target that ``box`` (x, y, w, h) marks in ``frame``; may be called again at any time."""
        frame = check_frame(frame)
        first = check_box(box, frame.shape)
        state = TargetState.start(self.config, frame, first, self.seed)
        with one_blas_thread():
            self._learn(state, frame, state.locator.first_window(frame, first))
        self._state = state
        if self.identifier is not None:
            self.identifier.reset()

    def update(self, frame: Frame) -> Estimate:
        """Find the target in the next frame. A best-guess box is always given, also when the target is gone."""
        self._started("update")
        with one_blas_thread():
            return self.commit(frame, self.look(frame))

    def look(self, frame: Frame, *, brief: bool = False) -> Sighting:
        """Look for the target in the next frame, and change nothing; ``brief`` skips the search over scales."""
        state, brief = self._started("look"), check_switch("brief", brief)
        frame = check_frame(frame, like=state.shape)
        generator, watch = state.rng.bit_generator, Stopwatch()
        before = generator.state
        try:
            query = self._query(state, frame, watch, brief)
            found = state.locator.find(query)
            watch.lap("score")
            return self._sighting(state, query, *found)
        finally:
            generator.state = before

    def look_elsewhere(self, frame: Frame, sighting: Sighting, taken: Floats, overlap: float) -> Sighting:
        """Guess again: the best particle that overlaps no taken box ``(K, 4)`` by more than that, else the last place.

        Nothing changes, as with :meth:`look`.
        """
        state, sighting = self._started("look_elsewhere"), self._own(sighting)
        frame, cloud, view = check_frame(frame, like=state.shape), sighting.cloud, sighting.view
        taken = as_floats("taken", taken, columns=4) if len(taken) else np.empty((0, 4))
        overlap = check_number("overlap", overlap, 0.0, 1.0)
        generator = state.rng.bit_generator
        before, generator.state = generator.state, sighting.randomness
        try:
            free = np.all([iou(cloud.boxes, box[None]) <= overlap for box in taken], axis=0)
            chosen = int(np.argmax(np.where(free, cloud.scores, -np.inf)))
            query = self._query(state, frame, sighting.watch, brief=True)
            if not free.any():
                (cloud, view), chosen = state.locator.verify(query, state.last_seen), 0
            box = Box(*cloud.boxes[chosen].tolist())
            return self._sighting(state, query, box, cloud, view, chosen, sighting.evidence.response)
        finally:
            generator.state = before

    def claim(self, sighting: Sighting) -> float:
        """Return the log odds that the place found is the target's own: appearance and a Gaussian motion prior.

        A target that was hidden must make a better case. Minus infinity where it looks as if it still were.
        """
        state, sighting = self._started("claim"), self._own(sighting)
        if state.presence.is_hidden(sighting.evidence, probability(sighting.odds)):
            return -math.inf
        wider = widening(state.unseen)
        step = max(self.config.motion.shift_std / state.locator.zoom * wider, 1e-9)
        away = sighting.box.centre_distance(state.last_seen) / step
        return sighting.odds - away**2 / 2 - 2 * math.log(wider) - (REAPPEARANCE_COST if state.unseen else 0.0)

    def commit(
        self,
        frame: Frame,
        sighting: Sighting,
        *,
        learn: bool = True,
        displaced: tuple[float, float] | None = None,
    ) -> Estimate:
        """Judge what was found and learn from it; the tracker goes on from here.

        ``displaced`` says that another target has the better claim to the place, with the overlap and its limit: then
        the target is hidden. From such a frame, and with ``memory.learn_when`` "tracking" from any frame in which the
        target is hidden, nothing is learned, and the next search starts from where it was last seen.
        """
        state, watch = self._started("commit"), self._own(sighting).watch
        frame, learn = check_frame(frame, like=state.shape), check_switch("learn", learn)
        displaced = None if displaced is None else check_pair("displaced", displaced, 0, 1)
        watch.resume()
        state.rng.bit_generator.state = sighting.randomness
        state.frame, state.box = state.frame + 1, sighting.box
        weights, sure = sighting.cloud.weights(self.config.motion.sharpness), probability(sighting.odds)
        verdict = state.presence.displace(*displaced) if displaced else state.presence.judge(sighting.evidence, sure)
        state.appearance.steps_taken = 0
        if displaced or (verdict.state != TRACKING and self.config.memory.learn_when == "tracking"):
            state.unseen += 1
        else:
            state.unseen, state.last_seen = 0, state.box
            state.locator.follow(state.rng, sighting.cloud, weights)
            if learn and due(state.frame, self.config.memory.every):
                self._learn(state, frame, sighting.view)
                state.locator.learn(frame, state.box)
        watch.lap("learn")
        identity = self._identify(frame, state.box, sure) if verdict.state == TRACKING else None
        watch.lap("identify")
        info = _info(sighting, weights, state.appearance.steps_taken)
        return Estimate(state.box, sure, verdict.state, verdict, info, identity)

    def score(self, frame: Frame, boxes: Floats, *, metric: bool = True) -> NDArray[np.float64]:
        """Score boxes ``(N, 4)``, N up to 20,000, of a frame by what is remembered, and change nothing.

        Without the metric, the same samples are compared as if none had been learned.
        """
        state, metric = self._started("score"), check_switch("metric", metric)
        frame = check_frame(frame, like=state.shape)
        boxes = check_boxes(boxes, frame.shape)
        with one_blas_thread():
            view = state.observer.cut(frame, boxes, state.locator.zoom)
            appearance = state.appearance if metric else state.appearance.without_metric()
            descriptors = view.describe(boxes)
            return state.observer.score(*appearance.energies(descriptors), state.appearance.template_error(descriptors))

    @property
    def has_target(self) -> bool:
        """Whether :meth:`init` has given it a target."""
        return self._state is not None

    @property
    def box(self) -> Box:
        """The last estimate."""
        return self._started("box").box

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the frames."""
        return self._started("shape").shape

    @property
    def frames(self) -> int:
        """Number of frames since the first."""
        return self._started("frames").frame

    @property
    def appearance(self) -> Appearance:
        """What is remembered of the target and its surroundings."""
        return self._started("appearance").appearance

    def _started(self, what: str) -> TargetState:
        if self._state is None:
            raise ValueError(f"{what} needs a target: call init(frame, box) first")
        return self._state

    def _own(self, sighting: object) -> Sighting:
        if not isinstance(sighting, Sighting) or sighting.target is not self._state:
            raise ValueError(f"sighting must be what this tracker's look returned, got {shown(sighting)}")
        return sighting

    def _query(self, state: TargetState, frame: Frame, watch: Stopwatch, brief: bool) -> Query:
        learning = not brief and due(state.frame + 1, self.config.memory.every)
        return Query(frame, state.box, state.last_seen, state.unseen, brief, learning, state.rng, watch)

    def _sighting(
        self, state: TargetState, query: Query, box: Box, cloud: Cloud, view: View, chosen: int, response: float | None
    ) -> Sighting:
        """Measure the errors of an estimate; the template error is the least of particles that overlap it by half."""
        beside = iou(cloud.boxes, cloud.boxes[chosen : chosen + 1]) > 0.5
        template = float(cloud.template_error[beside].min(initial=cloud.template_error[chosen]))
        gap = colours_of(query.frame, box) - state.colours
        evidence = Evidence(float(cloud.theta_f[chosen]) / ENERGY, template / ENERGY, float(gap @ gap), response)
        odds = log_odds(evidence, self.config.confidence.weights)
        query.watch.lap("estimate")
        return Sighting(box, cloud, chosen, view, evidence, odds, query.rng.bit_generator.state, query.watch, state)

    def _identify(self, frame: Frame, box: Box, sure: float) -> Identity | None:
        """Say who it is, where there is a gallery and enough of the target in the frame."""
        if self.identifier is None or not is_usable(box, frame.shape):
            return None
        return self.identifier.identify(frame, box, sure)

    def _learn(self, state: TargetState, frame: Frame, view: View) -> None:
        """Take samples around the estimate into memory, and learn the metric from them."""
        rng, (positives, negatives) = state.rng, self.config.memory.counts(state.frame)
        near, beside = foreground_boxes(rng, state.box, positives), background_boxes(rng, state.box, negatives)
        ranked: Floats = np.empty((0, 4))
        if due(state.frame, self.config.ranking.every) and self.config.metric.learning != "off":
            ranked = ranked_boxes(rng, state.box)
        boxes = np.vstack([near, beside, ranked])
        if not view.covers(boxes):  # the target has moved farther than usual
            view = state.observer.cut(frame, boxes, view.zoom)
        self.sampled = (near, beside)
        foreground, background, around = np.split(view.describe(boxes), [len(near), len(near) + len(beside)])
        overlaps = iou(ranked, np.array([state.box.to_xywh()]))
        state.appearance.learn(rng, state.frame, Lesson(foreground, background, around, overlaps))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything the next frame needs to an ``.npz`` file (no pickle)."""
        target, saved = check_path("path", path), self.to_saved()
        with writing("path", target):
            write_tracker(target, *saved)

    def to_saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return everything the next frame needs, as values for JSON and as named arrays."""
        meta, arrays = self._started("save").to_saved()
        sums = None if self.identifier is None else self.identifier.to_dict()
        return {"config": self.config.to_dict(), "seed": self.seed, "identifier": sums, **meta}, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, gallery: Gallery | None = None) -> Self:
        """Read a file made by :meth:`save` and go on exactly where it stopped, with the gallery it had, if any."""
        source, gallery = check_path("path", path), check_gallery(gallery)
        meta, arrays = read_tracker(source, cls.expected)
        with naming(source):
            return cls.from_saved(meta, arrays, gallery)

    @classmethod
    def expected(cls, meta: Mapping[str, Any]) -> Expectations:
        """Say what saved arrays must be, by the values saved beside them."""
        return TargetState.expected(TrackerConfig.from_dict(meta["config"]), meta)

    @classmethod
    def from_saved(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], gallery: Gallery | None = None
    ) -> Self:
        """Rebuild a tracker from :meth:`to_saved`."""
        tracker = cls(TrackerConfig.from_dict(meta["config"]), seed=meta["seed"])
        tracker._state = TargetState.from_saved(tracker.config, meta, arrays)
        sums = checked_sums(meta["identifier"])
        if gallery is not None:
            tracker.identifier = Identifier.from_dict(gallery, sums) if sums else Identifier(gallery)
        return tracker


def _info(sighting: Sighting, weights: NDArray[np.float64], steps_taken: int) -> Info:
    cloud = sighting.cloud
    return Info(
        particles=cloud.boxes,
        weights=weights,
        theta_f=cloud.theta_f,
        theta_b=cloud.theta_b,
        chosen=sighting.chosen,
        likelihood=float(cloud.scores[sighting.chosen]),
        evidence=sighting.evidence,
        effective_size=effective_size(weights),
        steps_taken=steps_taken,
        seconds=sighting.watch.laps,
    )


def _configuration(chosen: str | TrackerConfig) -> TrackerConfig:
    if isinstance(chosen, TrackerConfig):
        return chosen
    if isinstance(chosen, str):
        return preset(chosen)
    raise ValueError(f"preset must be a name or a TrackerConfig, got {shown(chosen)}")
