"""What an experiment is, its input and its result.

An experiment compares entrants over sequences and answers one question of the paper. Its ``find`` takes a
:class:`Given` and returns a :class:`Finding`; most use :func:`metrack.experiments.usual.compare`. Runs that are
finished in ``given.out`` are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metrack.draw.chart import Chart
from metrack.evaluation.crew import Crew
from metrack.evaluation.entrants import Entrant, parse_entrants
from metrack.evaluation.plan import RunProtocol
from metrack.evaluation.run import Advance, Asked, evaluate
from metrack.evaluation.sequences import Sequence

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
Printed = Mapping[tuple[str, str, str], float]
"""Numbers of the paper by measure, label and sequence."""


@dataclass(frozen=True)
class Finding:
    """Result of an experiment: a table of ``columns`` and ``rows``, figures and notes, or the error that ended it."""

    id: str
    columns: list[str] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    figures: list[Chart] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str | None = None


@dataclass(frozen=True)
class Given:
    """Input of an experiment: sequences, its folder, the number of seeds, and the crew that performs the runs."""

    sequences: list[Sequence]
    out: Path
    crew: Crew
    seeds: int = 1
    data: str = "builtin"
    layout: str | None = None
    watch: Callable[[Advance], None] = lambda advance: None

    def asked(self, entrants: list[Entrant], protocol: RunProtocol) -> Asked:
        """Return the description of an evaluation that its folder of results keeps."""
        names = tuple(sequence.name for sequence in self.sequences)
        settings = {entrant.label: entrant.settings() for entrant in entrants}
        return Asked(self.data, self.layout, protocol, names, settings)

    def run(self, entrants: list[Entrant], protocol: RunProtocol, sequences: list[Sequence] | None = None) -> Asked:
        """Make the runs that are missing in the folder, and return its description."""
        asked = self.asked(entrants, protocol)
        evaluate(asked, entrants, self.sequences if sequences is None else sequences, self.out, self.crew, self.watch)
        return asked


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper."""

    id: str
    title: str
    shows: str
    """Which table or figure of the paper it stands for."""
    question: str
    find: Callable[[Experiment, Given], Finding]
    entrants: tuple[str, ...]
    """In the notation of :meth:`metrack.evaluation.entrants.Entrant.parse`, with labels."""
    measures: tuple[str, ...]
    """Names of :data:`metrack.evaluation.judged.FIGURES`, or ``ms``: milliseconds per frame."""
    shape: str = TABLE
    swept: str = ""
    """Of a plot: the setting that varies from entrant to entrant."""
    protocol: RunProtocol = field(default_factory=RunProtocol)
    """Seeds are its repetitions, as many as asked for."""
    printed: Printed = field(default_factory=dict)

    def parsed(self) -> list[Entrant]:
        """Return the entrants as objects."""
        return parse_entrants(list(self.entrants))


def sweep(setting: str, values: tuple[float, ...]) -> tuple[str, ...]:
    """Write one entrant per value of a setting of the preset paper.

    >>> sweep("representation.rho", (0.07, 0.1))
    ('rho 0.07=paper:representation.rho=0.07', 'rho 0.1=paper:representation.rho=0.1')
    """
    name = setting.rpartition(".")[2]
    return tuple(f"{name} {value:g}=paper:{setting}={value:g}" for value in values)
