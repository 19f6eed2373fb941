"""Connections to the studio: how many there may be, and how long one may do nothing.

Anybody on this machine can open them, so none may cost more than a place, and none keeps that place for nothing: where
all are taken, the oldest that has not shown the token is closed, or else the one where nothing has moved for longest.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 256
LARGEST_HEAD = 32_768  # bytes of a request before its body
PATIENCE = 10.0  # seconds for a head to come, or for a body that nobody wants any more
LINGER = 1.0  # seconds in which a client can read that its request was none
STUCK = 60.0  # seconds in which a client must take something of its answer
OWNER = "metrack.owner"  # in the scope of a request that had the token
LOOK_AFTER = 2.0  # seconds
MOST_HEADERS, LONGEST_HEADER = 100, 8000
FAULTS_OF_CLIENTS = (  # which uvicorn takes for those of a program
    "ASGI callable returned without completing handshake.",  # a WebSocket was refused
    "Invalid UTF-8 sequence received from client.",
)
NOT_HTTP = f"This must be a request in HTTP/1.1 whose head has at most {LARGEST_HEAD} bytes."


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a message for the screen is about the studio, and not about what a client did."""
    return record.getMessage() not in FAULTS_OF_CLIENTS


class LimitedConnection(H11Protocol):
    """A connection that is closed when it is too slow, and where its place is needed."""

    _looking: asyncio.TimerHandle | None = None
    _begun = 0.0
    _since, _unsent = 0.0, 0  # when it last moved, and bytes of an answer that waited then
    _refused = _given_up = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, if need be that of another."""
        super().connection_made(transport)
        line = transport.get_extra_info("socket")
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the end of an answer waits for 40 ms
        self._begun = self._since = time.monotonic()
        self._looking = self.loop.call_later(LOOK_AFTER, self._look)
        self._make_room()

    def on_response_complete(self) -> None:
        """Note when it was last of use."""
        self._since = time.monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_looking()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; whatever cannot be understood ends this connection and nothing else."""
        if self._refused:
            return
        try:
            super().data_received(data)
        except Exception:  # of the libraries, over input they did not expect
            self.give_up()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Go over to a WebSocket where the request is one that can."""
        names = {name for name, _ in self.headers}
        longest = max([len(name) + len(value) for name, value in self.headers] + [len(event.target)])
        plain = event.method == b"GET" and not names & {b"content-length", b"transfer-encoding"}
        if not plain or event.http_version != b"1.1" or len(self.headers) > MOST_HEADERS or longest > LONGEST_HEADER:
            self.send_400_response("A WebSocket begins with a plain GET request.")
            return
        self._stop_looking()
        known = set(self.connections)
        try:
            super().handle_websocket_upgrade(event)
        except Exception:  # the connection is closed for it, and must not keep its place
            self.connections &= known
            raise

    def send_400_response(self, msg: str) -> None:
        """Say in JSON that this is no request."""
        if self.cycle is not None:  # a request whose body broke off in nonsense: nobody wants its answer any more
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        sentence = NOT_HTTP if msg.startswith("Invalid HTTP") else msg
        data = json.dumps({"error": sentence}).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(data))), ("connection", "close")]
        with suppress(h11.LocalProtocolError):  # where an answer is under way already
            head = self.conn.send(h11.Response(status_code=400, headers=headers, reason=b"Bad Request"))
            self.transport.write((head or b"") + (self.conn.send(h11.Data(data=data)) or b""))
            self.transport.write_eof()
        self._refused = True
        self.loop.call_later(LINGER, self.give_up)  # not now: what is still to come would take the answer away

    @property
    def answering(self) -> bool:
        """Whether a request has come and its answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def unsent(self) -> int:
        """How many bytes of answers wait for the client to read."""
        return self.transport.get_write_buffer_size()

    @property
    def is_owner(self) -> bool:
        """Whether its last request had the token."""
        return self.scope is not None and OWNER in self.scope

    def give_up(self) -> None:
        """Close it, whatever is under way."""
        self._given_up = True
        self._stop_looking()
        if self.transport is not None:
            self.transport.abort()

    def _make_room(self) -> None:
        """Close one connection where there are too many; one whose owner waits for an answer to be made is none."""
        limited = [each for each in self.connections if isinstance(each, LimitedConnection)]
        there = [each for each in limited if not each._given_up]  # the others are about to go
        if len(self.connections) - len(limited) + len(there) > MOST_CONNECTIONS:
            idle = [each for each in there if each.unsent or not (each.answering and each.is_owner)]
            min(idle, key=lambda each: (each.is_owner, each._since if each.is_owner else each._begun)).give_up()

    def _look(self) -> None:
        """See whether it moves."""
        now, unsent = time.monotonic(), self.unsent
        if unsent != self._unsent or (self.answering and not unsent):
            self._since = now
        self._unsent = unsent
        if now - self._since > (STUCK if self.answering or unsent else PATIENCE):
            self.give_up()
            return
        self._looking = self.loop.call_later(LOOK_AFTER, self._look)

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def shutdown(self) -> None:
        """End it when the studio does."""
        with suppress(h11.LocalProtocolError):
            super().shutdown()
            return
        self.transport.close()


def limits() -> dict[str, Any]:
    """Return how a server must be configured so that these limits hold, and so that it does not tell of clients."""
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    return {
        "http": LimitedConnection,
        "h11_max_incomplete_event_size": LARGEST_HEAD,
        "timeout_keep_alive": int(PATIENCE),
        "ws": "websockets-sansio",
        "ws_per_message_deflate": False,
        "ws_max_size": 4096,
    }
