"""Lines of JSON that can be verified: each ends with a checksum of itself and of the checksum before it.

A changed digit is found, and so is a line that is missing, doubled or in another place. A file is read line by line
until the first one that is damaged; the last one counts only once its line feed is there, because a killed process may
leave half of it. Files of version 0.1 have no checksums and are believed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

NOTHING = 0  # the checksum before the first line
_ENDING = re.compile(r', "check": "([0-9a-f]{8})"\}$')


def add_check(line: str, before: int) -> tuple[str, int]:
    """Return a JSON object as a line with its checksum, and the checksum.

    >>> add_check('{"frame": 0}', NOTHING)
    ('{"frame": 0, "check": "b160403d"}', 2975875133)
    """
    check = zlib.crc32(line.encode(), before)
    return f'{line[:-1]}, "check": "{check:08x}"}}', check


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a text file that end in a line feed, without it; bytes that are no UTF-8 become U+FFFD."""
    return path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]


def verified(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield every line as it is, its JSON without the checksum, and the checksum (0 where files have none).

    Raises
    ------
    ValueError
        At the first line that is damaged, naming it.
    """
    before = NOTHING
    lines = whole_lines(path)
    checked = any(_ENDING.search(line) for line in lines[:2])  # one of them may be damaged
    for number, line in enumerate(lines, 1):
        found = _ENDING.search(line)
        body = f"{line[: found.start()]}}}" if found else line
        check = zlib.crc32(body.encode(), before) if checked else NOTHING
        if checked and (found is None or int(found[1], 16) != check):
            raise damaged(path, number)
        yield line, body, check
        before = check


def damaged(path: Path, number: int) -> ValueError:
    """Return the error that names a damaged line."""
    return ValueError(f"{path.name} must be as it was written, but line {number} of {str(path)!r} is damaged")
