"""The lock on a result folder: one run at a time writes into it.

The operating system holds the lock for the process and lets go of it when the process ends, however it ends. So a lock
is never left behind by a dead run, and never broken while its owner is alive. The file ``metrack.lock`` that it is on
says who that is; it is removed when the lock is released.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

LOCK = "metrack.lock"
ATTEMPTS = 100  # to get the file before its owner removes it
NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)  # answers of file systems without locks: there are none then


class FolderLock:
    """A lock on a folder; to be released after use.

    >>> with FolderLock(folder):  # doctest: +SKIP
    ...     write_results(folder)
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock, in a folder that exists; raise ValueError where another run has it."""
        if self._file is not None:
            return
        for _ in range(ATTEMPTS):
            number = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            if not try_lock(number):
                os.close(number)
                raise _in_use(self.path)
            if _is_at(number, self.path):
                self._file = number
                os.ftruncate(number, 0)
                os.write(number, f"{os.getpid()}\n".encode())
                return
            os.close(number)  # its owner removed it between our two calls
        raise _in_use(self.path)

    def release(self) -> None:
        """Let go of the lock; nothing happens where it is not held."""
        if self._file is not None:
            with suppress(OSError):  # a folder that is gone takes its lock with it
                self.path.unlink()
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def check_unlocked(folder: Path) -> None:
    """Raise ValueError where a run that is alive writes into a folder; nothing is changed."""
    with suppress(FileNotFoundError, NotADirectoryError):
        number = os.open(folder / LOCK, os.O_RDWR)
        try:
            if not try_lock(number):
                raise _in_use(folder / LOCK)
        finally:
            os.close(number)


if sys.platform == "win32":
    import msvcrt

    def try_lock(number: int) -> bool:
        """Lock an open file until it is closed, unless another has it."""
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(number: int) -> bool:
        """Lock an open file until it is closed, unless another has it."""
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        return True


def _is_at(number: int, path: Path) -> bool:
    """Whether an open file is the one of that name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(number), path.stat())
    return False


def _in_use(path: Path) -> ValueError:
    owner = ""
    with suppress(OSError, ValueError):
        owner = f" (process {int(path.read_text())})"
    return ValueError(f"folder must not be in use, but another run{owner} is writing into {str(path.parent)!r}")
