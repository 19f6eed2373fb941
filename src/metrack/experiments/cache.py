"""A cache for arrays that take long to compute, so that an experiment can be resumed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.files import replacing

Arrays = Mapping[str, NDArray[np.float64]]


def cached(path: Path, make: Callable[[], Arrays]) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of an ``.npz`` file; compute and write them where it is missing or broken."""
    try:
        with np.load(io.BytesIO(path.read_bytes())) as known:
            return dict(known)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        made = {name: np.asarray(values, np.float64) for name, values in make().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, **made)  # type: ignore[arg-type]
    return made
