"""Running experiments one after another, into a folder that can be continued later.

``OUT/<id>/`` has the runs of an experiment, its tables, figures and page; ``OUT/index.html`` shows every experiment
that is there. One that fails says why on its page, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from metrack.evaluation.evaluate import RunProgress
from metrack.evaluation.sequences import read_sequences
from metrack.evaluation.workers import Workers
from metrack.experiments.base import Context, Experiment, Finding
from metrack.experiments.pages import write_index
from metrack.experiments.registry import EXPERIMENTS, look_up
from metrack.experiments.writing import write_finding
from metrack.runs.lock import FolderLock
from metrack.runs.results import check_folder, claim_folder, write_summary

ALL = "all"
Watch = Callable[[str, RunProgress], None]


def reproduce(
    ids: Iterable[str],
    data: str | Path,
    out: Path,
    *,
    workers: Workers,
    sequences: Sequence[str] = (),
    seeds: int = 3,
    layout: str | None = None,
    length: int | None = None,
    watch: Watch = lambda id, progress: None,
) -> list[Finding]:
    """Run the experiments of these ids, or ``all``, and write what they find.

    Parameters
    ----------
    data : a folder of sequences, or ``builtin``
    sequences : names of those to use; all where none is named
    seeds : how often every run is repeated
    length : frames to which sequences are cut, None for whole ones
    watch : is told the id of the experiment and how far it is
    """
    experiments = _chosen(ids)
    _check(seeds, length)
    for folder in (out, *(out / each.id for each in experiments)):
        check_folder(folder)
    found = [each.part(0, length) for each in read_sequences(data, sequences, layout)]
    claim_folder(out)
    findings = []
    with FolderLock(out):
        for each in experiments:
            context = Context(found, out / each.id, workers, seeds, str(data), layout, partial(watch, each.id))
            findings.append(_note_cut(_run(each, context), length))
            write_finding(each, findings[-1], context.out)
            write_index(out, EXPERIMENTS)
        write_summary(out, {"status": "done", "kind": "experiments"})
    return findings


def _chosen(ids: Iterable[str]) -> list[Experiment]:
    names = list(dict.fromkeys(ids))
    if not names:
        raise ValueError(f"there must be at least one experiment, or {ALL}, got none")
    return list(EXPERIMENTS.values()) if ALL in names else [look_up(name) for name in names]


def _check(seeds: int, length: int | None) -> None:
    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    if length is not None and length < 2:
        raise ValueError(f"length must be at least 2 frames, got {length}")


def _note_cut(finding: Finding, length: int | None) -> Finding:
    """Add a note that sequences were cut, since the paper's were not."""
    if length is None:
        return finding
    note = f"Sequences were cut to their first {length} frames; numbers of the paper are over whole ones."
    return replace(finding, notes=[*finding.notes, note])


def _run(experiment: Experiment, context: Context) -> Finding:
    """Run an experiment; an error becomes its finding, so that the others go on."""
    try:
        return experiment.run(experiment, context)
    except ValueError as error:
        return Finding(experiment.id, error=" ".join(str(error).split()))
    except Exception as error:
        return Finding(experiment.id, error=f"{type(error).__name__}: {' '.join(str(error).split())}")
