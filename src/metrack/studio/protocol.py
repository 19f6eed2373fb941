"""Everything that travels to the browser.

A message to a page that watches a run is the length of a JSON text in four bytes, that text, and a JPEG file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from metrack.config import PRESETS, TrackerConfig
from metrack.estimate import Info
from metrack.frames.formats import Record
from metrack.runs.events import Event
from metrack.studio.pictures import WIDEST, Picture


def form() -> dict[str, Any]:
    """Return every setting with its help text and range, and every preset with its values."""
    return {
        "presets": {name: config.to_dict() for name, config in PRESETS.items()},
        "settings": [_setting(name, each) for name, each, _ in TrackerConfig().settings()],
    }


def _setting(name: str, each: Any) -> dict[str, Any]:
    kind = "choice" if each.metadata["choices"] else "whole" if isinstance(each.default, int) else "number"
    return {"name": name, "kind": kind, **{key: each.metadata[key] for key in ("text", "low", "high", "choices")}}


def series(frames: Iterable[Sequence[Record]]) -> list[list[list[Any]]]:
    """Write records briefly: x, y, w, h, score, state and, with a gallery, name and distances; per frame and target."""
    return [[_brief(record) for record in records] for records in frames]


def _brief(record: Record) -> list[Any]:
    known = [] if record.distances is None else [record.identity, list(record.distances)]
    return [*(round(side, 2) for side in record.box.to_xywh()), round(record.score, 4), record.state, *known]


def event_values(event: Event) -> dict[str, Any]:
    """Return what ``events.jsonl`` says of an event."""
    values: dict[str, Any] = json.loads(event.to_json_line())
    return values


def pack(message: dict[str, Any], picture: Picture | None, width: int = WIDEST) -> bytes:
    """Make the bytes of a message."""
    data = b""
    if picture is not None:
        shot = picture.shot
        message = {**message, "frame": shot.frame.index, "particles": [particles(info) for info in shot.targets]}
        data = picture.data(width)
    text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    return struct.pack(">I", len(text)) + text + data


def particles(info: Info | None) -> list[list[float]]:
    """Return middle and weight of every particle."""
    if info is None:
        return []
    middles = info.particles[:, :2] + info.particles[:, 2:] / 2
    return [
        [round(x, 1), round(y, 1), round(weight, 4)]
        for (x, y), weight in zip(middles.tolist(), info.weights.tolist(), strict=True)
    ]
