"""Painting in float colours: layers with coverage, and fractal noise for textures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.floating]
Picture = NDArray[np.float32]  # (H, W, 3), or (H, W, 4) with colours already multiplied by the coverage
Place = tuple[slice, slice]  # rows and columns of a picture


def lay(image: Picture, place: Place, paint: Reals) -> None:
    """Put a layer ``(h, w, 4)`` over part of the image."""
    image[place] *= 1 - paint[..., 3:]
    image[place] += paint[..., :3]


def grain(rng: np.random.Generator, shape: tuple[int, int], smooth: float, stretch: float = 1.0) -> Reals:
    """Return periodic fractal noise of unit standard deviation; ``stretch`` draws it out sideways."""
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1]) * stretch)
    frequency[0, 0] = np.inf
    noise = np.fft.irfft2(np.fft.rfft2(rng.standard_normal(shape)) * frequency**-smooth, s=shape)
    return np.asarray(noise / noise.std())


def as_picture(image: Reals) -> Picture:
    """Clip colours to 0..255 and store them as float32."""
    return np.clip(image, 0, 255).astype(np.float32)
