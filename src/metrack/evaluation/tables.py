"""The tables of a comparison as rows, and as JSON, CSV and LaTeX.

A row maps names to text, numbers or None: an unknown value (NaN) is None in rows, ``null`` in JSON,
empty in CSV and a dash in LaTeX. Trackers come best first, by AUC. The spread of a figure is its standard deviation
over the runs on one sequence, averaged over the sequences that have at least two.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from metrack.draw.page import Cell, Column, marks_of
from metrack.evaluation.comparison import FIGURES, Comparison, TrackerScores
from metrack.evaluation.published import Published

Row = Mapping[str, Cell]

COLUMNS = {
    "auc": Column("AUC", 1, 3, note="area under the success curve"),
    "precision": Column("P@20", 1, 3, note="share of frames whose centre is within 20 px of the truth"),
    "normalised": Column("NP", 1, 3, note="area under the precision curve with distances in sizes of the target"),
    "overlap": Column("VOR", 1, 3, note="mean overlap with the truth"),
    "error": Column("CLE (px)", -1, 1, note="mean distance of the centres, in pixels"),
    "success": Column("SR@0.5", 1, 3, note="share of frames that overlap the truth by more than half"),
    "robustness": Column("Robustness", 1, 3, note="share of frames before the target is lost for good"),
    "fps": Column("fps", 1, 1, note="frames per second of the tracker alone"),
}
BOOKTABS = "% needs \\usepackage{booktabs}\n"
LATEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "\n": " ",
}


def ranked(comparison: Comparison) -> list[TrackerScores]:
    """Return the trackers, the highest mean AUC first, those without any last."""

    def place(tracker: TrackerScores) -> tuple[bool, float]:
        auc = tracker.mean(comparison.names)["auc"]
        return math.isnan(auc), -auc

    return sorted(comparison.trackers, key=place)


def summary_rows(comparison: Comparison) -> list[Row]:
    """Return one row per tracker: its figures over the sequences it has been scored on."""
    return [_summary(tracker, comparison.names) for tracker in ranked(comparison)]


def sequence_rows(comparison: Comparison) -> list[Row]:
    """Return one row per tracker and sequence."""
    return [
        {
            "tracker": tracker.label,
            "sequence": name,
            "runs": len([run for run in tracker.runs.get(name, ()) if run.result.error is None]),
            **_known(tracker.on(name)),
            "auc_spread": _number(_spread(tracker, [name])),
            "error_message": tracker.errors().get(name),
        }
        for tracker in ranked(comparison)
        for name in comparison.names
    ]


def attribute_rows(comparison: Comparison) -> list[Row]:
    """Return one row per attribute: how many sequences have it, and the mean AUC of every tracker on those."""
    attributes = sorted({attribute for sequence in comparison.sequences for attribute in sequence.attributes})
    rows: list[Row] = []
    for attribute in attributes:
        names = [sequence.name for sequence in comparison.sequences if attribute in sequence.attributes]
        each = {tracker.label: _number(tracker.mean(names)["auc"]) for tracker in ranked(comparison)}
        rows.append({"attribute": attribute, "sequences": len(names), **each})
    return rows


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return all tables as values that JSON can hold."""
    return {
        "protocol": asdict(comparison.protocol),
        "sequences": [
            {"name": each.name, "frames": len(each), "attributes": list(each.attributes)}
            for each in comparison.sequences
        ],
        "summary": summary_rows(comparison),
        "per_attribute": attribute_rows(comparison),
        "per_sequence": sequence_rows(comparison),
    }


def to_csv(comparison: Comparison) -> str:
    """Return one table: the column ``table`` tells rows of ``summary`` from those of one ``sequence``."""
    names = ["table", "tracker", "published", "sequence", "sequences", "of", "runs", *COLUMNS, "auc_spread"]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*names, "error_message"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({"table": "summary", **row} for row in summary_rows(comparison))
    writer.writerows({"table": "sequence", **row} for row in sequence_rows(comparison))
    return text.getvalue()


def to_latex(comparison: Comparison) -> str:
    """Return two tables for ``booktabs``: the figures of every tracker, and its AUC on every sequence."""
    rows = summary_rows(comparison)
    figures = [Column("Tracker"), *COLUMNS.values()]
    summary = [[_whole(row), *(row[name] for name in COLUMNS)] for row in rows]
    labels = [str(row["tracker"]) for row in rows]
    each = [Column("Sequence"), *(Column(label, 1) for label in labels)]
    order = ranked(comparison)
    sequences = [[name, *(_number(tracker.on(name)["auc"]) for tracker in order)] for name in comparison.names]
    return (
        BOOKTABS
        + to_tabular(figures, summary)
        + "\n% AUC on every sequence\n"
        + to_tabular(each, sequences, across=True)
    )


def share_of(row: Row) -> str:
    """Return the number of sequences behind a row of the summary: "17", or "16 of 17" where some failed."""
    return str(row["of"]) if row["sequences"] == row["of"] else f"{row['sequences']} of {row['of']}"


def _whole(row: Row) -> str:
    return str(row["tracker"]) + ("" if row["sequences"] == row["of"] else f" (mean of {share_of(row)} sequences)")


def _summary(tracker: TrackerScores, names: list[str]) -> Row:
    return {
        "tracker": tracker.label,
        "published": isinstance(tracker, Published),
        "sequences": len(tracker.scored_on(names)),
        "of": len(names),
        "runs": sum(run.result.error is None for name in names for run in tracker.runs.get(name, ())),
        **_known(tracker.mean(names)),
        "auc_spread": _number(_spread(tracker, names)),
    }


def _spread(tracker: TrackerScores, names: Iterable[str]) -> float:
    made = [[run.figures["auc"] for run in tracker.runs.get(name, ()) if run.result.error is None] for name in names]
    each = [float(np.std(known, ddof=1)) for values in made if len(known := _finite(values)) > 1]
    return float(np.mean(each)) if each else float("nan")


def _finite(values: list[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _known(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _number(figures[name]) for name in FIGURES}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def to_tabular(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, across: bool = False) -> str:
    """Return a LaTeX table for ``booktabs``, the best number bold, the second of three or more underlined."""
    marks = marks_of(columns, rows, across=across)
    lines = [" & ".join(_escaped(column.title) for column in columns)]
    body = [
        " & ".join(_latex(column, value, mark) for column, value, mark in zip(columns, row, marks[place], strict=True))
        for place, row in enumerate(rows)
    ]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
            r"\toprule",
            *(f"{line} \\\\" for line in lines),
            r"\midrule",
            *(f"{line} \\\\" for line in body),
            r"\bottomrule",
            "\\end{tabular}\n",
        ]
    )


def _latex(column: Column, value: Cell, mark: str) -> str:
    if value is None:
        return "--"
    text = _escaped(value) if isinstance(value, str) else f"{value:.{column.digits}f}"
    return {"best": f"\\textbf{{{text}}}", "second": f"\\underline{{{text}}}"}.get(mark, text)


def _escaped(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)
