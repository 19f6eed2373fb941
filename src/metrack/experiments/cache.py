"""Arrays kept in a file, so that an experiment that is continued does not compute them again."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.files import replacing

Arrays = Mapping[str, NDArray[np.float64]]


def cached_arrays(path: Path, make: Callable[[], Arrays]) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of an ``.npz`` file; where it is missing or not whole, make and write them in one step."""
    try:
        with np.load(io.BytesIO(path.read_bytes())) as known:
            return dict(known)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        made = {name: np.asarray(values, np.float64) for name, values in make().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, **made)  # type: ignore[arg-type]
    return made
