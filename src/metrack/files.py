"""Atomic writes, and versioned state files (``.npz`` without pickle).

Every write here goes to a temporary file beside the target, which it then replaces in one step: a reader, also
after a crash, finds the old file or the new one, never half of one.
"""

from __future__ import annotations

import json
import os
import zipfile
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


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` at the end of the block, or is removed if the block fails.

    >>> with replacing(folder / "picture.png") as part:  # doctest: +SKIP
    ...     image.save(part, "PNG")
    """
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a text file in one step: UTF-8, line feeds as they are."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file in one step; NaN and infinity, which are not JSON, raise ValueError."""
    replace_text(path, json.dumps(values, indent=2, allow_nan=False) + "\n")


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
