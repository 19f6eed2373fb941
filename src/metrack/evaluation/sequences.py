"""Sequences with truth: what a tracker is judged on.

A sequence is a name, pictures, and one truth box per picture in this package's coordinates; NaN where the target is
absent or its place unknown: such frames never count. :func:`read_sequences` finds them in any folder of the layouts in
:mod:`metrack.evaluation.layouts`, in a video with a box file, and under the name ``builtin``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from metrack.checks import did_you_mean
from metrack.evaluation.pictures import ClipPictures, Pictures
from metrack.synth import builtin_clip

BUILTIN = "builtin"
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
    """Frames to follow a target through, and where it is in each."""

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


def read_sequences(source: str | Path, names: Collection[str] = (), layout: str | None = None) -> list[Sequence]:
    """Read the sequences of a folder, or those named; the layout is recognised where it is not given."""
    from metrack.evaluation.layouts import read_folder

    found = builtin_sequences() if str(source) == BUILTIN else read_folder(Path(source), layout)
    return choose_sequences(found, names)


def choose_sequences(found: list[Sequence], names: Collection[str]) -> list[Sequence]:
    """Return the sequences of these names, or all where none is named."""
    known = {sequence.name: sequence for sequence in found}
    for name in names:
        if name not in known:
            raise ValueError(f"--sequences must be among those found, got {name!r}{did_you_mean(name, known)}")
    return [known[name] for name in names] if names else found


def builtin_sequences(frames: int = BUILTIN_FRAMES, size: tuple[int, int] = BUILTIN_SIZE) -> list[Sequence]:
    """Paint short clips of one event each, and one of all: sequences that every machine has."""
    return [_paint(name, events, frames, size) for name, events in BUILTIN_EVENTS.items()]


def _paint(name: str, events: tuple[str, ...], frames: int, size: tuple[int, int]) -> Sequence:
    seed = list(BUILTIN_EVENTS).index(name)
    pictures = ClipPictures(frames, size, seed, frozenset(events), 0, frames)
    wanted = {event: event in events for event in ("occlusion", "departure", "twin", "lighting")}
    clip = builtin_clip(frames, size, seed, **wanted)
    visible = np.array([truth.visible for truth in clip.truth])
    truth = np.array([truth.box.to_xywh() for truth in clip.truth])
    truth[visible == 0] = np.nan
    return Sequence(name, pictures, truth, events, {"occlusion": visible < 0.5} if events else {})


def data_folder() -> Path | None:
    """Where the real data is: ``METRACK_DATA``, or the folder shared beside the project; None where absent."""
    beside = Path(__file__).parents[4] / "shared" / "data"
    folder = Path(os.environ.get("METRACK_DATA", beside))
    return folder if (folder / "sequences").is_dir() else None


def development_sequences() -> list[Sequence]:
    """Every OTB sequence under the data folder, by name; none where there is no data."""
    folder = data_folder()
    return read_sequences(folder / "sequences") if folder else []
