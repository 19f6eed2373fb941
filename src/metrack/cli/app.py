"""The root of the command line: what every command shares.

Exit codes: 0 done; 1 wrong usage or input, told in one sentence; 2 interrupted, with everything so far kept.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from metrack.cli.options import in_options
from metrack.cli.output import forgive_lost_readers, hush_readers
from metrack.runs.halt import Halt

app = typer.Typer(
    name="metrack",
    help="Follow one thing through a video from one box: on a CPU, with no model to download.",
    add_completion=False,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)

INTERRUPTED = 130  # what typer makes of a KeyboardInterrupt in a command


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    forgive_lost_readers()
    for number in stop_signals():
        signal.signal(number, signal.default_int_handler)
    sys.exit(run(arguments))


def stop_signals() -> list[signal.Signals]:
    """Return the signals that ask a command to stop, without SIGHUP where ``nohup`` said to ignore it."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    known = [signal.Signals[name] for name in names if name in signal.Signals.__members__]
    return [each for each in known if each.name != "SIGHUP" or signal.getsignal(each) != signal.SIG_IGN]


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    hush_readers()
    try:
        code = app(words, standalone_mode=False) or 0
        return _complain("interrupted", 2) if code == INTERRUPTED else code
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", 2)
    except ValueError as error:
        return _complain(in_options(str(error), words[0] if words else ""), 1)
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


@contextmanager
def halting() -> Iterator[Halt]:
    """Let the first Ctrl-C, SIGTERM or SIGHUP end the run after the frame in hand, and the second at once."""
    halt = Halt()
    before = {number: signal.getsignal(number) for number in stop_signals()}

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


def facts_table() -> Table:
    """Return an empty table of names and what there is to say of them."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    return table
