"""A painted video of one difficulty: frames on demand, with the exact truth of each."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.ndimage import gaussian_filter

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import check_seed, did_you_mean
from metrack.synth.backdrops import BACKDROPS, sand
from metrack.synth.balloon import Truth
from metrack.synth.figures import FIGURES, pale_stone, post
from metrack.synth.sprite import Picture, Reals, Sprite, lay
from metrack.synth.stories import HEIGHT, MARGIN, STORIES, WIDTH

DIFFICULTIES = tuple(STORIES)
FRAMES = 120
VIEW = (0, 0, WIDTH, HEIGHT)
SHADOW = 76.0  # pixels from one shadow to the next
OPEN = 0.9  # share of the time between frames in which the shutter is open


class HardClip:
    """A video of 320 x 240: ``clip[i]`` is an RGB frame, ``clip.truth[i]`` where the target is in it."""

    def __init__(self, difficulty: str, frames: int, seed: int) -> None:
        self._key, self._frames = [seed, zlib.crc32(difficulty.encode())], frames
        turn = DIFFICULTIES.index(difficulty) + 3 * seed
        self._draw = pale_stone if difficulty == "plain" else FIGURES[turn % len(FIGURES)]
        self._scenery = sand if difficulty == "plain" else BACKDROPS[(turn + turn // 6) % len(BACKDROPS)]
        self._figure = self._draw(self._rng("figure"))
        self._story = STORIES[difficulty](self._rng("story"), frames, self._figure.aspect)

    def _rng(self, purpose: str) -> np.random.Generator:
        """Return randomness for one thing, whatever else was painted before."""
        return np.random.default_rng([*self._key, zlib.crc32(purpose.encode())])

    @cached_property
    def _backdrop(self) -> Picture:
        height, width = HEIGHT + 2 * MARGIN, WIDTH + 2 * MARGIN
        image = self._scenery(self._rng("backdrop"), (height, width))
        for number, pose in enumerate(self._story.lying):
            lay(image, *self._like(number).stamp(pose, (0, 0, width, height)))
        return image

    @cached_property
    def _stranger(self) -> Sprite:
        return self._draw(self._rng("stranger"))

    @cached_property
    def _plank(self) -> Sprite:
        return post(self._rng("plank"))

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame must be between {-len(self)} and {len(self) - 1}, got {index}")
        return self._paint(index % len(self))

    def __iter__(self) -> Iterator[Frame]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def truth(self) -> tuple[Truth, ...]:
        """Where the target is in every frame, and how much of it can be seen."""
        return tuple(self._truth(index) for index in range(len(self)))

    @property
    def first_box(self) -> Box:
        """The box to start a tracker with."""
        return self.truth[0].box

    def _truth(self, index: int) -> Truth:
        pose = self._story.target.at(index)
        box = self._figure.box(pose)
        hiding = [(self._like(number), track) for number, track in enumerate(self._story.before)]
        hiding += [(self._plank, track) for track in self._story.covers]
        hiding = [(sprite, track) for sprite, track in hiding if sprite.box(track.at(index)).iou(box) > 0]
        if not hiding:
            return Truth(box, 1.0)
        (rows, cols), paint = self._figure.stamp(pose, VIEW)
        seen = np.zeros((HEIGHT, WIDTH))
        seen[rows, cols] = paint[..., 3]
        for sprite, track in hiding:
            place, cover = sprite.stamp(track.at(index), (cols.start, rows.start, cols.stop, rows.stop))
            seen[place] *= 1 - cover[..., 3]
        return Truth(box, min(round(float(seen.sum() / paint[..., 3].sum()), 6), 1.0))

    def _paint(self, index: int, with_target: bool = True) -> Frame:
        """Paint one frame: all that is seen while the shutter is open, its light, its focus, its noise."""
        story = self._story
        lags = (np.arange(story.shutter) + 0.5) / story.shutter - 0.5
        moments = [self._moment(index + OPEN * lag, with_target) for lag in lags]
        image: Picture = np.mean(moments, axis=0)
        if story.light is not None:
            image = image * story.light[index].astype(np.float32)
        if story.shadow is not None:
            image = image * _shadows(float(story.shadow[index]))
        if story.softness is not None:
            image = gaussian_filter(image, (story.softness[index], story.softness[index], 0), truncate=3)
        rng = np.random.default_rng([*self._key, index])
        image = image + np.float32(story.noise) * rng.standard_normal((HEIGHT, WIDTH, 1), dtype=np.float32)
        return np.clip(image, 0, 255).astype(np.uint8)

    def _like(self, number: int) -> Sprite:
        """Return how one of its kind looks: in turn like itself, and in other colours."""
        return self._stranger if number % 2 else self._figure

    def _moment(self, moment: float, with_target: bool) -> Picture:
        """Paint what is there at one moment, from back to front."""
        story = self._story
        layers = [(self._like(number), track) for number, track in enumerate(story.behind)]
        layers += [(self._figure, story.target)] if with_target else []
        layers += [(self._like(number), track) for number, track in enumerate(story.before)]
        layers += [(self._plank, track) for track in story.covers]
        image = _seen(self._backdrop, story.camera, moment)
        for sprite, track in layers:
            lay(image, *sprite.stamp(track.at(moment), VIEW))
        return image


def hard_clip(difficulty: str, frames: int = FRAMES, seed: int = 0) -> HardClip:
    """Make a clip; the seed changes the target, what is behind it, and the way it goes.

    >>> clip = hard_clip("twins", 3)
    >>> len(clip), clip[0].shape, clip.truth[0].visible
    (3, (240, 320, 3), 1.0)
    """
    if difficulty not in STORIES:
        raise ValueError(f"difficulty must be one that is known, got {difficulty!r}{did_you_mean(difficulty, STORIES)}")
    if isinstance(frames, bool) or not isinstance(frames, int) or frames < 1:
        raise ValueError(f"frames must be a whole number of at least 1, got {frames!r}")
    return HardClip(difficulty, frames, check_seed(seed))


def _seen(backdrop: Picture, camera: Reals, moment: float) -> Picture:
    """Return the part of the backdrop that the camera shows, moved by fractions of pixels too."""
    frames = np.arange(len(camera))
    shift = [MARGIN - float(np.interp(moment, frames, camera[:, axis])) for axis in (0, 1)]
    (left, p), (top, q) = ((int(np.floor(s)), np.float32(s - np.floor(s))) for s in shift)
    part = backdrop[top : top + HEIGHT + 1, left : left + WIDTH + 1]
    part = part[:, :-1] * (1 - p) + part[:, 1:] * p
    return np.asarray(part[:-1] * (1 - q) + part[1:] * q)


def _shadows(moved: float) -> Picture:
    """Return how bright it is everywhere under a row of slanted shadows."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    depth = np.clip(3 * np.sin(2 * np.pi * ((x + 0.4 * y) / SHADOW - moved)) + 0.5, 0, 1)
    return np.asarray(1 - 0.65 * depth)[..., None]
