"""Where the data for development is: real sequences that no release carries.

``METRACK_DATA`` names the folder; without it, ``shared/data`` beside the project is taken if it is there.
"""

from __future__ import annotations

import os
from pathlib import Path

from metrack.evaluation.sequences import Sequence, read_sequences


def data_folder() -> Path | None:
    """Return the folder of development data, or None where there is none."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("METRACK_DATA", beside))
    return folder if (folder / "sequences").is_dir() else None


def development_sequences() -> list[Sequence]:
    """Read the sequences that are for development; none where there is no data."""
    folder = data_folder()
    return [] if folder is None else read_sequences(str(folder / "sequences"))
