"""Targets of the hard clips: a face, a car, a koi, a ball, a mug, a beetle, a parcel, coloured by the seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metrack.synth.picture import grain
from metrack.synth.sketch import TEXELS, Colour, Sketch
from metrack.synth.sprite import Sprite

PALETTES: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((188, 52, 44), (240, 226, 196), (44, 40, 52)),
    ((40, 92, 148), (236, 196, 84), (30, 34, 44)),
    ((58, 118, 76), (232, 232, 216), (64, 40, 32)),
    ((216, 132, 44), (246, 240, 224), (52, 44, 88)),
    ((112, 62, 116), (222, 200, 158), (28, 40, 40)),
    ((46, 132, 138), (244, 214, 190), (88, 34, 42)),
)
SKINS: tuple[Colour, ...] = ((226, 184, 152), (196, 148, 112), (148, 102, 74), (236, 202, 176))
HAIRS: tuple[Colour, ...] = ((48, 36, 30), (110, 72, 40), (30, 28, 32), (168, 132, 78))


def face(rng: np.random.Generator) -> Sprite:
    """Draw a head with hair, seen from the front."""
    s, skin, hair = Sketch(), SKINS[rng.integers(4)], HAIRS[rng.integers(4)]
    shirt, _, dark = PALETTES[rng.integers(len(PALETTES))]
    s.body(s.slab(0, 0.92, 0.3, 0.2, 0.1), skin)
    s.body(s.slab(0, 1.0, 0.82, 0.16, 0.12), shirt)
    s.body(s.ellipse(0, -0.12, 0.76, 0.84), hair)
    s.mark(s.ellipse(0, 0.06, 0.6, 0.74), skin)
    s.mark(np.maximum(s.ellipse(rng.uniform(-0.3, 0.3), -0.72, 0.9, 0.34), s.ellipse(0, -0.12, 0.76, 0.84)), hair)
    for side in (-1, 1):
        s.mark(s.ellipse(side * 0.27, -0.1, 0.14, 0.07), (240, 238, 232))
        s.mark(s.ellipse(side * 0.27, -0.1, 0.06, 0.07), dark)
        s.mark(s.slab(side * 0.27, -0.25, 0.17, 0.028, 0.02), hair)
        s.mark(s.ellipse(side * 0.36, 0.24, 0.15, 0.1), (skin[0] * 0.98, skin[1] * 0.86, skin[2] * 0.84))
    s.mark(s.slab(0.02, 0.12, 0.05, 0.16, 0.05), (skin[0] * 0.82, skin[1] * 0.78, skin[2] * 0.76))
    s.mark(s.ellipse(0, 0.46, 0.22, 0.055), (150, 64, 62))
    s.shade((1.02 - 0.2 * s.u) * (1 + 0.03 * grain(rng, (TEXELS, TEXELS), 1.0)))
    return s.sprite(0.8)


def car(rng: np.random.Generator) -> Sprite:
    """Draw a car seen from the side."""
    s, (paint, trim, dark) = Sketch(), PALETTES[rng.integers(len(PALETTES))]
    s.body(s.slab(-0.02, -0.3, 0.52, 0.5, 0.34), paint)
    s.body(s.slab(0, 0.22, 0.98, 0.4, 0.28), paint)
    for place, half in ((-0.27, 0.2), (0.22, 0.19)):
        s.mark(s.slab(place, -0.36, half, 0.26, 0.12), (150, 182, 198))
        s.mark(s.slab(place - half / 2, -0.4, 0.05, 0.2, 0.05), (214, 228, 232))
    s.mark(s.slab(0, 0.16, 0.96, 0.05, 0.02), trim)
    s.mark(s.slab(0, 0.5, 0.97, 0.08, 0.02), dark)
    s.mark(s.ellipse(0.88, 0.1, 0.08, 0.12), (252, 240, 180))
    s.mark(s.ellipse(-0.92, 0.1, 0.06, 0.12), (196, 40, 36))
    for place in (-0.55, 0.57):
        s.body(s.ellipse(place, 0.6, 0.23, 0.4), (26, 26, 28))
        s.mark(s.ellipse(place, 0.6, 0.12, 0.21), (178, 180, 184))
        s.mark(s.ellipse(place, 0.6, 0.05, 0.09), dark)
    s.shade((1.04 - 0.2 * s.v) * (1 + 0.03 * grain(rng, (TEXELS, TEXELS), 1.0)))
    return s.sprite(1.9)


def koi(rng: np.random.Generator) -> Sprite:
    """Draw a spotted fish seen from above, its head to the right."""
    s, (spot, skin, dark) = Sketch(), PALETTES[rng.integers(len(PALETTES))]
    s.body(np.maximum(s.ellipse(-0.86, 0, 0.34, 0.52), 0.16 - np.hypot(s.u + 1.0, s.v)), skin)
    for side in (-1, 1):
        s.body(s.ellipse(0.22, side * 0.6, 0.2, 0.36), (skin[0] * 0.85, skin[1] * 0.85, skin[2] * 0.85))
    s.body(s.ellipse(0.12, 0, 0.86, 0.56), skin)
    patches = 0.8 - grain(rng, (TEXELS, TEXELS), 2.2)
    s.mark(np.maximum(0.12 * (patches - 0.3), s.ellipse(0.1, 0, 0.84, 0.54)), spot)
    s.mark(np.maximum(0.12 * (patches[::-1] + 0.5), s.ellipse(-0.2, 0, 0.5, 0.4)), dark)
    s.mark(s.slab(0.05, 0, 0.5, 0.03, 0.02), (skin[0] * 0.7, skin[1] * 0.7, skin[2] * 0.7))
    for side in (-1, 1):
        s.mark(s.ellipse(0.76, side * 0.26, 0.05, 0.08), (20, 20, 20))
    scales = 0.06 * np.sin(26 * s.u) * np.cos(17 * s.v)
    s.shade((1.05 - 0.35 * s.v**2) * (1 + scales))
    return s.sprite(1.8)


def ball(rng: np.random.Generator) -> Sprite:
    """Draw a ball with stripes, a band and a star of patches."""
    s, (one, two, three) = Sketch(), PALETTES[rng.integers(len(PALETTES))]
    turn = rng.uniform(0, np.pi)
    along = s.u * np.cos(turn) + s.v * np.sin(turn)
    rim = s.ellipse(0, 0, 0.98, 0.98)
    s.body(rim, two)
    s.mark(np.maximum(np.abs(along) - 0.28, rim), one)
    s.mark(np.maximum(np.abs(np.abs(along) - 0.66) - 0.1, rim), three)
    for k in range(3):
        s.mark(s.ellipse(0.55 * np.cos(turn + 2.1 * k), 0.55 * np.sin(turn + 2.1 * k), 0.15, 0.15), two)
    s.shade(1.08 - 0.3 * np.hypot(s.u + 0.35, s.v + 0.4))
    return s.sprite(1.0)


def mug(rng: np.random.Generator) -> Sprite:
    """Draw a mug with a band of dots and a handle."""
    s, (glaze, band, dark) = Sketch(), PALETTES[rng.integers(len(PALETTES))]
    s.body(np.abs(s.ellipse(0.56, 0.02, 0.34, 0.44)) - 0.07, (glaze[0] * 0.8, glaze[1] * 0.8, glaze[2] * 0.8))
    s.body(s.slab(-0.2, 0.06, 0.72, 0.88, 0.16), glaze)
    s.mark(s.ellipse(-0.2, -0.78, 0.68, 0.14), (glaze[0] * 0.45, glaze[1] * 0.45, glaze[2] * 0.45))
    s.mark(s.slab(-0.2, 0.12, 0.72, 0.3), band)
    for k in range(4):
        s.mark(s.ellipse(-0.74 + 0.36 * k, 0.12, 0.12, 0.17), dark if k % 2 else glaze)
    s.shade(1.06 - 0.42 * (s.u + 0.45) ** 2 + 0.02 * grain(rng, (TEXELS, TEXELS), 0.8))
    return s.sprite(1.0)


def beetle(rng: np.random.Generator) -> Sprite:
    """Draw a beetle seen from above, its head up."""
    s, (shell, spots, dark) = Sketch(), PALETTES[rng.integers(len(PALETTES))]
    for side in (-1, 1):
        for place in (-0.3, 0.12, 0.52):
            s.body(s.slab(side * 0.76, place, 0.2, 0.055, 0.05), dark)
    s.body(s.ellipse(0, -0.72, 0.4, 0.26), dark)
    s.body(s.ellipse(0, 0.14, 0.74, 0.82), shell)
    s.mark(s.slab(0, 0.2, 0.025, 0.76), dark)
    for u, v, r in rng.uniform((0.2, -0.35, 0.08), (0.52, 0.6, 0.15), (4, 3)):
        for side in (-1, 1):
            s.mark(s.ellipse(side * u, v, r, r), spots)
    gloss = np.exp(-(((s.u + 0.3) / 0.2) ** 2) - ((s.v + 0.25) / 0.3) ** 2)
    s.shade(0.95 - 0.25 * s.u**2 + 0.4 * gloss)
    return s.sprite(0.82)


def parcel(rng: np.random.Generator) -> Sprite:
    """Draw a cardboard box with tape, a label and print."""
    s, (ink, paper, dark) = Sketch(), PALETTES[rng.integers(len(PALETTES))]
    s.body(s.slab(0, 0, 0.97, 0.96, 0.03), (186, 146, 98))
    s.mark(s.slab(rng.uniform(-0.2, 0.2), 0, 0.12, 0.96), (214, 190, 142))
    s.mark(s.slab(-0.36, 0.3, 0.48, 0.42, 0.02), paper)
    for k in range(4):
        s.mark(s.slab(-0.4 + 0.04 * (k % 2), 0.06 + 0.16 * k, rng.uniform(0.2, 0.38), 0.035), dark)
    s.mark(s.slab(0.55, -0.5, 0.3, 0.3, 0.03), ink)
    s.mark(np.abs(s.ellipse(0.55, -0.5, 0.17, 0.17)) - 0.04, paper)
    s.mark(s.slab(-0.5, -0.62, 0.34, 0.09), ink)
    s.shade(1.0 - 0.1 * s.v + 0.035 * grain(rng, (TEXELS, TEXELS), 0.7, 3.0))
    return s.sprite(1.15)


def pale_stone(rng: np.random.Generator) -> Sprite:
    """Draw a smooth stone with hardly a mark on it."""
    s, tone = Sketch(), rng.uniform(0.97, 1.03, 3) * (146, 139, 130)
    billow = 0.05 * grain(rng, (TEXELS, TEXELS), 2.6)
    s.body(s.ellipse(0, 0, 0.9, 0.9) + billow, (float(tone[0]), float(tone[1]), float(tone[2])))
    s.shade(1.02 - 0.07 * s.u - 0.09 * s.v + 0.02 * grain(rng, (TEXELS, TEXELS), 1.8))
    return s.sprite(1.25)


def post(rng: np.random.Generator) -> Sprite:
    """Draw a plank to hide behind."""
    s = Sketch()
    s.body(s.slab(0, 0, 0.99, 0.99), (112, 92, 70))
    s.mark(np.minimum(np.abs(s.u + 0.4), np.abs(s.u - 0.35)) - 0.03, (70, 56, 44))
    s.shade(1.0 - 0.2 * s.u + 0.09 * grain(rng, (TEXELS, TEXELS), 0.8, 6.0).T)
    return s.sprite(1.0)


FIGURES: tuple[Callable[[np.random.Generator], Sprite], ...] = (face, car, koi, ball, mug, beetle, parcel)
