"""Pages of results: one per experiment, and an index of all in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from metrack.draw.page import Column, Section, page, plots_html, table_html
from metrack.experiments.base import Cell, Experiment, Finding
from metrack.experiments.table import MEAN
from metrack.files import load_json, replace_text

RECORD = "table.json"
FILES = ("table.csv", RECORD, "table.tex")
Rows = Sequence[Sequence[Cell]]


def finding_page(experiment: Experiment, finding: Finding) -> str:
    """Return the page of one experiment."""
    intro = f"{experiment.question} The paper: {experiment.shows}."
    if finding.error is not None:
        return page(experiment.title, [Section("Failed", _paragraphs([finding.error]))], intro=intro)
    first, rest = split_means(finding.rows)
    sections = [Section("Result", _table(finding.columns, first, "Result") + _paragraphs(finding.notes))]
    if finding.figures:
        sections.append(Section("Figures", plots_html(finding.figures)))
    if rest:
        sections.append(Section("Every sequence", _table(finding.columns, rest, "Every sequence")))
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in FILES)
    return page(experiment.title, sections, intro=intro, footer=f"The same as files: {links}")


def write_index(out: Path, ids: Iterable[str]) -> None:
    """Write the page of all experiments that have a record under ``out``, in the order of the ids."""
    records = [out / id / RECORD for id in ids]
    sections = [_summary(load_json(path)) for path in records if path.is_file()]
    intro = "Every experiment of the paper that was run here: its question, its result, and its own page."
    replace_text(out / "index.html", page("Experiments", sections, intro=intro))


def split_means(rows: Rows) -> tuple[Rows, Rows]:
    """Split rows into means over all sequences and others; without means, all rows come first."""
    means = [row for row in rows if MEAN in row[:2]]
    return (means, [row for row in rows if MEAN not in row[:2]]) if means else (rows, [])


def page_columns(titles: Sequence[str], rows: Rows) -> list[Column]:
    """Return the columns with as many digits as they need: none for whole numbers, few for large ones.

    A measure, its spread and the paper's number have the same.
    """
    measures = [title.removesuffix(" ±").removesuffix(" paper") for title in titles]
    cells = {
        each: [row[place] for row in rows for place, other in enumerate(measures) if other == each] for each in measures
    }
    return [Column(title, digits=_digits(cells[each])) for title, each in zip(titles, measures, strict=True)]


def _digits(cells: list[Cell]) -> int:
    values = [cell for cell in cells if isinstance(cell, int | float)]
    if all(isinstance(value, int) for value in values):
        return 0
    return 1 if max(map(abs, values)) >= 10 else 3


def _summary(record: dict[str, Any]) -> Section:
    link = f'<p><a href="{record["id"]}/index.html">{escape(record["title"])}: all of it</a></p>'
    intro = f"{record['question']} The paper: {record['shows']}."
    if record["error"] is not None:
        return Section(record["title"], _paragraphs([f"Failed: {record['error']}"]) + link, intro)
    first, _ = split_means(record["rows"])
    figures = [
        f'<img src="{record["id"]}/{name}" alt="{escape(record["title"])}" style="width:100%">'
        for name in record["figures"][:2]
    ]
    table = _table(record["columns"], first, record["title"])
    return Section(record["title"], table + _paragraphs(record["notes"]) + plots_html(figures) + link, intro)


def _table(titles: list[str], rows: Rows, caption: str) -> str:
    """Return a table without the columns that would be empty."""
    columns = page_columns(titles, rows)
    shown = [place for place in range(len(titles)) if any(row[place] is not None for row in rows)]
    return table_html([columns[k] for k in shown], [[row[k] for k in shown] for row in rows], caption=caption)


def _paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>\n" for text in texts)
