"""Numbers printed in the paper, by the names its sequences have in OTB.

The paper's cuts and truth boxes may differ a little from OTB's, so its numbers stand beside ours and are no target.
"""

from __future__ import annotations

from metrack.experiments.base import PaperNumbers

MEASURES = ("error", "overlap", "success")  # in the order of the paper's tables
OTB_NAMES = {"trellis70": "Trellis", "car11": "CarDark", "girl": "Girl", "coke11": "Coke", "football": "Football"}


def read_paper(sequences: str, text: str) -> PaperNumbers:
    """Read lines ``label | numbers``: CLE on every sequence, then VOR, then success; ``-`` where none was printed.

    >>> read_paper("Trellis Girl", "Ours | 5 7 .8 .9 1 -")["success", "Ours", "Trellis"]
    1.0
    """
    keys = [(measure, sequence) for measure in MEASURES for sequence in sequences.split()]
    numbers: dict[tuple[str, str, str], float] = {}
    for line in text.strip().splitlines():
        label, _, values = line.partition("|")
        for (measure, sequence), value in zip(keys, values.split(), strict=True):
            if value != "-":
                numbers[measure, label.strip(), sequence] = float(value)
    return numbers


def otb_name(sequence: str) -> str:
    """Return the name a sequence of the paper has in OTB; others keep theirs."""
    return OTB_NAMES.get(sequence, sequence)
