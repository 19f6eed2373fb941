"""Figures that others published per sequence, for the same tables as our runs.

A CSV file with the columns ``tracker``, ``sequence`` and any of ``success_auc``, ``success_rate_0.5``,
``precision_20px``, ``mean_overlap`` and ``mean_centre_error_px``.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metrack.checks import did_you_mean
from metrack.evaluation.comparison import FIGURES, TrackerScores

COLUMNS = {
    "auc": "success_auc",
    "success": "success_rate_0.5",
    "precision": "precision_20px",
    "overlap": "mean_overlap",
    "error": "mean_centre_error_px",
}


@dataclass(frozen=True)
class Published(TrackerScores):
    """A tracker of which figures are known, but neither boxes nor curves."""

    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def on(self, sequence: str) -> dict[str, float]:
        """Figures on one sequence, NaN where none was published."""
        known = self.figures.get(sequence, {})
        return {name: known.get(name, float("nan")) for name in FIGURES}


def read_published(published: Path, show: Collection[str] = ()) -> list[Published]:
    """Read the trackers of these names from a CSV file, or all of them."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for number, row in enumerate(_rows(published), 2):
        figures = {name: _number(published, number, row[column]) for name, column in COLUMNS.items() if row.get(column)}
        found.setdefault(row["tracker"], {})[row["sequence"]] = figures
    for name in show:
        if name not in found:
            raise ValueError(f"show must name trackers of {published.name}, got {name!r}{did_you_mean(name, found)}")
    return [Published(f"{name} (published)", {}, found[name]) for name in show or found]


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"published must be a CSV file, but {str(path)!r} cannot be read ({error})") from None
    if not rows or not {"tracker", "sequence"} <= rows[0].keys():
        raise ValueError(f"published must have the columns tracker and sequence, but {str(path)!r} has not")
    return rows


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{path} line {line} must hold numbers, got {text!r}") from None
