"""The command that opens the studio."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated

import typer

from metrack.cli.app import app, console
from metrack.cli.options import GalleryPath

MEGABYTE = 1_000_000


@app.command()
def studio(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="Folder whose videos and image folders the page may open."),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder in which runs and uploads are kept.")] = Path("metrack-studio"),
    host: Annotated[str, typer.Option(help="Address to listen on; only this machine by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)] = 8765,
    upload_limit: Annotated[int, typer.Option(metavar="MB", help="Largest upload.", min=1)] = 2000,
    uploads_limit: Annotated[int, typer.Option(metavar="MB", help="All uploads together.", min=1)] = 20_000,
    gallery: GalleryPath = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open a local page: draw a box, watch it followed, see why."""
    try:
        import uvicorn

        from metrack.studio.server import prepare
    except ImportError as error:
        wanted = "pip install 'metrack[studio]'"
        raise ValueError(
            f"studio needs packages that are not installed ({error.name}); install them: {wanted}"
        ) from None
    if folder is not None and not folder.is_dir():
        raise ValueError(f"FOLDER must be a folder with videos, got {str(folder)!r}")
    listener = _listen(host, port)
    config, address = prepare(
        folder,
        runs,
        host,
        listener.getsockname()[1],
        upload_limit * MEGABYTE,
        uploads_limit * MEGABYTE,
        None if gallery is None else str(gallery),
    )
    console.print(f"metrack studio is at {address}", soft_wrap=True, markup=False)
    console.print(f"runs are kept in {runs}; Ctrl-C ends it", soft_wrap=True, markup=False)
    with _opened(runs, address) if browser else nullcontext(), suppress(KeyboardInterrupt):  # the usual way to end it
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _opened(runs: Path, address: str) -> Iterator[None]:
    """Have a browser open the page, by a file that only this user can read: all users can see how it was started."""
    page = runs.resolve() / f"open-{secrets.token_hex(8)}.html"
    for left in page.parent.glob("open-*.html"):  # of a studio that was killed
        with suppress(OSError):
            left.unlink()
    with suppress(OSError):
        number = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "w", encoding="utf-8") as file:
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n')
        threading.Timer(0.8, webbrowser.open, [page.as_uri()]).start()
    try:
        yield
    finally:
        with suppress(OSError):
            page.unlink()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # now, so that the address that is printed can be opened at once
    except OSError as error:
        listener.close()
        raise ValueError(f"--host and --port must be free to listen on, got {host}:{port} ({error.strerror})") from None
    return listener
