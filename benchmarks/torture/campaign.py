"""One campaign: numbered cases, each drawn from a seed, until the time is over.

Case ``number`` of a campaign always draws the same random numbers for one seed, so that a miss can be repeated alone:
``python -m torture NAME --seed SEED --case NUMBER``. What was done so far is kept in a small JSON file, from which a
campaign that was stopped goes on.
"""

from __future__ import annotations

import json
import signal
import time
import traceback
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from metrack.files import write_json

MOST_MISSES = 20  # kept of one campaign; after so many it is given up


class MissError(Exception):
    """Something that must not happen did; the text says what."""


class Campaign(ABC):
    """A way of breaking things.

    ``name`` is what it is called by, ``unit`` what is counted, ``aim`` how many of them a half hour of all campaigns
    must reach, ``share`` the part of the time it gets, ``passes`` when a case is passed.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    aim: ClassVar[int]
    share: ClassVar[float]
    passes: ClassVar[str]

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed  # scratch of its own, there from the start
        self.figures: dict[str, float] = {}  # measured on the way, shown beside the count

    def prepare(self) -> None:  # noqa: B027 - nothing to do for most
        """Make what all cases share."""

    @abstractmethod
    def case(self, rng: np.random.Generator) -> int:
        """Do one case and return how many units it was; raise MissError where it went wrong."""

    def close(self) -> None:  # noqa: B027
        """Let go of what :meth:`prepare` took, also after a miss."""


@dataclass(slots=True)
class Tally:
    """How far a campaign is."""

    seed: int
    cases: int = 0
    units: int = 0
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, seed: int) -> Self:
        """Read it back, or begin anew where there is none with this seed."""
        try:
            tally = cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return cls(seed)
        return tally if tally.seed == seed else cls(seed)

    def save(self, path: Path) -> None:
        """Write it down."""
        write_json(path, asdict(self))


def generator(campaign: Campaign, number: int) -> np.random.Generator:
    """Return the random numbers of a case."""
    return np.random.default_rng([campaign.seed, zlib.crc32(campaign.name.encode()), number])


def run(campaign: Campaign, tally: Tally, seconds: float, keep: Callable[[Tally], None]) -> None:
    """Do cases until the campaign has taken that many seconds in all; ``keep`` is called after each."""
    began, before = time.monotonic(), tally.seconds
    try:
        campaign.prepare()
        while tally.seconds < seconds and len(tally.misses) < MOST_MISSES:
            _try_case(campaign, tally)
            tally.cases += 1
            tally.seconds = before + time.monotonic() - began
            tally.figures = dict(campaign.figures)
            keep(tally)
    finally:
        before_all = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            campaign.close()  # not to be interrupted: it ends processes
        finally:
            for number, handler in before_all.items():
                signal.signal(number, handler)


def _try_case(campaign: Campaign, tally: Tally) -> None:
    try:
        tally.units += campaign.case(generator(campaign, tally.cases))
    except MissError as miss:
        tally.misses.append(f"case {tally.cases}: {miss}")
    except Exception:  # of the code under test, or of the campaign: either way a miss
        tally.misses.append(f"case {tally.cases}: {traceback.format_exc(limit=-6)}")
