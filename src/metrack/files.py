"""A tracker on disk: named arrays and a piece of JSON in one ``.npz`` file, without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1


def write_state(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the file in one stroke: a reader finds the old one or the new one, never half of one."""
    text = json.dumps({"format": FORMAT, **meta}).encode()
    unfinished = path.with_name(path.name + ".part")
    try:
        with unfinished.open("wb") as file:
            np.savez(file, meta=np.frombuffer(text, np.uint8), allow_pickle=False, **arrays)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_state(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read back what :func:`write_state` wrote."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(arrays.pop("meta").tobytes())
    except FileNotFoundError:
        raise ValueError(f"path must name a saved tracker, but there is no file {path}") from None
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile):
        raise ValueError(f"path must name a saved tracker, but {path} is not one") from None
    if not isinstance(meta, dict):
        raise ValueError(f"path must name a saved tracker, but {path} is not one")
    if meta.get("format") != FORMAT:
        raise ValueError(f"{path} was saved in format {meta.get('format')}, this version reads format {FORMAT}")
    return meta, arrays
