"""The command line: parse, call, print.

Exit codes: 0 done; 1 wrong usage or input, told in one sentence; 2 interrupted, with everything so far kept.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from metrack.display import Display, demo_table, environment_table, map_lines, result_lines, settings_table

if TYPE_CHECKING:
    from metrack.job import Halt, Job

app = typer.Typer(
    name="metrack",
    help="Follow one thing through a video from one box: on a CPU, with no model to download.",
    add_completion=False,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)

INTERRUPTED = 130  # what typer makes of a KeyboardInterrupt in a command

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = app(list(arguments) if arguments is not None else None, standalone_mode=False) or 0
        return _complain("interrupted", 2) if code == INTERRUPTED else code
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", 2)
    except ValueError as error:
        return _complain(str(error), 1)
    except OSError as error:
        return _complain(f"--out must be a folder with room for the results, but writing failed ({error})", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a usage error but a bug of ours: show where
            raise
        return _complain(error.format_message(), 1)


def _complain(sentence: str, code: int) -> int:
    message = " ".join(sentence.split())
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"metrack: {message}")
    return code


@app.callback()
def _root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if show_version:
        console.print(f"metrack {version('metrack')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        console.print(context.get_help(), markup=False)


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
    }
    wishes = {name: value for name, value in wishes.items() if value is not None}
    _track({"source": source, "video": not no_video, **wishes}, out, resume)


def _track(wishes: dict[str, Any], out: Path, resume: bool) -> None:
    from metrack.job import Job, follow  # here, because it takes a second
    from metrack.results import Checkpoint

    checkpoint = Checkpoint.load(out) if resume else None
    job = Job.again(checkpoint.job, wishes) if checkpoint else Job(**{"boxes": (), **wishes})
    with _halting() as halt, Display(console) as display:
        summary = follow(job, out, checkpoint=checkpoint, watch=display.show, halt=halt)
    for line in result_lines(summary, out):
        console.print(line)
    if summary["status"] == "interrupted":
        raise typer.Exit(2)
    if summary["status"] == "ended early":  # wrong input, though what could be read of it is kept
        raise ValueError(summary["notice"])


@app.command()
def demo(
    out: Out = Path("demo-out"),
    preset: Preset = None,
    seed: Seed = None,
    frames: Annotated[int, typer.Option(help="Length of the clip.")] = 300,
) -> None:
    """Paint a clip, follow its balloon, and compare with the exact truth."""
    from metrack.demo import run_demo

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
    from metrack.job import Job

    if box and len(box) > 1:
        raise ValueError(f"--box must be given once for a map, got {' and '.join(box)}")
    if at < 0:
        raise ValueError(f"--at must be 0 or more, got {at}")
    wishes: dict[str, Any] = {"preset": preset, "changes": _changes(change or ()), "seed": seed}
    boxes = [_numbers(each) for each in box or ()]
    job = Job(source=source, boxes=boxes, start=start, stop=start + at + 1, video=False, **wishes)
    _map(job, out, radius)


def _map(job: Job, out: Path, radius: int | None) -> None:
    from metrack.mapping import draw_map

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
    from metrack.job import Halt

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
