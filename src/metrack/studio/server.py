"""The HTTP server: what pages may ask, and how they are answered.

Wrong requests are answered with one sentence in ``{"error": ...}``. Whatever takes time runs in a thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from importlib.metadata import version
from operator import methodcaller
from pathlib import Path
from typing import Annotated, Any
from weakref import WeakKeyDictionary

import uvicorn
from fastapi import FastAPI, Query, Request, Response, WebSocket
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from metrack.checks import check_box
from metrack.studio import export, protocol, why
from metrack.studio.access import AccessControl, Endpoint
from metrack.studio.answers import RefusedError, explain_errors, refusal
from metrack.studio.camera import Cameras
from metrack.studio.limits import RequestLimits
from metrack.studio.media import LONGEST_NAME, VIDEO_SUFFIXES, Library
from metrack.studio.pictures import WIDEST
from metrack.studio.protocol import MOST_TARGETS
from metrack.studio.run_thread import RunThread
from metrack.studio.sockets import limits
from metrack.studio.store import MOST_FRAMES, Box, RunRequest, RunStore, Whole
from metrack.studio.threads import lower_priority
from metrack.studio.watching import MOST_WATCHERS, Watchers, watch

STATIC = Path(__file__).parent / "static"
A_WHILE = "private, max-age=300"
SWITCH_INTERVAL = 0.0005  # seconds Python lets one thread go on while the tracker waits: a tenth of what is usual
Width = Annotated[int, Query(ge=16, le=WIDEST)]


class Opening(BaseModel):
    """A source to open."""

    source: str = Field(max_length=LONGEST_NAME)


class Correction(BaseModel):
    """Another box for a target from a frame on."""

    frame: Whole
    target: Whole
    box: Box


class Pace(BaseModel):
    """Whether to follow as fast as possible or at the speed of the video."""

    fast: bool


def prepare(
    folder: Path | None,
    runs: Path,
    host: str,
    port: int,
    upload_limit: int,
    uploads_limit: int,
    gallery: str | None = None,
) -> tuple[uvicorn.Config, str]:
    """Make the folder for runs and the configuration of a server; return it and the address to open."""
    endpoint = Endpoint.at(host, port)
    try:
        runs.mkdir(0o700, parents=True, exist_ok=True)  # what is in it is nobody else's business
    except OSError as error:
        raise ValueError(f"runs must be a folder that can be made, got {str(runs)!r} ({error.strerror})") from None
    sys.setswitchinterval(SWITCH_INTERVAL)
    library = Library(runs.resolve(), None if folder is None else folder.resolve(), upload_limit, uploads_limit)
    app = build(library, RunStore(runs.resolve(), library, gallery), endpoint)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        **limits(),
    )
    return config, endpoint.address


def build(library: Library, store: RunStore, endpoint: Endpoint) -> FastAPI:
    """Make the application."""
    cameras = Cameras()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=_paint_ahead, args=(library,), daemon=True).start()
        yield
        cameras.close()
        await asyncio.to_thread(store.close)

    app = FastAPI(title="metrack studio", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(RequestLimits)
    app.add_middleware(AccessControl, endpoint=endpoint)  # before all others
    explain_errors(app)
    _add_page(app, library, store)
    _add_media(app, library, cameras)
    _add_runs(app, library, store, cameras)
    _add_controls(app, store)
    _add_explanations(app, store)
    _add_exports(app, store)
    _add_watching(app, store)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _add_page(app: FastAPI, library: Library, store: RunStore) -> None:
    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        return {
            "version": version("metrack"),
            "folder": library.folder.name if library.folder else None,
            "upload_limit": library.upload_limit,
            "upload_types": VIDEO_SUFFIXES,
            "gallery": store.known_names,
            **protocol.about(),
        }


def _add_media(app: FastAPI, library: Library, cameras: Cameras) -> None:
    @app.get("/api/files")
    def listing(under: str = "") -> dict[str, Any]:
        return library.listing(under)

    @app.put("/api/uploads/{name}")
    async def upload(name: str, request: Request) -> dict[str, str]:
        length = request.headers.get("content-length", "")
        size = int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None
        return {"source": await library.take_upload(name, size, request.stream())}

    @app.post("/api/open")
    def open_one(request: Opening) -> dict[str, Any]:
        place = library.place(request.source)
        if place.kind == "camera":
            return cameras.open(place.text)
        reader = library.reader(request.source)
        width, height = reader.size
        return {
            "source": request.source,
            "name": "Built-in clip" if place.kind == "clip" else reader.name,
            "width": width,
            "height": height,
            "fps": reader.fps,
            "frames": reader.frames,
            "live": False,
        }

    @app.get("/api/frame")
    def frame(source: str, n: Annotated[int, Query(ge=0, le=MOST_FRAMES)], width: Width = WIDEST) -> Response:
        if source.startswith("camera:"):
            return Response(cameras.jpeg(source), media_type="image/jpeg", headers={"Cache-Control": "no-store"})
        data = library.reader(source).jpeg(n, width)
        return Response(data, media_type="image/jpeg", headers={"Cache-Control": A_WHILE})


def _add_runs(app: FastAPI, library: Library, store: RunStore, cameras: Cameras) -> None:
    @app.get("/api/runs")
    def runs() -> list[dict[str, Any]]:
        return store.listing()

    @app.post("/api/runs", status_code=201)
    def start(request: RunRequest) -> dict[str, str]:
        if request.source.startswith("camera:"):
            return {"id": store.start(request, cameras)}
        shape = library.reader(request.source).frame(request.start).image.shape
        for box in request.boxes:
            check_box(box, shape)
        return {"id": store.start(request)}

    @app.get("/api/runs/{name}")
    def describe(name: str) -> dict[str, Any]:
        return store.describe(name)


def _add_controls(app: FastAPI, store: RunStore) -> None:
    @app.post("/api/runs/{name}/go")
    async def go(name: str) -> dict[str, Any]:
        run = store.find(name)
        if run is None:
            run = await asyncio.to_thread(store.go_on, name)
        else:
            await asyncio.wrap_future(run.go())
        return run.status()

    @app.post("/api/runs/{name}/correct")
    async def correct(name: str, request: Correction) -> dict[str, Any]:
        return await _done(store.running(name), lambda run: run.correct(request.frame, request.target, request.box))

    @app.post("/api/runs/{name}/pace")
    def pace(name: str, request: Pace) -> dict[str, Any]:
        store.running(name).fast = request.fast
        return store.running(name).status()

    for action in ("pause", "step", "stop", "undo"):
        _add_action(app, store, action)


def _add_action(app: FastAPI, store: RunStore, action: str) -> None:
    @app.post(f"/api/runs/{{name}}/{action}")
    async def act(name: str) -> dict[str, Any]:
        return await _done(store.running(name), methodcaller(action))


def _add_explanations(app: FastAPI, store: RunStore) -> None:
    @app.get("/api/runs/{name}/why")
    async def explain(name: str, target: Annotated[int, Query(ge=1, le=MOST_TARGETS)] = 1) -> dict[str, Any]:
        run = store.running(name)
        return await asyncio.wrap_future(run.ask(lambda: why.explain(run, target)))

    @app.get("/api/runs/{name}/why/{picture}")
    def why_picture(name: str, picture: str) -> Response:
        data = why.picture(store.running(name), picture)
        return Response(data, media_type="image/png", headers={"Cache-Control": "no-store"})


def _add_exports(app: FastAPI, store: RunStore) -> None:
    videos = export.VideoExport(store)

    @app.get("/api/runs/{name}/export")
    def exported(name: str) -> dict[str, Any]:
        return {"files": export.files(store.folder_of(name)), "video": videos.progress(name)}

    @app.post("/api/runs/{name}/export/video", status_code=202)
    def draw_video(name: str) -> dict[str, Any]:
        return videos.begin(name)

    @app.post("/api/runs/{name}/export/report", status_code=201)
    def report(name: str) -> dict[str, str]:
        return {"file": export.make_report(store, name)}

    @app.get("/api/runs/{name}/export/zip")
    def zipped(name: str) -> FileResponse:
        path = export.zip_folder(store.folder_of(name), store.job(name))
        return FileResponse(path, filename=f"metrack-{name}.zip", background=BackgroundTask(os.unlink, path))

    @app.get("/api/runs/{name}/export/command")
    def rerun(name: str) -> Response:
        text = export.shell_script(store.job(name))
        return Response(text, media_type="text/x-shellscript", headers=_download(export.COMMAND))

    @app.get("/api/runs/{name}/export/files/{file}")
    def one(name: str, file: str) -> FileResponse:
        return FileResponse(export.one_file(store.folder_of(name), file), filename=file)


def _add_watching(app: FastAPI, store: RunStore) -> None:
    watchers: WeakKeyDictionary[RunThread, Watchers] = WeakKeyDictionary()

    @app.websocket("/api/runs/{name}/watch")
    async def watching(socket: WebSocket, name: str, width: Width = WIDEST) -> None:
        try:
            run = store.running(name)
            if sum(map(len, watchers.values())) >= MOST_WATCHERS:
                raise RefusedError(429, f"At most {MOST_WATCHERS} pages can watch; close one first.")
        except (LookupError, ValueError) as error:
            await socket.send_denial_response(refusal(getattr(error, "status", 404), str(error.args[0])))
            return
        await socket.accept()
        if run not in watchers:
            watchers[run] = Watchers(run)
        await watch(run, watchers[run], socket, width)

    @app.websocket("/{path:path}")
    async def elsewhere(socket: WebSocket, path: str) -> None:
        await socket.send_denial_response(refusal(404, "There is nothing to watch at this address."))


def _paint_ahead(library: Library) -> None:
    """Paint the built-in clip before it is asked for, without taking time from a run."""
    lower_priority()
    library.paint_clip()


async def _done(run: RunThread, action: Callable[[RunThread], Future[None]]) -> dict[str, Any]:
    """Have a run do something, and say how it stands then."""
    await asyncio.wrap_future(action(run))
    return run.status()


def _download(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
