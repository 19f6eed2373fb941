"""Small pictures: cut out, resized, laid in a grid, written to a file or into a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from metrack.arrays import Frame
from metrack.draw.palette import Colour
from metrack.files import replacing

PICTURE_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
QUALITY = 80  # of JPEG inside pages


def shrunk(frame: Frame, width: int) -> tuple[Frame, float]:
    """Return an RGB picture at most ``width`` pixels wide, and its scale."""
    return resized(frame, min(width, frame.shape[1]))


def resized(frame: Frame, width: int) -> tuple[Frame, float]:
    """Return an RGB picture of that width, and its scale."""
    image = Pillow.fromarray(frame).convert("RGB")
    scale = width / image.width
    if scale != 1:
        image = image.resize((width, max(1, round(image.height * scale))), Pillow.Resampling.LANCZOS)
    return np.asarray(image), scale


def crop(frame: Frame, corners: tuple[float, float, float, float], side: int, outside: Colour) -> Frame:
    """Cut a rectangle ``(left, top, right, bottom)`` out of a frame as a square RGB picture; ``outside`` pads it."""
    cut = Pillow.fromarray(frame).convert("RGB")
    bicubic = Pillow.Resampling.BICUBIC
    return np.array(cut.transform((side, side), Pillow.Transform.EXTENT, corners, bicubic, fillcolor=outside))


def grid(tiles: Sequence[Frame], columns: int, gap: int = 0) -> Frame:
    """Lay tiles of one width on white, row by row; a row is as high as the highest tile of all."""
    height, width = max(tile.shape[0] for tile in tiles), tiles[0].shape[1]
    rows = -(-len(tiles) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for place, tile in enumerate(tiles):
        row, column = divmod(place, columns)
        top, left = row * (height + gap), column * (width + gap)
        sheet[top : top + tile.shape[0], left : left + width] = tile
    return sheet


def write_picture(path: Path, image: Frame) -> None:
    """Write a picture in one step, in the format that its suffix asks for."""
    kind = PICTURE_FORMATS[path.suffix.lower()]
    data = encode(image, kind, **({"quality": 92, "subsampling": 0} if kind == "JPEG" else {}))
    with replacing(path) as part:
        part.write_bytes(data)


def jpeg_uri(image: Frame) -> str:
    """Return a photograph as a ``data:`` address (JPEG), for pages that need no other file."""
    return _uri("jpeg", encode(image, "JPEG", quality=QUALITY, optimize=True))


def png_uri(image: Frame) -> str:
    """Return a picture as a ``data:`` address without loss (PNG)."""
    return _uri("png", encode(image))


def encode(image: Frame, kind: str = "PNG", **options: Any) -> bytes:
    """Return a picture as the bytes of a file."""
    buffer = io.BytesIO()
    Pillow.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


def _uri(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
