"""The commands that measure: evaluate, report and reproduce."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from metrack.cli.app import app, console
from metrack.cli.progress import Steps, standings_table

if TYPE_CHECKING:
    from metrack.evaluation.crew import Crew
    from metrack.evaluation.published import Published

PANEL = "Measuring"

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
def evaluate(
    dataset: Annotated[
        str,
        typer.Argument(metavar="DATASET", help="Folder of sequences with truth, video with boxes, builtin or hard."),
    ],
    tracker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LABEL=]NAME[:SETTING=VALUE,...]",
            help="A preset or a rival (csrt, kcf, mil, oab, tld, medianflow, mosse, dsst, static); may be repeated.",
            show_default="default",
        ),
    ] = None,
    out: Out = Path("evaluation"),
    sequences: Names = None,
    layout: Layout = None,
    protocol: Annotated[
        str, typer.Option(help="ope: once from the first box; tre: from many frames; sre: from wrong boxes.")
    ] = "ope",
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
    from metrack.evaluation.entrants import parse_entrants
    from metrack.evaluation.plan import RunProtocol
    from metrack.evaluation.run import Asked
    from metrack.evaluation.run import evaluate as make_runs
    from metrack.evaluation.sequences import is_painted, read_sequences

    others = _others(results, published, show)
    entrants = parse_entrants(tracker or ["default"])
    crew = _crew(processes, cluster)
    how = RunProtocol(protocol, repetitions, seed, starts)
    data = dataset if is_painted(dataset) else str(Path(dataset).absolute())
    with Steps(console) as steps:
        steps.say("reading the sequences")
        chosen = read_sequences(data, _split(sequences), layout)
        names = tuple(sequence.name for sequence in chosen)
        asked = Asked(data, layout, how, names, {each.label: each.settings() for each in entrants})
        with _kept(out):
            make_runs(asked, entrants, chosen, out, crew, steps.advance)
    _report(out, out, others)


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
    from metrack.runs.report import is_run

    if not is_run(folder):
        _check_evaluation(folder)
        _report(folder, out or folder, _others(results, published, show))
    elif results or published or show:
        raise ValueError(f"--results, --published and --show are for evaluations, but {str(folder)!r} is one run")
    else:
        _report_run(folder, out or folder)


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
    from metrack.evaluation.sequences import is_painted
    from metrack.experiments.registry import EXPERIMENTS, look_up
    from metrack.experiments.reproduce import reproduce as make

    if experiment == "list":
        for each in EXPERIMENTS.values():
            console.print(f"[cyan]{each.id:24}[/] {escape(each.question)} ({escape(each.shows)})")
        return
    ids = list(EXPERIMENTS) if experiment == "all" else [look_up(experiment).id]
    source = data if is_painted(data) else str(Path(data).absolute())
    with Steps(console) as steps, _kept(out):
        findings = make(
            ids,
            source,
            out,
            sequences=_split(sequences),
            seeds=seeds,
            crew=_crew(processes, cluster),
            layout=layout,
            length=length,
            watch=lambda name, advance: steps.advance(advance, name),
        )
    page = out / "index.html" if experiment == "all" else out / experiment / "index.html"
    console.print(f"look at {escape(str(page))}", soft_wrap=True)
    for finding in findings:
        if finding.error:
            raise ValueError(f"the experiment {finding.id} could not be made: {finding.error}")


def _check_evaluation(folder: Path) -> None:
    from metrack.evaluation.run import ASKED
    from metrack.runs.report.reading import WANTED

    if not (folder / ASKED).is_file():
        raise ValueError(f"{WANTED}, but {str(folder)!r} is none of these")


def _report_run(folder: Path, out: Path) -> None:
    from metrack.runs.report import write_run_report

    page, *pictures = write_run_report(folder, out)
    console.print(f"look at {escape(str(page))}", soft_wrap=True)
    console.print(f"pictures: {escape(', '.join(map(str, pictures)))}", soft_wrap=True)


def _report(folder: Path, out: Path, others: Others) -> None:
    from metrack.evaluation.judged import judge_folder, read_results
    from metrack.evaluation.report import write_report
    from metrack.evaluation.run import Asked

    comparison = judge_folder(folder)
    read = [read_results(label, place, comparison.sequences) for label, place in others.results]
    comparison = replace(comparison, standings=[*comparison.standings, *read, *others.published])
    with Steps(console) as steps:
        page = write_report(comparison, out, title="Trackers compared", asked=Asked.load(folder), watch=steps.drawing)
    console.print(standings_table(comparison))
    for standing in comparison.standings:
        for name, error in standing.errors().items():
            console.print(f"  [yellow]note[/]: {escape(standing.label)} failed on {escape(name)}: {escape(error)}")
    console.print(f"look at {escape(str(page))}", soft_wrap=True)


class Others(NamedTuple):
    """What stands beside our runs: folders of boxes, and published figures."""

    results: list[tuple[str, Path]]
    published: list[Published]


def _others(results: list[str] | None, published: Path | None, show: list[str] | None) -> Others:
    """Read what can be read before any work."""
    from metrack.evaluation.published import read_published

    if show and published is None:
        raise ValueError("--show chooses among the trackers of --published, which is not given")
    figures = read_published(published, _split(show)) if published is not None else []
    return Others([_labelled(text) for text in results or ()], figures)


def _crew(processes: int | None, cluster: str | None) -> Crew:
    from metrack.evaluation.crew import ClusterCrew, LocalCrew

    return LocalCrew(processes) if cluster is None else ClusterCrew(cluster, processes)


@contextmanager
def _kept(out: Path) -> Iterator[None]:
    """Say, where Ctrl-C ends the work, that what is finished is kept."""
    try:
        yield
    except KeyboardInterrupt:
        console.print(
            f"interrupted: finished runs are in {escape(str(out))}/, the same command goes on", soft_wrap=True
        )
        raise typer.Exit(2) from None


def _labelled(text: str) -> tuple[str, Path]:
    label, equals, folder = text.partition("=")
    if not equals or not label or not folder:
        raise ValueError(f"--results must be LABEL=FOLDER, got {text!r}")
    return label, Path(folder)


def _split(texts: list[str] | None) -> list[str]:
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
