"""One story per difficulty: where things are and how they are lit in every frame.

A story is made from a generator, a number of frames and the aspect ratio of the target. Everything moves on smooth
random paths; each story adds one difficulty and little else, so that a tracker's weakness can be named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.ndimage import gaussian_filter1d

from metrack.synth.picture import Reals
from metrack.synth.sprite import Pose

WIDTH, HEIGHT = 320, 240
MARGIN = 40  # how far the camera may look beyond the middle of the backdrop, pixels


@dataclass(frozen=True, slots=True)
class Track:
    """The poses of one object ``(T, 9)``: x, y, width, height, angle, two bends and their two phases."""

    values: Reals

    def at(self, moment: float) -> Pose:
        """Return the pose at a moment, also between frames."""
        low = int(np.clip(np.floor(moment), 0, len(self.values) - 1))
        high, share = min(low + 1, len(self.values) - 1), min(max(moment - low, 0.0), 1.0)
        x, y, w, h, angle, *waves = (self.values[low] * (1 - share) + self.values[high] * share).tolist()
        return Pose(x, y, w, h, angle, (waves[0], waves[1]), (waves[2], waves[3]))


@dataclass(frozen=True)
class Story:
    """Tracks of the target, of distractors behind and in front of it, and of what hides it; camera, light and lens."""

    target: Track
    camera: Reals  # (T, 2) pixels by which the backdrop is moved
    behind: list[Track] = field(default_factory=list)
    before: list[Track] = field(default_factory=list)
    covers: list[Track] = field(default_factory=list)
    lying: list[Pose] = field(default_factory=list)  # distractors that lie still on the backdrop
    light: Reals | None = None  # (T, 3) factor per colour channel
    shadow: Reals | None = None  # (T,) how far a row of shadows has moved, counted in shadows
    softness: Reals | None = None  # (T,) pixels of Gaussian blur
    shutter: int = 1  # moments that are averaged for a frame
    noise: float = 2.5  # grey levels, standard deviation


def fast(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target moves fast, often by more than half its size between frames."""
    path = _path(rng, frames, pace=2.7, room=34)
    return Story(_swaying(rng, path, 38.0, aspect), _camera(rng, frames), shutter=3)


def deformation(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target bends and stretches."""
    t = np.arange(frames)
    swell = 0.26 * np.sin(t / rng.uniform(7, 10))
    bends = np.stack([0.24 + 0.1 * np.sin(t / 11), 0.26 + 0.1 * np.cos(t / 9)], axis=1)
    phases = np.stack([t / rng.uniform(4.5, 6), -t / rng.uniform(5, 7)], axis=1)
    track = _track(_path(rng, frames, pace=9, room=60), 56.0, aspect * np.exp(swell), 0.25 * np.sin(t / 13))
    track.values[:, 5:7], track.values[:, 7:9] = bends, phases
    return Story(track, _camera(rng, frames))


def twins(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """Look-alikes pass close by, behind the target and in front of it."""
    path, side = _path(rng, frames, pace=7, room=40), 40.0
    others = [_passing(rng, path, side, aspect, meeting) for meeting in (0.2, 0.4, 0.6, 0.8)]
    target = _swaying(rng, path, side, aspect)
    return Story(target, _camera(rng, frames), behind=others[::2], before=others[1::2])


def lighting(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The light fades, a glaring lamp is switched on and off, shadows as of trees sweep to and fro."""
    t = np.arange(frames) / frames
    warm, cool = np.array([4.4, 3.8, 3.0]), np.array([0.05, 0.055, 0.075])
    dusk = np.interp(t, [0.1, 0.35, 0.5, 0.51, 0.7, 0.71, 0.8, 1], [0, 1, 1, -1, -0.8, 1, 1, 0.5])
    light = np.where(dusk[:, None] > 0, 1 + dusk[:, None] * (cool - 1), 1 - dusk[:, None] * (warm - 1))
    shadow = 1.6 * np.sin(2 * np.pi * (1.3 * t + rng.random()))
    target = _swaying(rng, _path(rng, frames, 4.5, 40), 38.0, aspect)
    return Story(target, _camera(rng, frames), light=light, shadow=shadow)


def rotation(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target rotates in the plane, and turns away and back."""
    t = np.arange(frames)
    angle = 2.2 * np.sin(t / 17 + rng.uniform(0, 0.5)) + 0.07 * t
    squeeze = 1 - 0.4 * np.sin(t / rng.uniform(12, 16)) ** 2
    track = _track(_path(rng, frames, 10, 48), 52.0, aspect, angle - angle[0])
    track.values[:, 2] *= squeeze
    return Story(track, _camera(rng, frames))


def scale(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target comes three times as near and goes far away again."""
    u = np.linspace(0, 1, frames)
    size = 38 * np.exp(np.interp(u, [0, 0.08, 0.42, 0.5, 0.85, 1], [0, 0, 1.1, 1.1, -0.35, 0]))
    size = gaussian_filter1d(size, 3, mode="nearest")
    shrink = 1 - 0.6 * np.clip((size[:, None] - 25) / 90, 0, 1)  # the larger, the nearer to the middle
    path = (WIDTH / 2, HEIGHT / 2) + (_path(rng, frames, 11, 30) - (WIDTH / 2, HEIGHT / 2)) * shrink
    return Story(_track(path, size, aspect), _camera(rng, frames))


def blur(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The camera shakes while the shutter is open, and loses focus."""
    shake = 30 * _wander(rng, frames, 1.2)
    softness = 7.0 * np.sin(np.pi * np.linspace(0, 2.5, frames)) ** 2
    path = _path(rng, frames, 10, 60) + shake
    camera = 0.3 * _camera(rng, frames) + shake
    return Story(_swaying(rng, path, 36.0, aspect), camera, softness=softness, shutter=5)


def occlusion(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target passes behind planks, the widest of which hide it completely."""
    side, camera = 42.0, _camera(rng, frames)
    path = _path(rng, frames, 7, 34)
    u = np.linspace(0, 1, frames) + rng.uniform(-0.02, 0.02)
    path[:, 0] = WIDTH / 2 + 122 * np.sin(2 * np.pi * (0.85 * u - 0.2))
    widths = side * np.sqrt(aspect) * np.array([0.7, 1.3, 0.5])
    places = [camera[:, 0] - camera[0, 0] + x for x in (98, 164, 236)]  # it starts in the open
    covers = [_upright(x, width) for x, width in zip(places, widths, strict=True)]
    return Story(_swaying(rng, path, side, aspect), camera, covers=covers)


def small(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target is a dozen pixels large, among look-alikes."""
    path, side = _path(rng, frames, 6, 24), 13.0
    others = [_passing(rng, path, side, aspect, meeting) for meeting in (0.25, 0.55, 0.85)]
    return Story(_swaying(rng, path, side, aspect), _camera(rng, frames), behind=others)


def plain(rng: np.random.Generator, frames: int, aspect: float) -> Story:
    """The target has hardly any texture, in a noisy film, over others of its kind in the colour of the ground."""
    target, camera = _swaying(rng, _path(rng, frames, 6, 44), 40.0, aspect), _camera(rng, frames)
    places = rng.uniform((0, 0), (WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN), (45, 2))
    lying = [_track(place[None], rng.uniform(34, 50), aspect, rng.uniform(0, 6)) for place in places]
    return Story(target, camera, lying=[track.at(0) for track in lying], noise=8.0)


STORIES: dict[str, Callable[[np.random.Generator, int, float], Story]] = {
    "blur": blur,
    "deformation": deformation,
    "fast": fast,
    "lighting": lighting,
    "occlusion": occlusion,
    "plain": plain,
    "rotation": rotation,
    "scale": scale,
    "small": small,
    "twins": twins,
}


def _wander(rng: np.random.Generator, frames: int, pace: float) -> Reals:
    """Return a smooth random path ``(T, 2)`` within -1 .. 1; ``pace`` is its smoothness in frames."""
    beyond = int(4 * pace) + 1  # so that a short path is as smooth as a long one
    path = gaussian_filter1d(rng.standard_normal((frames + 2 * beyond, 2)), pace, axis=0)
    path /= np.abs(path).max(axis=0)
    return np.asarray(path[beyond:-beyond])


def _path(rng: np.random.Generator, frames: int, pace: float, room: float) -> Reals:
    """Return a path through the frame that stays ``room`` pixels away from its border."""
    reach = np.array([WIDTH / 2 - room, HEIGHT / 2 - room])
    return np.asarray((WIDTH / 2, HEIGHT / 2) + reach * _wander(rng, frames, pace))


def _camera(rng: np.random.Generator, frames: int) -> Reals:
    return np.asarray(MARGIN * 0.6 * _wander(rng, frames, 14))


def _track(path: Reals, side: Reals | float, aspect: Reals | float, angle: Reals | float = 0.0) -> Track:
    """Return the track of an object with the area of a square of the given side."""
    values = np.zeros((len(path), 9))
    values[:, :2] = path
    values[:, 2], values[:, 3], values[:, 4] = side * np.sqrt(aspect), side / np.sqrt(aspect), angle
    return Track(values)


def _swaying(rng: np.random.Generator, path: Reals, side: float, aspect: float) -> Track:
    """Return the track of an object held in a hand: small changes of scale and angle."""
    nearer, turned = _wander(rng, len(path), 8).T
    return _track(path, side * np.exp(0.15 * nearer), aspect, 0.2 * turned)


def _passing(rng: np.random.Generator, path: Reals, side: float, aspect: float, meeting: float) -> Track:
    """Return the track of a look-alike that passes the target closely at time ``meeting``, a share of the clip."""
    frames, heading = len(path), rng.uniform(0, 2 * np.pi)
    along, aside = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    way = (np.arange(frames)[:, None] / frames - meeting) * rng.uniform(4, 6) * side
    miss = rng.choice([-1, 1]) * rng.uniform(0.55, 0.8) * side
    return _swaying(rng, path + along * way + aside * miss, side * rng.uniform(0.9, 1.1), aspect)


def _upright(x: Reals, width: float) -> Track:
    """Return the track of a plank from the top of the frame to its bottom."""
    values = np.zeros((len(x), 9))
    values[:, 0], values[:, 1], values[:, 2], values[:, 3] = x, HEIGHT / 2, width, 1.1 * HEIGHT
    return Track(values)
