"""The options of a run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from metrack.checks import did_you_mean
from metrack.config import TrackerConfig, preset
from metrack.frames.base import without_password
from metrack.frames.formats import FORMATS
from metrack.frames.sink import h264_encoder
from metrack.identity import Gallery

MAY_DIFFER = {"source", "stop", "video"}  # in a resumed run; other options may be left out but not changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to follow, and how; frames count from 0, ``stop`` is the first one left out."""

    source: str
    boxes: Sequence[Sequence[float]]
    preset: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    start: int = 0
    stop: int | None = None
    video: bool = True
    gallery: str | None = None
    formats: Sequence[str] = ()

    @classmethod
    def from_summary(cls, summary: Mapping[str, Any]) -> Self:
        """Return the job that a ``summary.json`` tells of; those of earlier versions lack some keys."""
        return cls(
            source=str(summary["source"]),
            boxes=[target["box"] for target in summary["targets"]],
            preset=summary["preset"],
            changes=summary["changed"],
            seed=summary["seed"],
            start=summary["start"],
            stop=summary.get("stop"),
            gallery=(summary.get("gallery") or {}).get("path"),
            formats=summary.get("formats", ()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the options as a checkpoint keeps them."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {"boxes": [list(box) for box in self.boxes], "formats": list(self.formats)}
        return values | lists | {"source": without_password(self.source)}

    def config(self) -> TrackerConfig:
        """Return the settings of the trackers."""
        return preset(self.preset).replace(self.changes)

    def known_targets(self) -> Gallery | None:
        """Read the gallery, a file made of one or a folder of crops; None where there is none."""
        if self.gallery is None:
            return None
        path = Path(self.gallery)
        return Gallery.from_folder(path) if path.is_dir() else Gallery.load(path)

    def check(self) -> None:
        """Validate the options that do not depend on the source."""
        self.config()
        if not self.boxes:
            raise ValueError("boxes must be given, at least one, as x, y, w, h in pixels of the first frame")
        if self.video and h264_encoder() is None:
            raise ValueError("video must be False, because this build of PyAV has no H.264 encoder")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, got {self.seed}")
        if self.start < 0:
            raise ValueError(f"start must be 0 or more, got {self.start}")
        for name in self.formats:
            if name not in FORMATS:
                raise ValueError(f"formats must be known ones, got {name!r}{did_you_mean(name, FORMATS)}")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(f"stop must come after start={self.start}, got {self.stop}")

    @classmethod
    def resumed(cls, saved: Mapping[str, Any], options: Mapping[str, Any]) -> Self:
        """Return the job that was saved by :meth:`to_dict`; options that are given once more must say the same."""
        if saved.keys() != {each.name for each in fields(cls)}:
            raise ValueError(f"resume needs the options of a run, but the checkpoint has {sorted(saved)}")
        for name, value in options.items():
            if name not in MAY_DIFFER and not _same(name, value, saved):
                raise ValueError(f"resume goes on with {name}={saved[name]} as it began, got {value}")
        return cls(**{**saved, **options})

    @property
    def command(self) -> str:
        """The command line that does this job, with the options that differ from the usual ones."""
        options: list[tuple[str, object]] = [
            ("--box", ",".join(_shortest(float(side)) for side in box)) for box in self.boxes
        ]
        options += [("--start", self.start)] if self.start else []
        options += [("--stop", self.stop)] if self.stop is not None else []
        options += [("--preset", self.preset)] if self.preset != "default" else []
        options += [("--set", f"{name}={_shortest(value)}") for name, value in self.changes.items()]
        options += [("--seed", self.seed)] if self.seed else []
        options += [("--gallery", self.gallery)] if self.gallery else []
        options += [("--format", name) for name in self.formats]
        words = [str(word) for option in options for word in option]
        return shlex.join(["metrack", "track", self.source, *words, "-o", "out"])


def _same(name: str, value: object, saved: Mapping[str, Any]) -> bool:
    """Whether an option says what was saved; settings may be written as text or as numbers."""
    if name == "changes" and isinstance(value, Mapping):
        return preset(saved["preset"]).replace(value) == preset(saved["preset"]).replace(saved["changes"])
    return bool(value == saved[name])


def _shortest(value: object) -> str:
    """Write a value as one would type it."""
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")
