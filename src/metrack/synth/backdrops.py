"""Backgrounds of the hard clips: bricks, leaves, pebbles, shelves of books, a pond, a street, sand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from metrack.synth.picture import Picture, Reals, as_picture, grain

Shape = tuple[int, int]

SPINES = ((150, 52, 44), (48, 74, 110), (70, 96, 62), (196, 170, 120), (92, 60, 86), (40, 44, 52))


def bricks(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint a wall of bricks, weathered."""
    tall, wide = 13, 31
    y, x = _grid(shape)
    row = y // tall
    column = (x + wide / 2 * (row % 2)) // wide
    across, down = (x + wide / 2 * (row % 2)) % wide, y % tall
    mortar = (across < 2) | (down < 2)
    tint = rng.normal(1, 0.1, (shape[0] // tall + 1, shape[1] // wide + 2))[row.astype(int), column.astype(int)]
    clay = np.array(rng.permutation([(156, 88, 70), (168, 112, 84), (132, 96, 92)])[0])
    image = np.where(mortar[..., None], (176, 168, 156), clay * tint[..., None])
    weather = 1 + 0.06 * grain(rng, shape, 0.5) + 0.08 * grain(rng, shape, 1.6)
    return as_picture(image * weather[..., None])


def leaves(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint a hedge: leaves over leaves, the nearer the lighter."""
    image = np.full((*shape, 3), (26.0, 38.0, 24.0))
    y, x = _grid((25, 25))
    for share in np.linspace(0, 1, 1100):
        cx, cy, turn = rng.uniform(0, shape[1]), rng.uniform(0, shape[0]), rng.uniform(0, np.pi)
        left, top = int(cx) - 12, int(cy) - 12
        along = (x - 12) * np.cos(turn) + (y - 12) * np.sin(turn)
        aside = (y - 12) * np.cos(turn) - (x - 12) * np.sin(turn)
        leaf = np.clip(2.5 * (1 - (along / 10) ** 2 - (aside / rng.uniform(3.5, 5)) ** 2), 0, 1)[..., None]
        green = np.array((66, 104, 46)) * rng.normal(1, 0.12, 3) * (0.45 + 0.75 * share)
        veined = green * (1.1 - 0.25 * (np.abs(aside) < 0.7) - 0.012 * aside)[..., None]
        r, c = slice(max(top, 0), min(top + 25, shape[0])), slice(max(left, 0), min(left + 25, shape[1]))
        part = np.s_[r.start - top : r.stop - top, c.start - left : c.stop - left]
        image[r, c] += leaf[part] * (veined[part] - image[r, c])
    return as_picture(image)


def pebbles(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint a beach of pebbles, each round and with a shade of its own."""
    y, x = _grid(shape)
    count = shape[0] * shape[1] // 260
    stones = cKDTree(rng.uniform(-12, np.array(shape) + 12, (count, 2)))
    near, which = map(np.asarray, stones.query(np.stack([y.ravel(), x.ravel()], axis=-1), k=2))
    gap = (near[:, 1] - near[:, 0]).reshape(shape)
    owner = which[:, 0].reshape(shape)
    grey = rng.normal(138, 26, count)[:, None] * (1 + rng.normal(0, 0.05, (count, 3)) + (0.03, 0, -0.05))
    lit = 0.35 + 0.7 * np.clip(gap / 5, 0, 1)
    slope = (y - stones.data[owner, 0] + x - stones.data[owner, 1]) / 40
    return as_picture(grey[owner] * (lit - 0.35 * slope + 0.03 * grain(rng, shape, 0.4))[..., None])


def books(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint shelves full of books."""
    image = np.full((*shape, 3), (58.0, 42.0, 32.0))
    for top in range(-20, shape[0], 84):
        left = -5
        while left < shape[1]:
            wide, short = int(rng.integers(7, 19)), int(rng.integers(4, 22))
            colour = rng.permutation(np.array(SPINES))
            back = 1 - 0.35 * np.abs(np.linspace(-1, 1, wide)) ** 3
            rows, cols = slice(max(top + short, 0), max(top + 76, 0)), slice(max(left, 0), max(left + wide - 1, 0))
            spine = colour[0] * rng.uniform(0.75, 1.15) * back[:, None]
            image[rows, cols] = spine[max(-left, 0) : wide - 1][: max(shape[1] - cols.start, 0)]
            for band in rng.integers(top + short + 6, top + 66, 2):
                image[max(band, 0) : max(band + int(rng.integers(2, 9)), 0), cols] = colour[3] * 0.95
            left += wide
        image[max(top + 76, 0) : max(top + 82, 0)] = (134, 98, 64)
    return as_picture(image * (1 + 0.04 * grain(rng, shape, 0.7))[..., None])


def pond(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint water with ripples, and lily pads on it."""
    y, x = _grid(shape)
    ripple, deep = grain(rng, shape, 1.3, 3.0), grain(rng, shape, 2.0)
    image = (52, 88, 92) + np.array((11, 15, 14)) * deep[..., None] + 17 * ripple[..., None]
    image = image + 90 * np.clip(ripple - 1.6, 0, 1)[..., None]
    for cx, cy, size, notch in rng.uniform((0, 0, 9, 0), (shape[1], shape[0], 24, 6.3), (26, 4)):
        u, v = (x - cx) / size, (y - cy) / size / 0.7
        turn = np.angle(np.exp(1j * (np.arctan2(v, u) - notch)))
        pad = np.clip(4 * (1 - np.hypot(u, v)), 0, 1) * (np.abs(turn) > 0.3)
        green = np.array((84, 122, 58)) * (1 - 0.12 * np.cos(9 * turn) * np.hypot(u, v))[..., None]
        image += pad[..., None] * (green * rng.uniform(0.8, 1.15) - image)
    return as_picture(image)


def street(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint houses with windows behind a pavement and a road."""
    y, x = _grid(shape)
    image = np.full((*shape, 3), (186.0, 198.0, 206.0)) - 24 * (y / shape[0])[..., None]
    kerb, left = int(0.70 * shape[0]), -10
    while left < shape[1]:
        wide, roof = int(rng.integers(54, 100)), int(rng.integers(10, 80))
        wall = rng.permutation([(172, 150, 124), (150, 118, 100), (196, 186, 168), (128, 134, 140)])[0]
        house = np.s_[roof:kerb, max(left, 0) : max(left + wide, 0)]
        image[house] = wall * rng.uniform(0.85, 1.1)
        for up in range(roof + 10, kerb - 24, 30):
            for side in range(left + 7, left + wide - 14, 20):
                glass = np.s_[up : up + 18, max(side, 0) : max(side + 11, 0)]
                image[glass] = np.array((64, 76, 88)) * rng.uniform(0.6, 1.7)
                image[up + 18 : up + 20, max(side - 1, 0) : max(side + 12, 0)] = (214, 208, 196)
        left += wide
    image[kerb : kerb + 16] = (150, 146, 140)
    image[kerb + 16 :] = (92, 92, 96)
    image[kerb + 52 : kerb + 56] = np.where((x[:4] // 26 % 2 > 0)[..., None], (206, 202, 190), (92, 92, 96))
    return as_picture(image * (1 + 0.05 * grain(rng, shape, 0.4) + 0.03 * grain(rng, shape, 1.4))[..., None])


def sand(rng: np.random.Generator, shape: Shape) -> Picture:
    """Paint an even ground of one tone."""
    dunes, fine = grain(rng, shape, 2.2, 2.0), grain(rng, shape, 0.5)
    return as_picture(np.array((150, 143, 132)) * (1 + 0.045 * dunes + 0.025 * fine)[..., None])


def _grid(shape: Shape) -> tuple[Reals, Reals]:
    y, x = np.mgrid[: shape[0], : shape[1]].astype(float)
    return y, x


BACKDROPS: tuple[Callable[[np.random.Generator, Shape], Picture], ...] = (bricks, leaves, pebbles, books, pond, street)
