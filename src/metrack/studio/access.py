"""Who may ask: this machine's browser showing this page, and nobody else.

A page of another site can make a browser send requests to a local server; it cannot fake the ``Host`` and ``Origin``
headers that the browser adds. Both are checked for every request and every WebSocket. On another address than
loopback a token is wanted as well: once in the address, from then on in a cookie.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "metrack_studio"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the studio listens, and the token it wants where others could reach it."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None

    @classmethod
    def at(cls, host: str, port: int) -> Endpoint:
        """Return an endpoint that has a token unless only this machine can reach it."""
        return cls(host, port, None if host in LOOPBACK else secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def knows_host(self, value: str) -> bool:
        """Whether a ``Host`` header names this server: a name that a stranger's DNS could answer for does not."""
        name, port = _split(value)
        if port != self.port:
            return False
        if name in LOOPBACK:
            return True
        return self.token is not None and (name in (self.host, socket.gethostname().lower()) or _is_number(name))

    def knows_origin(self, value: str | None, host: str) -> bool:
        """Whether a request comes from our own page; programs that are no browser send no ``Origin``."""
        return value is None or value == f"http://{host}"


class AccessControl:
    """Stands before the application, lets in who may ask, and adds the headers that keep the page strict."""

    def __init__(self, app: ASGIApp, endpoint: Endpoint) -> None:
        self.app, self.endpoint = app, endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif refusal is not None:
            await refusal(scope, receive, _with_headers(send))
        else:
            await self.app(scope, receive, _with_headers(send) if scope["type"] == "http" else send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self.endpoint.knows_host(host):
            return _no(421, f"This studio is not called {host[:100]!r}; open the address it printed when it started.")
        if not self.endpoint.knows_origin(headers.get("origin"), host):
            return _no(403, "Only the studio's own page may ask, but this request comes from another site.")
        return self._refusal_without_token(scope, headers)

    def _refusal_without_token(self, scope: Scope, headers: Headers) -> Response | None:
        token = self.endpoint.token
        if token is None or _same(_cookie(headers), token):
            return None
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["type"] == "http" and scope["path"] == "/" and _same(asked, token):
            welcome = RedirectResponse("/", status_code=303)
            welcome.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return welcome
        return _no(401, "This studio wants the token that it printed when it started: open that whole address once.")


def _split(value: str) -> tuple[str, int]:
    name, colon, port = value.lower().rpartition(":")
    if not colon or not port.isdigit():
        return value.lower().strip("[]"), 80
    return name.strip("[]"), int(port)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(headers: Headers) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _no(code: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status_code=code)


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sending
