"""Calls in any order on trackers that follow something: what is refused must not change them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from metrack import Box, Gallery, MultiTracker, Tracker, TrackerConfig, confidence_map
from metrack.adapters.opencv import OpenCVTracker
from metrack.adapters.vot import VOTTracker
from metrack.config import PRESETS
from metrack.rivals.static import StaticBox
from metrack.tracking.several import target_seed
from torture.api_answers import Call, call, judge
from torture.api_plain import Draw
from torture.api_values import HEIGHT, LIGHT, SMALL, WIDTH
from torture.campaign import MissError

LENGTH = 12  # frames of a clip, shown over and over
PICTURE = "frame.png"  # in the folder of a case
SIDE = 12  # pixels of what is followed
BOX = (15.0, 12.0, float(SIDE), float(SIDE))
MOST_TARGETS = 3
CONFIGS = [
    PRESETS[name].replace({**LIGHT, **SMALL, **more})
    for name, more in (
        ("default", {}),
        ("fast", {"features.kind": "pixels"}),
        ("paper", {"search.candidates": 30}),
        ("paper-structured", {}),
        ("default", {"representation.kind": "l1", "metric.learning": "off"}),
        ("paper", {"representation.kind": "omp", "metric.learning": "off"}),
    )
]


def clip(rng: np.random.Generator, shape: tuple[int, ...] = (HEIGHT, WIDTH, 3)) -> list[np.ndarray]:
    """Paint a textured square that moves over a textured background, is hidden for a while, or noise and black."""
    background, square = (
        rng.integers(40, 140, shape, np.uint8),
        rng.integers(90, 255, (SIDE, SIDE, *shape[2:]), np.uint8),
    )
    frames = []
    for index in range(LENGTH):
        frame = background.copy()
        if index % 6 != 4:
            x, y = int(BOX[0]) + index, int(BOX[1]) + index // 2
            seen = frame[y : y + SIDE, x : x + SIDE]
            seen[:] = square[: seen.shape[0], : seen.shape[1]]
        frames.append(frame)
    return [*frames, np.zeros(shape, np.uint8), rng.integers(0, 256, shape, np.uint8)]


def fingerprint(tracker: Tracker | MultiTracker) -> int:
    """Return a checksum of all that a tracker would save."""
    parts = [tracker] if isinstance(tracker, Tracker) else list(tracker.trackers.values())
    found = 0 if isinstance(tracker, Tracker) else zlib.crc32(repr(sorted(tracker.boxes.items())).encode())
    for part in parts:
        if part.has_target:
            meta, arrays = part.to_saved()
            found = zlib.crc32(repr(meta).encode(), found)
            for name in sorted(arrays):
                found = zlib.crc32(np.ascontiguousarray(arrays[name]), found)
    return found


class Life:
    """One tracker of some kind, and the calls that are made on it."""

    def __init__(self, draw: Draw) -> None:
        self.draw, rng = draw, draw.rng
        self.frames = clip(rng, draw.choice([(HEIGHT, WIDTH), (HEIGHT, WIDTH, 3), (HEIGHT, WIDTH, 3)]))
        config = draw.choice(CONFIGS)
        if draw.chance(0.4):
            changes = draw("config")
            config = TrackerConfig().replace({**LIGHT, **SMALL, **changes})
        self.text = f"{dict(config.to_dict().items() - TrackerConfig().to_dict().items())}"
        gallery = None
        if draw.chance(0.15):
            gallery = Gallery.from_boxes([("it", self.frames[0], BOX), ("wall", self.frames[0], (0, 0, 9, 9))])
        self.gallery, self.config = gallery, config
        self.several = draw.chance(0.35)
        self.tracker: Any = (MultiTracker if self.several else Tracker)(
            config, seed=int(rng.integers(99)), gallery=gallery
        )
        self.sighting: Any = None
        self.shown = 0  # frames of the clip, in a row
        self.burst = 0  # updates that come next, so that targets are lost and found again

    def run(self, steps: int) -> int:
        """Make so many calls, and return how many were made."""
        for _ in range(steps):
            one, changing = self._next()
            self._do(one, changing=changing)
        return steps

    def _next(self) -> tuple[Call, bool]:
        started = bool(self.tracker.boxes) if self.several else self.tracker.has_target
        self.burst = int(self.draw.rng.integers(40)) if not self.burst and self.draw.chance(0.03) else self.burst
        if started and self.burst:
            self.burst, self.shown = self.burst - 1, self.shown + 1
            return call(self.tracker.update, self._fitting()[self.shown % len(self.frames)]), True
        return (self._of_several if self.several else self._of_one)()

    def _do(self, one: Call, *, changing: bool) -> None:
        compared = not changing or self.draw.chance(0.4)
        before = fingerprint(self.tracker) if compared else 0
        self.draw.begin(one.text)
        try:
            _, refused = judge(one)
        except MissError as miss:
            raise MissError(f"{miss}, with {self.text}") from miss.__cause__
        if compared and (refused or not changing) and fingerprint(self.tracker) != before:
            raise MissError(f"{one.text} changed the tracker, {'refused' if refused else 'answered'}, with {self.text}")

    def _frame(self) -> Any:
        return self.draw("frame") if self.draw.chance(0.3) else self.draw.choice(self._fitting())

    def _box(self) -> Any:
        x, y = self.draw.rng.uniform(0, 25, 2).tolist()
        return self.draw("box") if self.draw.chance(0.4) else (x, y, 9.0, 8.0) if self.draw.chance(0.4) else BOX

    def _rows(self) -> Any:
        return self.draw("rows") if self.draw.chance(0.6) else np.array([BOX, (1, 1, 5, 5), (-900, 40, 90, 3)])

    def _switch(self) -> Any:
        return self.draw("anything") if self.draw.chance(0.1) else self.draw.chance(0.7)

    def _of_one(self) -> tuple[Call, bool]:
        draw, tracker = self.draw, self.tracker
        choice = draw.rng.random()
        if choice < 0.07 or not tracker.has_target:
            return call(tracker.init, self._frame(), self._box()), True
        if choice < 0.30:
            return call(tracker.update, self._frame()), True
        if choice < 0.62:
            return call(tracker.score, self._frame(), self._rows(), metric=self._switch()), False
        if choice < 0.68:
            radius = draw("whole") if draw.chance(0.5) else draw.choice([1, 2, 5])
            radius = 3 if isinstance(radius, int) and 12 < radius <= 200 else radius  # larger maps take their time
            return call(confidence_map, tracker, self._frame(), radius, metric=self._switch()), False
        return self._of_sighting(choice)

    def _of_sighting(self, choice: float) -> tuple[Call, bool]:
        draw, tracker, frame = self.draw, self.tracker, self._frame()
        seen = draw("anything") if self.sighting is None or draw.chance(0.15) else self.sighting
        if choice < 0.76:
            return Call(call(tracker.look, frame).text, lambda: self._look(frame)), False
        if choice < 0.80:
            loose = True  # minus infinity is the claim of a hidden target
            return call(tracker.claim, seen, loose=loose), False
        if choice < 0.83:
            taken, overlap = draw.choice([np.array([BOX]), draw("rows")]), draw.choice([0.5, draw("number")])
            act = lambda: tracker.look_elsewhere(frame, seen, taken, overlap).box  # noqa: E731
            return Call(call(tracker.look_elsewhere, frame, seen, taken, overlap).text, act), False
        if choice < 0.88:
            displaced = draw.choice([None, (0.7, 0.5), draw("anything")])
            return call(tracker.commit, frame, seen, learn=self._switch(), displaced=displaced), True
        return self._of_file()

    def _look(self, frame: Any) -> Box:
        self.sighting = self.tracker.look(frame, brief=self._switch())
        return self.sighting.box

    def _of_file(self) -> tuple[Call, bool]:
        draw, tracker = self.draw, self.tracker
        gallery = self.draw("anything") if draw.chance(0.2) else self.gallery
        path = draw.path() if draw.chance(0.7) else f"{draw.folder}/state.npz"
        if draw.chance(0.4):
            return call(tracker.save, path), False
        return Call(call(type(tracker).load, path, gallery=gallery).text, lambda: self._load(path, gallery)), True

    def _load(self, path: Any, gallery: Any) -> None:
        self.tracker = type(self.tracker).load(path, gallery=gallery)

    def _fitting(self) -> list[np.ndarray]:
        """Return a clip of the frames that are followed, which may be those of a tracker that was loaded."""
        tracker = self.tracker if not self.several else next(iter(self.tracker.trackers.values()), None)
        if tracker is not None and tracker.has_target and tracker.shape != self.frames[0].shape:
            self.frames = clip(self.draw.rng, tracker.shape)
        return self.frames

    def _of_several(self) -> tuple[Call, bool]:
        draw, tracker = self.draw, self.tracker
        choice, count = draw.rng.random(), len(tracker.boxes)
        if choice < 0.12 and count < MOST_TARGETS:
            return call(tracker.add, self._frame(), self._box()), True
        if choice < 0.30:
            known = draw.choice(tracker.boxes) if count and draw.chance(0.3) else draw("whole")
            return call(tracker.remove, known), True
        if choice < 0.6:
            return call(tracker.update, self._frame()), True
        if choice < 0.7:
            return call(target_seed, self.draw.choice([1, 5]), self.draw.choice([1, 2])), False
        if choice < 0.8 and count:
            one = draw.choice(tracker.trackers.values())
            return call(one.score, self._frame(), self._rows()), False
        return self._of_file()


def strange(draw: Draw) -> Call:
    """Return a call on the adapters and rivals that share the checks."""
    frames = clip(draw.rng)
    made: Any = draw.choice([lambda: OpenCVTracker(CONFIGS[1]), StaticBox, lambda: VOTTracker("fast")])()
    good, target = (frames, BOX) if not isinstance(made, VOTTracker) else ([f"{draw.folder}/{PICTURE}"] * 2, (BOX, {}))
    first, later = (draw.choice([each, each, draw("frame")]) for each in good[:2])
    box = draw.choice([target, target, draw("box")])
    text = f"{type(made).__name__}: {call(made.init, first, box).text}, {call(made.update, later).text}"
    acts: list[Callable[[], Any]] = [lambda: made.init(first, box), lambda: made.update(later)]
    return Call(text, lambda: [act() for act in acts][1], loose=isinstance(made, StaticBox))  # its score is NaN
