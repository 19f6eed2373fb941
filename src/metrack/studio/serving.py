"""From options to a server that is ready to run."""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn

from metrack.studio.book import Book
from metrack.studio.guard import Door
from metrack.studio.library import Library
from metrack.studio.server import build

BETWEEN_THREADS = 0.0005  # seconds Python lets one thread go on while the tracker waits: a tenth of what is usual


def prepare(
    folder: Path | None, runs: Path, host: str, port: int, upload_limit: int, gallery: str | None = None
) -> tuple[uvicorn.Config, str]:
    """Make the folder for runs and the configuration of a server; return it and the address to open."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--runs must be a folder that can be made, got {str(runs)!r} ({error.strerror})") from None
    sys.setswitchinterval(BETWEEN_THREADS)
    door = Door.at(host, port)
    library = Library(runs.resolve(), None if folder is None else folder.resolve(), upload_limit)
    app = build(library, Book(runs.resolve(), library, gallery), door)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=65_536,
        timeout_graceful_shutdown=1,
    )
    return config, door.address
