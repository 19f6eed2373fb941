"""What the command line shows: progress while it works, tables when it is done."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table

from metrack.config import PRESETS, TrackerConfig, possible_values

if TYPE_CHECKING:
    from metrack.frames.formats import Record
    from metrack.runs.job import Progress
    from metrack.runs.mapping import Mapped
    from metrack.synth.demo import Verdict

SECONDS_BETWEEN_LINES = 10.0  # where the output is not a terminal
STYLES = {"tracking": "green", "occluded": "yellow", "lost": "red"}
STEPS = {
    "compiling": "compiling kernels, once per machine",
    "catching up": "catching up with the earlier run",
}
MOST_SHOWN = 3  # targets


class Display:
    """A progress bar on a terminal; elsewhere a line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step, self._began, self._begin, self._told = "", 0.0, 0, time.monotonic()
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[detail]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )

    def show(self, progress: Progress) -> None:
        """Tell how far it is."""
        if progress.step != self._step:
            self._begin_step(progress)
        detail = " ".join(self._details(progress))
        if self._console.is_terminal:
            self._bars.update(self._task, completed=progress.done, total=progress.total, detail=detail)
        elif progress.done and time.monotonic() - self._told > SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            self._console.print(f"{progress.step}: {detail}")

    def _begin_step(self, progress: Progress) -> None:
        self._step, self._began, self._begin = progress.step, time.monotonic(), progress.done
        text = STEPS.get(progress.step, progress.step)
        if self._console.is_terminal:
            for task in self._bars.task_ids:
                self._bars.remove_task(task)
            self._task = self._bars.add_task(text, total=None, detail="")
        elif not progress.done:
            self._console.print(text)

    def _details(self, progress: Progress) -> Iterator[str]:
        if not progress.done:
            return
        total = "" if progress.total is None else f"/{progress.total}"
        yield f"frame {progress.done}{total}"
        seconds = time.monotonic() - self._began
        if seconds > 0.2:
            yield f" {(progress.done - self._begin) / seconds:5.1f} fps "
        yield "  ".join(map(_styled, progress.records[:MOST_SHOWN]))
        if len(progress.records) > MOST_SHOWN:
            yield f"  and {len(progress.records) - MOST_SHOWN} more"

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()


def _styled(record: Record) -> str:
    return f"[{STYLES[record.state]}]{record.score:.2f} {record.state}[/]"


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


def _speed(summary: dict[str, Any]) -> str:
    fps = summary["tracker_fps"]
    return "" if fps is None else f", {fps:.0f} a second (tracker alone)"


def demo_table(summary: dict[str, Any], verdict: Verdict, out: Path) -> Table:
    """Say how the demonstration went and where to look."""
    table = _plain_table()
    width, height = summary["size"]
    x, y, w, h = (f"{side:g}" for side in summary["targets"][0]["box"])
    table.add_row("clip", f"{summary['frames']} frames of {width} x {height}, painted by metrack")
    table.add_row("followed", f"[bold]{verdict.followed} of {verdict.visible}, {verdict.share:.1f} %[/] of the frames")
    table.add_row("", "in which half of the target can be seen (overlap above 0.5)")
    table.add_row("mean overlap", f"{verdict.mean_overlap:.3f}")
    table.add_row("speed", f"{summary['tracker_fps'] or 0:.0f} frames a second (tracker alone)")
    folder = escape(str(out))
    table.add_row("watch", f"{folder}/tracked.mp4")
    table.add_row("look", f"[bold]{folder}/report.html[/]  (what happened, and why)")
    table.add_row("", f"{folder}/contact.png  (white: the truth)")
    table.add_row("events", f"{folder}/events.jsonl  (hidden, seen again)")
    table.add_row("boxes", f"{folder}/boxes.csv, truth in {folder}/truth.csv")
    table.add_row("again", f"metrack track {folder}/clip.mp4 --box {x},{y},{w},{h} -o out")
    return table


def settings_table(config: TrackerConfig) -> Table:
    """List every setting: made from the fields of the configuration."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("setting", "value", "may be", "meaning"):
        table.add_column(column, overflow="fold")
    for name, each, value in config.settings():
        table.add_row(name, f"{value}", possible_values(each), each.metadata["text"])
    return table


def environment_table() -> Table:
    """Say what metrack runs on."""
    from metrack.frames.sink import h264_encoder

    table = _plain_table()
    for name in ("metrack", "numpy", "scipy", "numba", "av"):
        table.add_row(name, version(name))
    table.add_row("python", platform.python_version())
    table.add_row("processors", str(os.cpu_count()))
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    table.add_row("BLAS", f"{blas['name']} {blas['version']}")
    table.add_row("H.264 encoder", h264_encoder() or "none: use --no-video")
    table.add_row("kernel cache", os.environ.get("NUMBA_CACHE_DIR") or "__pycache__ beside the code")
    table.add_row("presets", ", ".join(sorted(PRESETS)))
    return table


def _plain_table() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    return table
