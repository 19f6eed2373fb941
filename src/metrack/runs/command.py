"""The command line that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metrack.runs.job import Job


def repeat_command(job: Job) -> str:
    """Return the command that does the same job, with the options that differ from the usual ones."""
    words = ["metrack", "track", job.source]
    for box in job.boxes:
        words += ["--box", ",".join(repr(float(side)).removesuffix(".0") for side in box)]
    words += ["--start", str(job.start)] if job.start else []
    words += ["--stop", str(job.stop)] if job.stop is not None else []
    words += ["--preset", job.preset] if job.preset != "default" else []
    for name, value in job.changes.items():
        words += ["--set", f"{name}={value}"]
    words += ["--seed", str(job.seed)] if job.seed else []
    words += ["--gallery", job.gallery] if job.gallery else []
    for name in job.formats:
        words += ["--format", name]
    return shlex.join([*words, "-o", "out"])


def job_options(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the job that a ``summary.json`` tells of; older ones lack some keys."""
    return {
        "source": str(summary["source"]),
        "boxes": [target["box"] for target in summary["targets"]],
        "preset": summary["preset"],
        "changes": summary["changed"],
        "seed": summary["seed"],
        "start": summary["start"],
        "stop": summary.get("stop"),
        "gallery": (summary.get("gallery") or {}).get("path"),
        "formats": summary.get("formats", ()),
    }
