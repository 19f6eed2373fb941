"""What goes to standard output and standard error: their reader may go away, and nobody else writes there."""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

GONE = (errno.EPIPE, errno.EIO, errno.ENXIO)  # a pipe nobody reads; a terminal that was closed


class Forgiving(io.RawIOBase):
    """A file descriptor to write to; what nobody can read any more is dropped."""

    def __init__(self, number: int) -> None:
        self._number = number

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, and count everything as written once the reader is gone."""
        try:
            return os.write(self._number, data)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return memoryview(data).nbytes

    def writable(self) -> bool:
        """Whether it can be written to: always."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._number

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._number)


def forgive_lost_readers() -> None:
    """Replace standard output and standard error by ones that outlive their readers."""
    sys.stdout, sys.stderr = _forgiving(sys.stdout), _forgiving(sys.stderr)


def hush_readers() -> None:
    """Keep Pillow from telling of damaged images: they get our sentence, or do no harm."""
    warnings.filterwarnings("ignore", module=r"PIL\.")
    if not (pillow := logging.getLogger("PIL")).handlers:
        pillow.addHandler(logging.NullHandler())


def _forgiving(stream: TextIO) -> TextIO:
    if sys.platform == "win32":  # its console takes no bytes
        return stream
    try:
        number = stream.fileno()
    except (OSError, AttributeError):  # no file but an object in this process, or nothing
        return stream
    stream.flush()
    buffer = io.BufferedWriter(Forgiving(number))
    return io.TextIOWrapper(buffer, encoding=stream.encoding, errors=stream.errors, line_buffering=True)
