"""metrack evaluate: trackers over all sequences of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from metrack.cli.app import app, console
from metrack.cli.progress import Steps
from metrack.cli.report import PANEL, PublishedFile, Results, Show, read_others, report_evaluation, split

if TYPE_CHECKING:
    from metrack.evaluation.workers import Workers

Out = Annotated[
    Path,
    typer.Option(
        "-o", "--out", help="Folder for the results; what an earlier evaluation finished there is not run again."
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--sequences", metavar="NAME,...", help="Only these; may be repeated.", show_default="all"),
]
Layout = Annotated[
    str | None,
    typer.Option(help="otb, vot, got10k, lasot, uav123, tld, mot or video.", show_default="recognised"),
]
Processes = Annotated[int | None, typer.Option(help="Runs at a time.", show_default="one per processor")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Send the runs to a Dask scheduler, tcp://host:port; local starts one."),
]
Dataset = Annotated[
    str, typer.Argument(metavar="DATASET", help="Folder of sequences with truth, video with boxes, builtin or hard.")
]
Trackers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[LABEL=]NAME[:SETTING=VALUE,...]",
        help="A preset or a rival (csrt, kcf, mil, oab, tld, medianflow, mosse, dsst, static); may be repeated.",
        show_default="default",
    ),
]
ProtocolName = Annotated[
    str, typer.Option(help="ope: once from the first box; tre: from many frames; sre: from wrong boxes.")
]


@app.command(rich_help_panel=PANEL)
def evaluate(
    dataset: Dataset,
    tracker: Trackers = None,
    out: Out = Path("evaluation"),
    sequences: Names = None,
    layout: Layout = None,
    protocol: ProtocolName = "ope",
    starts: Annotated[int | None, typer.Option(help="Of each sequence.", show_default="1, tre 20, sre 12")] = None,
    repetitions: Annotated[int, typer.Option(help="Runs from each start, with other seeds.")] = 1,
    seed: Annotated[int, typer.Option(help="Same seed, same boxes.")] = 0,
    processes: Processes = None,
    cluster: Cluster = None,
    results: Results = None,
    published: PublishedFile = None,
    show: Show = None,
) -> None:
    """Run trackers over all sequences of DATASET and compare them on one page.

    Ctrl-C keeps what is finished; the same command goes on from there.
    """
    from metrack.evaluation import evaluate as evaluation
    from metrack.evaluation.plan import RunProtocol
    from metrack.evaluation.sequences import read_sequences
    from metrack.evaluation.trackers import parse_trackers

    others = read_others(results, published, show)
    specs = parse_trackers(tracker or ["default"])
    workers = make_workers(processes, cluster)
    how = RunProtocol(protocol, repetitions, seed, starts)
    data = absolute(dataset)
    with Steps(console) as steps:
        steps.say("reading the sequences")
        chosen = read_sequences(data, split(sequences), layout)
        setup = evaluation.EvaluationSetup.of(specs, chosen, how, data, layout)
        with saying_what_is_kept(out):
            evaluation.evaluate(setup, specs, chosen, out, workers, steps.advance)
    report_evaluation(out, out, others)


def absolute(dataset: str) -> str:
    """Return the path of a dataset as workers elsewhere can open it; names of painted clips stay."""
    from metrack.evaluation.sequences import is_painted

    return dataset if is_painted(dataset) else str(Path(dataset).absolute())


def make_workers(processes: int | None, cluster: str | None) -> Workers:
    """Return the workers that the options ask for."""
    from metrack.evaluation.workers import ClusterWorkers, LocalWorkers

    return LocalWorkers(processes) if cluster is None else ClusterWorkers(cluster, processes)


@contextmanager
def saying_what_is_kept(out: Path) -> Iterator[None]:
    """On Ctrl-C, say that finished runs are kept, and leave with exit code 2."""
    try:
        yield
    except KeyboardInterrupt:
        console.print(
            f"interrupted: finished runs are in {escape(str(out))}/, the same command goes on", soft_wrap=True
        )
        raise typer.Exit(2) from None
