"""The door between the page and the work: what may be asked, and how it is answered.

Wrong wishes are answered with one sentence in ``{"error": ...}``. Whatever takes time runs in a thread.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from fastapi import FastAPI, Query, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect

from metrack.checks import check_box
from metrack.studio import export, why
from metrack.studio.book import Book, Wish
from metrack.studio.camera import Cameras
from metrack.studio.guard import Door, Guard
from metrack.studio.library import VIDEO_SUFFIXES, Library
from metrack.studio.priority import step_back
from metrack.studio.protocol import form
from metrack.studio.run import Run
from metrack.studio.shot import WIDEST
from metrack.studio.watching import Watchers, watch

STATIC = Path(__file__).parent / "static"
A_WHILE = "private, max-age=300"
Width = Annotated[int, Query(ge=16, le=WIDEST)]
Box = Annotated[list[float], Field(min_length=4, max_length=4)]


class Opening(BaseModel):
    """A source to open."""

    source: str


class Start(BaseModel):
    """A run to start."""

    source: str
    boxes: list[Box] = Field(max_length=32)
    start: int = Field(0, ge=0)
    stop: int | None = None
    preset: str = "default"
    changes: dict[str, str | int | float] = {}
    seed: int = Field(0, ge=0)
    fast: bool = True


class Correction(BaseModel):
    """Another box for a target from a frame on."""

    frame: int
    target: int
    box: Box


class Pace(BaseModel):
    """Whether to follow as fast as possible or at the speed of the video."""

    fast: bool


def build(library: Library, book: Book, door: Door) -> FastAPI:
    """Make the application."""
    cameras, drawing = Cameras(), export.Drawing(book)
    watchers: WeakKeyDictionary[Run, Watchers] = WeakKeyDictionary()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=_paint_ahead, args=(library,), daemon=True).start()
        yield
        cameras.close()
        await asyncio.to_thread(book.close)

    app = FastAPI(title="metrack studio", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Guard, door=door)
    _explain_errors(app)

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
            "gallery": book.known_names,
            **form(),
        }

    @app.get("/api/files")
    def listing(under: str = "") -> dict[str, Any]:
        return library.listing(under)

    @app.put("/api/uploads/{name}")
    async def upload(name: str, request: Request) -> dict[str, str]:
        length = request.headers.get("content-length", "")
        size = int(length) if length.isdigit() else None
        return {"source": await library.take_upload(name, size, request.stream())}

    @app.post("/api/open")
    def open_one(wish: Opening) -> dict[str, Any]:
        place = library.place(wish.source)
        if place.kind == "camera":
            return cameras.open(place.text)
        reader = library.reader(wish.source)
        width, height = reader.size
        return {
            "source": wish.source,
            "name": "Built-in clip" if place.kind == "clip" else reader.name,
            "width": width,
            "height": height,
            "fps": reader.fps,
            "frames": reader.frames,
            "live": False,
        }

    @app.get("/api/frame")
    def frame(source: str, n: Annotated[int, Query(ge=0)], width: Width = WIDEST) -> Response:
        if source.startswith("camera:"):
            return Response(cameras.jpeg(source), media_type="image/jpeg", headers={"Cache-Control": "no-store"})
        data = library.reader(source).jpeg(n, width)
        return Response(data, media_type="image/jpeg", headers={"Cache-Control": A_WHILE})

    @app.get("/api/runs")
    def runs() -> list[dict[str, Any]]:
        return book.listing()

    @app.post("/api/runs", status_code=201)
    def start(wish: Start) -> dict[str, str]:
        boxes = [(box[0], box[1], box[2], box[3]) for box in wish.boxes]
        asked = Wish(**{**wish.model_dump(), "boxes": boxes})
        if wish.source.startswith("camera:"):
            return {"id": book.start(asked, cameras)}
        shape = library.reader(wish.source).frame(wish.start).image.shape
        for box in boxes:
            check_box(box, shape)
        return {"id": book.start(asked)}

    @app.get("/api/runs/{name}")
    def describe(name: str) -> dict[str, Any]:
        return book.describe(name)

    @app.post("/api/runs/{name}/pause")
    async def pause(name: str) -> dict[str, Any]:
        return await _done(book.running(name), lambda run: run.pause())

    @app.post("/api/runs/{name}/go")
    async def go(name: str) -> dict[str, Any]:
        run = book.find(name)
        if run is None:
            run = await asyncio.to_thread(book.go_on, name)
        else:
            await asyncio.wrap_future(run.go())
        return run.status()

    @app.post("/api/runs/{name}/step")
    async def step(name: str) -> dict[str, Any]:
        return await _done(book.running(name), lambda run: run.step())

    @app.post("/api/runs/{name}/stop")
    async def stop(name: str) -> dict[str, Any]:
        return await _done(book.running(name), lambda run: run.stop())

    @app.post("/api/runs/{name}/correct")
    async def correct(name: str, wish: Correction) -> dict[str, Any]:
        x, y, w, h = wish.box
        return await _done(book.running(name), lambda run: run.correct(wish.frame, wish.target, (x, y, w, h)))

    @app.post("/api/runs/{name}/undo")
    async def undo(name: str) -> dict[str, Any]:
        return await _done(book.running(name), lambda run: run.undo())

    @app.post("/api/runs/{name}/pace")
    def pace(name: str, wish: Pace) -> dict[str, Any]:
        book.running(name).fast = wish.fast
        return book.running(name).status()

    @app.get("/api/runs/{name}/why")
    async def explain(name: str, target: Annotated[int, Query(ge=1)] = 1) -> dict[str, Any]:
        run = book.running(name)
        return await asyncio.wrap_future(run.ask(lambda: why.explain(run, target)))

    @app.get("/api/runs/{name}/why/{picture}")
    def why_picture(name: str, picture: str) -> Response:
        data = why.picture(book.running(name), picture)
        return Response(data, media_type="image/png", headers={"Cache-Control": "no-store"})

    @app.get("/api/runs/{name}/export")
    def exported(name: str) -> dict[str, Any]:
        return {"files": export.files(book.folder_of(name)), "video": drawing.progress(name)}

    @app.post("/api/runs/{name}/export/video", status_code=202)
    def draw_video(name: str) -> dict[str, Any]:
        return drawing.begin(name)

    @app.post("/api/runs/{name}/export/report", status_code=201)
    def report(name: str) -> dict[str, str]:
        return {"file": export.write_report(book, name)}

    @app.get("/api/runs/{name}/export/zip")
    def zipped(name: str) -> FileResponse:
        path = export.zip_folder(book.folder_of(name), book.describe(name)["job"])
        return FileResponse(path, filename=f"metrack-{name}.zip", background=BackgroundTask(os.unlink, path))

    @app.get("/api/runs/{name}/export/command")
    def rerun(name: str) -> Response:
        text = export.shell_script(book.describe(name)["job"])
        return Response(text, media_type="text/x-shellscript", headers=_download(export.COMMAND))

    @app.get("/api/runs/{name}/export/files/{file}")
    def one(name: str, file: str) -> FileResponse:
        return FileResponse(export.one_file(book.folder_of(name), file), filename=file)

    @app.websocket("/api/runs/{name}/watch")
    async def watching(socket: WebSocket, name: str, width: Width = WIDEST) -> None:
        try:
            run = book.running(name)
        except (LookupError, ValueError):
            await socket.close(4004)
            return
        await socket.accept()
        if run not in watchers:
            watchers[run] = Watchers(run)
        await watch(run, watchers[run], socket, width)

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _paint_ahead(library: Library) -> None:
    """Paint the built-in clip before it is asked for, without taking time from a run."""
    step_back()
    library.paint_clip()


async def _done(run: Run, action: Callable[[Run], Future[None]]) -> dict[str, Any]:
    """Have a run do something, and say how it stands then."""
    await asyncio.wrap_future(action(run))
    return run.status()


def _download(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}


def _explain_errors(app: FastAPI) -> None:
    def answer(code: int) -> Callable[[Request, Exception], JSONResponse]:
        return lambda _, error: JSONResponse({"error": _sentence(error)}, status_code=code)

    for kind, code in ((ValueError, 400), (LookupError, 404), (ClientDisconnect, 400), (RequestValidationError, 422)):
        app.add_exception_handler(kind, answer(code))


def _sentence(error: Exception) -> str:
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'][1:])}: {first['msg']}"
    text = str(error.args[0]) if error.args else "The upload broke off; please send it again."
    return text if "." in text.partition(" ")[0] else text[:1].upper() + text[1:]  # names of files stay as they are
