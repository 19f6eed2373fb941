"""``summary.json`` of a studio's run: what ``metrack track`` writes, and the corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from metrack.config import preset
from metrack.frames import Source
from metrack.frames.base import without_password
from metrack.frames.formats import Record
from metrack.identity import Gallery
from metrack.runs.job import Job, known_in
from metrack.runs.results import Tally


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run stands, what to note of it, what was corrected by hand, and how fast it was followed."""

    status: str
    notice: str | None
    corrections: list[dict[str, Any]]
    fps: float | None


def summary(
    job: Job, source: Source, gallery: Gallery | None, frames: Sequence[Sequence[Record]], outcome: Outcome
) -> dict[str, Any]:
    """Say what was asked for and what came of it."""
    usual, tally = preset(job.preset).to_dict(), Tally(len(job.boxes))
    for records in frames:
        tally.add(records)
    return {
        "version": version("metrack"),
        "status": outcome.status,
        "notice": outcome.notice,
        "source": without_password(job.source),
        "live": source.live,
        "size": list(source.size),
        "fps": source.fps,
        "start": job.start,
        "stop": job.stop,
        "frames": len(frames),
        "targets": tally.targets(job.boxes),
        "corrections": outcome.corrections,
        "preset": job.preset,
        "changed": {name: value for name, value in job.config().to_dict().items() if value != usual[name]},
        "seed": job.seed,
        "gallery": known_in(job, gallery),
        "tracker_fps": None if outcome.fps is None else round(outcome.fps, 2),
    }
