"""The commands that follow targets: track, demo and map; and info."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from metrack.cli.app import app, console
from metrack.cli.display import Display, demo_table, environment_table, map_lines, result_lines, settings_table

if TYPE_CHECKING:
    from metrack.runs.job import Halt, Job

Out = Annotated[
    Path,
    typer.Option(
        "-o",
        "--out",
        help="Folder for the results. It must be new, empty or an earlier result of metrack; files of the "
        "earlier result are then written over, other files are left alone.",
    ),
]
Preset = Annotated[str | None, typer.Option(help="Settings to start from; see: metrack info.", show_default="default")]
Seed = Annotated[int | None, typer.Option(help="Same frames and same seed, same boxes.", show_default="0")]


@app.command()
def track(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Video file, folder or glob of images, camera number, or rtsp:// or http:// address.",
        ),
    ],
    box: Annotated[
        list[str] | None,
        typer.Option(
            metavar="X,Y,W,H",
            help="The target in the first frame, in pixels from the top-left corner; may be repeated.",
        ),
    ] = None,
    out: Out = Path("metrack-out"),
    preset: Preset = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; see: metrack info --settings."),
    ] = None,
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
    gallery: Annotated[
        Path | None,
        typer.Option(help="Say who it is: a file made by gallery build, or a folder with crops of everybody."),
    ] = None,
    other_format: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="NAME", help="Write the boxes in this form as well: mot (MOTChallenge)."),
    ] = None,
) -> None:
    """Follow the target in each --box through SOURCE.

    Results are written as frames come; Ctrl-C stops and keeps everything so far.
    """
    wishes: dict[str, Any] = {
        "boxes": [_numbers(each) for each in box] if box else None,
        "preset": preset,
        "changes": _changes(change) if change else None,
        "seed": seed,
        "start": start,
        "stop": stop,
        "gallery": None if gallery is None else str(gallery),
        "formats": other_format or None,
    }
    wishes = {name: value for name, value in wishes.items() if value is not None}
    _track({"source": source, "video": not no_video, **wishes}, out, resume)


def _track(wishes: dict[str, Any], out: Path, resume: bool) -> None:
    from metrack.runs.job import Job, follow  # here, because it takes a second
    from metrack.runs.results import Checkpoint

    checkpoint = Checkpoint.load(out) if resume else None
    job = Job.again(checkpoint.job, wishes) if checkpoint else Job(**{"boxes": (), **wishes})
    with _halting() as halt, Display(console) as display:
        summary = follow(job, out, checkpoint=checkpoint, watch=display.show, halt=halt)
    for line in result_lines(summary, out):
        console.print(line)
    _leave_page(out)
    if summary["status"] == "interrupted":
        raise typer.Exit(2)
    if summary["status"] == "ended early":  # wrong input, though what could be read of it is kept
        raise ValueError(summary["notice"])


def _leave_page(out: Path) -> None:
    """Write the page of a run; the results are there even where that cannot be done."""
    from metrack.runs.report import write_page

    try:
        console.print(f"look at {escape(str(write_page(out)))}", soft_wrap=True)
    except (OSError, ValueError) as error:
        console.print(f"  [yellow]note[/]: there is no page, because {escape(str(error))}", soft_wrap=True)


@app.command()
def demo(
    out: Out = Path("demo-out"),
    preset: Preset = None,
    seed: Seed = None,
    frames: Annotated[int, typer.Option(help="Length of the clip.")] = 300,
) -> None:
    """Paint a clip, follow its balloon, and compare with the exact truth."""
    from metrack.synth.demo import run_demo

    with _halting() as halt, Display(console) as display:
        summary, verdict = run_demo(
            out, frames=frames, preset=preset or "default", seed=seed or 0, watch=display.show, halt=halt
        )
    console.print(demo_table(summary, verdict, out))
    if summary["status"] == "interrupted":
        raise typer.Exit(2)


@app.command("map")
def map_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="What track takes: a video, a folder of images ...")],
    box: Annotated[
        list[str] | None,
        typer.Option(metavar="X,Y,W,H", help="The target in the first frame, in pixels from the top-left corner."),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="The picture: .png, .jpg, .jpeg or .webp; an older one is written over."),
    ] = Path("map.png"),
    start: Annotated[int, typer.Option(help="Frame that the box is on.")] = 0,
    at: Annotated[int, typer.Option(metavar="FRAMES", help="How long to follow before the map is made.")] = 40,
    radius: Annotated[
        int | None,
        typer.Option(metavar="PIXELS", help="How far to look around the estimate.", show_default="its larger side"),
    ] = None,
    preset: Annotated[str, typer.Option(help="Settings to start from; see: metrack info.")] = "paper",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; see: metrack info --settings."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same frames and same seed, same map.")] = 0,
) -> None:
    """Follow the target, then draw how every place around it scores, without the metric and with it.

    Where SOURCE ends sooner, the map is of its last frame.
    """
    from metrack.runs.job import Job

    if box and len(box) > 1:
        raise ValueError(f"--box must be given once for a map, got {' and '.join(box)}")
    if at < 0:
        raise ValueError(f"--at must be 0 or more, got {at}")
    wishes: dict[str, Any] = {"preset": preset, "changes": _changes(change or ()), "seed": seed}
    boxes = [_numbers(each) for each in box or ()]
    job = Job(source=source, boxes=boxes, start=start, stop=start + at + 1, video=False, **wishes)
    _map(job, out, radius)


def _map(job: Job, out: Path, radius: int | None) -> None:
    from metrack.runs.mapping import draw_map

    with _halting() as halt, Display(console) as display:
        mapped = draw_map(job, out, radius, watch=display.show, halt=halt)
    if mapped is None:
        raise typer.Abort
    for line in map_lines(mapped, out):
        console.print(line, soft_wrap=True)
    if mapped.notice:  # wrong input, though there is a map of what could be read of it
        raise ValueError(mapped.notice)


@app.command()
def info(
    settings: Annotated[bool, typer.Option("--settings", help="List all settings instead.")] = False,
    preset: Preset = None,
) -> None:
    """Show versions and presets, or with --settings every setting."""
    from metrack.config import preset as look_up

    config = look_up(preset or "default")
    console.print(settings_table(config) if settings else environment_table())


@contextmanager
def _halting() -> Iterator[Halt]:
    """Let the first Ctrl-C or SIGTERM end the run after the frame in hand, and the second at once."""
    from metrack.runs.job import Halt

    halt = Halt()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(*_: object) -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        halt.ask()

    for number in before:
        signal.signal(number, ask)
    try:
        yield halt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _numbers(text: str) -> list[float]:
    try:
        x, y, w, h = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--box must be four numbers X,Y,W,H, got {text!r}") from None
    return [x, y, w, h]


def _changes(texts: Sequence[str]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ValueError(f"--set must be NAME=VALUE, got {text!r}")
    return {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in texts)}
