"""How large requests may be, and how long they may take to come.

A request that is too large or too slow is answered with a sentence, and what has come of it is forgotten.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from typing import Any

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from metrack.studio.answers import refusal

LARGEST_BODY = 200_000  # bytes of JSON: a run with eight boxes and all settings takes 3,000
LONGEST_PATH, LONGEST_QUERY = 4000, 8000  # bytes
PATIENCE = 10.0  # seconds in which a body must have come
UPLOAD_PATIENCE, SLOWEST_UPLOAD = 20.0, 20_000  # seconds, and bytes a second that an upload must keep after that
UPLOADS = "/api/uploads/"
JSON = "application/json"


class RequestLimits:
    """Stands before the application and refuses what is too long, too large, too slow or not JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _answer(scope)
        if answer is not None:
            await answer(scope, receive, send)
        else:
            await self.app(scope, _Body(receive, upload=_is_upload(scope)).receive, send)


class _Body:
    """The body of a request as it comes, until it is too large or too slow."""

    def __init__(self, receive: Receive, *, upload: bool) -> None:
        self._receive, self._upload = receive, upload
        self._begun: float | None = None  # when somebody first wanted it
        self._size, self._whole = 0, False

    async def receive(self) -> MutableMapping[str, Any]:
        """Return the next piece."""
        if self._whole:
            return await self._receive()
        now = time.monotonic()
        self._begun = self._begun or now
        patience = UPLOAD_PATIENCE + self._size / SLOWEST_UPLOAD if self._upload else PATIENCE
        try:
            message = await asyncio.wait_for(self._receive(), max(self._begun + patience - now, 0.001))
        except TimeoutError:
            raise HTTPException(408, "The request came too slowly; please send it again.") from None
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > LARGEST_BODY and not self._upload:
            raise HTTPException(413, _TOO_LARGE)
        return message


_TOO_LARGE = f"The request must be at most {LARGEST_BODY} bytes."


def _is_upload(scope: Scope) -> bool:
    return bool(scope["method"] == "PUT" and scope["path"].startswith(UPLOADS))


def _answer(scope: Scope) -> Response | None:
    """Return the answer to what is wrong before its body is looked at."""
    headers = Headers(scope=scope)
    if len(scope.get("raw_path", b"")) > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
        wanted = f"at most {LONGEST_PATH} bytes and what follows the question mark at most {LONGEST_QUERY}"
        return refusal(414, f"The address of a request must have {wanted}.")
    size = headers.get("content-length", "0")
    if _is_upload(scope):
        return None
    if len(size) > 12 or not size.isascii() or not size.isdigit() or int(size) > LARGEST_BODY:
        return refusal(413, _TOO_LARGE)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if scope["method"] == "POST" and (int(size) or "transfer-encoding" in headers) and kind != JSON:
        return refusal(415, f"The request must be {JSON}, got {kind[:60] or 'no content type'!r}.")
    return None
