"""metrack map: draw how every place around a followed target scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape

from metrack.cli.app import app, console, halting
from metrack.cli.options import Boxes, Changes, parse_box, parse_changes
from metrack.cli.progress import Steps

if TYPE_CHECKING:
    from metrack.runs.job import Job
    from metrack.runs.mapping import Mapped


@app.command("map")
def map_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="What track takes: a video, a folder of images ...")],
    box: Boxes = None,
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
    change: Changes = None,
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
    options: dict[str, Any] = {"preset": preset, "changes": parse_changes(change or ()), "seed": seed}
    boxes = [parse_box(each) for each in box or ()]
    job = Job(source=source, boxes=boxes, start=start, stop=start + at + 1, video=False, **options)
    _map(job, out, radius)


def _map(job: Job, out: Path, radius: int | None) -> None:
    from metrack.runs.mapping import draw_map

    with halting() as halt, Steps(console) as steps:
        mapped = draw_map(job, out, radius, watch=steps.show, halt=halt)
    if mapped is None:
        raise typer.Abort
    for line in map_lines(mapped, out):
        console.print(line, soft_wrap=True)
    if mapped.notice:  # wrong input, though there is a map of what could be read of it
        raise ValueError(mapped.notice)


def map_lines(mapped: Mapped, out: Path) -> Iterator[str]:
    """Say what a confidence map shows."""
    summits = "; ".join(f"{name}: {_summit(scores)}" for name, scores in mapped.maps.items())
    yield f"{escape(str(out))} shows frame {mapped.frame}; {summits}"
    if mapped.ended and not mapped.notice:
        yield f"  [yellow]note[/]: {escape(mapped.ended)} ends with frame {mapped.frame}, sooner than --at asks for"


def _summit(scores: NDArray[np.float64]) -> str:
    """Say where the peak of a map is, and how far it stands out."""
    from metrack.draw.heat import peak

    distance, height = math.hypot(*peak(scores)), scores.max() - np.median(scores)
    return f"best score {scores.max():.3f}, {distance:.1f} px from the estimate, {height:.3f} above the median"
