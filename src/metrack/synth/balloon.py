"""The built-in clip: a hot-air balloon over hills, with the exact ground truth of every frame.

A patterned balloon drifts and comes nearer, a twin with another pattern passes close by, the light dims and returns,
a cloud drifts over the balloon, which later leaves at the right and returns. The stage of 480 x 360 units is fitted
into the frame at its bottom right.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metrack.arrays import Frame, shown
from metrack.box import Box
from metrack.checks import check_number, check_seed, check_switch, check_whole
from metrack.synth.area_sprite import AreaSprite
from metrack.synth.clip import LONGEST, Clip, Truth
from metrack.synth.flight import BODY, LONG_STORY, SHORTEST_STORY, STAGE, Flight
from metrack.synth.landscape import CLOUD, RED, TURQUOISE, paint_balloon, paint_cloud, paint_landscape
from metrack.synth.picture import Picture, lay

SMALLEST_SIZE = (160, 120)  # pixels: the balloon is then 13 wide
LARGEST_SIZE = (3840, 2160)  # takes a minute to paint
FASTEST = 1000.0  # pixels a frame, and apart, of balloons that cross
NOISE = 1.5  # grey levels, standard deviation


class BalloonClip(Clip):
    """The built-in clip; make it with :func:`builtin_clip`."""

    def __init__(self, flight: Flight, size: tuple[int, int], seed: int, cloud: bool, twin: bool, light: bool) -> None:
        super().__init__(len(flight.x), (int(size[0]), int(size[1])))
        self._flight, self._seed, self._lighting = flight, seed, light
        self._unit = min(self.size[0] / STAGE[0], self.size[1] / STAGE[1])
        rng = np.random.default_rng(seed)
        self._backdrop, self._sky, self._sky_paint = paint_landscape(rng, *self.size)
        self._target_sprite = paint_balloon(RED, twist=False)
        self._twin_sprite = paint_balloon(TURQUOISE, twist=True)
        self._cloud_sprite = paint_cloud(rng)
        self._target = [self._box(*where) for where in zip(flight.x, flight.y, flight.scale, strict=True)]
        self._twin = [self._box(*where) for where in flight.twin()] if twin else []
        self._cloud = [self._box(*where, CLOUD) for where in flight.cloud()] if cloud else []

    def _box(self, x: float, y: float, scale: float, size: tuple[float, float] = (1, 1)) -> Box:
        """Convert a place on the stage to a box in the frame; ``size`` is in balloons of scale 1."""
        unit, (width, height) = self._unit, self.size
        cx, cy = width - (STAGE[0] - x) * unit, height - (STAGE[1] - y) * unit
        w, h = (body * scale * unit * times for body, times in zip(BODY, size, strict=True))
        return Box.from_centre(float(cx), float(cy), float(w), float(h))

    def _truth_at(self, index: int) -> Truth:
        box, shape = self._target[index], self._backdrop.shape
        place, cover = self._target_sprite.coverage(box, shape)
        if self._cloud and self._cloud[index].iou(box) > 0:
            veil = np.zeros((*shape[:2], 1))
            over, veil_cover = self._cloud_sprite.coverage(self._cloud[index], shape)
            veil[over] = veil_cover
            cover = cover * (1 - veil[place])
        visible = abs(round(float(cover.sum() / self._target_sprite.area(box)), 9))
        return Truth(box, min(visible, 1.0))

    def paint(self, index: int, with_target: bool = True) -> Frame:
        """Paint one frame from back to front, light it, and add sensor noise."""
        image = self._backdrop.copy()
        image[: len(self._sky)] += _drift(self._sky, -0.3 * self._unit * index) * self._sky_paint
        if self._twin:
            lay(image, *self._twin_sprite.stamp(self._twin[index], image.shape))
        if with_target:
            lay(image, *self._target_sprite.stamp(self._target[index], image.shape))
        if self._cloud:
            lay(image, *self._cloud_sprite.stamp(self._cloud[index], image.shape))
        if self._lighting:
            image *= self._light(index)
        rng = np.random.default_rng([self._seed, index])
        image += NOISE * rng.standard_normal((*image.shape[:2], 1), dtype=np.float32)
        return np.clip(image, 0, 255, out=image).astype(np.uint8)

    def _light(self, index: int) -> Picture:
        """Return the brightness of every column and colour channel: the shadow comes from the right."""
        lag = np.linspace(10, -10, self.size[0])
        shadow = np.cos(np.pi / 2 * np.clip((index - self._flight.dims - lag) / 26, -1, 1)) ** 2
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
) -> BalloonClip:
    """Make the built-in clip; each event can be left out, and the seed changes the scenery and the noise.

    With ``elsewhere`` the balloon stays away for two seconds and comes back at the other side of the frame.

    >>> clip = builtin_clip(60, occlusion=False, departure=False)
    >>> len(clip), clip[0].shape, clip.truth[0].visible
    (60, (360, 480, 3), 1.0)
    """
    switches = {"occlusion": occlusion, "departure": departure, "elsewhere": elsewhere, "twin": twin}
    for name, value in {**switches, "lighting": lighting}.items():
        check_switch(name, value)
    least = LONG_STORY if elsewhere else SHORTEST_STORY if occlusion or departure else 1
    frames = check_whole("frames", frames, least, LONGEST)
    check_seed(seed)
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ValueError(f"size must be two whole numbers, width and height, got {shown(size)}")
    check_whole("width in size", size[0], SMALLEST_SIZE[0], LARGEST_SIZE[0])
    check_whole("height in size", size[1], SMALLEST_SIZE[1], LARGEST_SIZE[1])
    return BalloonClip(Flight(frames, departure or elsewhere, elsewhere), size, seed, occlusion, twin, lighting)


def crossing_balloons(
    frames: int = 60, seed: int = 0, *, alike: bool = False, speed: float = 3.0, apart: float = 6.0
) -> Iterator[tuple[Frame, tuple[Box, Box]]]:
    """Yield frames of two balloons of one pattern that cross half-way, with their true boxes.

    The second flies in front, to the right, ``apart`` pixels lower; they differ in colour unless they are ``alike``.
    """
    check_switch("alike", alike)
    speed, apart = check_number("speed", speed, -FASTEST, FASTEST), check_number("apart", apart, -FASTEST, FASTEST)
    scenery = builtin_clip(frames, (320, 240), seed, occlusion=False, departure=False, twin=False, lighting=False)
    sprites = [paint_balloon(colours, twist=False) for colours in (RED, RED if alike else TURQUOISE)]
    return (_crossing(scenery, sprites, index, speed, apart) for index in range(frames))


def _crossing(
    scenery: Clip, sprites: list[AreaSprite], index: int, speed: float, apart: float
) -> tuple[Frame, tuple[Box, Box]]:
    way = speed * (index - len(scenery) / 2)
    boxes = [Box.from_centre(160 + side * way, 105 + side * apart / 2, *BODY) for side in (-1, 1)]
    image = scenery.paint(index, with_target=False).astype(np.float32)
    for sprite, box in zip(sprites, boxes, strict=True):
        lay(image, *sprite.stamp(box, image.shape))
    return image.astype(np.uint8), (boxes[0], boxes[1])


def _drift(texture: Picture, shift: float) -> Picture:
    """Shift a periodic texture to the right by a number of pixels that need not be whole."""
    whole, part = int(shift // 1), np.float32(shift % 1)
    return np.roll(texture, whole, axis=1) * (1 - part) + np.roll(texture, whole + 1, axis=1) * part
