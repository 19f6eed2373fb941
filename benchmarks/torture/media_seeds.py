"""Small sound files of every kind that is read, from which damaged ones are made."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

SIZE, FRAMES = (32, 24), 4
VIDEOS = {  # suffix: container, encoder, pixels
    "mp4": ("mp4", "libx264", "yuv420p"),
    "mov": ("mov", "mpeg4", "yuv420p"),
    "mkv": ("matroska", "ffv1", "yuv420p"),
    "avi": ("avi", "mjpeg", "yuvj420p"),
    "webm": ("webm", "libvpx-vp9", "yuv420p"),
    "ts": ("mpegts", "mpeg2video", "yuv420p"),
    "mpg": ("mpeg", "mpeg2video", "yuv420p"),
    "gif": ("gif", "gif", "rgb8"),
    "flv": ("flv", "flv", "yuv420p"),
    "nut": ("nut", "ffv1", "gray"),
}


def frames() -> list[np.ndarray]:
    """Return the frames: a blob that wanders over noise."""
    rng = np.random.default_rng(0)
    ground = rng.integers(0, 90, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    pictures = [ground.copy() for _ in range(FRAMES)]
    for index, picture in enumerate(pictures):
        picture[7:17, 8 + index : 20 + index] += np.array([120, 80, 30], np.uint8)
    return pictures


def videos() -> dict[str, bytes]:
    """Return one video of each kind, by a name with its suffix."""
    made = {f"plain.{suffix}": _video(*how) for suffix, how in VIDEOS.items()}
    made["turned.mp4"] = _video("mp4", "libx264", "yuv420p", turned=90)
    made["pieces.mp4"] = _video("mp4", "libx264", "yuv420p", {"movflags": "frag_keyframe+empty_moov+default_base_moof"})
    return made


def images() -> dict[str, bytes]:
    """Return one image of each kind."""
    return dict(_images())


def _video(
    container: str, encoder: str, pixels: str, options: dict[str, str] | None = None, *, turned: int = 0
) -> bytes:
    memory = io.BytesIO()
    quick = {"preset": "ultrafast"} if encoder == "libx264" else {"deadline": "realtime", "cpu-used": "8"}
    with av.open(memory, "w", format=container, options=options or {}) as file:
        usual = quick if encoder.startswith("lib") else {}
        stream = file.add_stream(encoder, rate=Fraction(25), options=usual)
        stream.width, stream.height, stream.pix_fmt = *SIZE, pixels
        if turned:
            stream.set_display_rotation(turned)
        for picture in frames():
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=pixels)))
        file.mux(stream.encode())
    return memory.getvalue()


def _images() -> Iterator[tuple[str, bytes]]:
    pixels = frames()[0]
    colour, grey = Image.fromarray(pixels), Image.fromarray(pixels[:, :, 0])
    deep = Image.fromarray(pixels[:, :, 0].astype(np.uint16) * 257)
    clear = colour.convert("RGBA")
    clear.putalpha(grey)
    turned = Image.Exif()
    turned[0x0112] = 6
    yield "colour.png", _saved(colour, "PNG", exif=turned)
    yield "deep.png", _saved(deep, "PNG")
    yield "palette.png", _saved(colour.quantize(16), "PNG", transparency=3)
    yield "clear.png", _saved(clear, "PNG")
    yield "turned.jpg", _saved(colour, "JPEG", exif=turned)
    yield "stepwise.jpg", _saved(colour, "JPEG", progressive=True)
    yield "print.jpg", _saved(colour.convert("CMYK"), "JPEG")
    yield "packed.tif", _saved(colour, "TIFF", compression="tiff_lzw", exif=turned)
    yield "deep.tif", _saved(deep, "TIFF", compression="tiff_adobe_deflate")
    yield "plain.tif", _saved(colour, "TIFF")
    yield "exact.webp", _saved(clear, "WEBP", lossless=True, exif=turned)
    yield "lossy.webp", _saved(colour, "WEBP")
    yield "moving.webp", _saved(colour, "WEBP", save_all=True, append_images=[colour.rotate(90)])
    yield "moving.png", _saved(colour, "PNG", save_all=True, append_images=[colour.rotate(90)])
    yield "plain.bmp", _saved(colour, "BMP")
    yield "palette.bmp", _saved(colour.quantize(16), "BMP")
    yield "plain.ppm", _saved(colour, "PPM")
    yield "deep.pgm", b"P5\n%d %d\n65535\n" % SIZE + np.asarray(deep).astype(">u2").tobytes()


def _saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    memory = io.BytesIO()
    picture.save(memory, kind, **options)
    return memory.getvalue()


def write_all(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder that is made for them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
