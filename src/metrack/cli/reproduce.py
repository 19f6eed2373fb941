"""metrack reproduce: the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from metrack.cli.app import app, console
from metrack.cli.evaluate import Cluster, Layout, Names, Out, Processes, absolute, make_workers, saying_what_is_kept
from metrack.cli.progress import Steps
from metrack.cli.report import PANEL, split


@app.command(rich_help_panel=PANEL)
def reproduce(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="Its id, or all; list names them with what they ask.")
    ],
    data: Annotated[str, typer.Option(metavar="DATASET", help="What evaluate takes.")] = "builtin",
    out: Out = Path("reproduced"),
    sequences: Names = None,
    layout: Layout = None,
    seeds: Annotated[int, typer.Option(help="Runs of everything, with other seeds.")] = 3,
    length: Annotated[int | None, typer.Option(help="Only the first frames.", show_default="all")] = None,
    processes: Processes = None,
    cluster: Cluster = None,
) -> None:
    """Make a table or figure of the paper again, its printed numbers beside ours where the sequence is the same."""
    from metrack.experiments import reproduce as experiments
    from metrack.experiments.registry import EXPERIMENTS

    if experiment == "list":
        for each in EXPERIMENTS.values():
            console.print(f"[cyan]{each.id:24}[/] {escape(each.question)} ({escape(each.shows)})")
        return
    with Steps(console) as steps, saying_what_is_kept(out):
        findings = experiments.reproduce(
            [experiment],
            absolute(data),
            out,
            sequences=split(sequences),
            seeds=seeds,
            workers=make_workers(processes, cluster),
            layout=layout,
            length=length,
            watch=lambda name, progress: steps.advance(progress, name),
        )
    page = out / "index.html" if experiment == experiments.ALL else out / experiment / "index.html"
    console.print(f"look at {escape(str(page))}", soft_wrap=True)
    for finding in findings:
        if finding.error:
            raise ValueError(f"the experiment {finding.id} could not be made: {finding.error}")
