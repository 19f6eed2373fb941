"""``open_source``: opens any kind of frame source."""

from __future__ import annotations

import glob
import sys
from pathlib import Path

from av.container import InputContainer

from metrack.frames.base import Source, is_address, is_camera, without_password
from metrack.frames.images import SUFFIXES, ImageFiles, images_in, natural_order
from metrack.frames.live import LiveStream
from metrack.frames.video import VideoFile, open_container

WANTED = "a video file, a folder or glob of images, a camera number or an rtsp:// or http:// address"
SCHEMES = ("rtsp", "rtsps", "http", "https")
CAMERAS = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}")}  # FFmpeg's device names
MOST_DIGITS = 4  # of a camera number
SHOWN = 200  # characters of a name in a message


def open_source(source: str | int | Path) -> Source:
    """Open a video, images, a camera or a stream.

    Parameters
    ----------
    source : str, int or Path
        A video file; a folder of images, or a glob such as ``"shots/*.png"``; a camera number; an ``rtsp://``
        or ``http(s)://`` address, which is live unless its content has a known length.

    Raises
    ------
    ValueError
        If there is nothing usable there.
    """
    text = str(source)
    if is_camera(text) or isinstance(source, int):
        return _camera(text)
    if is_address(text):
        return _address(text)
    if not text:
        raise ValueError(f"source must be {WANTED}, got an empty text")
    try:
        return _path(text)
    except OSError as error:
        raise ValueError(f"source must be {WANTED}, but {_shown(text)} cannot be read ({error.strerror})") from None


def _path(text: str) -> Source:
    path = Path(text)
    if path.is_dir():
        return ImageFiles(path.name, images_in(path))
    if path.exists():
        return _file(path)
    if path.is_symlink():
        raise ValueError(f"source must be {WANTED}, but {_shown(text)} is a link that leads nowhere")
    if glob.has_magic(text) and "\0" not in text:
        return _pattern(text)
    raise ValueError(f"source must be {WANTED}, but there is no file {_shown(text)}")


def _file(path: Path) -> Source:
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"source must be a video, but {str(path)!r} is empty")
    if path.suffix.lower() in SUFFIXES:
        return ImageFiles(path.name, [path])
    return VideoFile(str(path))


def _pattern(text: str) -> Source:
    paths = [path for path in map(Path, glob.glob(text, recursive=True)) if path.is_file()]
    if not paths:
        raise ValueError(f"source must be {WANTED}, but no file matches {_shown(text)}")
    return ImageFiles(text, natural_order(paths))


def _camera(text: str) -> Source:
    if not is_camera(text) or len(text) > MOST_DIGITS:
        most = 10**MOST_DIGITS - 1
        raise ValueError(f"source must be {WANTED}; cameras have numbers from 0 to {most}, got {_shown(text)}")
    number = int(text)
    if sys.platform not in CAMERAS:
        raise ValueError(f"source must be {WANTED}; camera numbers work on Linux and macOS only, got {number}")
    driver, device = CAMERAS[sys.platform]
    return LiveStream(f"camera {number}", lambda: open_container(device.format(number), driver))


def _address(address: str) -> Source:
    scheme = address.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise ValueError(f"source must be {WANTED}, got an address that begins with {scheme}://")

    def connect() -> InputContainer:
        if scheme.startswith("rtsp"):
            return open_container(address, rtsp_transport="tcp", fflags="nobuffer")
        return open_container(address)

    container = connect()
    if not scheme.startswith("rtsp") and _has_an_end(container):
        container.close()
        return VideoFile(address)
    return LiveStream(without_password(address), connect, container=container)


def _has_an_end(container: InputContainer) -> bool:
    """Whether an address is a recording: it has a duration or, unless it is a playlist, a length in bytes."""
    if container.format.name == "hls":
        return container.duration is not None
    return container.duration is not None or container.size > 0


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
