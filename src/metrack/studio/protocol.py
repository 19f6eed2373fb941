"""Everything that travels to the browser, by name.

The page asks once for ``about()``: what Python knows and JavaScript must not repeat. Records travel as columns, one
object per target with a list for every field: for 100,000 frames that is half the size of an object per record, and
the browser reads it in a third of the time. A message to a page that watches a run is the length of a JSON text in
four bytes, that text, and a JPEG file.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from metrack.checks import SMALLEST_SIDE
from metrack.config import PRESETS, TrackerConfig, kind_of
from metrack.draw.marks import DASHES
from metrack.draw.palette import SHADES, STATE_COLOURS, TARGETS, target_colour, to_hex
from metrack.estimate import LOST, OCCLUDED, TRACKING, Info
from metrack.frames.formats import Record
from metrack.runs.events import REAPPEARED, RECOVERED, RENAMED, Event
from metrack.runs.results import PAGE, VIDEO
from metrack.runs.summary import DONE, ENDED_EARLY, FAILED, INTERRUPTED, RUNNING
from metrack.studio.pictures import NARROWEST, WIDEST, Picture
from metrack.studio.run_thread import PAUSED, QUEUED, STARTING

MOST_TARGETS = 8  # in one run: as many as there are colours, and as the timeline has room for
PUT_AWAY = 4005  # code with which the connection of a page is closed when its run is no longer in memory

STATE_AFTER = {OCCLUDED: OCCLUDED, LOST: LOST, REAPPEARED: TRACKING, RECOVERED: TRACKING, RENAMED: TRACKING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the status of a run means to a page, and how it is told to a person."""

    name: str
    text: str
    hint: str = ""
    busy: bool = False
    over: bool = False
    resumable: bool = False  # although it is over
    alarming: bool = False


STATUSES = (
    Status(name=STARTING, text=STARTING, busy=True, hint="Getting ready; the first time this takes a while"),
    Status(name=QUEUED, text="waiting", busy=True, hint="Waiting until another run is over or paused"),
    Status(name=RUNNING, text=RUNNING, busy=True),
    Status(name=PAUSED, text=PAUSED),
    Status(name=DONE, text=DONE, over=True),
    Status(name=INTERRUPTED, text="stopped", over=True, resumable=True),
    Status(name=ENDED_EARLY, text=ENDED_EARLY, over=True, alarming=True),
    Status(name=FAILED, text=FAILED, over=True, alarming=True),
)


def about() -> dict[str, Any]:
    """Return what a page must know before it shows anything: limits, names, colours and settings."""
    colours, targets = [to_hex(colour) for colour in TARGETS], range(1, len(TARGETS) + 1)
    return {
        "most_targets": MOST_TARGETS,
        "smallest_side": SMALLEST_SIDE,
        "picture_widths": {"narrowest": NARROWEST, "widest": WIDEST},
        "put_away_code": PUT_AWAY,
        "target_colours": colours,
        "line_colours": {"light": [target_colour(target) for target in targets], "dark": colours},
        "heat_colours": [to_hex(colour) for colour in SHADES],
        "states": [
            {"name": name, "seen": name == TRACKING, "dash": DASHES[name], **each}
            for name, each in STATE_COLOURS.items()
        ],
        "events": STATE_AFTER,
        "statuses": [asdict(status) for status in STATUSES],
        "files": {"video": VIDEO, "report": PAGE},
        "default_preset": "default",
        "presets": {name: config.to_dict() for name, config in PRESETS.items()},
        "settings": [describe_setting(name, each) for name, each, _ in TrackerConfig().settings()],
    }


def describe_setting(name: str, each: Any) -> dict[str, Any]:
    """Describe a setting; which kind it is says how a form asks for it."""
    texts = {key: each.metadata[key] for key in ("text", "low", "high", "choices")}
    return {"name": name, "kind": kind_of(each), **texts}


def series(frames: Sequence[Sequence[Record]]) -> list[dict[str, list[Any]]]:
    """Return the records of frames as columns per target; one that would be empty is left out.

    ``rule``, ``value`` and ``limit`` are what the state was decided by, where the records say so.
    """
    return [_columns(records) for records in zip(*frames, strict=True)]


def event_values(event: Event) -> dict[str, Any]:
    """Return an event as ``events.jsonl`` has it."""
    return asdict(event)


def particles(info: Info | None) -> dict[str, list[float]]:
    """Return centre and weight of every particle, as columns."""
    boxes, weights = (np.empty((0, 4)), np.empty(0)) if info is None else (info.particles, info.weights)
    x, y = (boxes[:, :2] + boxes[:, 2:] / 2).astype(float).T
    return {"x": x.round(1).tolist(), "y": y.round(1).tolist(), "weight": weights.round(4).tolist()}


def pack(message: dict[str, Any], picture: Picture | None, width: int = WIDEST) -> bytes:
    """Make the bytes of a message."""
    data = b""
    if picture is not None:
        message = {**message, "frame": picture.frame.index, "particles": [particles(info) for info in picture.targets]}
        data = picture.data(width)
    text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    return struct.pack(">I", len(text)) + text + data


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    sides = zip(*(record.box.to_xywh() for record in records), strict=True)
    columns: dict[str, list[Any]] = {
        **{name: [round(value, 2) for value in values] for name, values in zip("xywh", sides, strict=True)},
        "score": [round(record.score, 4) for record in records],
        "state": [record.state for record in records],
    }
    verdicts = [record.verdict for record in records]
    optional: dict[str, list[Any]] = {
        "identity": [record.identity for record in records],
        "distances": [record.distances for record in records],
        **{name: [_brief(getattr(each, name, None)) for each in verdicts] for name in ("rule", "value", "limit")},
    }
    return columns | {name: values for name, values in optional.items() if any(each is not None for each in values)}


def _brief(value: Any) -> Any:
    """Round a number; JSON has none that is not finite."""
    if not isinstance(value, float):
        return value
    return round(value, 4) if math.isfinite(value) else None
