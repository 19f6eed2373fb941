"""What an experiment is, what it needs to run, and what it finds.

An experiment compares trackers over sequences and answers one question of the paper. Its ``run`` takes a
:class:`Context` and returns a :class:`Finding`: a table, figures and notes. Most use
:func:`metrack.experiments.compare.compare`; none repeats work that is finished in ``context.out``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metrack.draw.chart import Chart
from metrack.evaluation.evaluate import EvaluationSetup, Watch, evaluate
from metrack.evaluation.plan import RunProtocol
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import TrackerSpec, parse_trackers
from metrack.evaluation.workers import Workers

TABLE, PLOT = "table", "plot"
NAMES = {
    "auc": "AUC",
    "success": "success",
    "precision": "P@20",
    "overlap": "VOR",
    "error": "CLE",
    "ms": "ms per frame",
}
Cell = str | int | float | None
PaperNumbers = Mapping[tuple[str, str, str], float]
"""Numbers of the paper by measure, label and sequence."""


@dataclass(frozen=True)
class Finding:
    """What an experiment found: a table of ``columns`` and ``rows``, figures and notes, or why there is nothing."""

    id: str
    columns: list[str] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    figures: list[Chart] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str | None = None


@dataclass(frozen=True)
class Context:
    """What an experiment runs on: sequences, a folder of its own, how many seeds, and the workers that execute runs."""

    sequences: list[Sequence]
    out: Path
    workers: Workers
    seeds: int = 1
    data: str = "builtin"
    layout: str | None = None
    watch: Watch = lambda progress: None

    def evaluate(
        self, specs: list[TrackerSpec], protocol: RunProtocol, sequences: list[Sequence] | None = None
    ) -> None:
        """Execute the runs that are missing in the folder; without ``sequences``, on all of them."""
        setup = EvaluationSetup.of(specs, self.sequences, protocol, self.data, self.layout)
        evaluate(setup, specs, self.sequences if sequences is None else sequences, self.out, self.workers, self.watch)


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper: its question, the trackers it compares, and the measures it shows."""

    id: str
    title: str
    shows: str
    """Which table or figure of the paper it stands for."""
    question: str
    run: Callable[[Experiment, Context], Finding]
    trackers: tuple[str, ...]
    """In the notation of :meth:`metrack.evaluation.trackers.TrackerSpec.parse`, with labels."""
    measures: tuple[str, ...]
    """Names of :data:`metrack.evaluation.comparison.FIGURES`, or ``ms``: milliseconds per frame."""
    shape: str = TABLE
    swept: str = ""
    """Of a plot: the setting that varies from tracker to tracker."""
    protocol: RunProtocol = field(default_factory=RunProtocol)
    """Its repetitions are replaced by the number of seeds."""
    paper: PaperNumbers = field(default_factory=dict)

    def specs(self) -> list[TrackerSpec]:
        """Return the trackers it compares."""
        return parse_trackers(list(self.trackers))


def sweep(setting: str, values: tuple[float, ...]) -> tuple[str, ...]:
    """Name one tracker per value of a setting of the preset paper.

    >>> sweep("representation.rho", (0.07, 0.1))
    ('rho 0.07=paper:representation.rho=0.07', 'rho 0.1=paper:representation.rho=0.1')
    """
    name = setting.rpartition(".")[2]
    return tuple(f"{name} {value:g}=paper:{setting}={value:g}" for value in values)
