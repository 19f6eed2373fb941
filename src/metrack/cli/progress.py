"""The progress bar of the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table

if TYPE_CHECKING:
    from metrack.evaluation.comparison import Comparison
    from metrack.evaluation.evaluate import RunProgress
    from metrack.frames.formats import Record
    from metrack.runs.follow import Progress

SECONDS_BETWEEN_LINES = 10.0  # where the output is not a terminal
STYLES = {"tracking": "green", "occluded": "yellow", "lost": "red"}
STEPS = {
    "compiling": "compiling kernels, once per machine",
    "catching up": "catching up with the earlier run",
}
MOST_SHOWN = 3  # targets


class Steps:
    """A progress bar on a terminal; elsewhere a line when a step begins, and now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step, self._began, self._begin, self._told = "", 0.0, 0, 0.0
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=28), TextColumn("{task.fields[detail]}"))
        self._bars = Bars(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bars.add_task("", total=None, detail="")

    def say(self, what: str) -> None:
        """Tell what is being done where nothing can be counted."""
        self._show(what, 0, None, "")

    def show(self, progress: Progress) -> None:
        """Tell how far a run is."""
        self._enter(STEPS.get(progress.step, progress.step), progress.done)
        self._show(self._step, progress.done, progress.total, " ".join(self._details(progress)))

    def advance(self, advance: RunProgress, step: str = "evaluating") -> None:
        """Tell how many runs of an evaluation are finished, and what is left."""
        left = "" if advance.left is None else f", {_duration(advance.left)} left"
        detail = f"{advance.done} of {advance.total} runs{left}  {escape(advance.what)}"
        if advance.error:
            self._console.print(f"  [yellow]note[/]: {escape(advance.what)}: {escape(advance.error)}")
        self._show(step, advance.done, advance.total, detail)

    def drawing(self, done: int, total: int) -> None:
        """Tell how many sequences are on the page."""
        self._show("drawing", done, total, f"{done} of {total} sequences")

    def _enter(self, step: str, done: int) -> None:
        """Note when a step began; of one that has just begun, tell at once."""
        if step != self._step:
            self._step, self._began, self._begin, self._told = step, time.monotonic(), done, 0.0

    def _show(self, step: str, done: int, total: int | None, detail: str) -> None:
        self._enter(step, done)
        if self._console.is_terminal:
            self._bars.update(self._task, description=step, completed=done, total=total, detail=detail)
        elif time.monotonic() - self._told > SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            self._console.print(f"{step}  {detail}".rstrip(), soft_wrap=True)

    def _details(self, progress: Progress) -> Iterator[str]:
        if not progress.done:
            return
        yield f"frame {progress.done}" + ("" if progress.total is None else f"/{progress.total}")
        seconds, made = time.monotonic() - self._began, progress.done - self._begin
        if seconds > 0.2 and made:
            yield f" {made / seconds:5.1f} fps "
            if progress.total is not None:
                yield f"{_duration((progress.total - progress.done) * seconds / made)} left "
        yield "  ".join(map(_styled, progress.records[:MOST_SHOWN]))
        if len(progress.records) > MOST_SHOWN:
            yield f"  and {len(progress.records) - MOST_SHOWN} more"

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()


def standings_table(comparison: Comparison) -> Table:
    """List the trackers, best AUC first."""
    from metrack.evaluation.tables import COLUMNS, share_of, summary_rows

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tracker")
    for column in COLUMNS.values():
        table.add_column(column.title, justify="right")
    table.add_column("sequences", justify="right")
    for row in summary_rows(comparison):
        cells = ["" if row[name] is None else f"{row[name]:.{column.digits}f}" for name, column in COLUMNS.items()]
        table.add_row(escape(str(row["tracker"])), *cells, str(share_of(row)))
    return table


def _styled(record: Record) -> str:
    return f"[{STYLES[record.state]}]{record.score:.2f} {record.state}[/]"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d} h" if hours else f"{minutes}:{rest:02d} min"
