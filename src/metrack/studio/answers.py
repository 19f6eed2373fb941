"""What a request that cannot be granted is answered with: one sentence, as JSON, or as a page where a person asked.

Nothing a request brings reaches the studio's own errors: whatever is wrong with it ends here as a status below 500.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response

LONGEST = 400  # characters of a sentence
STYLE = (  # in the page itself: without the token, nothing else is to be had
    "body{margin:0;min-height:90vh;display:grid;place-items:center;font:1rem/1.5 system-ui,sans-serif}"
    "main{max-width:34rem;padding:1rem}h1{font-size:1.5rem;font-weight:600}"
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>metrack studio</title>{head}<style>{style}</style></head>
<body><main><h1>metrack studio</h1><p>{text}</p></main></body></html>
"""
USUAL = {
    400: "The request must be JSON, but it cannot be read.",
    404: "There is nothing at this address.",
    405: "This address does not know the method {method}.",
}
BROKEN = "Something went wrong in the studio itself; what it was is told where it was started."


class RefusedError(ValueError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def refusal(status: int, sentence: str, *, page: bool = False, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer that says no, as a page for a person or as JSON for a program."""
    sentence = one_sentence(sentence)
    if page:
        return HTMLResponse(own_page(html.escape(sentence)), status, headers)
    return JSONResponse({"error": sentence}, status, headers)


def own_page(text: str, head: str = "") -> str:
    """Return the page that says one thing, which needs no other file."""
    return PAGE.format(head=head, style=STYLE, text=text)


def one_sentence(text: str) -> str:
    """Return a text that can be sent: not too long, and without halves of characters."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def explain_errors(app: FastAPI) -> None:
    """Have the application answer errors with a sentence."""

    def answer(status: int) -> Callable[[Request, Any], Response]:
        return lambda request, error: refusal(getattr(error, "status", status), _sentence(error))

    def standard(request: Request, error: Any) -> Response:
        usual = USUAL.get(error.status_code, "").format(method=request.method[:20])
        return refusal(error.status_code, usual or str(error.detail), headers=error.headers)

    async def watching(socket: WebSocket, error: Any) -> None:
        await socket.send_denial_response(refusal(422, _invalid(error)))

    kinds = {ValueError: 400, LookupError: 404, OSError: 400, ClientDisconnect: 400, RequestValidationError: 422}
    for kind, status in kinds.items():
        app.add_exception_handler(kind, answer(status))
    app.add_exception_handler(HTTPException, standard)
    app.add_exception_handler(WebSocketRequestValidationError, watching)
    app.add_exception_handler(Exception, lambda request, error: refusal(500, BROKEN))


def _sentence(error: Exception) -> str:
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, OSError):
        name = Path(str(error.filename)).name if error.filename else "A file of this source"
        return f"{name} cannot be used ({error.strerror or type(error).__name__})."
    text = str(error.args[0]) if error.args else "The request broke off; please send it again."
    return text if "." in text.partition(" ")[0] else text[:1].upper() + text[1:]  # names of files stay as they are


def _invalid(error: Any) -> str:
    first = error.errors()[0]
    what, message = ".".join(str(part) for part in first["loc"][1:]), str(first["msg"])
    if first["type"] == "json_invalid":
        return f"The request must be JSON, but it is not from character {what} on."
    if first["type"] == "missing":
        return f"The request must have {what or 'a body in JSON'}."
    given = first.get("input")
    got = f", got {str(given)[:60]!r}" if isinstance(given, str | int | float) else ""
    wanted = message.removeprefix("Input should ").removeprefix("be ")
    if wanted != message:
        return f"{what or 'The request'} must be {wanted}{got}."
    return f"{what or 'The request'} is not as it should be: {message[:1].lower()}{message[1:]}{got}."
