"""The appearance model: foreground and background samples under a learned metric.

Learning from a frame has three steps: samples enter the two reservoirs, rounds of metric learning run when they are
due, and the residuals of both classes are prepared for the candidates of the next frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import lapack

from metrack.arrays import Floats, Ints
from metrack.config import TrackerConfig
from metrack.files import Expectations, Expected, under
from metrack.memory.reservoir import Reservoir
from metrack.metric.guard import Guard
from metrack.metric.projection import FLOOR, learn_round_projected, raise_eigenvalues
from metrack.metric.proximity import draw_triplets, learn_round
from metrack.metric.sample_space import BACKGROUND, FOREGROUND, SampleSpace
from metrack.metric.schedule import due
from metrack.metric.structured import learn_ranking
from metrack.representation.kinds import KINDS, make_representation

REFRESH_EVERY = 500  # frames between exact re-computations of what is otherwise updated incrementally
TEMPLATES = 7  # foreground samples of the first frame that are kept for ever, at most
ROUNDING = 1e-3  # of the largest number of a metric: what rounding may have done to it
FIRST_CAPACITY = 512  # samples per class that a memory without bound has room for at first


@dataclass(frozen=True, slots=True)
class Lesson:
    """Descriptors of the samples of one frame.

    ``foreground`` and ``background`` are samples ``(k, D)``, the first foreground sample being the estimate itself.
    ``ranked`` ``(b, D)`` are descriptors of boxes around it whose ``overlaps`` ``(b,)`` with it are known.
    """

    foreground: Floats
    background: Floats
    ranked: Floats = field(default_factory=lambda: np.empty((0, 0), np.float32))
    overlaps: Floats = field(default_factory=lambda: np.empty(0))


class Appearance:
    """Foreground and background memory under a learned metric."""

    def __init__(self, config: TrackerConfig, dimension: int) -> None:
        memory = config.memory
        self.config = config
        self.reservoirs = [Reservoir(memory.size, memory.growth, memory.sampling) for _ in range(2)]
        self.space = SampleSpace(dimension, FIRST_CAPACITY if memory.sampling == "everything" else memory.size)
        self.guard = Guard(FLOOR)
        self._residuals = make_representation(config, self.space)
        self.first: Floats = np.empty((0, dimension), np.float32)  # samples of the first frame, kept for ever
        self.steps_taken = 0  # of metric learning in the last frame
        self._refreshed = 0  # frame of the last exact re-computation
        self.entered: tuple[tuple[Ints, Ints], tuple[Ints, Ints]] | None = None  # slots and sources of the last samples

    def energies(self, candidates: Floats) -> tuple[Floats, Floats]:
        """Residual energies ``(N,)`` of candidates ``(N, D)`` against foreground and background, at least 0."""
        return self._residuals.energies(candidates)

    def template_error(self, candidates: Floats) -> Floats:
        """Squared distance ``(N,)`` of candidates ``(N, D)`` to the nearest sample of the first frame."""
        return nearest_squares(candidates, self.first)

    def learn(self, rng: np.random.Generator, frame: int, lesson: Lesson) -> None:
        """Take the samples of a frame into memory, and learn the metric from them."""
        self.steps_taken = 0
        if not len(self.first):
            self.first = lesson.foreground[:TEMPLATES].copy()
        slots_f, from_f = self.reservoirs[FOREGROUND].offer(rng, frame, len(lesson.foreground))
        slots_b, from_b = self.reservoirs[BACKGROUND].offer(rng, frame, len(lesson.background))
        self._residuals.put((slots_f, slots_b), (lesson.foreground[from_f], lesson.background[from_b]))
        self.entered = (slots_f, from_f), (slots_b, from_b)
        if self.config.metric.learning != "off":
            if due(frame, self.config.metric.every):
                self._learn_triplets(self._triplets(rng))
            if len(lesson.ranked):
                self._learn_ranking(lesson.ranked - lesson.foreground[0], lesson.overlaps)
        if frame - self._refreshed >= REFRESH_EVERY:
            self.space.refresh()
            self.guard.refresh()
            self._residuals.forget()
            self._refreshed = frame
        self._residuals.prepare()

    def without_metric(self) -> Self:
        """Return a copy of the memory with the identity as its metric."""
        plain = type(self)(self.config, len(self.space.metric))
        known = {name: array.copy() for name, array in self.space.to_arrays().items()}
        plain.space.restore(known)
        plain.space.set_metric(np.eye(len(known["metric"]), dtype=np.float32))
        return plain

    @staticmethod
    def expected(config: TrackerConfig, dimension: int, frame: int) -> Expectations:
        """Say what saved arrays must be, of a target followed through that many frames."""
        capacity = None if config.memory.sampling == "everything" else config.memory.size
        return {
            "refreshed": Expected("int64", (), 0, frame),
            "first": Expected("float32", ("templates", dimension), -1, 1),
            "guard_inverse": Expected("float64", (dimension, dimension), optional=True),
            **under("space_", SampleSpace.expected(dimension, capacity)),
            **under("residuals_", KINDS[config.representation.kind].expected(dimension)),
            **under("reservoir_0_", Reservoir.expected(frame)),
            **under("reservoir_1_", Reservoir.expected(frame)),
        }

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state as named arrays."""
        arrays: dict[str, NDArray[Any]] = {"refreshed": np.array(self._refreshed), "first": self.first}
        arrays |= {f"space_{k}": v for k, v in self.space.to_arrays().items()}
        if self.guard.inverse is not None:
            arrays["guard_inverse"] = self.guard.inverse
        arrays |= {f"residuals_{k}": v for k, v in self._residuals.to_arrays().items()}
        for label, reservoir in enumerate(self.reservoirs):
            arrays |= {f"reservoir_{label}_{k}": v for k, v in reservoir.to_arrays().items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the state that :meth:`to_arrays` returned."""
        self._refreshed = int(arrays["refreshed"])
        self.first = arrays["first"]
        self.space.restore({k: arrays[f"space_{k}"] for k in self.space.to_arrays()})
        self.guard.inverse = arrays.get("guard_inverse")
        self._residuals.restore(
            {k: arrays[f"residuals_{k}"] for k in ("forms", "ridges") if f"residuals_{k}" in arrays}
        )
        memory = self.config.memory
        self.reservoirs = [
            Reservoir.from_arrays(
                {k: arrays[f"reservoir_{label}_{k}"] for k in ("keys", "born")},
                memory.size,
                memory.growth,
                memory.sampling,
            )
            for label in (FOREGROUND, BACKGROUND)
        ]
        if [len(each) for each in self.reservoirs] != self.space.counts or not len(self.first):
            raise ValueError(f"space_counts must be those of the reservoirs, got {self.space.counts}")
        if self.config.metric.learning != "unprojected":
            check_definite(self.space.metric)

    def _triplets(self, rng: np.random.Generator) -> Ints:
        own, other = (self.space.row_numbers(label) for label in (FOREGROUND, BACKGROUND))
        return draw_triplets(rng, own, other, self.config.metric.triplets)

    def _learn_triplets(self, triplets: Ints) -> None:
        metric, space = self.config.metric, self.space
        if metric.learning == "projected-step":
            learned, self.steps_taken = learn_round_projected(
                space.metric, space.samples, triplets, metric.margin, metric.step_limit, FLOOR
            )
            space.set_metric(learned)
            return
        steps = learn_round(space.gram, space.weighted, triplets, metric.margin, metric.step_limit)
        if len(steps):
            self.steps_taken += len(steps)
            self._change_metric(*((steps.push(rows), steps.pull(rows)) for rows in (space.samples, space.gram)))

    def _learn_ranking(self, differences: Floats, overlaps: Floats) -> None:
        ranking, space = self.config.ranking, self.space
        distances = np.einsum("bd,bd->b", differences @ space.metric, differences)  # (b,)
        steps = learn_ranking(
            differences @ differences.T, distances, overlaps, ranking.step_limit, solver=ranking.solver
        )
        if len(steps):
            self.steps_taken += len(steps)
            push, pull = steps.push(differences), steps.pull(differences)
            self._change_metric((push, pull), (push @ space.samples.T, pull @ space.samples.T))

    def _change_metric(self, change: tuple[Floats, Floats], seen: tuple[Floats, Floats]) -> None:
        """Add push' push - pull' pull to the metric.

        ``change`` holds push and pull ``(m, D)``, ``seen`` their inner products with the samples ``(m, n)``.
        """
        (push, pull), (seen_push, seen_pull) = change, seen
        metric, space = self.config.metric, self.space
        if metric.learning == "guarded":
            mix = self.guard.limit(space.metric, push, pull)
            pull, seen_pull = mix @ pull, mix @ seen_pull
        self._residuals.change_metric(push, pull, seen_push, seen_pull)
        if metric.learning.startswith("projected"):
            space.set_metric(raise_eigenvalues(space.metric, FLOOR))


def check_definite(metric: Floats) -> None:
    """Refuse a metric that is, but for rounding, not symmetric or not positive definite."""
    slack = ROUNDING * float(np.abs(metric).max())
    _, failed = lapack.dpotrf((metric.astype(np.float64) + metric.T) / 2 + slack * np.eye(len(metric)), lower=1)
    if failed or float(np.abs(metric - metric.T).max()) > slack:
        raise ValueError("space_metric must be symmetric and positive definite")


@njit(cache=True, nogil=True, fastmath=True)
def nearest_squares(rows: Floats, others: Floats) -> Floats:
    """Squared distance ``(N,)`` of each of the rows ``(N, D)`` to the nearest of a few others ``(k, D)``."""
    nearest = np.empty(len(rows), np.float32)
    for n in range(len(rows)):
        row, least = rows[n], np.float32(np.inf)
        for k in range(len(others)):
            other, total = others[k], np.float32(0.0)
            for d in range(len(row)):
                apart = row[d] - other[d]
                total += apart * apart
            least = min(least, total)
        nearest[n] = least
    return nearest
