"""Atomic writes, and versioned state files (``.npz`` without pickle).

Every write here goes to a temporary file beside the target, is synced to disk, and then replaces the target in one
step: a reader, also after a crash or a power cut, finds the old file or the new one, never half of one.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Meta = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
Migration = Callable[[Meta, Arrays], tuple[Meta, Arrays]]

PART = ".part"  # ends the name of a temporary file
CHECK = "check"  # the key of a checksum


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` at the end of the block, or is removed if the block fails.

    >>> with replacing(folder / "picture.png") as part:  # doctest: +SKIP
    ...     image.save(part, "PNG")
    """
    part = path.with_name(path.name + PART)
    try:
        yield part
        sync(part)
        os.replace(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until what was written to a file is on disk."""
    number = os.open(path, os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk; nothing is to be done where folders cannot be synced."""
    if os.name != "posix":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def replace_text(path: Path, text: str) -> None:
    """Write a text file in one step: UTF-8, line feeds as they are."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file in one step; NaN and infinity, which are not JSON, raise ValueError."""
    replace_text(path, json.dumps(values, indent=2, allow_nan=False) + "\n")


def with_checksum(values: Mapping[str, Any]) -> Meta:
    """Return values for a JSON file with one more, by which :func:`is_intact` knows that none has changed.

    >>> is_intact(with_checksum({"frames": 20})), is_intact(with_checksum({"frames": 20}) | {"frames": 28})
    (True, False)
    """
    rest = {name: value for name, value in values.items() if name != CHECK}
    return {**rest, CHECK: _checksum(rest)}


def is_intact(values: Mapping[str, Any]) -> bool:
    """Whether values are as they were written; those without a checksum, from earlier versions, are believed."""
    rest = {name: value for name, value in values.items() if name != CHECK}
    return CHECK not in values or values[CHECK] == _checksum(rest)


def file_checksum(path: Path) -> str:
    """Return the checksum of the bytes of a file."""
    found = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return f"{found:08x}"


def _checksum(values: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(values, sort_keys=True).encode()):08x}"


def write_state(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, version: int = 1) -> None:
    """Write named arrays and a piece of JSON as one file of the given format version."""
    text = json.dumps({"format": version, "metrack": installed("metrack"), **meta}).encode()
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, meta=np.frombuffer(text, np.uint8), allow_pickle=False, **arrays)


def read_state(
    path: Path, *, version: int = 1, migrations: Mapping[int, Migration] | None = None
) -> tuple[Meta, Arrays]:
    """Read what :func:`write_state` wrote, brought up to the given format version.

    ``migrations[k]`` turns the contents of format ``k`` into those of format ``k + 1``.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(arrays.pop("meta").tobytes())
        found = int(meta["format"])
    except FileNotFoundError:
        raise ValueError(f"path must name a saved tracker, but there is no file {path}") from None
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile):
        raise ValueError(f"path must name a saved tracker, but {path} is not one") from None
    if found == version:
        return meta, arrays
    return _migrated(path, meta, arrays, range(found, version), migrations or {})


def _migrated(
    path: Path, meta: Meta, arrays: Arrays, steps: range, migrations: Mapping[int, Migration]
) -> tuple[Meta, Arrays]:
    """Apply one migration per format version in ``steps``; an empty range means the file is newer than we are."""
    if not steps or any(step not in migrations for step in steps):
        writer = f"metrack {meta['metrack']}" if "metrack" in meta else "an early metrack"
        raise ValueError(
            f"path must name a saved tracker that metrack {installed('metrack')} can read (format {steps.stop}), "
            f"but {path} was saved by {writer} (format {steps.start})"
        )
    try:
        for step in steps:
            meta, arrays = migrations[step](meta, arrays)
    except (KeyError, TypeError):
        raise ValueError(f"path must name a saved tracker, but {path} is not one") from None
    return meta | {"format": steps.stop}, arrays
