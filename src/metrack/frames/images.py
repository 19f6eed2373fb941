"""Image files: one, a folder or a glob of them as a frame source; every image is read here."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import UnidentifiedImageError

from metrack.arrays import Frame
from metrack.frames.base import Source, VideoFrame, check_pixels, too_large

SUFFIXES = {".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")  # Pillow knows others, and starts programs for some
MOST_PIXELS = 64_000_000  # of an image file, which takes up to 15 bytes each while it is read
DEEP = ("PNG", "PPM")  # whose grey pixels of more than 8 bits have 16; those of TIFF may have 32
IMAGE_FPS = 30.0  # images carry no times; most tracking benchmarks were filmed at 30
ORIENTATION = 0x0112  # its EXIF tag
UPRIGHT: dict[int, Callable[[Frame], Frame]] = {  # what to do with pixels of that orientation
    2: np.fliplr,
    3: lambda pixels: np.rot90(pixels, 2),
    4: np.flipud,
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: np.rot90(pixels.swapaxes(0, 1), 2),
    8: np.rot90,
}
LYING = {5, 6, 7, 8}  # whose width is the height of the upright picture

with suppress(AttributeError, OSError):  # where libtiff is a library of its own: what it prints, Pillow raises as well
    ctypes.CDLL(Pillow.core.__file__).TIFFSetErrorHandler(None)  # type: ignore[attr-defined]


class ImageFiles(Source):
    """Image files in the given order; they must have one size, which is checked before the first is read."""

    def __init__(self, name: str, paths: Sequence[Path]) -> None:
        self.name = name
        self.fps = IMAGE_FPS
        self.frames = len(paths)
        self._paths = list(paths)
        self.size = _size(paths[0])
        for path in self._paths[1:]:
            _check_size(path, _size(path), paths[0], self.size)

    def __iter__(self) -> Iterator[VideoFrame]:
        return self.pick(range(len(self._paths)))

    def pick(self, numbers: Collection[int]) -> Iterator[VideoFrame]:
        """Read only the files with these indices."""
        for index, path in enumerate(self._paths):
            if index not in numbers:
                continue
            image = read_image(path)
            _check_size(path, image.shape[1::-1], self._paths[0], self.size)  # the file may have changed since
            yield VideoFrame(index, index / self.fps, image)


def images_in(folder: Path) -> list[Path]:
    """Return the images of a folder in natural order, or raise ValueError if there are none."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    images = [path for path in files if path.suffix.lower() in SUFFIXES]
    if not images:
        found = f"none among its {len(files)} files" if files else "no files"
        raise ValueError(f"source must be a folder with images, but {str(folder)!r} has {found}")
    return natural_order(images)


def natural_order(paths: Sequence[Path]) -> list[Path]:
    """Sort as people count: ``2.png`` before ``10.png``."""
    return sorted(paths, key=lambda path: _chunks(str(path)))


def read_image(path: Path, argument: str = "source", *, keep_grey: bool = False) -> Frame:
    """Read one image file as uint8 RGB, turned upright; a grey one as (H, W) with ``keep_grey``.

    ``argument`` is what errors call whoever asked for it.
    """
    with _opened(path, argument) as picture:
        turn = UPRIGHT.get(_orientation(picture))
        pixels = _pixels(picture, keep_grey)
    return pixels if turn is None else np.ascontiguousarray(turn(pixels))


def _pixels(picture: Pillow.Image, keep_grey: bool) -> Frame:
    if picture.mode.startswith("I;16") or (picture.mode == "I" and picture.format in DEEP):  # pillow would clip
        grey = (np.asarray(picture).clip(0, 65535) >> 8).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if picture.mode == "RGB" or (picture.mode == "L" and keep_grey):
        return np.array(picture)
    return np.array(picture.convert("RGB"))


def _chunks(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", text)]


def _size(path: Path) -> tuple[int, int]:
    with _opened(path, "source") as picture:
        width, height = picture.size
        return (height, width) if _orientation(picture) in LYING else (width, height)


@contextmanager
def _opened(path: Path, argument: str) -> Iterator[Pillow.Image]:
    """Open an image, whose pixels are not read yet; what goes wrong, also later, becomes one sentence."""
    try:
        if not path.is_file():
            raise OSError("it is not a file" if path.exists() else "there is no such file")
        with Pillow.open(path, formats=FORMATS) as picture:
            check_pixels(repr(str(path)), *picture.size, MOST_PIXELS)
            yield picture
    except Exception as error:  # the readers of damaged files raise anything
        raise _unreadable(path, error, argument) from None


def _orientation(picture: Pillow.Image) -> int:
    """Return the EXIF orientation that is still to be undone, 1 where there is none or it is damaged."""
    done = picture.format == "TIFF"  # by pillow
    late = picture.format == "PNG" and "exif" not in picture.info  # looking for it would read all pixels
    if done or late:
        return 1
    try:
        value = picture.getexif().get(ORIENTATION)
    except Exception:  # as above
        return 1
    return value if isinstance(value, int) and value in UPRIGHT else 1


def _check_size(path: Path, size: tuple[int, ...], first: Path, wanted: tuple[int, int]) -> None:
    if size != wanted:
        raise ValueError(
            f"source must have images of one size, but {path.name} is {size[0]} x {size[1]} "
            f"and {first.name} is {wanted[0]} x {wanted[1]} pixels"
        )


def _unreadable(path: Path, error: Exception, argument: str) -> ValueError:
    if isinstance(error, Pillow.DecompressionBombError | Pillow.DecompressionBombWarning):
        error = too_large(repr(str(path)), most=MOST_PIXELS)
    if str(error).startswith("source must "):
        return ValueError(argument + str(error).removeprefix("source"))
    known = "it is not an image" if isinstance(error, UnidentifiedImageError) else str(error) or "it is damaged"
    reason = getattr(error, "strerror", None) or known
    return ValueError(f"{argument} must have readable images, but {str(path)!r} cannot be read ({reason})")
