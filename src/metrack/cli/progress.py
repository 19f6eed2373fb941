"""What the command line shows of an evaluation: how far it is, then who stands where."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

if TYPE_CHECKING:
    from metrack.evaluation.comparison import Comparison
    from metrack.evaluation.evaluate import RunProgress

SECONDS_BETWEEN_LINES = 10.0  # where the output is not a terminal


class Steps:
    """A progress bar on a terminal; elsewhere a line now and then."""

    def __init__(self, console: Console) -> None:
        self._console, self._told = console, 0.0
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=28), TextColumn("{task.fields[detail]}"))
        self._bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bars.add_task("", total=None, detail="")

    def say(self, what: str) -> None:
        """Tell what is being done where nothing can be counted."""
        self._show(what, 0, None, "")

    def advance(self, advance: RunProgress, step: str = "evaluating") -> None:
        """Tell how many runs are finished, and what is left."""
        left = "" if advance.left is None else f", {_duration(advance.left)} left"
        detail = f"{advance.done} of {advance.total} runs{left}  {escape(advance.what)}"
        if advance.error:
            self._console.print(f"  [yellow]note[/]: {escape(advance.what)}: {escape(advance.error)}")
        self._show(step, advance.done, advance.total, detail)

    def drawing(self, done: int, total: int) -> None:
        """Tell how many sequences are on the page."""
        self._show("drawing", done, total, f"{done} of {total} sequences")

    def _show(self, what: str, done: int, total: int | None, detail: str) -> None:
        if self._console.is_terminal:
            self._bars.update(self._task, description=what, completed=done, total=total, detail=detail)
        elif time.monotonic() - self._told > SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            self._console.print(f"{what}  {detail}".rstrip(), soft_wrap=True)

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


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d} h" if hours else f"{minutes}:{rest:02d} min"
