"""Small pictures that can stand inside a page."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image as Pillow

from metrack.arrays import Frame

QUALITY = 80  # of JPEG


def shrunk(frame: Frame, width: int) -> tuple[Frame, float]:
    """Return an RGB picture no wider than that, and by how much it was shrunk."""
    return resized(frame, min(width, frame.shape[1]))


def resized(frame: Frame, width: int) -> tuple[Frame, float]:
    """Return an RGB picture of that width, and by how much it was enlarged."""
    image = Pillow.fromarray(frame).convert("RGB")
    scale = width / image.width
    if scale != 1:
        image = image.resize((width, max(1, round(image.height * scale))), Pillow.Resampling.LANCZOS)
    return np.asarray(image), scale


def data_uri(image: Frame) -> str:
    """Return a picture as the address that holds it."""
    buffer = io.BytesIO()
    Pillow.fromarray(image).save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
