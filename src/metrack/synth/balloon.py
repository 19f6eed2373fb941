"""The built-in clip: a balloon over hills, painted by arithmetic, with the exact truth of every frame.

The story: a patterned hot-air balloon drifts and comes nearer, a twin with another pattern passes close by,
the light dims and returns, a near cloud drifts over the balloon, which later leaves at the right and returns.
All is laid out on a stage of 480 x 360 units, fitted into the frame at its bottom right. Frame ``i``
depends on the arguments and ``i`` alone. Sprites are averaged over exact pixel areas, so how much of a pixel
they cover, and with it the visible fraction of the target, is known and not estimated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.box import Box

Reals = NDArray[np.floating]
Picture = NDArray[np.float32]  # (H, W, 3), or (H, W, 4) with colours already multiplied by the coverage
Place = tuple[slice, slice]

STAGE = (480.0, 360.0)
BODY = (40.0, 52.0)  # width and height of a balloon of scale 1, on the stage
SMALLEST_SIZE = (160, 120)  # pixels: the balloon is then 13 wide
SHORTEST_STORY = 60  # frames: an occlusion and a departure need this many
LONG_STORY = 420  # frames: so many with a return elsewhere
AWAY = 60  # frames out of sight before a return elsewhere
GUST = 6.4  # fastest flight in x, units per frame
BREEZE = 3.0  # its speed when it comes into view again
RESTING_X = 423.0  # where the balloon is before it leaves and after
LANDING, LOWER = 110.0, 70.0  # where it comes to rest after a return elsewhere, and how much lower
CLOUD = (4.8, 3.3)  # size of the cloud that hides the balloon, in sizes of the balloon
NOISE = 1.5  # grey levels, standard deviation

CRIMSON, CREAM, NAVY, GOLD = (196, 38, 46), (250, 236, 208), (28, 44, 98), (240, 176, 48)
TEAL, PLUM = (24, 120, 124), (104, 48, 104)
SKY = {0.0: (74, 128, 178), 0.3: (138, 182, 206), 0.55: (238, 214, 188), 0.7: (252, 202, 158)}
HILLS = (  # height of the ridge, its roughness, its trees, colour of the crest, colour in the haze below
    (0.56, 0.030, 0.000, (146, 158, 186), (206, 196, 196)),
    (0.63, 0.026, 0.000, (112, 138, 158), (186, 188, 180)),
    (0.70, 0.022, 0.022, (78, 114, 118), (150, 166, 146)),
    (0.78, 0.020, 0.034, (56, 92, 78), (128, 150, 102)),
    (0.88, 0.014, 0.000, (92, 128, 62), (58, 92, 44)),
)


@dataclass(frozen=True, slots=True)
class Truth:
    """Where the target is in one frame, and how much of it can be seen."""

    box: Box  # of the whole target, also where it is hidden or outside
    visible: float  # fraction of its area that is in the frame and not covered


class Clip:
    """A painted video: ``clip[i]`` is an RGB frame made on demand, ``clip.truth[i]`` what is in it."""

    fps = 30.0

    def __init__(self, story: _Story, size: tuple[int, int], seed: int, cloud: bool, twin: bool, light: bool):
        width, height = self.size = int(size[0]), int(size[1])
        self._story, self._seed, self._lighting = story, seed, light
        self._unit = min(width / STAGE[0], height / STAGE[1])
        rng = np.random.default_rng(seed)
        self._backdrop, self._sky, self._sky_paint = _paint_landscape(rng, width, height)
        self._target_sprite = _paint_balloon((CRIMSON, CREAM, NAVY), twist=False)
        self._twin_sprite = _paint_balloon((TEAL, CREAM, PLUM), twist=True)
        self._cloud_sprite = _paint_cloud(rng)
        self._target = [self._box(*where) for where in zip(story.x, story.y, story.scale, strict=True)]
        self._twin = [self._box(*where) for where in story.twin()] if twin else []
        self._cloud = [self._box(*where, CLOUD) for where in story.cloud()] if cloud else []
        self.truth: tuple[Truth, ...] = tuple(Truth(box, self._visible(i)) for i, box in enumerate(self._target))

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame must be between {-len(self)} and {len(self) - 1}, got {index}")
        return self._paint(index % len(self))

    def __iter__(self) -> Iterator[Frame]:
        return (self[i] for i in range(len(self)))

    @property
    def first_box(self) -> Box:
        """The box to start a tracker with."""
        return self.truth[0].box

    def _box(self, x: float, y: float, scale: float, size: tuple[float, float] = (1, 1)) -> Box:
        """Bring something from the stage into the frame; its size is counted in balloons."""
        unit, (width, height) = self._unit, self.size
        cx, cy = width - (STAGE[0] - x) * unit, height - (STAGE[1] - y) * unit
        w, h = (body * scale * unit * times for body, times in zip(BODY, size, strict=True))
        return Box.from_centre(float(cx), float(cy), float(w), float(h))

    def _visible(self, index: int) -> float:
        table, box = self._target_sprite[..., 3:], self._target[index]
        place, cover = _stamp(table, box, self._backdrop.shape)
        whole = table[-1, -1, 0] / (len(table) - 1) / (len(table[0]) - 1) * box.area
        if self._cloud and self._cloud[index].iou(box) > 0:
            veil = np.zeros((*self._backdrop.shape[:2], 1))
            over, veil_paint = _stamp(self._cloud_sprite[..., 3:], self._cloud[index], self._backdrop.shape)
            veil[over] = veil_paint
            cover = cover * (1 - veil[place])
        return min(abs(round(float(cover.sum() / whole), 9)), 1.0)

    def _paint(self, index: int, with_target: bool = True) -> Frame:
        """Paint one frame from back to front, light it, and add the noise of a sensor."""
        image = self._backdrop.copy()
        image[: len(self._sky)] += _drift(self._sky, -0.3 * self._unit * index) * self._sky_paint
        if self._twin:
            _lay(image, *_stamp(self._twin_sprite, self._twin[index], image.shape))
        if with_target:
            _lay(image, *_stamp(self._target_sprite, self._target[index], image.shape))
        if self._cloud:
            _lay(image, *_stamp(self._cloud_sprite, self._cloud[index], image.shape))
        if self._lighting:
            image *= self._light(index)
        rng = np.random.default_rng([self._seed, index])
        image += NOISE * rng.standard_normal((*image.shape[:2], 1), dtype=np.float32)
        return np.clip(image, 0, 255, out=image).astype(np.uint8)

    def _light(self, index: int) -> Picture:
        """Return the brightness of every column and colour: the shadow comes from the right."""
        lag = np.linspace(10, -10, self.size[0])
        shadow = np.cos(np.pi / 2 * np.clip((index - self._story.dims - lag) / 26, -1, 1)) ** 2
        return (1 - shadow[:, None] * (0.50, 0.46, 0.38)).astype(np.float32)


def builtin_clip(
    frames: int = 300,
    size: tuple[int, int] = (480, 360),
    seed: int = 0,
    *,
    occlusion: bool = True,
    departure: bool = True,
    elsewhere: bool = False,
    twin: bool = True,
    lighting: bool = True,
) -> Clip:
    """Make the clip; each event can be left out, and the seed changes the scenery and the noise.

    With ``elsewhere`` the balloon stays away for two seconds and comes back at the other side of the frame.

    >>> clip = builtin_clip(60, occlusion=False, departure=False)
    >>> len(clip), clip[0].shape, clip.truth[0].visible
    (60, (360, 480, 3), 1.0)
    """
    _check_whole("frames", frames, LONG_STORY if elsewhere else SHORTEST_STORY if occlusion or departure else 1)
    _check_whole("seed", seed, 0)
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ValueError(f"size must be two whole numbers, width and height, got {size!r}")
    _check_whole("width in size", size[0], SMALLEST_SIZE[0])
    _check_whole("height in size", size[1], SMALLEST_SIZE[1])
    return Clip(_Story(frames, departure or elsewhere, elsewhere), size, seed, occlusion, twin, lighting)


def crossing_balloons(
    frames: int = 60, seed: int = 0, *, alike: bool = False, speed: float = 3.0, apart: float = 6.0
) -> Iterator[tuple[Frame, tuple[Box, Box]]]:
    """Paint two balloons of one pattern that cross half-way, and give their true boxes with each frame.

    The second flies in front, to the right, ``apart`` pixels lower; they differ in colour unless they are ``alike``.
    """
    scenery = builtin_clip(frames, (320, 240), seed, occlusion=False, departure=False, twin=False, lighting=False)
    red, teal = (CRIMSON, CREAM, NAVY), (TEAL, CREAM, PLUM)
    sprites = [_paint_balloon(colours, twist=False) for colours in (red, red if alike else teal)]
    for index in range(frames):
        way = speed * (index - frames / 2)
        boxes = [Box.from_centre(160 + side * way, 105 + side * apart / 2, *BODY) for side in (-1, 1)]
        image = scenery._paint(index, with_target=False).astype(np.float32)
        for sprite, box in zip(sprites, boxes, strict=True):
            _lay(image, *_stamp(sprite, box, image.shape))
        yield image.astype(np.uint8), (boxes[0], boxes[1])


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


class _Story:
    """What happens when, and where the target is then: one entry per frame, in units of the stage."""

    def __init__(self, frames: int, departure: bool, elsewhere: bool = False):
        leaves = 44.5 + round(0.81 * max(frames - SHORTEST_STORY, 0))
        calm = leaves - 17 if departure else max(frames - 1.0, 1.0)
        ease = min(calm / 220, 1.0)  # a short clip drifts and grows less, not faster
        self.meets, self.dims, self.hides = 0.4 * calm, max(0.54 * calm, 25.0), 0.72 * calm
        t = np.arange(frames, dtype=float)
        u = np.minimum(t / calm, 1.0)
        growth = np.interp(u, [0, 0.1, 0.3, 0.42, 0.68], [0, 0, 0.34, 0.34, -0.32])
        height = np.interp(u, [0, 0.2, 0.6, 0.8, 1], [15, 55, -50, -30, 0])
        self.scale = np.exp(ease * _smooth(growth, 6))
        self.y = 165 + ease * _smooth(height, 6) + 3 * np.sin(t / 13)
        x = RESTING_X - 330 * ease * (1 + np.cos(np.pi * u)) / 2
        width = BODY[0] * float(np.interp(leaves, t, self.scale))
        if departure:
            x += self._leave(t - leaves, width)
        self.x = _smooth(x, 1.8)
        if elsewhere:
            self._return_elsewhere(t - leaves, width)

    def _return_elsewhere(self, t: Reals, width: float) -> None:
        """Stay out of sight for a while, then come in from the left and lower."""
        out, back = STAGE[0] + width, -width / 2
        arrived = AWAY + (LANDING - back) / BREEZE
        self.x = np.where(t < 0, self.x, np.where(t < AWAY, out, np.interp(t, [AWAY, arrived], [back, LANDING])))
        self.y = np.where(t < AWAY, self.y, self.y + LOWER)

    @staticmethod
    def _leave(t: Reals, width: float) -> Reals:
        """Fly over the border and back to 0, calmly once half in view."""
        edge, half = STAGE[0] - RESTING_X, 5 + width / 2 / GUST
        times = [-half - edge / GUST, 0, half + 1, half + 1 + (edge - GUST) / BREEZE]
        return np.interp(t, times, [0, edge + half * GUST, edge - GUST, 0])

    def at(self, moment: float) -> tuple[float, float, float]:
        """Return x, y and scale of the target at a moment between frames."""
        t = np.arange(len(self.x))
        x, y, scale = (float(np.interp(moment, t, track)) for track in (self.x, self.y, self.scale))
        return x, y, scale

    def cloud(self) -> list[tuple[float, float, float]]:
        """Return x, y and scale of the cloud that hides the target: it flies the other way, nearer to us."""
        x, y, scale = self.at(self.hides)
        return [(x - 5.5 * s, y + 2, scale) for s in np.arange(len(self.x)) - self.hides]

    def twin(self) -> list[tuple[float, float, float]]:
        """Return x, y and scale of the twin: it flies the other way, its basket over the target's crown."""
        x, y, scale = self.at(self.meets)
        above, since = BODY[1] * (0.82 + scale) / 2 - 4, np.arange(len(self.x)) - self.meets
        return [(x - 2.4 * s, y - above + 4 * np.sin(s / 19), 0.82) for s in since]


def _smooth(track: Reals, spread: float) -> Reals:
    """Round the corners of a track; a mean of neighbouring speeds is never faster than the fastest."""
    reach = int(4 * spread)
    bell = np.exp(-((np.arange(-reach, reach + 1) / spread) ** 2) / 2)
    return np.convolve(np.pad(track, reach, mode="edge"), bell / bell.sum(), mode="valid")


def _stamp(table: Reals, box: Box, shape: tuple[int, ...]) -> tuple[Place, Reals]:
    """Average a sprite, given as its summed-area table, over the pixels of a frame that its box touches."""
    x0, y0, x1, y1 = box.to_xyxy()
    rows = np.arange(np.clip(np.floor(y0), 0, shape[0]), np.clip(np.ceil(y1), 0, shape[0]) + 1)
    cols = np.arange(np.clip(np.floor(x0), 0, shape[1]), np.clip(np.ceil(x1), 0, shape[1]) + 1)
    tall, wide = table.shape[0] - 1, table.shape[1] - 1
    sums = _between(table, (rows - y0) * tall / box.h)
    sums = _between(sums.swapaxes(0, 1), (cols - x0) * wide / box.w).swapaxes(0, 1)
    stamp = np.diff(np.diff(sums, axis=0), axis=1) * (box.area / (tall * wide))
    return np.s_[int(rows[0]) : int(rows[-1]), int(cols[0]) : int(cols[-1])], stamp


def _between(values: Reals, at: Reals) -> Reals:
    """Look rows up at fractional positions."""
    at = np.clip(at, 0, len(values) - 1)
    low = np.minimum(at.astype(int), len(values) - 2)
    share = (at - low)[:, None, None]
    return np.asarray(values[low] * (1 - share) + values[low + 1] * share)


def _lay(image: Picture, place: Place, paint: NDArray[np.floating]) -> None:
    """Put a layer over the image."""
    image[place] *= 1 - paint[..., 3:]
    image[place] += paint[..., :3]


def _drift(texture: Picture, shift: float) -> Picture:
    """Move a periodic texture to the right, by fractions of pixels too."""
    whole, part = int(shift // 1), np.float32(shift % 1)
    return np.roll(texture, whole, axis=1) * (1 - part) + np.roll(texture, whole + 1, axis=1) * part


def _step(distance: Reals) -> Reals:
    """Return how much of a pixel lies beyond an edge that runs past its centre at a distance in pixels."""
    return np.asarray(np.clip(distance + 0.5, 0, 1))


def _texture(rng: np.random.Generator, shape: tuple[int, int], smooth: float, stretch: float = 1) -> Reals:
    """Return periodic fractal noise of unit spread; ``stretch`` draws it out sideways."""
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1]) * stretch)
    frequency[0, 0] = np.inf
    noise = np.fft.irfft2(np.fft.rfft2(rng.standard_normal(shape)) * frequency**-smooth, s=shape)
    unit_spread: Reals = noise[..., None] / noise.std()
    return unit_spread


def _paint_landscape(rng: np.random.Generator, width: int, height: int) -> tuple[Picture, ...]:
    """Paint sky, hills and meadow; return these, the cover of the high clouds and their paint."""
    x, y = (np.arange(width) + 0.5) / height, (np.arange(height)[:, None] + 0.5) / height
    sky = np.stack([np.interp(y, list(SKY), shades) for shades in zip(*SKY.values(), strict=True)], axis=-1)
    sun = np.exp(-np.hypot(x - 0.22, (y - 0.5) * 1.2) / 0.16)[..., None]
    image, clear = sky + sun * ((255, 240, 205) - sky), np.ones((height, width, 1))
    cell = x / 0.021  # a tree to each
    for base, roughness, trees, crest, foot in HILLS:
        pines = rng.random(width)[cell.astype(int)] * (1 - np.abs(2 * (cell % 1) - 1))
        below = y - base - roughness * _texture(rng, (1, width), 1.6)[0, :, 0] + trees * pines
        cover = _step(below * height)[..., None]
        haze = np.clip(below / 0.16, 0, 1)[..., None]
        grain = 1 + 0.05 * _texture(rng, (height, width), 0.9, 0.35)
        image += cover * ((crest + haze * np.subtract(foot, crest)) * grain - image)
        clear *= 1 - cover
    flowers = np.clip(_texture(rng, (height, width), 0.3) - 2.1, 0, 0.7) * cover
    image += flowers * ((255, 226, 130) - image)
    high = y[y < 0.62, None, None]
    streaks = np.clip(0.2 + 0.45 * _texture(rng, (len(high), width), 1.2, 3), 0, 1) * np.sin(np.pi * high / 0.62)
    paint = 0.75 * clear[: len(high)] * ((255, 246, 236) - image[: len(high)])
    return tuple(layer.astype(np.float32) for layer in (image, streaks, paint))


def _paint_balloon(colours: tuple[tuple[int, int, int], ...], *, twist: bool) -> Reals:
    """Paint a balloon at four texels to the unit; return its summed-area table, one row and column larger."""
    wide, tall = (int(8 * side) for side in BODY)
    p, q = (np.arange(wide) + 0.5) / wide * 2 - 1, (np.arange(tall)[:, None] + 0.5) / tall  # -1..1, 0..1
    waist, mouth = 0.38, 0.80
    dome, funnel = np.clip((waist - q) / waist, 0, 1), np.clip((q - waist) / (mouth - waist), 0, 1)
    girth = np.sqrt(1 - dome**2) - 0.74 * funnel**1.9
    angle = np.arcsin(np.clip(p / girth, -1, 1))
    gore = angle / np.pi * 8
    seam = np.abs(gore % 1 - 0.5)
    pattern = 4 * q + 0.9 * gore if twist else 7.5 * np.abs(q - waist - 0.02) + 0.62 * np.abs(gore)
    cloth = np.array(colours, float)[np.floor(pattern).astype(int) % 3]
    cloth[((q < 0.06) | (np.abs(q - 0.74) < 0.022))[:, 0]] = GOLD
    shade = (0.62 + 0.42 * np.cos(angle + 0.45)) * (1.04 - 0.28 * q) * np.where(seam > 0.45, 0.78, 1)
    gloss = np.exp(-(((p + 0.38) / 0.22) ** 2) - ((q - 0.2) / 0.11) ** 2)
    cloth = cloth * shade[..., None] + 0.35 * gloss[..., None] * (255 - cloth)
    envelope = (np.abs(p) < girth) & (q < mouth)
    basket = (np.abs(p) < 0.21) & (q > 0.885)
    ropes = (np.abs(np.abs(p) - 0.2) < 0.035) & (q >= mouth)
    wicker = np.where((np.floor(p * 24) + np.floor(q * 52)) % 2, 0.8, 1.0)[..., None] * (138, 92, 52)
    colour = np.where(envelope[..., None], cloth, np.where(basket[..., None], wicker, (60, 44, 36)))
    sprite = np.pad(np.clip(colour, 0, 255), ((0, 0), (0, 0), (0, 1)), constant_values=1)
    sprite *= (envelope | basket | ropes)[..., None]
    texels = sprite.reshape(tall // 2, 2, wide // 2, 2, 4).mean(axis=(1, 3))
    return np.pad(texels, ((1, 0), (1, 0), (0, 0))).cumsum(axis=0).cumsum(axis=1)


def _paint_cloud(rng: np.random.Generator) -> Reals:
    """Paint a cloud, soft at its rim and opaque inside, and return its summed-area table."""
    wide, tall = (int(2 * body * times) for body, times in zip(BODY, CLOUD, strict=True))
    p, q = np.linspace(-1, 1, wide), np.linspace(-1, 1, tall)[:, None]
    billow = 0.04 * _texture(rng, (tall, wide), 1.3)[..., 0]
    puffs = [(0, 0.04, 0.8), (-0.44, 0.24, 0.5), (0.46, 0.2, 0.5), (-0.24, -0.36, 0.52), (0.26, -0.3, 0.5)]
    depth = np.max([1 - np.hypot(p - x, q - y) / r for x, y, r in puffs], axis=0)
    cover = np.clip(5 * (depth + billow), 0, 1)[..., None]
    light = np.clip(0.93 - 0.08 * q + 0.4 * billow, 0, 1)[..., None]
    texels = np.concatenate([light * (252, 248, 244) * cover, cover], axis=-1)
    return np.pad(texels, ((1, 0), (1, 0), (0, 0))).cumsum(axis=0).cumsum(axis=1)
