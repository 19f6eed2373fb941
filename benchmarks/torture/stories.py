"""What a server of video may do wrong, drawn from one generator of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from torture.servers import Server, Story, Visit, jpegs, recording

LARGE = (96, 80)
NEVER = 60.0  # seconds: longer than any client waits
FRAMES = 40  # of a recording


@dataclass(frozen=True, slots=True)
class Tale:
    """A story, and what must come of it.

    ``codes`` are the exit codes there may be; ``live`` says that frames are pictures that the server counts, ``exact``
    that none of them may be missing from those followed and dropped, nor a connection from those that came back.
    ``stop`` ends the run after so many frames, ``interrupt`` by Ctrl-C after so many seconds.
    """

    story: Story
    codes: tuple[int, ...] = (1,)
    live: bool = True
    exact: bool = False
    stop: int | None = None
    interrupt: float | None = None
    frames: int | None = None  # that must be followed
    other: Story | None = None  # of a second server, to whose port ``{port}`` in the story leads


Teller = Callable[[np.random.Generator], Tale]


@cache
def small() -> list[bytes]:
    """Return pictures of the usual size."""
    return jpegs(16)


@cache
def large() -> list[bytes]:
    """Return pictures of another size."""
    return jpegs(4, LARGE)


recorded = cache(recording)


def quick(rng: np.random.Generator) -> Tale:
    """500 frames a second, and then the end."""
    count = int(rng.integers(300, 900))

    def story(visit: Visit) -> None:
        visit.live()
        if visit.number == 0:
            visit.pictures(small(), count, 0.002)

    return Tale(story, exact=True)


def flood(rng: np.random.Generator) -> Tale:
    """As many frames as the connection takes, ended by Ctrl-C or after some."""

    def story(visit: Visit) -> None:
        visit.live()
        visit.pictures(small(), 1_000_000, 0.002)

    if rng.random() < 0.5:
        return Tale(story, (2,), interrupt=float(rng.uniform(1.5, 3.0)))
    return Tale(story, (0,), stop=int(rng.integers(5, 20)))


def _breaks(rng: np.random.Generator, how: Callable[[Visit], None], exact: bool) -> Tale:
    """Send some frames in each of several connections, and break off in between."""
    counts = [int(count) for count in rng.integers(1, 30, int(rng.integers(1, 4)))]

    def story(visit: Visit) -> None:
        visit.live()
        if visit.number < len(counts):
            visit.pictures(small(), counts[visit.number], 0.01)
            how(visit)

    return Tale(story, exact=exact)


def stalls(rng: np.random.Generator) -> Tale:
    """Silence after some frames, and again after a new connection."""
    return _breaks(rng, lambda visit: visit.stall(NEVER), exact=True)


def resets(rng: np.random.Generator) -> Tale:
    """A reset after some frames."""
    return _breaks(rng, Visit.reset, exact=False)


def closes(rng: np.random.Generator) -> Tale:
    """A polite end after some frames."""
    return _breaks(rng, lambda visit: None, exact=True)


def garbage(rng: np.random.Generator) -> Tale:
    """Noise between frames, or in the place of them, or nothing else."""
    pieces = [rng.bytes(int(size)) for size in rng.integers(10, 3000, 40)]
    share, rounds = float(rng.choice([0.1, 0.5, 1.0])), 3

    def story(visit: Visit) -> None:
        visit.live()
        if visit.number < rounds:
            for number, piece in enumerate(pieces):
                if number % 10 >= 10 * share:
                    visit.picture(small()[number % 16])
                else:
                    visit.send(piece)
            while share == 1.0:
                visit.send(pieces[0])

    return Tale(story)


def sizes(rng: np.random.Generator) -> Tale:
    """Another size from some frame on, at once or after a break."""
    count, again = int(rng.integers(1, 20)), bool(rng.random() < 0.5)

    def story(visit: Visit) -> None:
        visit.live()
        if visit.number == 0:
            visit.pictures(small(), count, 0.02)
        if visit.number > 0 or not again:
            visit.pictures(large(), 1000, 0.02)

    return Tale(story)


def redirects(rng: np.random.Generator) -> Tale:
    """To itself for ever, or to another port, where there is a stream, or to a file."""
    where = str(rng.choice(["/live", "http://127.0.0.1:{port}/live", "file://{file}", "{file}", "ftp://127.0.0.1/x"]))

    def story(visit: Visit) -> None:
        visit.head("text/html", 0, 302, Location=visit.fill(where))

    def other(visit: Visit) -> None:
        visit.live()
        visit.pictures(small(), 1000, 0.01)

    fine = "{port}" in where
    return Tale(story, (0,) if fine else (1,), live=False, stop=5, frames=5 if fine else None, other=other)


def refuses(rng: np.random.Generator) -> Tale:
    """An error, or nothing at all, or a page."""
    status = int(rng.choice([204, 401, 403, 404, 410, 500, 503, 0, 1, 200]))

    def story(visit: Visit) -> None:
        if status > 1:
            visit.head("text/html", 5, status)
            visit.send(b"hello")
        elif status == 1:
            visit.reset()

    return Tale(story)


def drips(rng: np.random.Generator) -> Tale:
    """A header without end, or a picture byte by byte."""
    header = bool(rng.random() < 0.5)

    def story(visit: Visit) -> None:
        if header:
            visit.send(b"HTTP/1.1 200 OK\r\n")
        else:
            visit.live()
        while not visit.served.closed.is_set():
            visit.send(b"X-More: %s\r\n" % (b"x" * 200) if header else b"-")
            visit.stall(0.001 if header else 0.05)

    return Tale(story)


def transport(rng: np.random.Generator) -> Tale:
    """An MPEG transport stream that ends, stalls, or is damaged."""
    data, how = bytearray(recorded("mpegts", FRAMES)), int(rng.integers(4))
    cut = int(rng.integers(len(data) // 3, len(data)))
    if how == 3:
        for place in rng.integers(0, len(data), 300):
            data[place] ^= 0xFF

    def story(visit: Visit) -> None:
        visit.head("video/mp2t")
        if visit.number < 2:
            visit.send(bytes(data[:cut] if how else data))
            visit.stall(NEVER if how == 1 else 0)
            if how == 2:
                visit.reset()

    return Tale(story, live=False)


def films(rng: np.random.Generator) -> Tale:
    """An MP4 file of a length that is true, or too much: then it ends, stalls or is reset before."""
    data, how = recorded("mp4", FRAMES), int(rng.integers(4))
    cut = len(data) - int(rng.integers(1, 1500))

    def story(visit: Visit) -> None:
        visit.head("video/mp4", len(data))
        visit.send(data[:cut] if how else data)
        visit.stall(NEVER if how == 1 else 0)
        if how == 2:
            visit.reset()

    return Tale(story, (1,) if how else (0,), live=False, frames=None if how else FRAMES)


def playlists(rng: np.random.Generator) -> Tale:
    """A playlist that leads to a file of this machine, or to itself."""
    entry = str(rng.choice(["file://{file}", "{file}", "/live", "concat:{file}|{file}"]))
    text = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{entry}\n#EXT-X-ENDLIST\n"

    def story(visit: Visit) -> None:
        data = visit.fill(text).encode()
        visit.head("application/vnd.apple.mpegurl", len(data))
        visit.send(data)

    return Tale(story, live=False)


TALES: tuple[Teller, ...] = (
    *(quick, flood, flood, stalls, resets, closes, garbage, sizes, redirects, refuses, drips, transport, films),
    playlists,
)


def served(tale: Tale, file: str) -> list[Server]:
    """Start the server of a tale, and the one its redirects lead to, if there is one."""
    others = [] if tale.other is None else [Server(tale.other)]
    places = {"file": file, "port": others[0].port if others else 0}
    return [Server(tale.story, places), *others]
