"""What to go on with: the job of an interrupted run, and its newest whole checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrack.files import PART
from metrack.runs.checkpoint import Checkpoint, discard_checkpoints
from metrack.runs.job import Job
from metrack.runs.lock import FolderLock
from metrack.runs.results import read_summary
from metrack.runs.summary import DONE, can_begin_anew


@dataclass(frozen=True, slots=True)
class Resumption:
    """A job, and where to go on with it; without a checkpoint from the first frame, and ``note`` says why."""

    job: Job
    checkpoint: Checkpoint | None
    note: str | None = None


def is_done(out: Path) -> bool:
    """Whether a result folder has a run that needs no resuming, all of its files being complete."""
    if read_summary(out).get("status") != DONE:
        return False
    try:
        Checkpoint.load(out)
    except ValueError:
        return True
    return False


def clear_leftovers(out: Path) -> None:
    """Remove what a run that is done, but was killed before its very end, left behind; refuse one that is alive."""
    with FolderLock(out):
        discard_checkpoints(out)
        for part in out.glob(f"*{PART}"):
            part.unlink(missing_ok=True)


def resumption(out: Path, options: Mapping[str, Any]) -> Resumption:
    """Find out how the interrupted run in a folder can go on; options that are given must be those it began with.

    Where no checkpoint is whole, it begins anew: the boxes are the same. Boxes that were corrected by hand are not made
    again, so such a run is refused, and so is a live one.
    """
    try:
        checkpoint = Checkpoint.load(out)
    except ValueError as error:
        summary = read_summary(out)
        if not can_begin_anew(summary):
            raise
        return Resumption(_begun(summary, options, error), None, f"{error}; it begins anew from the first frame")
    return Resumption(Job.resumed(checkpoint.job, options), checkpoint)


def _begun(summary: Mapping[str, Any], options: Mapping[str, Any], reason: ValueError) -> Job:
    """Return the job of a run that had just begun: from its summary or, where that says nothing yet, the options."""
    if "targets" in summary:
        return Job.resumed(Job.from_summary(summary).to_dict(), options)
    if "boxes" not in options:
        raise reason
    return Job(**options)
