"""Random and hostile arguments to every public call, and random orders of calls on live trackers.

The arguments are drawn by strategies of hypothesis. A case runs in a process of its own, which notes every call before
it is made: the parent ends it where a call does not end by itself. Warnings count as misses.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import numpy as np

from metrack import Tracker
from metrack.draw.pictures import write_picture
from torture.api_answers import judge
from torture.api_live import BOX, CONFIGS, PICTURE, Life, clip, strange
from torture.api_plain import Draw, plain
from torture.api_values import HEIGHT, WIDTH
from torture.campaign import Campaign, MissError

PLAIN_CALLS, LIVES, STEPS, STRANGE = 3000, 6, 50, 10  # of a case
LATEST = 20.0  # seconds on the clock after which a call is given up
ROOM = 4 << 30  # bytes of addresses that a case may take beside what is there
NOTE = 4096  # bytes for the call that is being made
HEAD = struct.Struct("dq")  # when it began, and the length of its text
AT_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG


class PublicCalls(Campaign):
    """Calls the library with anything."""

    name, unit, aim, share = "api", "calls", 200_000, 9.0
    passes = "ValueError or TypeError with a sentence, or a finite answer, within 2 s; what is refused changes nothing"

    def prepare(self) -> None:
        """Compile what the trackers need, also for frames that are read-only or lie otherwise in memory."""
        rng = np.random.default_rng(0)
        for shape in ((HEIGHT, WIDTH), (HEIGHT, WIDTH, 3)):
            frames = clip(rng, shape)
            for config in CONFIGS:
                tracker = Tracker(config)
                tracker.init(frames[0], BOX)
                for frame in (frames[1], np.asfortranarray(frames[2]), frames[3][:, ::-1]):
                    frame.setflags(write=frame is frames[1])
                    tracker.init(frame, BOX)
                    tracker.update(frame)
                tracker.score(frames[1], np.array([BOX]))
        draw = Draw(rng, self.folder, lambda _: None)  # imports, and what hypothesis does once
        for _ in range(200):
            with suppress(Exception):
                plain(draw).act()

    def case(self, rng: np.random.Generator) -> int:
        """Make some hundreds of calls in a process of their own."""
        return self._attempt(rng)

    def _attempt(self, rng: np.random.Generator) -> int:
        folder = self.folder / "case"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "deep").mkdir(parents=True)
        with mmap.mmap(-1, NOTE) as note:
            count, miss = _apart(lambda: _calls(rng, folder, note), note, folder / "result.json")
        shutil.rmtree(folder, ignore_errors=True)
        if miss:
            raise MissError(miss)
        return count


def _calls(rng: np.random.Generator, folder: Path, note: mmap.mmap) -> int:
    """Make the calls of a case."""
    draw = Draw(rng, folder, lambda text: _begin(note, text))
    write_picture(folder / PICTURE, clip(rng)[0])
    for source, times in ((plain, PLAIN_CALLS), (strange, STRANGE)):
        for _ in range(times):
            one = source(draw)
            draw.begin(one.text)
            judge(one)
    return PLAIN_CALLS + STRANGE + sum(Life(draw).run(STEPS) for _ in range(LIVES))


def _begin(note: mmap.mmap, text: str) -> None:
    """Note when a call begins, and which one it is."""
    words = text.encode(errors="replace")[: NOTE - HEAD.size]
    note[: HEAD.size + len(words)] = HEAD.pack(time.monotonic(), len(words)) + words


def _apart(work: Callable[[], int], note: mmap.mmap, result: Path) -> tuple[int, str]:
    """Do work in a process of its own; return its number of calls, and what went wrong."""
    _begin(note, "the first call")
    child = os.fork()
    if child == 0:
        _child(work, result)
    try:
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            time.sleep(0.005)
            began, length = HEAD.unpack(note[: HEAD.size])
            if time.monotonic() - began > LATEST:
                text = note[HEAD.size : HEAD.size + length].decode(errors="replace")
                os.kill(child, signal.SIGABRT)  # faulthandler prints where it is
                time.sleep(0.2)
                return 0, f"{text} did not end within {LATEST:g} s"
    finally:
        if not ended[0]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if ended[1] or not result.is_file():
        _, length = HEAD.unpack(note[: HEAD.size])
        return 0, f"{note[HEAD.size : HEAD.size + length].decode(errors='replace')} ended the process: {ended[1]}"
    count, miss = json.loads(result.read_text())
    return count, miss


def _child(work: Callable[[], int], result: Path) -> NoReturn:
    """Do the work of the process that was forked, and end it."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(AT_DEATH_OF_PARENT, signal.SIGKILL)
        faulthandler.enable(sys.__stderr__)
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, taken + ROOM))
        warnings.simplefilter("error")
        try:
            found: tuple[int, str] = (work(), "")
        except MissError as miss:
            found = (0, f"{miss}{_where(miss)}")
        result.write_text(json.dumps(found))
        os._exit(0)
    except BaseException:  # whatever it is, the parent's work must not go on here
        result.write_text(json.dumps((0, traceback.format_exc(limit=-6))))
        os._exit(0)


def _where(miss: MissError) -> str:
    """Return the last places of what was raised, if anything was."""
    if miss.__cause__ is None:
        return ""
    places = traceback.extract_tb(miss.__cause__.__traceback__)[-3:]
    return " at " + ", ".join(f"{Path(each.filename).name}:{each.lineno}" for each in places)
