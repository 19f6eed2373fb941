"""metrack track: follow targets from their first boxes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from metrack.cli.app import app, console, halting
from metrack.cli.options import Boxes, Changes, GalleryPath, Out, Preset, Seed, parse_box, parse_changes
from metrack.cli.progress import STYLES, Steps

SOURCES = "Video file, folder or glob of images, camera number, or rtsp:// or http:// address."


@app.command()
def track(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=SOURCES)],
    box: Boxes = None,
    out: Out = Path("metrack-out"),
    preset: Preset = None,
    change: Changes = None,
    seed: Seed = None,
    start: Annotated[int | None, typer.Option(help="Frame that the boxes are on.", show_default="0")] = None,
    stop: Annotated[int | None, typer.Option(help="First frame to leave out.", show_default="the end")] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the interrupted run in --out; boxes and settings need not be given again. The "
            "video is drawn anew from its beginning.",
        ),
    ] = False,
    no_video: Annotated[bool, typer.Option("--no-video", help="Do not write tracked.mp4.")] = False,
    gallery: GalleryPath = None,
    other_format: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="NAME", help="Write the boxes in this form as well: mot (MOTChallenge)."),
    ] = None,
) -> None:
    """Follow the target in each --box through SOURCE.

    Results are written as frames come; Ctrl-C stops and keeps everything so far.
    """
    options: dict[str, Any] = {
        "boxes": [parse_box(each) for each in box] if box else None,
        "preset": preset,
        "changes": parse_changes(change) if change else None,
        "seed": seed,
        "start": start,
        "stop": stop,
        "gallery": None if gallery is None else str(gallery),
        "formats": other_format or None,
    }
    options = {name: value for name, value in options.items() if value is not None}
    _track({"source": source, "video": not no_video, **options}, out, resume)


def _track(options: dict[str, Any], out: Path, resume: bool) -> None:
    pages: list[str] = []
    with halting() as halt:
        from metrack.runs.follow import follow  # here, because it takes a second
        from metrack.runs.job import Job
        from metrack.runs.lock import check_unlocked
        from metrack.runs.resuming import Resumption, clear_leftovers, is_done, resumption

        if resume:
            check_unlocked(out)
        if resume and is_done(out):
            clear_leftovers(out)
            console.print(f"the run in {escape(str(out))} is done: nothing is left to resume", soft_wrap=True)
            return
        start = resumption(out, options) if resume else Resumption(Job(**{"boxes": (), **options}), None)
        if start.note:
            console.print(f"  [yellow]note[/]: {escape(start.note)}", soft_wrap=True)
        with Steps(console) as steps:
            summary = follow(
                start.job,
                out,
                checkpoint=start.checkpoint,
                watch=steps.show,
                halt=halt,
                leave=lambda folder: pages.append(_leave_page(folder)),
            )
    for line in (*result_lines(summary, out), *pages):
        console.print(line, soft_wrap=True)
    if summary["status"] == "interrupted":
        raise typer.Exit(2)
    if summary["status"] == "ended early":  # wrong input, though what could be read of it is kept
        raise ValueError(summary["notice"])


def _leave_page(out: Path) -> str:
    """Write the page of a run, and say where it is; the results are there even where that cannot be done."""
    from metrack.runs.report import write_page

    try:
        return f"look at {escape(str(write_page(out)))}"
    except (OSError, ValueError) as error:
        return f"  [yellow]note[/]: there is no page, because {escape(str(error))}"


def result_lines(summary: dict[str, Any], out: Path) -> Iterator[str]:
    """Say what came of a run."""
    count = len(summary["targets"])
    what = "1 target" if count == 1 else f"{count} targets"
    verb = {"done": "followed", "interrupted": "[yellow]interrupted[/]: followed"}.get(summary["status"], "followed")
    yield f"{verb} {what} through {summary['frames']} frames{_speed(summary)}"
    for target in summary["targets"]:
        states = ", ".join(f"[{STYLES[state]}]{state}[/] {n}" for state, n in target["states"].items())
        events = "".join(f", {kind} {n}x" for kind, n in target["events"].items())
        yield f"  target {target['target']}: {states}; mean score {target['mean_score']:.2f}{events}"
    if summary["notice"]:
        yield f"  [yellow]note[/]: {escape(summary['notice'])}"
    yield f"results in {escape(str(out))}/"
    if summary["status"] == "interrupted" and not summary["live"]:
        yield "the same command with --resume goes on from here"


def _speed(summary: dict[str, Any]) -> str:
    fps = summary["tracker_fps"]
    return "" if fps is None else f", {fps:.0f} a second (tracker alone)"
