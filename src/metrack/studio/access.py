"""Who may ask: whoever has the token that was printed at the start, from this page, and nobody else.

Other people on the same machine can reach a server on loopback, so it wants a token everywhere: once in the address,
from then on in a cookie; programs send it in a header. A page of another site can make a browser send requests here,
with that cookie where it comes from the same machine; it cannot fake the ``Host``, ``Origin`` and ``Sec-Fetch-Site``
headers that the browser adds. All of them are checked for every request and every WebSocket.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from metrack.studio.answers import STYLE, own_page, refusal
from metrack.studio.sockets import OWNER

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_VARIABLE = "METRACK_STUDIO_TOKEN"  # in the environment: other users cannot see it, as they could an argument
TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")
OWN_SITES = (None, "same-origin")  # none at all is sent by programs, which no other page can make do anything
OWN_STYLE = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{OWN_STYLE}'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_TOKEN = "This studio wants the token that metrack studio printed when it was started: open that whole address"
FOR_PROGRAMS = ", or send the token in the header Authorization: Bearer"
OTHER_SITE = "Only the studio's own page may ask, but this request comes from another site."


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the studio listens, and the token it wants."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""

    @classmethod
    def at(cls, host: str, port: int) -> Endpoint:
        """Return an endpoint with the token of the environment, or with a new one."""
        given = os.environ.get(TOKEN_VARIABLE)
        if given is not None and not TOKEN.fullmatch(given):
            raise ValueError(f"{TOKEN_VARIABLE} must be 16 to 128 letters, digits, - or _, got {len(given)} characters")
        return cls(host, port, given or secrets.token_urlsafe(32))

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers send the cookies of one port to all others of the same machine."""
        return f"metrack_studio_{self.port}"

    def knows_host(self, value: str) -> bool:
        """Whether a ``Host`` header names this server: a name that a stranger's DNS could answer for does not."""
        name, port = _split(value)
        if port != self.port:
            return False
        if name in LOOPBACK:
            return True
        away = self.host not in LOOPBACK
        return away and (name in (self.host, socket.gethostname().lower()) or _is_number(name))

    def knows_origin(self, value: str | None, host: str) -> bool:
        """Whether a request comes from our own page; programs that are no browser send no ``Origin``."""
        return value is None or value == f"http://{host}"

    def knows_token(self, given: str) -> bool:
        """Whether this is the token, in a time that does not depend on how much of it is right."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


class AccessControl:
    """Stands before the application, lets in who may ask, and adds the headers that keep the page strict."""

    def __init__(self, app: ASGIApp, endpoint: Endpoint) -> None:
        self.app, self.endpoint = app, endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        answer = self._answer(scope)
        if answer is not None and scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(answer)
        elif answer is not None:
            answer.headers["Connection"] = "close"  # many requests at once must not cost more than one
            await answer(scope, receive, _with_headers(scope, send))
        else:
            await self.app(scope, receive, _with_headers(scope, send) if scope["type"] == "http" else send)

    def _answer(self, scope: Scope) -> Response | None:
        """Return the answer to who may not ask, or who just brings the token; None for all others."""
        headers, page = Headers(scope=scope), _is_page(scope)
        host = headers.get("host", "")
        if not self.endpoint.knows_host(host):
            called = f"This studio is not called {host[:100]!r}; open the address it printed when it started."
            return refusal(421, called, page=page)
        if not self.endpoint.knows_origin(headers.get("origin"), host):
            return refusal(403, OTHER_SITE, page=page)
        if page and self.endpoint.knows_token(_asked(scope)):
            return self._welcome()
        if not _own_site(headers):
            return refusal(403, OTHER_SITE, page=page)
        if any(self.endpoint.knows_token(each) for each in (_bearer(headers), self._cookie(headers))):
            scope[OWNER] = True
            return None
        sentence = f"{NO_TOKEN}{'' if page else FOR_PROGRAMS}."
        return refusal(401, sentence, page=page, headers={"WWW-Authenticate": "Bearer"})

    def _welcome(self) -> Response:
        """Exchange the token for a cookie, and have the page opened anew without it.

        By a page and not by a redirect: where a file or another program had the address opened, a browser would not
        send so strict a cookie along with a redirect.
        """
        head = '<link rel="icon" href="/static/icon.svg"><meta http-equiv="refresh" content="0; url=/">'
        text = '<a href="/">Open the studio</a>'
        welcome = HTMLResponse(own_page(text, head), headers={"Cache-Control": "no-store"})
        welcome.set_cookie(self.endpoint.cookie, self.endpoint.token, httponly=True, samesite="strict")
        return welcome

    def _cookie(self, headers: Headers) -> str:
        """Return the token as a browser sends it, whatever the cookies of other programs on this machine look like."""
        return cookie_parser(headers.get("cookie", "")).get(self.endpoint.cookie, "")


def _split(value: str) -> tuple[str, int]:
    name, colon, port = value.lower().rpartition(":")
    if not colon or not (port.isascii() and port.isdigit() and len(port) < 6):
        return value.lower().strip("[]"), 80
    return name.strip("[]"), int(port)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_page(scope: Scope) -> bool:
    """Whether the page itself is asked for, and not what it is made of."""
    return bool(scope["type"] == "http" and scope["path"] == "/" and scope["method"] == "GET")


def _asked(scope: Scope) -> str:
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get("token", [""])[0]


def _own_site(headers: Headers) -> bool:
    """Whether our own page asks, or a person who typed the address."""
    site = headers.get("sec-fetch-site")
    return site in OWN_SITES or (site == "none" and headers.get("sec-fetch-mode") in (None, "navigate"))


def _bearer(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _with_headers(scope: Scope, send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = list(message.get("headers", ()))
            added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            if scope["path"].startswith("/api/") and not any(name == b"cache-control" for name, _ in present):
                added.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*present, *added]}
        await send(message)

    return sending
