"""metrack report: the page of finished results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from metrack.cli.app import app, console
from metrack.cli.progress import Steps, standings_table

if TYPE_CHECKING:
    from metrack.evaluation.published import Published

PANEL = "Measuring"

Results = Annotated[
    list[str] | None,
    typer.Option("--results", metavar="LABEL=FOLDER", help="Boxes of another program, one file per sequence."),
]
PublishedFile = Annotated[
    Path | None, typer.Option("--published", help="CSV of figures per tracker and sequence, to stand in the tables.")
]
Show = Annotated[
    list[str] | None, typer.Option(metavar="NAME,...", help="Only these of --published.", show_default="all")
]


@app.command(rich_help_panel=PANEL)
def report(
    folder: Annotated[Path, typer.Argument(metavar="RESULTS", help="Folder made by metrack track, demo or evaluate.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for what is written.", show_default="RESULTS")
    ] = None,
    results: Results = None,
    published: PublishedFile = None,
    show: Show = None,
) -> None:
    """Write the page of finished results, and beside it the pictures of a run or the tables of an evaluation."""
    from metrack.evaluation.evaluate import SETUP_FILE
    from metrack.runs.report import is_run

    if is_run(folder):
        if results or published or show:
            raise ValueError(f"--results, --published and --show are for evaluations, but {str(folder)!r} is one run")
        _report_run(folder, out or folder)
    elif (folder / SETUP_FILE).is_file():
        report_evaluation(folder, out or folder, read_others(results, published, show))
    else:
        raise ValueError(
            f"RESULTS must be a folder made by metrack track, demo or evaluate, but {str(folder)!r} is none of these"
        )


class Others(NamedTuple):
    """What is shown beside our runs: folders of boxes by label, and published figures."""

    results: list[tuple[str, Path]]
    published: list[Published]


def read_others(results: list[str] | None, published: Path | None, show: list[str] | None) -> Others:
    """Read the options that name results of others, before any work."""
    from metrack.evaluation.published import read_published

    if show and published is None:
        raise ValueError("--show chooses among the trackers of --published, which is not given")
    figures = read_published(published, split(show)) if published is not None else []
    return Others([_labelled(text) for text in results or ()], figures)


def report_evaluation(folder: Path, out: Path, others: Others) -> None:
    """Score an evaluation, write its page and tables, and print the summary."""
    from metrack.evaluation.comparison import score_external, score_folder
    from metrack.evaluation.evaluate import EvaluationSetup
    from metrack.evaluation.report import write_comparison

    comparison = score_folder(folder)
    read = [score_external(label, place, comparison.sequences) for label, place in others.results]
    comparison = replace(comparison, trackers=[*comparison.trackers, *read, *others.published])
    with Steps(console) as steps:
        setup = EvaluationSetup.load(folder)
        page = write_comparison(comparison, out, title="Trackers compared", setup=setup, watch=steps.drawing)
    console.print(standings_table(comparison))
    for tracker in comparison.trackers:
        for name, error in tracker.errors().items():
            console.print(f"  [yellow]note[/]: {escape(tracker.label)} failed on {escape(name)}: {escape(error)}")
    console.print(f"look at {escape(str(page))}", soft_wrap=True)


def _report_run(folder: Path, out: Path) -> None:
    from metrack.runs.report import write_run_report

    page, *pictures = write_run_report(folder, out)
    console.print(f"look at {escape(str(page))}", soft_wrap=True)
    console.print(f"pictures: {escape(', '.join(map(str, pictures)))}", soft_wrap=True)


def split(texts: list[str] | None) -> list[str]:
    """Split the values of an option that may be repeated and may hold commas."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def _labelled(text: str) -> tuple[str, Path]:
    label, equals, folder = text.partition("=")
    if not equals or not label or not folder:
        raise ValueError(f"--results must be LABEL=FOLDER, got {text!r}")
    return label, Path(folder)
