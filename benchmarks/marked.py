"""The part of a document that a command writes: what lies between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from metrack.files import replace_text

END = "<!-- end of table -->"


def begin_mark(command: str) -> str:
    """Return the line before what a command writes.

    >>> begin_mark("make readme-table")
    '<!-- table: made by make readme-table -->'
    """
    return f"<!-- table: made by {command} -->"


def around_the_table(document: Path, command: str) -> tuple[str, str]:
    """Return what stands before and after the marks of a command."""
    text = document.read_text(encoding="utf-8") if document.is_file() else ""
    before, begin, rest = text.partition(begin_mark(command))
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(
            f"{str(document)!r} must be a file with the lines {begin_mark(command)} and {END}, but has not both"
        )
    return before, after


def replace_table(document: Path, command: str, lines: Sequence[str]) -> None:
    """Put lines between the marks of a command, in place of those that are there."""
    before, after = around_the_table(document, command)
    replace_text(document, "\n".join([f"{before}{begin_mark(command)}", *lines, f"{END}{after}"]))
