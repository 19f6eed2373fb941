"""The report of a run: one page, and pictures.

``write_page`` is what ``metrack track`` and ``metrack demo`` end with; ``metrack report`` makes the page again and the
pictures with it.
"""

from __future__ import annotations

from pathlib import Path

from metrack.files import replace_text
from metrack.runs.report.page import run_page
from metrack.runs.report.reading import is_run, read_run
from metrack.runs.report.sheets import write_sheets
from metrack.runs.results import PAGE

__all__ = ["is_run", "write_page", "write_run_report"]


def write_page(folder: Path, out: Path | None = None) -> Path:
    """Write the page of a run, into its folder or another one."""
    run, out = read_run(folder), out or folder
    out.mkdir(parents=True, exist_ok=True)
    replace_text(out / PAGE, run_page(run, out))
    return out / PAGE


def write_run_report(folder: Path, out: Path | None = None) -> list[Path]:
    """Write the page of a run, and its pictures."""
    page = write_page(folder, out)
    return [page, *write_sheets(read_run(folder), page.parent)]
