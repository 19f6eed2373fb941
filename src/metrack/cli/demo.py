"""metrack demo: paint a clip, follow its balloon, compare with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from metrack.cli.app import app, console, facts_table, halting
from metrack.cli.options import Out, Preset, Seed
from metrack.cli.progress import Steps

if TYPE_CHECKING:
    from metrack.synth.demo import Agreement


@app.command()
def demo(
    out: Out = Path("demo-out"),
    preset: Preset = None,
    seed: Seed = None,
    frames: Annotated[int, typer.Option(help="Length of the clip.")] = 300,
) -> None:
    """Paint a clip, follow its balloon, and compare with the exact truth."""
    from metrack.synth.demo import run_demo

    with halting() as halt, Steps(console) as steps:
        summary, agreement = run_demo(
            out, frames=frames, preset=preset or "default", seed=seed or 0, watch=steps.show, halt=halt
        )
    console.print(demo_table(summary, agreement, out))
    if summary["status"] == "interrupted":
        raise typer.Exit(2)


def demo_table(summary: dict[str, Any], agreement: Agreement, out: Path) -> Table:
    """Say how the demonstration went and where to look."""
    table = facts_table()
    width, height = summary["size"]
    x, y, w, h = (f"{side:g}" for side in summary["targets"][0]["box"])
    table.add_row("clip", f"{summary['frames']} frames of {width} x {height}, painted by metrack")
    table.add_row(
        "followed", f"[bold]{agreement.followed} of {agreement.visible}, {agreement.share:.1f} %[/] of the frames"
    )
    table.add_row("", "in which half of the target can be seen (overlap above 0.5)")
    table.add_row("mean overlap", f"{agreement.mean_overlap:.3f}")
    table.add_row("speed", f"{summary['tracker_fps'] or 0:.0f} frames a second (tracker alone)")
    folder = escape(str(out))
    table.add_row("watch", f"{folder}/tracked.mp4")
    table.add_row("look", f"[bold]{folder}/report.html[/]  (what happened, and why)")
    table.add_row("", f"{folder}/contact.png  (white: the truth)")
    table.add_row("events", f"{folder}/events.jsonl  (hidden, seen again)")
    table.add_row("boxes", f"{folder}/boxes.csv, truth in {folder}/truth.csv")
    table.add_row("again", f"metrack track {folder}/clip.mp4 --box {x},{y},{w},{h} -o out")
    return table
