"""Pushing a run to the pages that watch it.

A page gets a message, draws it, and answers; only then is it owed the next one, of the newest frame there is by then.
A slow page therefore skips pictures, never numbers: every message brings the records of all frames since the last.
A page that answers with a number is sent pictures of that many pixels across from then on: no larger than it shows
them.

Making and drawing pictures takes processors. Where there are some to spare, a page gets all it can show; where the
tracker's thread spends more than a tenth of its time waiting for one, pictures become fewer, down to six a second.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from fastapi import WebSocket
from starlette.websockets import WebSocketDisconnect

from metrack.studio.pictures import WIDEST, Picture
from metrack.studio.protocol import PUT_AWAY, event_values, pack, series
from metrack.studio.run_thread import RunThread
from metrack.studio.threads import lower_priority

UNANSWERED = 2  # messages that may be on their way: the next one is prepared while a page draws
MOST_WATCHERS = 32  # pages, of all runs together
UNASKED = 100  # answers to nothing that one page may send
MOST_PER_SECOND = 30  # messages of a run that waits for the clock
MOST_AT_ONCE = 2000  # frames of which records are sent in one message
MOST_PICTURES, FEWEST_PICTURES = 26.0, 6.0  # a second, of a run at full speed
TOLERATED = 0.1  # of its time that a tracker may wait
LESS, MORE = 0.6, 2.0  # times as many, or so many more, after every look
LOOK_AFTER = 0.5  # seconds of tracking
PACKING = ThreadPoolExecutor(1, "pictures", initializer=lower_priority)


class FrameRateLimit:
    """Lowers the rate of pictures while a tracker waits for a processor, and raises it again after."""

    def __init__(self, busy: float, worked: float) -> None:
        self._busy, self._worked = busy, worked
        self._rate = MOST_PICTURES

    def update(self, busy: float, worked: float) -> float:
        """Take the seconds of tracking so far, by the clock and of a processor; return pictures a second."""
        took = busy - self._busy
        if took >= LOOK_AFTER:
            waited = 1 - (worked - self._worked) / took
            slower, faster = max(self._rate * LESS, FEWEST_PICTURES), min(self._rate + MORE, MOST_PICTURES)
            self._rate = slower if waited > TOLERATED else faster
            self._busy, self._worked = busy, worked
        return self._rate


class Watchers:
    """The pages that watch one run, woken when it moves."""

    def __init__(self, run: RunThread) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: set[asyncio.Event] = set()
        self._limit: FrameRateLimit | None = None
        run.moved = self._wake

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self) -> asyncio.Event:
        """Return an event that is set when the run moves."""
        moved = asyncio.Event()
        moved.set()
        self._waiting.add(moved)
        self._wake_all()
        return moved

    def leave(self, moved: asyncio.Event) -> None:
        """Stop watching."""
        self._waiting.discard(moved)
        self._wake_all()

    def pictures_per_second(self, run: RunThread) -> float:
        """Return how many pictures each of them may get; how long several trackers wait for each other is not known."""
        if not run.fast or run.live:
            return MOST_PER_SECOND
        session = run.session
        if session is None or len(session.tracks) > 1:
            return MOST_PICTURES
        self._limit = self._limit or FrameRateLimit(session.busy, session.worked)
        return self._limit.update(session.busy, session.worked)

    def _wake(self) -> None:
        """Called by the run's thread; says nothing while nobody listens or all have been woken already."""
        if any(not moved.is_set() for moved in tuple(self._waiting)):
            self._loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        for moved in self._waiting:
            moved.set()


@dataclass(slots=True)
class Known:
    """What a page has been told so far, and how many pixels across it shows pictures."""

    epoch: int = -1
    frames: int = 0
    events: int = 0
    picture: Picture | None = None
    status: dict[str, Any] | None = None
    width: int = WIDEST


class Credit:
    """How many messages a page may be sent before it answers one."""

    def __init__(self) -> None:
        self._left, self._unasked, self._more = UNANSWERED, 0, asyncio.Event()

    async def wait(self) -> None:
        """Wait until one may be sent, and count it as sent."""
        while not self._left:
            self._more.clear()
            await self._more.wait()
        self._left -= 1

    def answered(self) -> bool:
        """Take an answer; return whether there have not been too many to nothing."""
        if self._left < UNANSWERED:
            self._left += 1
            self._more.set()
        else:
            self._unasked += 1
        return self._unasked <= UNASKED


async def watch(run: RunThread, watchers: Watchers, socket: WebSocket, width: int = WIDEST) -> None:
    """Keep one page up to date until it goes away."""
    moved, credit, known = watchers.join(), Credit(), Known(width=width)
    pushing = asyncio.create_task(_push(run, watchers, socket, moved, credit, known))
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                break
            answer = message.get("text") or ""  # what is not a number is an answer all the same
            known.width = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 6 else known.width
            if not credit.answered():
                await socket.close(1008, "too many messages")
                break
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        pushing.cancel()
        watchers.leave(moved)


async def _push(
    run: RunThread, watchers: Watchers, socket: WebSocket, moved: asyncio.Event, credit: Credit, known: Known
) -> None:
    loop, due = asyncio.get_running_loop(), 0.0
    try:
        while True:
            await credit.wait()
            await asyncio.sleep(max(due - time.monotonic(), 0))
            moved.clear()
            while (data := await loop.run_in_executor(PACKING, _message, run, known, len(watchers))) is None:
                if run.gone:
                    await socket.close(PUT_AWAY)
                    return
                await moved.wait()
                moved.clear()
            due = _next(due, watchers.pictures_per_second(run))
            await socket.send_bytes(data)
    except (WebSocketDisconnect, RuntimeError):
        return


def _message(run: RunThread, known: Known, watching: int) -> bytes | None:
    """Make the next message for a page; in a thread, as a page that comes late is told of thousands of frames."""
    message = news(run, known, watching)
    if message is None:
        return None
    picture = known.picture if message.pop("new") else None
    return pack(message, picture, known.width)


def _next(due: float, per_second: float) -> float:
    """Say when the next message is due: a step after the last one was, unless that is long ago."""
    return max(due, time.monotonic() - 1 / per_second) + 1 / per_second


def news(run: RunThread, known: Known, watching: int) -> dict[str, Any] | None:
    """Return what a page does not know yet, and count it as known; None if it knows everything."""
    picture, status = run.picture, {**run.status(), "watching": watching}
    if run.revision != known.epoch:
        known.epoch, known.frames, known.events = run.revision, 0, 0
    elif picture is known.picture and status == known.status and status["frames"] == known.frames:
        return None
    begin = known.frames
    records, events = run.records(begin)[:MOST_AT_ONCE], run.events[known.events :]
    known.frames, known.events = begin + len(records), known.events + len(events)
    new, known.picture, known.status = picture is not known.picture, picture, status
    return {
        "new": new,
        "epoch": known.epoch,
        "begin": begin,
        "series": series(records),
        "events_begin": known.events - len(events),
        "events": [event_values(each) for each in events],
        "status": status,
    }
