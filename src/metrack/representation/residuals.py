"""The metric-weighted representation of a tracker: residual energies, fast for few candidates and for many.

There are two ways to compute them. By the samples: scoring a candidate is linear in the number of samples, and each
class takes one factorisation per frame. By a quadratic form of the candidate: the cost does not depend on the number of
samples, and a form that is kept follows samples and metric by low-rank updates. Few candidates go the first way and
many the second; the numbers also decide whether forms are worth keeping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Ints
from metrack.config import TrackerConfig
from metrack.files import Expectations, Expected
from metrack.metric.sample_space import SampleSpace
from metrack.representation.base import Representation
from metrack.representation.form import ResidualForm
from metrack.representation.metric_weighted import PseudoInverse, Triangle, factorise

MANY = 2  # times the dimension: number of candidates from which forms are cheaper
FEW_CHANGES = 0.5  # times the dimension: up to this rank it is cheaper to update a form than to compute it anew
SMALLEST_RIDGE = 1e-12  # of a form
SAME = 0.1  # relative change of the ridge from which forms are computed anew


class MetricWeighted(Representation):
    """Least squares in the learned metric, with what is computed per class kept up to date."""

    def __init__(self, config: TrackerConfig, space: SampleSpace) -> None:
        super().__init__(config, space)
        self._factors: list[Triangle | PseudoInverse] = []  # of both classes, made when first needed
        self._forms: list[ResidualForm] = []  # likewise

    def energies(self, candidates: Floats) -> tuple[Floats, Floats]:
        """Return theta ``(N,)`` of candidates ``(N, D)`` against foreground and background, at least 0."""
        many = len(candidates) > MANY * len(self.space.metric)
        theta_f, theta_b = self._by_form(candidates) if many or self._keeps_forms else self._by_samples(candidates)
        return np.maximum(theta_f, 0.0), np.maximum(theta_b, 0.0)

    def _by_samples(self, Y: Floats) -> list[Floats]:
        space = self.space
        if not self._factors:
            self._factors = [factorise(space.weighted[block, block], self._ridge(block)) for block in space.blocks]
        S, M = space.samples, space.metric
        YM = Y @ M  # (N, D)
        whole = np.einsum("nd,nd->n", YM, Y)
        return [whole - f.explained(YM @ S[block].T) for f, block in zip(self._factors, space.blocks, strict=True)]

    def _by_form(self, Y: Floats) -> list[Floats]:
        self._make_forms()
        return [form.energy(Y) for form in self._forms]

    def _make_forms(self) -> None:
        space = self.space
        if not self._forms:
            S, M, G = space.samples, space.metric, space.weighted
            self._forms = [ResidualForm.of(S[b], M, G[b, b], self._ridge(b)) for b in space.blocks]

    def prepare(self) -> None:
        """Compute what the next frame needs, so that scoring candidates changes nothing."""
        if self._keeps_forms:
            self._make_forms()
        else:
            self.space.catch_up()

    def _ridge(self, block: slice) -> float:
        """The ridge of a class, given in units of the trace of its Gram matrix."""
        return self.config.representation.ridge * max(float(self.space.energies[block].sum()), 0.0)

    @property
    def _keeps_forms(self) -> bool:
        """Whether forms are kept from frame to frame: full buffers, many candidates, a metric that stays positive."""
        memory = self.config.memory
        changing = 2 * (memory.positives + memory.negatives)  # samples that leave or join in a frame
        return (
            self.space.counts == [memory.size, memory.size]
            and self.config.motion.particles * memory.size > changing * len(self.space.metric)
            and self.config.metric.learning in ("off", "guarded")
            and self.config.representation.ridge > 0
        )

    def put(self, slots: tuple[Ints, Ints], samples: tuple[Floats, Floats]) -> None:
        """Write samples into slots of both classes of the space, and update the forms."""
        space, kept = self.space, self._keeps_forms and self._are_sound
        leaving = [space.samples[s + label * space.capacity] for label, s in enumerate(slots)] if kept else []
        space.put(slots, samples)
        self._factors = []
        if not kept or not self._can_follow(2 * max(map(len, slots))):
            self._forms = []
        self._change_forms(lambda form, label: form.replace(leaving[label], samples[label]))

    def change_metric(self, push: Floats, pull: Floats, seen_push: Floats, seen_pull: Floats) -> None:
        """Change the metric of the space, as :meth:`SampleSpace.change_metric` does, and update the forms."""
        space, sound = self.space, self._are_sound
        space.change_metric(push, pull, seen_push, seen_pull)
        self._factors = []
        if not sound or not self._can_follow(len(push) + len(pull)):
            self._forms = []
        blocks = space.blocks

        def follow(form: ResidualForm, label: int) -> None:
            own = blocks[label]
            form.change_metric(space.samples[own], push, pull, seen_push[:, own], seen_pull[:, own])

        self._change_forms(follow)

    def _change_forms(self, change: Callable[[ResidualForm, int], None]) -> None:
        """Update the forms there are; where rounding spoils one, drop all."""
        try:
            for label, form in enumerate(self._forms):
                change(form, label)
            spoilt = not self._are_sound
        except np.linalg.LinAlgError:
            spoilt = True
        if spoilt:
            self._forms = []

    @property
    def _are_sound(self) -> bool:
        """Whether no form shows damage by rounding; asked before an update too, which may hide it."""
        return all(form.is_sound(self.space.metric) for form in self._forms)

    def _can_follow(self, ranks: int) -> bool:
        """Whether the forms can be updated by that rank: not too high, and the ridges about the same."""
        wanted = [self._ridge(block) for block in self.space.blocks]
        same = [abs(form.ridge - ridge) < SAME * ridge for form, ridge in zip(self._forms, wanted, strict=False)]
        return all(same) and ranks <= FEW_CHANGES * len(self.space.metric)

    def forget(self) -> None:
        """Start anew from the space as it is."""
        self._factors, self._forms = [], []

    @staticmethod
    def expected(dimension: int) -> Expectations:
        """Say what saved arrays must be: the forms of both classes and their ridges, or nothing."""
        return {
            "forms": Expected("float32", (2, dimension, dimension), optional=True),
            "ridges": Expected("float64", (2,), SMALLEST_RIDGE, optional=True),
        }

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is kept from frame to frame as named arrays."""
        if not self._forms or not self._keeps_forms:
            return {}
        return {
            "forms": np.stack([form.matrix for form in self._forms]),
            "ridges": np.array([form.ridge for form in self._forms]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the state that :meth:`to_arrays` returned."""
        self.forget()
        if arrays and arrays.keys() != {"forms", "ridges"}:
            raise ValueError(f"forms and ridges must be there together, got {', '.join(arrays)}")
        for matrix, ridge in zip(arrays.get("forms", ()), arrays.get("ridges", ()), strict=True):
            self._forms.append(ResidualForm(matrix.copy(), float(ridge)))
