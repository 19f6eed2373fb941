"""Painted people for galleries."""

import numpy as np

from metrack.identity import (
    Gallery,
)

COATS = {"red": (200, 40, 30), "green": (30, 160, 50), "blue": (40, 60, 190), "sand": (210, 180, 130)}


def person(rng, coat, size=(48, 96), light=1.0):
    """A figure in a coat and dark trousers before a noisy grey wall."""
    width, height = size
    picture = np.full((height, width, 3), 120.0) + rng.normal(0, 12, (height, width, 3))
    left, right = width // 4, width - width // 4
    picture[: height // 2, left:right] = np.array(COATS[coat]) + rng.normal(0, 12, (height // 2, right - left, 3))
    picture[height // 2 :, left:right] = np.array((50, 50, 60)) + rng.normal(
        0, 12, (height - height // 2, right - left, 3)
    )
    return np.clip(picture * light, 0, 255).astype(np.uint8)


def whole(picture):
    return (0, 0, picture.shape[1], picture.shape[0])


def make_gallery(rng, names=tuple(COATS), templates=4):
    seen = [(name, person(rng, name)) for name in names for _ in range(templates)]
    return Gallery.from_boxes((name, picture, whole(picture)) for name, picture in seen)
