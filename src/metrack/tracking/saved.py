"""The file format of saved trackers, and how files of earlier formats are read.

Format 1 (metrack 0.1.0) had settings that are constants now. A file that gave one of them another value cannot be
continued exactly, and is refused by the name of the setting.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrack.files import Arrays, Expectations, Meta, read_state, write_state

FORMAT = 2

CONSTANTS: dict[str, Any] = {  # settings of format 1, and the value that the code has now
    "motion.cell": 0.0,
    "motion.refinement": 6.0,
    "features.divisions": "quadrants",
    "features.base_size": 32.0,
    "features.energy": 0.3,
    "features.patch_side": 20,
    "representation.sparsity": 0.03,
    "representation.tolerance": 1e-3,
    "representation.atoms": 10,
    "memory.misscaled": 0,
    "memory.positive_radius": 1.0,
    "memory.negative_inner": 0.5,
    "memory.negative_outer": 1.5,
    "metric.anchors": "foreground",
    "metric.floor": 0.02,
    "ranking.boxes": 60,
    "ranking.reach": 1.0,
    "ranking.scale_reach": 0.3,
    "ranking.iterations": 20,
    "search.kept": 20,
    "regression.cell": 4,
    "regression.sharpness": 0.0625,
    "regression.rounds": 2,
}
UNUSED = ("memory.misscale_inner", "memory.misscale_outer")


def write_tracker(path: Path, meta: Meta, arrays: Arrays) -> None:
    """Write a tracker, or several, in today's format."""
    write_state(path, meta, arrays, version=FORMAT)


def read_tracker(path: Path, expected: Callable[[Meta], Expectations]) -> tuple[Meta, Arrays]:
    """Read what :func:`write_tracker` or an earlier version wrote; ``expected`` says which arrays there must be."""
    return read_state(path, version=FORMAT, migrations={1: _to_format_2}, expected=expected)


def _to_format_2(meta: Meta, arrays: Arrays) -> tuple[Meta, Arrays]:
    trackers = {number: {**each, "config": _settings(each["config"])} for number, each in _several(meta).items()}
    changed = {"config": _settings(meta["config"])} | ({"trackers": trackers} if "trackers" in meta else {})
    return {**meta, **changed}, arrays


def _several(meta: Meta) -> dict[str, Meta]:
    return dict(meta.get("trackers", {}))


def _settings(old: Meta) -> Meta:
    """Rename the settings of format 1, and leave out those that are constants now."""
    for name, value in CONSTANTS.items():
        if old[name] != value:
            raise ValueError(
                f"path must name a saved tracker with today's settings, but this one was saved by metrack 0.1.0 with "
                f"{name} = {old[name]}, which is {value} for all trackers now"
            )
    new = {name: value for name, value in old.items() if name not in CONSTANTS and name not in UNUSED}
    enabled = new.pop("regression.use") == "yes"
    return new | {
        "regression.enabled": enabled,
        "regression.temporal_regularisation": new.pop("regression.inertia"),
        "confidence.weights": "regression" if enabled else "particles",
    }
