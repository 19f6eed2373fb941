"""Files of a finding: ``table.csv``, ``table.json``, ``table.tex``, ``figure-N.svg`` and ``.png``, ``index.html``.

``table.json`` holds the whole finding; the index page of all experiments is made from it.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from metrack.draw.plots import save
from metrack.evaluation.tables import BOOKTABS, to_tabular
from metrack.experiments.base import Experiment, Finding
from metrack.experiments.pages import RECORD, finding_page, page_columns
from metrack.files import replace_text, write_json
from metrack.runs.results import claim_folder


def write_finding(experiment: Experiment, finding: Finding, folder: Path) -> None:
    """Write all files of a finding; if it failed, only the reason."""
    claim_folder(folder, "done" if finding.error is None else "failed")
    if finding.error is None:
        replace_text(folder / "table.csv", to_csv(finding))
        replace_text(folder / "table.tex", to_latex(finding))
        _save_figures(finding, folder)
    replace_text(folder / "index.html", finding_page(experiment, finding))
    write_json(folder / RECORD, record(experiment, finding))


def record(experiment: Experiment, finding: Finding) -> dict[str, Any]:
    """Return a finding as values that JSON can hold."""
    return {
        "id": experiment.id,
        "title": experiment.title,
        "shows": experiment.shows,
        "question": experiment.question,
        "columns": finding.columns,
        "rows": finding.rows,
        "notes": finding.notes,
        "figures": [f"figure-{number}.svg" for number in range(1, len(finding.figures) + 1)],
        "error": finding.error,
    }


def to_csv(finding: Finding) -> str:
    """Return the table as CSV; cells without a value are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(finding.columns)
    writer.writerows(finding.rows)
    return text.getvalue()


def to_latex(finding: Finding) -> str:
    """Return the table for ``booktabs``."""
    return BOOKTABS + to_tabular(page_columns(finding.columns, finding.rows), finding.rows)


def _save_figures(finding: Finding, folder: Path) -> None:
    for old in folder.glob("figure-*.*"):
        old.unlink()
    for number, figure in enumerate(finding.figures, 1):
        for suffix in (".svg", ".png"):
            save(figure, folder / f"figure-{number}{suffix}")
