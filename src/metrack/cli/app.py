"""The root of the command line: what every command shares.

Exit codes: 0 done; 1 wrong usage or input, told in one sentence; 2 interrupted, with everything so far kept.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console

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
