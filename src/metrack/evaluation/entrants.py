"""Who is compared: presets with or without changes, and rivals, each under a label, by one notation.

``[LABEL=]NAME[:SETTING=VALUE,...]``, for example ``csrt``, ``paper`` or ``few=paper:motion.particles=50``. An entrant
is a small value that can be sent to another process and makes its tracker there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from typing import Protocol, Self

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import did_you_mean
from metrack.config import PRESETS, TrackerConfig, preset
from metrack.estimate import Estimate
from metrack.rivals.peers import PEERS
from metrack.tracking.tracker import Tracker

LABEL = re.compile(r"[\w+][\w .,=+@-]*")  # it becomes the name of a folder


class Follower(Protocol):
    """Anything that follows a target: ours and the rivals alike."""

    def init(self, frame: Frame, box: Box) -> None:
        """Start on the target marked in a frame."""

    def update(self, frame: Frame) -> Estimate:
        """Find the target in the next frame."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A tracker by name: a preset with changes, or a rival."""

    label: str
    base: str
    changes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the notation above; a name or setting that does not exist is refused here."""
        head, _, tail = text.partition(":")
        label, equals, base = head.partition("=")
        base = base if equals else head
        changes = tuple(_change(text, part) for part in tail.split(",") if part)
        words = [base, *(f"{name}={value}" for name, value in changes)]
        entrant = cls(label if equals else " ".join(words), base, changes)
        entrant.check()
        return entrant

    def check(self) -> None:
        """Refuse what could not be made, in one sentence, before any work."""
        if not LABEL.fullmatch(self.label):
            raise ValueError(f"--tracker must have a label that can name a folder, got {self.label!r}")
        if self.base in PEERS:
            if self.changes:
                raise ValueError(f"--tracker {self.base} takes no settings, got {self.changes[0][0]!r}")
            PEERS[self.base].check()
        elif self.base in PRESETS:
            self.config()
        else:
            known = did_you_mean(self.base, [*PRESETS, *PEERS])
            raise ValueError(f"--tracker must be a preset or a rival, got {self.base!r}{known}")

    def config(self) -> TrackerConfig:
        """Return the settings of one of ours."""
        return preset(self.base).replace(dict(self.changes))

    def make(self, seed: int) -> Follower:
        """Return a fresh tracker."""
        return PEERS[self.base].make(seed) if self.base in PEERS else Tracker(self.config(), seed=seed)

    def settings(self) -> dict[str, object]:
        """Return all that its boxes depend on."""
        if self.base in PEERS:
            return {"rival": self.base, "version": PEERS[self.base].version()}
        return {"version": version("metrack"), **self.config().to_dict()}


def parse_entrants(texts: list[str]) -> list[Entrant]:
    """Read several, whose labels must differ."""
    entrants = [Entrant.parse(text) for text in texts]
    labels = [entrant.label for entrant in entrants]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"--tracker must be given once per label, got {label!r} {labels.count(label)} times")
    return entrants


def _change(text: str, part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise ValueError(f"--tracker must be [LABEL=]NAME[:SETTING=VALUE,...], got {text!r}")
    return name.strip(), value.strip()
