"""One piece of work in a child process: what came of it, and how much memory it took.

A crash, a hang or a huge allocation of the code under test then is one miss, and not the end of the campaign.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from torture.campaign import MissError

MEMORY = 1 << 30  # bytes that the work may ask for, and that its process may have in all
SECONDS = 60.0


def in_child(work: Callable[[], str]) -> tuple[str, int]:
    """Return what the work returned in a child of this process, and the bytes it had; MissError if it went wrong."""
    own = _pages(1) * resource.getpagesize()  # which the child begins with
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    said = None
    try:
        said = _said(reading)
    finally:
        os.close(reading)
        if said is None:
            os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
    memory = used.ru_maxrss * 1024
    if said is None:
        raise MissError(f"it took longer than {SECONDS:g} seconds")
    if status or not said:
        raise MissError(f"the process died with status {status}")
    verdict, text = json.loads(said)
    if verdict == "miss":
        raise MissError(text)
    if memory > max(MEMORY, own + MEMORY // 2):
        raise MissError(f"it took {memory >> 20} MB")
    return text, memory


def _work(work: Callable[[], str], writing: int) -> NoReturn:
    try:
        size = _pages(0) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
        said = ["done", work()]
    except MissError as miss:
        said = ["miss", str(miss)]
    except BaseException:
        said = ["miss", traceback.format_exc(limit=-8)]
    os.write(writing, json.dumps(said).encode()[:60_000])
    os._exit(0)


def _pages(column: int) -> int:
    """Return the pages of memory that this process has addresses for (column 0), or has (1)."""
    return int(Path("/proc/self/statm").read_text().split()[column])


def _said(reading: int) -> bytes | None:
    """Return all that the child writes until its end; None after too long a time."""
    found, end = b"", time.monotonic() + SECONDS
    while True:
        ready, _, _ = select.select([reading], [], [], max(end - time.monotonic(), 0))
        if not ready:
            return None
        block = os.read(reading, 1 << 16)
        if not block:
            return found
        found += block
