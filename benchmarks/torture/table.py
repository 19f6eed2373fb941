"""The table of a torture run: what was tried, how often, and what went wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from torture.campaign import Tally
from torture.register import find


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one campaign; ``aim`` is how many units there must be, 0 in a short run."""

    name: str
    unit: str
    tally: Tally
    aim: int

    @property
    def passed(self) -> bool:
        """Whether nothing went wrong, and enough was tried."""
        return not self.tally.misses and self.tally.units >= max(self.aim, 1)

    def __str__(self) -> str:
        tally = self.tally
        verdict = "passed" if self.passed else f"{len(tally.misses)} missed" if tally.misses else "too few"
        figures = ", ".join(f"{name} {value:g}" for name, value in tally.figures.items())
        return f"{self.name:8} {tally.units:8d} {self.unit:18} {tally.seconds / 60:6.1f} min  {verdict:10} {figures}"


def rows(names: list[str], out: Path, seed: int, half_hours: float) -> list[Line]:
    """Read what every campaign did; a full run, of half an hour or more, must reach its aims."""
    lines = []
    for name in names:
        kind = find(name)
        aim = round(kind.aim) if half_hours >= 1 else 0
        lines.append(Line(name, kind.unit, Tally.load(out / f"{name}.json", seed), aim))
    return lines


COMMAND = "make torture"
HEAD = ("campaign", "passes when", "tried", "asked for in half an hour", "minutes", "missed", "measured")


def markdown(lines: list[Line], seed: int, minutes: float) -> list[str]:
    """Return the table for a document, with the machine and the seed it was made with."""
    made = f"{minutes:g} minutes on {os.cpu_count()} processors, seed {seed}, metrack {version('metrack')}."
    rows = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for line in lines:
        tally, kind = line.tally, find(line.name)
        figures = ", ".join(f"{name} {value:g}" for name, value in tally.figures.items())
        cells = (
            line.name,
            kind.passes,
            f"{tally.units:,} {kind.unit}",
            f"{kind.aim:,}",
            f"{tally.seconds / 60:.1f}",
            str(len(tally.misses)),
            figures,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return [made, "", *rows]


def show(lines: list[Line], *, head: bool = True) -> None:
    """Print the table, and every miss in full."""
    if head:
        print(f"{'campaign':8} {'size':>8} {'of':18} {'time':>10}  {'':10}", flush=True)
    for line in lines:
        print(line, flush=True)
        for miss in line.tally.misses if head else []:
            print(f"    {miss}", flush=True)
