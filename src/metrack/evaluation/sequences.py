"""Sequences with ground truth, on which trackers are evaluated.

A sequence is a name, frames, and one true box per frame in this package's coordinates; NaN where the target is absent
or its place unknown: such frames never count. :func:`read_sequences` reads any folder in a layout of
:mod:`metrack.evaluation.layouts`, a video with a box file, and painted clips by name: ``builtin``, ``hard``, and
``hard:7`` for other targets and places.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from metrack.checks import did_you_mean
from metrack.evaluation.pictures import ClipPictures, HardPictures, Pictures
from metrack.synth import DIFFICULTIES, FRAMES, Truth, builtin_clip

BUILTIN, HARD = "builtin", "hard"
BUILTIN_FRAMES, BUILTIN_SIZE = 120, (320, 240)
BUILTIN_EVENTS = {
    "balloon-calm": (),
    "balloon-cloud": ("occlusion",),
    "balloon-dusk": ("lighting",),
    "balloon-story": ("occlusion", "departure", "twin", "lighting"),
    "balloon-trip": ("departure",),
    "balloon-twin": ("twin",),
}


@dataclass(frozen=True, slots=True)
class Sequence:
    """Frames, and the box of one target in each."""

    name: str
    pictures: Pictures
    truth: NDArray[np.float64]
    """Boxes ``(T, 4)`` x, y, w, h; NaN rows where the target is absent or its place unknown."""
    attributes: tuple[str, ...] = ()
    """What is difficult in it, e.g. the letters of OTB: OCC, IV."""
    tags: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """What is known of every frame ``(T,)``, e.g. ``"occlusion"``."""

    def __len__(self) -> int:
        return len(self.truth)

    def part(self, start: int, stop: int | None = None) -> Self:
        """Return the sequence from one frame to the one before another."""
        tags = {name: values[start:stop] for name, values in self.tags.items()}
        return replace(self, pictures=self.pictures.part(start, stop), truth=self.truth[start:stop], tags=tags)

    def present(self) -> NDArray[np.intp]:
        """Return the numbers of the frames with a truth box."""
        return np.flatnonzero(~np.isnan(self.truth).any(axis=1))


def read_sequences(dataset: str | Path, names: Collection[str] = (), layout: str | None = None) -> list[Sequence]:
    """Read the sequences of a folder, or those named; the layout is recognised where it is not given."""
    from metrack.evaluation.layouts import read_folder

    found = _painted_sequences(str(dataset)) if is_painted(dataset) else read_folder(Path(dataset), layout)
    return choose_sequences(found, names)


def is_painted(dataset: str | Path) -> bool:
    """Whether a dataset is the name of clips that the package paints, and not a path."""
    return str(dataset) == BUILTIN or str(dataset).partition(":")[0] == HARD


def _painted_sequences(dataset: str) -> list[Sequence]:
    if dataset == BUILTIN:
        return builtin_sequences()
    _, colon, seed = dataset.partition(":")
    if colon and not seed.isdecimal():
        raise ValueError(f"dataset must be {HARD} or {HARD}: with a whole number, got {dataset!r}")
    return hard_sequences(int(seed or 0))


def choose_sequences(found: list[Sequence], names: Collection[str]) -> list[Sequence]:
    """Return the sequences of these names, or all where none is named."""
    known = {sequence.name: sequence for sequence in found}
    for name in names:
        if name not in known:
            raise ValueError(f"sequences must be among those found, got {name!r}{did_you_mean(name, known)}")
    return [known[name] for name in names] if names else found


def builtin_sequences(frames: int = BUILTIN_FRAMES, size: tuple[int, int] = BUILTIN_SIZE) -> list[Sequence]:
    """Paint short clips of one event each, and one of all: sequences that every machine has."""
    return [_paint(name, events, frames, size) for name, events in BUILTIN_EVENTS.items()]


def _paint(name: str, events: tuple[str, ...], frames: int, size: tuple[int, int]) -> Sequence:
    seed = list(BUILTIN_EVENTS).index(name)
    pictures = ClipPictures(frames, size, seed, frozenset(events), stop=frames)
    wanted = {event: event in events for event in ("occlusion", "departure", "twin", "lighting")}
    clip = builtin_clip(frames, size, seed, **wanted)
    truth, hidden = _truth_of(clip.truth)
    return Sequence(name, pictures, truth, events, {"occlusion": hidden} if events else {})


def hard_sequences(seed: int = 0, frames: int = FRAMES) -> list[Sequence]:
    """Paint one clip per difficulty; every seed has other targets in other places."""
    return [_paint_hard(difficulty, seed, frames) for difficulty in DIFFICULTIES]


def _paint_hard(difficulty: str, seed: int, frames: int) -> Sequence:
    pictures = HardPictures(difficulty, frames, seed, stop=frames)
    truth, hidden = _truth_of(pictures.clip.truth)
    name = f"{HARD}-{difficulty}-{seed}" if seed else f"{HARD}-{difficulty}"
    return Sequence(name, pictures, truth, (difficulty,), {"occlusion": hidden})


def _truth_of(truths: tuple[Truth, ...]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the boxes, NaN where nothing can be seen, and in which frames less than half can."""
    visible = np.array([truth.visible for truth in truths])
    boxes = np.array([truth.box.to_xywh() for truth in truths])
    boxes[visible == 0] = np.nan
    return boxes, visible < 0.5
