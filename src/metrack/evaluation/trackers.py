"""Which trackers are compared: presets with or without changed settings, and rivals, in one notation.

``[LABEL=]NAME[:SETTING=VALUE,...]``, for example ``csrt``, ``paper`` or ``few=paper:motion.particles=50``. A spec is a
small value that can be sent to another process, where it makes its tracker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from typing import Self

from metrack.checks import did_you_mean
from metrack.config import PRESETS, TrackerConfig, preset
from metrack.rivals import RIVALS, TargetTracker
from metrack.tracking.tracker import Tracker

LABEL = re.compile(r"[\w+][\w .,=+@-]*")  # it becomes the name of a folder


@dataclass(frozen=True, slots=True)
class TrackerSpec:
    """A tracker by name: a preset with changed settings, or a rival."""

    label: str
    name: str
    changes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the notation above; an unknown name or setting is refused here."""
        head, _, tail = text.partition(":")
        label, equals, name = head.partition("=")
        name = name if equals else head
        changes = tuple(_parse_change(text, part) for part in tail.split(",") if part)
        words = [name, *(f"{setting}={value}" for setting, value in changes)]
        spec = cls(label if equals else " ".join(words), name, changes)
        spec.check()
        return spec

    def check(self) -> None:
        """Refuse a spec whose tracker could not be made, before any work."""
        if not LABEL.fullmatch(self.label):
            raise ValueError(f"tracker must have a label that can name a folder, got {self.label!r}")
        if self.name in RIVALS:
            if self.changes:
                raise ValueError(f"tracker {self.name} takes no settings, got {self.changes[0][0]!r}")
            RIVALS[self.name].check()
        elif self.name in PRESETS:
            self.config()
        else:
            known = did_you_mean(self.name, [*PRESETS, *RIVALS])
            raise ValueError(f"tracker must be a preset or a rival, got {self.name!r}{known}")

    @property
    def is_rival(self) -> bool:
        """Whether it is somebody else's tracker."""
        return self.name in RIVALS

    def config(self) -> TrackerConfig:
        """Return the settings of a preset, changes included."""
        return preset(self.name).replace(dict(self.changes))

    def make(self, seed: int) -> TargetTracker:
        """Return a fresh tracker."""
        return RIVALS[self.name].make(seed) if self.is_rival else Tracker(self.config(), seed=seed)

    def settings(self) -> dict[str, object]:
        """Return all that its boxes depend on."""
        if self.is_rival:
            return {"rival": self.name, "version": RIVALS[self.name].version()}
        return {"version": version("metrack"), **self.config().to_dict()}


def parse_trackers(texts: list[str]) -> list[TrackerSpec]:
    """Read several specs, whose labels must differ."""
    specs = [TrackerSpec.parse(text) for text in texts]
    labels = [spec.label for spec in specs]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"tracker must be given once per label, got {label!r} {labels.count(label)} times")
    return specs


def _parse_change(text: str, part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise ValueError(f"tracker must be [LABEL=]NAME[:SETTING=VALUE,...], got {text!r}")
    return name.strip(), value.strip()
