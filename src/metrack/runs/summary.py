"""What ``summary.json`` and the status of a run say: how a run ended, how it stands, and counts per target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrack.config import preset
from metrack.frames import Source
from metrack.frames.base import is_camera, without_password
from metrack.frames.formats import Record
from metrack.identity import Gallery, Identifier
from metrack.runs.checkpoint import has_checkpoint
from metrack.runs.events import Event
from metrack.runs.results import TRAJECTORY, read_summary

if TYPE_CHECKING:
    from metrack.runs.job import Job
    from metrack.runs.session import Session

RUNNING, DONE, INTERRUPTED, ENDED_EARLY, FAILED = "running", "done", "interrupted", "ended early", "failed"


class Tally:
    """What the summary says of every target: how often each state and event, and the mean score."""

    def __init__(self, targets: int) -> None:
        self._events: list[Counter[str]] = [Counter() for _ in range(targets)]
        self._states: list[Counter[str]] = [Counter() for _ in range(targets)]
        self._scores = [0.0] * targets

    def add(self, records: Iterable[Record], events: Iterable[Event]) -> None:
        """Count one frame."""
        for record in records:
            self._states[record.target - 1][record.state] += 1
            self._scores[record.target - 1] += record.score
        for event in events:
            self._events[event.target - 1][event.event] += 1

    def targets(self, boxes: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
        """Return one entry per target, beside the box it was given."""
        return [
            {
                "target": number,
                "box": list(box),
                "states": dict(states),
                "events": dict(events),
                "mean_score": round(total / states.total(), 4) if states else None,
            }
            for number, (box, states, events, total) in enumerate(
                zip(boxes, self._states, self._events, self._scores, strict=True), 1
            )
        ]


def summary_of(session: Session, tally: Tally, status: str) -> dict[str, Any]:
    """Return what was asked for and what came of it."""
    job, source = session.job, session.source
    usual = preset(job.preset).to_dict()
    return {
        "version": version("metrack"),
        "status": status,
        "notice": session.notice,
        "source": without_password(job.source),
        "live": source.live,
        "dropped": source.dropped,
        "reconnected": source.reconnected,
        "size": list(source.size),
        "fps": source.fps,
        "start": job.start,
        "stop": job.stop,
        "frames": session.position,
        "targets": tally.targets(job.boxes),
        "corrections": session.corrections,
        "preset": job.preset,
        "changed": {name: value for name, value in job.config().to_dict().items() if value != usual[name]},
        "seed": job.seed,
        "gallery": _known(job, session.gallery),
        "formats": list(job.formats),
        "tracker_fps": None if session.fps is None else round(session.fps, 2),
        "trajectory": None if status == RUNNING or session.check is None else f"{session.check:08x}",
    }


def status_of(job: Job, session: Session | None) -> dict[str, Any]:
    """Say how a run stands that is in memory; None where it has not begun."""
    source: Source | None = None if session is None else session.source
    fps = None if session is None else session.fps
    return {
        "start": job.start,
        "frames": 0 if session is None else session.position,
        "total": None if session is None else session.total,
        "fps": None if fps is None else round(fps, 1),
        "corrections": [] if session is None else list(session.corrections),
        "can_undo": session is not None and session.can_undo,
        "size": None if source is None else list(source.size),
    }


def can_begin_anew(summary: Mapping[str, Any]) -> bool:
    """Whether an interrupted run would come to the same boxes from its first frame: not a live or corrected one."""
    status, live, corrections = (summary.get(key) for key in ("status", "live", "corrections"))
    return status in (RUNNING, INTERRUPTED) and not live and not corrections


def stored_status(folder: Path, job: Job) -> dict[str, Any]:
    """Say how a run stands that only its folder remembers."""
    summary = read_summary(folder)
    state = summary.get("status", INTERRUPTED)
    interrupted, live = state in (RUNNING, INTERRUPTED), is_camera(job.source)
    return {
        **status_of(job, None),
        "state": INTERRUPTED if interrupted else state,
        "frames": _count_frames(folder, len(job.boxes)),
        "fps": summary.get("tracker_fps"),
        "notice": _printable(summary.get("notice")) or ("it was cut off while it ran" if state == RUNNING else None),
        "corrections": summary.get("corrections", []),
        "can_go_on": not live and interrupted and (has_checkpoint(folder) or can_begin_anew(summary)),
        "live": live,
        "size": summary.get("size"),
    }


def _printable(text: str | None) -> str | None:
    """Return a text that can be sent to a page, also where it has a name that is not UTF-8."""
    return text and text.encode("utf-8", "backslashreplace").decode()


def _known(job: Job, gallery: Gallery | None) -> dict[str, Any] | None:
    """Say who is known, and the mean distance beyond which somebody is not."""
    if gallery is None:
        return None
    return {"path": job.gallery, "names": list(gallery.names), "unknown_above": Identifier(gallery).limit}


def _count_frames(folder: Path, targets: int) -> int:
    try:
        return (folder / TRAJECTORY).read_bytes().count(b"\n") // targets
    except OSError:
        return 0
