"""Frames of a run for its report: first, last, events, and the lowest scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.draw.marks import Mark, draw
from metrack.draw.pictures import resized
from metrack.frames import Source, open_source
from metrack.frames.base import is_camera
from metrack.frames.formats import Record
from metrack.runs.events import Event
from metrack.runs.report.reading import RunData
from metrack.runs.results import VIDEO

BOLD = 140  # how many lines are as wide as a picture: it will be seen small
ENOUGH = 8  # moments, where little happened
APART = 12  # the run has so many parts, and two unsure moments are at least one part apart


@dataclass(frozen=True, slots=True)
class Moment:
    """A frame, and why it is shown."""

    frame: int
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """The picture of a moment, with its boxes."""

    moment: Moment
    image: Frame


def moments(run: RunData, most: int) -> list[Moment]:
    """Choose at most ``most`` moments in the order of frames, with events evenly spread where they are too many."""
    frames = run.frames
    found = {frames[0]: "first frame"} | {frames[-1]: "last frame" if len(frames) > 1 else "first frame"}
    happened: dict[int, list[str]] = {}
    for event in run.events:
        happened.setdefault(event.frame, []).append(_words(run, event))
    chosen = np.linspace(0, len(happened) - 1, min(len(happened), most - 2)).round().astype(int).tolist()
    for place in chosen:
        frame = sorted(happened)[place]
        found[frame] = ", ".join(happened[frame])
    unsure: set[int] = set()
    for frame, score in _unsure(run):
        if len(found) >= min(most, ENOUGH):
            break
        if _apart(frame, unsure) >= len(frames) / APART and _apart(frame, found) >= len(frames) / (3 * APART):
            unsure.add(frame)
            found[frame] = f"score {score:.2f}"
    return [Moment(frame, found[frame]) for frame in sorted(found)]


def shots(run: RunData, most: int, width: int) -> list[Shot]:
    """Draw the chosen moments ``width`` pixels wide; none where no frame can be read any more.

    Frames come from the source; where that is live or gone, from the video of the run, which has its boxes on it.
    """
    chosen = moments(run, most)
    for pictures in (_from_source, _from_video):
        found = dict(pictures(run, [moment.frame for moment in chosen], width))
        if len(found) == len(chosen):
            return [Shot(moment, found[moment.frame]) for moment in chosen]
    return []


def _apart(frame: int, others: Iterable[int]) -> float:
    return min((abs(frame - other) for other in others), default=math.inf)


def _words(run: RunData, event: Event) -> str:
    return f"target {event.target} {run.words(event)}" if len(run.records) > 1 else run.words(event)


def _unsure(run: RunData) -> Iterator[tuple[int, float]]:
    """Yield frames with the lowest score of any target in them, the lowest first."""
    lowest: dict[int, float] = {}
    for records in run.records.values():
        for record in records:
            lowest[record.frame] = min(record.score, lowest.get(record.frame, 1.0))
    yield from sorted(lowest.items(), key=lambda each: each[1])


def _from_source(run: RunData, frames: list[int], width: int) -> Iterator[tuple[int, Frame]]:
    source = str(run.summary["source"])
    if run.summary["live"] or "://" in source or is_camera(source):
        return
    for number, image in _picked(source, frames, run.summary["size"]):
        small, scale = resized(image, width)
        bold = max(2, round(width / BOLD))
        yield number, draw(small, [_mark(record, scale) for record in run.at(number)], bold=bold)


def _from_video(run: RunData, frames: list[int], width: int) -> Iterator[tuple[int, Frame]]:
    """Read the video, whose first frame is the first that was followed."""
    video, numbers = run.folder / VIDEO, run.frames
    if video.is_file():
        places = {numbers.index(frame): frame for frame in frames}
        for place, image in _picked(video, list(places), None):
            yield places[place], resized(image, width)[0]


def _picked(source: str | Path, numbers: list[int], size: list[int] | None) -> Iterator[tuple[int, Frame]]:
    """Yield frames of a source, as long as it can be read and has the size it had."""
    try:
        with open_source(source) as opened:
            if _is_like(opened, size):
                for frame in opened.pick(numbers):
                    yield frame.index, frame.image
    except (OSError, ValueError):
        return


def _is_like(source: Source, size: list[int] | None) -> bool:
    return size is None or list(source.size) == list(size)


def _mark(record: Record, scale: float) -> Mark:
    box = Box(*(scale * side for side in record.box.to_xywh()))
    return Mark(box, record.target, record.score, record.state, name=record.identity)
