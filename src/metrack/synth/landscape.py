"""The pictures of the built-in clip: sky and hills, the balloons, the cloud."""

from __future__ import annotations

import numpy as np

from metrack.synth.area_sprite import AreaSprite
from metrack.synth.flight import BODY
from metrack.synth.picture import Picture, Reals, grain

Colours = tuple[tuple[int, int, int], ...]

CLOUD = (4.8, 3.3)  # size of the cloud that hides the balloon, in sizes of the balloon
CRIMSON, CREAM, NAVY, GOLD = (196, 38, 46), (250, 236, 208), (28, 44, 98), (240, 176, 48)
TEAL, PLUM = (24, 120, 124), (104, 48, 104)
RED: Colours = (CRIMSON, CREAM, NAVY)
TURQUOISE: Colours = (TEAL, CREAM, PLUM)
SKY = {0.0: (74, 128, 178), 0.3: (138, 182, 206), 0.55: (238, 214, 188), 0.7: (252, 202, 158)}
HILLS = (  # height of the ridge, its roughness, its trees, colour of the crest, colour in the haze below
    (0.56, 0.030, 0.000, (146, 158, 186), (206, 196, 196)),
    (0.63, 0.026, 0.000, (112, 138, 158), (186, 188, 180)),
    (0.70, 0.022, 0.022, (78, 114, 118), (150, 166, 146)),
    (0.78, 0.020, 0.034, (56, 92, 78), (128, 150, 102)),
    (0.88, 0.014, 0.000, (92, 128, 62), (58, 92, 44)),
)


def paint_landscape(rng: np.random.Generator, width: int, height: int) -> tuple[Picture, ...]:
    """Paint sky, hills and meadow; return them, the coverage of the high clouds, and the clouds' paint."""
    x, y = (np.arange(width) + 0.5) / height, (np.arange(height)[:, None] + 0.5) / height
    sky = np.stack([np.interp(y, list(SKY), shades) for shades in zip(*SKY.values(), strict=True)], axis=-1)
    sun = np.exp(-np.hypot(x - 0.22, (y - 0.5) * 1.2) / 0.16)[..., None]
    image, clear = sky + sun * ((255, 240, 205) - sky), np.ones((height, width, 1))
    cell = x / 0.021  # a tree to each
    for base, roughness, trees, crest, foot in HILLS:
        pines = rng.random(width)[cell.astype(int)] * (1 - np.abs(2 * (cell % 1) - 1))
        below = y - base - roughness * grain(rng, (1, width), 1.6)[0] + trees * pines
        cover = _step(below * height)[..., None]
        haze = np.clip(below / 0.16, 0, 1)[..., None]
        rough = 1 + 0.05 * grain(rng, (height, width), 0.9, 0.35)[..., None]
        image += cover * ((crest + haze * np.subtract(foot, crest)) * rough - image)
        clear *= 1 - cover
    flowers = np.clip(grain(rng, (height, width), 0.3)[..., None] - 2.1, 0, 0.7) * cover
    image += flowers * ((255, 226, 130) - image)
    high = y[y < 0.62, None, None]
    streaks = np.clip(0.2 + 0.45 * grain(rng, (len(high), width), 1.2, 3)[..., None], 0, 1)
    streaks *= np.sin(np.pi * high / 0.62)
    paint = 0.75 * clear[: len(high)] * ((255, 246, 236) - image[: len(high)])
    return tuple(layer.astype(np.float32) for layer in (image, streaks, paint))


def paint_balloon(colours: Colours, *, twist: bool) -> AreaSprite:
    """Paint a balloon at four texels per unit; ``twist`` lets the pattern spiral."""
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
    return AreaSprite.of(texels)


def paint_cloud(rng: np.random.Generator) -> AreaSprite:
    """Paint a cloud, soft at its rim and opaque inside."""
    wide, tall = (int(2 * body * times) for body, times in zip(BODY, CLOUD, strict=True))
    p, q = np.linspace(-1, 1, wide), np.linspace(-1, 1, tall)[:, None]
    billow = 0.04 * grain(rng, (tall, wide), 1.3)
    puffs = [(0, 0.04, 0.8), (-0.44, 0.24, 0.5), (0.46, 0.2, 0.5), (-0.24, -0.36, 0.52), (0.26, -0.3, 0.5)]
    depth = np.max([1 - np.hypot(p - x, q - y) / r for x, y, r in puffs], axis=0)
    cover = np.clip(5 * (depth + billow), 0, 1)[..., None]
    light = np.clip(0.93 - 0.08 * q + 0.4 * billow, 0, 1)[..., None]
    texels = np.concatenate([light * (252, 248, 244) * cover, cover], axis=-1)
    return AreaSprite.of(texels)


def _step(distance: Reals) -> Reals:
    """Return how much of a pixel lies beyond an edge, given the distance of its centre in pixels."""
    return np.asarray(np.clip(distance + 0.5, 0, 1))
