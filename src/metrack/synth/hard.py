"""The hard clips: one painted video per difficulty and seed, with exact ground truth."""

from __future__ import annotations

import zlib
from functools import cached_property

import numpy as np
from scipy.ndimage import gaussian_filter

from metrack.arrays import Frame, shown
from metrack.checks import check_seed, check_whole, did_you_mean
from metrack.synth.backdrops import BACKDROPS, sand
from metrack.synth.clip import LONGEST, Clip, Truth
from metrack.synth.figures import FIGURES, pale_stone, post
from metrack.synth.picture import Picture, Reals, lay
from metrack.synth.sprite import Sprite
from metrack.synth.stories import HEIGHT, MARGIN, STORIES, WIDTH, Track

DIFFICULTIES = tuple(STORIES)
FRAMES = 120
VIEW = (0, 0, WIDTH, HEIGHT)
SHADOW = 76.0  # pixels from one shadow to the next
OPEN = 0.9  # share of the time between frames in which the shutter is open


class HardClip(Clip):
    """A clip of 320 x 240 with one difficulty; make it with :func:`hard_clip`."""

    def __init__(self, difficulty: str, frames: int, seed: int) -> None:
        super().__init__(frames, (WIDTH, HEIGHT))
        self._key = [seed, zlib.crc32(difficulty.encode())]
        turn = DIFFICULTIES.index(difficulty) + 3 * seed
        self._draw = pale_stone if difficulty == "plain" else FIGURES[turn % len(FIGURES)]
        self._scenery = sand if difficulty == "plain" else BACKDROPS[(turn + turn // 6) % len(BACKDROPS)]
        self._figure = self._draw(self._rng("figure"))
        self._story = STORIES[difficulty](self._rng("story"), frames, self._figure.aspect)

    def _rng(self, purpose: str) -> np.random.Generator:
        """Return a generator of its own for one purpose, so that the order of painting does not matter."""
        return np.random.default_rng([*self._key, zlib.crc32(purpose.encode())])

    @cached_property
    def _backdrop(self) -> Picture:
        height, width = HEIGHT + 2 * MARGIN, WIDTH + 2 * MARGIN
        image = self._scenery(self._rng("backdrop"), (height, width))
        for number, pose in enumerate(self._story.lying):
            lay(image, *self._distractor(number).stamp(pose, (0, 0, width, height)))
        return image

    @cached_property
    def _recoloured(self) -> Sprite:
        return self._draw(self._rng("stranger"))  # this word seeds its colours

    @cached_property
    def _plank(self) -> Sprite:
        return post(self._rng("plank"))

    def _distractor(self, number: int) -> Sprite:
        """Return the sprite of a distractor: by turns the target's own, and one in other colours."""
        return self._recoloured if number % 2 else self._figure

    def _in_front(self) -> list[tuple[Sprite, Track]]:
        """Return what is painted over the target: distractors and planks."""
        distractors = [(self._distractor(number), track) for number, track in enumerate(self._story.before)]
        return distractors + [(self._plank, track) for track in self._story.covers]

    def _truth_at(self, index: int) -> Truth:
        pose = self._story.target.at(index)
        box = self._figure.box(pose)
        hiding = [(sprite, track) for sprite, track in self._in_front() if sprite.box(track.at(index)).iou(box) > 0]
        if not hiding:
            return Truth(box, 1.0)
        (rows, cols), paint = self._figure.stamp(pose, VIEW)
        seen = np.zeros((HEIGHT, WIDTH))
        seen[rows, cols] = paint[..., 3]
        for sprite, track in hiding:
            place, cover = sprite.stamp(track.at(index), (cols.start, rows.start, cols.stop, rows.stop))
            seen[place] *= 1 - cover[..., 3]
        return Truth(box, min(round(float(seen.sum() / paint[..., 3].sum()), 6), 1.0))

    def paint(self, index: int, with_target: bool = True) -> Frame:
        """Paint one frame: the mean over the open shutter, then light, focus and noise."""
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

    def _moment(self, moment: float, with_target: bool) -> Picture:
        """Paint one moment from back to front."""
        story = self._story
        layers = [(self._distractor(number), track) for number, track in enumerate(story.behind)]
        layers += [(self._figure, story.target)] if with_target else []
        image = _seen(self._backdrop, story.camera, moment)
        for sprite, track in layers + self._in_front():
            lay(image, *sprite.stamp(track.at(moment), VIEW))
        return image


def hard_clip(difficulty: str, frames: int = FRAMES, seed: int = 0) -> HardClip:
    """Make a hard clip; the seed changes the target, the background and the path.

    >>> clip = hard_clip("twins", 3)
    >>> len(clip), clip[0].shape, clip.truth[0].visible
    (3, (240, 320, 3), 1.0)
    """
    if not isinstance(difficulty, str) or difficulty not in STORIES:
        raise ValueError(
            f"difficulty must be one that is known, got {shown(difficulty)}{did_you_mean(difficulty, STORIES)}"
        )
    return HardClip(difficulty, check_whole("frames", frames, 1, LONGEST), check_seed(seed))


def _seen(backdrop: Picture, camera: Reals, moment: float) -> Picture:
    """Return the part of the backdrop that the camera shows, interpolated between pixels."""
    frames = np.arange(len(camera))
    shift = [MARGIN - float(np.interp(moment, frames, camera[:, axis])) for axis in (0, 1)]
    (left, p), (top, q) = ((int(np.floor(s)), np.float32(s - np.floor(s))) for s in shift)
    part = backdrop[top : top + HEIGHT + 1, left : left + WIDTH + 1]
    part = part[:, :-1] * (1 - p) + part[:, 1:] * p
    return np.asarray(part[:-1] * (1 - q) + part[1:] * q)


def _shadows(moved: float) -> Picture:
    """Return the brightness of every pixel under a row of slanted shadows."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    depth = np.clip(3 * np.sin(2 * np.pi * ((x + 0.4 * y) / SHADOW - moved)) + 0.5, 0, 1)
    return np.asarray(1 - 0.65 * depth)[..., None]
