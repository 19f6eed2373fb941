"""Which runs an evaluation consists of.

``ope`` tracks every sequence from its first box to its end. ``tre`` starts it again from evenly spaced frames, or the
next in which the target is not known to be hidden. ``sre`` starts it from first boxes that are perturbed: shifted by a
tenth of the size in eight directions, and scaled by 0.8, 0.9, 1.1 and 1.2. Every start may be repeated with
other seeds. The randomness of a run depends on the seed, the name of the sequence and the number of the run alone: not
on the order of runs or on the machine.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.box import Box
from metrack.evaluation.sequences import Sequence
from metrack.evaluation.trackers import TrackerSpec

OPE, TRE, SRE = PROTOCOLS = ("ope", "tre", "sre")
SHIFTS = [(dx, dy, 1.0) for dx in (-0.1, 0.0, 0.1) for dy in (-0.1, 0.0, 0.1) if dx or dy]
PERTURBATIONS = (*SHIFTS, *((0.0, 0.0, scale) for scale in (0.8, 0.9, 1.1, 1.2)))  # in sizes of the target
USUAL_STARTS = {OPE: 1, TRE: 20, SRE: len(PERTURBATIONS)}


@dataclass(frozen=True, slots=True)
class RunProtocol:
    """How sequences are run: ``starts`` per sequence (None: as many as usual), each ``repetitions`` times.

    A run ends after ``length`` frames (None: with the sequence).
    """

    kind: str = OPE
    repetitions: int = 1
    seed: int = 0
    starts: int | None = None
    length: int | None = None

    def __post_init__(self) -> None:
        optional = {"starts": self.starts, "length": self.length}
        given = {name: value for name, value in optional.items() if value is not None}
        for name, value in {"repetitions": self.repetitions, "seed": self.seed, **given}.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{name} must be a whole number, got {value!r}")
        if self.kind not in PROTOCOLS:
            raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {self.kind!r}")
        most = {OPE: 1, SRE: len(PERTURBATIONS)}.get(self.kind)
        if self.starts is not None and (self.starts < 1 or (most is not None and self.starts > most)):
            wanted = "at least 1" if most is None else f"between 1 and {most}"
            raise ValueError(f"starts must be {wanted} for {self.kind}, got {self.starts}")
        if self.repetitions < 1:
            raise ValueError(f"repetitions must be at least 1, got {self.repetitions}")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, got {self.seed}")
        if self.length is not None and self.length < 2:
            raise ValueError(f"length must be at least 2 frames, got {self.length}")


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One tracker on one part of a sequence, from a first box; numbers count from 1."""

    spec: TrackerSpec
    sequence: Sequence
    first_box: Box
    number: int
    start: int
    seed: int

    @property
    def name(self) -> str:
        """The stem of its files."""
        return f"{self.sequence.name}_{self.number:03d}"


def plan(specs: list[TrackerSpec], sequences: list[Sequence], protocol: RunProtocol) -> list[PlannedRun]:
    """Return all runs: tracker by tracker, sequence by sequence, start by start, repetition by repetition."""
    return [run for spec in specs for sequence in sequences for run in runs_on(spec, sequence, protocol)]


def runs_on(spec: TrackerSpec, sequence: Sequence, protocol: RunProtocol) -> list[PlannedRun]:
    """Return the runs of one tracker on one sequence."""
    starts = [start for start in starts_of(sequence, protocol) for _ in range(protocol.repetitions)]
    return [
        PlannedRun(
            spec,
            sequence.part(frame, None if protocol.length is None else frame + protocol.length),
            box,
            number,
            frame,
            run_seed(protocol.seed, sequence.name, number),
        )
        for number, (frame, box) in enumerate(starts, 1)
    ]


def starts_of(sequence: Sequence, protocol: RunProtocol) -> list[tuple[int, Box]]:
    """Return the frames a sequence is started at, with the box given there."""
    present = sequence.present()
    if not len(present):
        raise ValueError(f"{sequence.name} must have at least one frame with a truth box, got none")
    count = protocol.starts or USUAL_STARTS[protocol.kind]
    if protocol.kind == TRE:
        wanted, good = np.arange(count) * len(sequence) // count, _in_view(sequence, present)
        frames = np.unique(good[np.minimum(np.searchsorted(good, wanted), len(good) - 1)])
        return [(int(frame), Box(*sequence.truth[frame])) for frame in frames]
    first = int(present[0])
    box = Box(*sequence.truth[first])
    if protocol.kind == SRE:
        return [(first, _perturbed(box, *PERTURBATIONS[k * len(PERTURBATIONS) // count])) for k in range(count)]
    return [(first, box)]


def _in_view(sequence: Sequence, present: NDArray[np.intp]) -> NDArray[np.intp]:
    """Leave out frames known to hide the target, if that leaves any: a box there would show the occluder."""
    hidden = sequence.tags.get("occlusion", np.zeros(len(sequence), bool))
    seen = present[~hidden[present]]
    return seen if len(seen) else present


def run_seed(seed: int, name: str, number: int) -> int:
    """Return the seed of one run."""
    return int(np.random.SeedSequence([seed, zlib.crc32(name.encode()), number]).generate_state(1)[0])


def _perturbed(box: Box, dx: float, dy: float, scale: float) -> Box:
    (cx, cy), w, h = box.centre, box.w, box.h
    return Box.from_centre(cx + dx * w, cy + dy * h, w * scale, h * scale)
