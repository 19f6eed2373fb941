"""Sources of frames that can be sent to another process: nothing is opened before they are iterated.

Each kind has a length, can be cut with ``part(start, stop)``, and yields uint8 frames, (H, W) or (H, W, 3) RGB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Protocol, Self

from metrack.arrays import Frame
from metrack.frames.images import read_image
from metrack.frames.video import VideoFile
from metrack.synth import HardClip, builtin_clip, hard_clip


class Pictures(Protocol):
    """The frames of one sequence."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Frame]: ...

    def part(self, start: int, stop: int | None = None) -> Self:
        """Return the frames from ``start`` up to, not including, ``stop``."""


@dataclass(frozen=True, slots=True)
class ImagePictures:
    """One image file per frame; grey files give grey frames."""

    files: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Frame]:
        return (read_image(file, "dataset", keep_grey=True) for file in self.files)

    def part(self, start: int, stop: int | None = None) -> Self:
        """Return the frames from ``start`` up to, not including, ``stop``."""
        return replace(self, files=self.files[start:stop])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """Frames from ``first`` up to, not including, ``stop`` of a longer source."""

    first: int = 0
    stop: int

    def __len__(self) -> int:
        return max(self.stop - self.first, 0)

    def part(self, start: int, stop: int | None = None) -> Self:
        """Return the frames from ``start`` up to, not including, ``stop``."""
        chosen = range(self.first, self.stop)[start:stop]
        return replace(self, first=chosen.start, stop=chosen.stop)


@dataclass(frozen=True, slots=True)
class VideoPictures(_Range):
    """Frames of a video file."""

    file: Path

    def __iter__(self) -> Iterator[Frame]:
        with VideoFile(str(self.file)) as video:
            for frame in islice(video, self.first, self.stop):
                yield frame.image


@dataclass(frozen=True, slots=True)
class ClipPictures(_Range):
    """Frames of the built-in clip, with only the events named."""

    frames: int
    size: tuple[int, int]
    seed: int
    events: frozenset[str]

    def __iter__(self) -> Iterator[Frame]:
        wanted = {event: event in self.events for event in ("occlusion", "departure", "twin", "lighting")}
        clip = builtin_clip(self.frames, self.size, self.seed, **wanted)
        return (clip[index] for index in range(self.first, self.stop))


@dataclass(frozen=True, slots=True)
class HardPictures(_Range):
    """Frames of a painted clip of one difficulty."""

    difficulty: str
    frames: int
    seed: int

    def __iter__(self) -> Iterator[Frame]:
        return (self.clip[index] for index in range(self.first, self.stop))

    @property
    def clip(self) -> HardClip:
        """The whole clip, with its truth."""
        return _painted(self.difficulty, self.frames, self.seed)


@lru_cache(maxsize=16)
def _painted(difficulty: str, frames: int, seed: int) -> HardClip:
    """Return a clip from a cache, because many runs use the same one."""
    return hard_clip(difficulty, frames, seed)
