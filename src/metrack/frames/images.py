"""Folders and globs of images as a frame source."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import UnidentifiedImageError

from metrack.arrays import Frame
from metrack.frames.base import Source, VideoFrame

SUFFIXES = {".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
IMAGE_FPS = 30.0  # images carry no times; most tracking benchmarks were filmed at 30


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


def read_image(path: Path) -> Frame:
    """Read one image file as uint8 RGB."""
    try:
        with Pillow.open(path) as picture:
            if picture.mode.startswith("I;16"):  # pillow would clip, not scale
                grey = (np.asarray(picture) >> 8).astype(np.uint8)
                return np.repeat(grey[:, :, None], 3, axis=2)
            return np.array(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise _unreadable(path, error) from None


def _chunks(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", text)]


def _size(path: Path) -> tuple[int, int]:
    try:
        with Pillow.open(path) as picture:
            return picture.size
    except (OSError, SyntaxError, ValueError) as error:
        raise _unreadable(path, error) from None


def _check_size(path: Path, size: tuple[int, ...], first: Path, wanted: tuple[int, int]) -> None:
    if size != wanted:
        raise ValueError(
            f"source must have images of one size, but {path.name} is {size[0]} x {size[1]} "
            f"and {first.name} is {wanted[0]} x {wanted[1]} pixels"
        )


def _unreadable(path: Path, error: Exception) -> ValueError:
    known = "it is not an image" if isinstance(error, UnidentifiedImageError) else str(error)
    reason = getattr(error, "strerror", None) or known
    return ValueError(f"source must have readable images, but {str(path)!r} cannot be read ({reason})")
