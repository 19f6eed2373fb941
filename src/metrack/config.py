"""Every setting of the tracker, and the presets made of them.

A setting is a field of a frozen dataclass: its default, help text and range stand in one place, here. The
command line, the documentation table and the web form are all made from these fields. A preset is a value of
:class:`TrackerConfig`. Unknown names and values out of range fail with a sentence that helps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from metrack.checks import did_you_mean


def setting(
    default: Any,
    text: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare one setting: its default, what it means, and what it may be."""
    return field(default=default, metadata={"text": text, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A group of settings that knows how to check itself."""

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            _check_value(type(self).__name__, each, getattr(self, each.name))


def _check_value(owner: str, each: dataclasses.Field[Any], value: Any) -> None:
    low, high, choices = (each.metadata[k] for k in ("low", "high", "choices"))
    name = f"{owner}.{each.name}"
    if choices:
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
        return
    wanted = int if isinstance(each.default, int) else float
    if isinstance(value, bool) or not isinstance(value, (int, wanted)):
        raise ValueError(f"{name} must be {'a whole number' if wanted is int else 'a number'}, got {value!r}")
    if not (low is None or value >= low) or not (high is None or value <= high):
        bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
        raise ValueError(f"{name} must be {bounds}, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionConfig(_Section):
    """How the particle cloud moves and survives."""

    particles: int = setting(200, "number of particles", low=1, high=100_000)
    refined: float = setting(
        0.5,
        "share of the particles drawn around the promising ones of the others (0: the paper)",
        low=0,
        high=0.9,
    )
    refinement: float = setting(6.0, "how much shorter the steps of refined particles are", low=1, high=100)
    shift_std: float = setting(
        10.0, "spread of one step in x and in y, in pixels of the target at base_size", low=0, high=1000
    )
    scale_std: float = setting(0.02, "spread of one step in log-scale", low=0, high=1)
    sharpness: float = setting(1000.0, "power of the score that weighs a particle (1: the paper)", low=0, high=1e6)

    @property
    def explorers(self) -> int:
        """Particles that move freely; the others refine."""
        return self.particles - int(self.refined * self.particles)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureConfig(_Section):
    """What a region looks like to the tracker."""

    kind: str = setting("hog", "descriptor of a region", choices=("hog", "pixels"))
    divisions: str = setting("quadrants", "the five blocks of the HOG", choices=("quadrants", "halves", "corners"))
    base_size: float = setting(32.0, "side in pixels (geometric mean) to which the target is brought", low=8, high=512)
    energy: float = setting(0.3, "squared length of a descriptor; sets the scale of all distances", low=1e-6, high=1e6)
    patch_side: int = setting(20, "side of the raw-pixel patch; its square is the dimension", low=2, high=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentationConfig(_Section):
    """How candidates are reconstructed and scored."""

    kind: str = setting(
        "metric-weighted",
        "least squares in the learned metric, or a sparse rival without one",
        choices=("metric-weighted", "l1", "omp"),
    )
    sparsity: float = setting(0.03, "l1: price of a unit of code", low=0, high=1e6)
    tolerance: float = setting(1e-3, "l1: to which the conditions of a minimum hold", low=1e-6, high=1)
    atoms: int = setting(10, "omp: samples a candidate may be explained by", low=1, high=10_000)
    ridge: float = setting(0.02, "ridge on the Gram matrix, in units of its trace (0: the paper)", low=0, high=1e6)
    gamma_f: float = setting(1.0, "scale of the foreground residual", low=1e-9, high=1e9)
    gamma_b: float = setting(1.0, "scale of the background residual", low=1e-9, high=1e9)
    rho: float = setting(0.1, "weight of the background term in the score", low=0, high=10)
    loyalty: float = setting(
        0.0, "weight in the score of the distance to the first frame's samples (0: the paper)", low=0, high=10
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig(_Section):
    """Which samples are taken, and which are kept."""

    sampling: str = setting(
        "time-weighted",
        "which samples stay in a full buffer",
        choices=("time-weighted", "uniform", "with-replacement", "everything"),
    )
    learn_when: str = setting(
        "always",
        "whether a frame in which the target seems hidden is learned from and followed, or only reported",
        choices=("always", "tracking"),
    )
    every: int = setting(1, "frames from one that is learned from to the next", low=1, high=1000)
    size: int = setting(300, "samples kept per class", low=1, high=100_000)
    growth: float = setting(1.6, "weight of a frame relative to the one before it", low=1, high=100)
    first: int = setting(
        50, "samples of either class taken in the first frame, whose box is certain", low=1, high=10_000
    )
    positives: int = setting(2, "foreground samples taken per frame", low=1, high=10_000)
    negatives: int = setting(2, "background samples taken per frame", low=1, high=10_000)
    misscaled: int = setting(0, "of them: as many show the target at a wrong scale", low=0, high=10_000)
    positive_radius: float = setting(1.0, "foreground samples lie within this many pixels", low=0, high=1000)
    negative_inner: float = setting(0.5, "background samples lie at least this far, in target sizes", low=0, high=100)
    negative_outer: float = setting(1.5, "background samples lie at most this far, in target sizes", low=0, high=100)
    misscale_inner: float = setting(0.2, "a wrong scale is off by at least this much, in log-scale", low=0, high=2)
    misscale_outer: float = setting(0.5, "a wrong scale is off by at most this much, in log-scale", low=0, high=2)

    @property
    def reach(self) -> float:
        """How far the centre of any sample may lie from the target's, in target sizes."""
        return max(self.negative_inner, self.negative_outer)

    def in_frame(self, frame: int) -> Self:
        """Return the settings by which a frame is sampled: the first, number 0, gives more samples than others."""
        return self if frame > 0 else dataclasses.replace(self, positives=self.first, negatives=self.first)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricConfig(_Section):
    """How the metric is learned."""

    learning: str = setting(
        "guarded",
        "whether the metric is learned, and what keeps it positive",
        choices=("off", "guarded", "unprojected", "projected-round", "projected-step"),
    )
    triplets: int = setting(500, "triplets per learning round", low=1, high=1_000_000)
    anchors: str = setting("foreground", "which samples triplets are built around", choices=("foreground", "both"))
    margin: float = setting(1.0, "by how much a stranger must be farther than a relative", low=0, high=1e6)
    step_limit: float = setting(1.0, "C: the longest step one triplet may take", low=0, high=1e6)
    every: int = setting(5, "frames from one round on triplets to the next (0: never)", low=0, high=1_000_000)
    floor: float = setting(
        0.02, "smallest eigenvalue the metric may have when it is guarded or projected", low=0, high=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingConfig(_Section):
    """How the metric is learned from the overlaps of boxes around the estimate."""

    every: int = setting(0, "frames from one round on overlaps to the next (0: never)", low=0, high=1_000_000)
    boxes: int = setting(60, "boxes sampled around the estimate", low=1, high=10_000)
    reach: float = setting(1.0, "how far their centres lie at most, in target sizes", low=0, high=100)
    scale_reach: float = setting(0.3, "how far their scales are off at most, in log-scale", low=0, high=2)
    solver: str = setting(
        "quadratic",
        "how step lengths are found: exactly, or by the paper's linear programme",
        choices=("quadratic", "linear"),
    )
    iterations: int = setting(20, "constraints added at most in a round", low=1, high=1000)
    step_limit: float = setting(1.0, "C: the longest all steps of a round may be together", low=0, high=1e6)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig(_Section):
    """How a target that is not seen is looked for."""

    candidates: int = setting(0, "places looked at in a frame while the target is lost (0: none)", low=0, high=100_000)
    kept: int = setting(20, "of them: the most familiar ones join the particles", low=1, high=10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionConfig(_Section):
    """How the target is found by regression over every place around it."""

    use: str = setting("no", "whether the target is found by regression or by particles alone", choices=("no", "yes"))
    cells: int = setting(48, "cells along the side of the map", low=8, high=256)
    cell: int = setting(4, "pixels along the side of a cell, as the target is looked at", low=2, high=32)
    reach: float = setting(4.8, "side of the map, in target sizes", low=1.5, high=20)
    scales: int = setting(5, "sizes at which the target is sought; an odd number", low=1, high=33)
    scale_step: float = setting(1.01, "ratio of one size to the next", low=1.0001, high=1.5)
    sharpness: float = setting(0.0625, "spread of the answer wanted at the target, in target sizes", low=0.01, high=1)
    inertia: float = setting(60.0, "how dear it is to change the filter", low=0, high=1e6)
    rounds: int = setting(2, "rounds of the alternating method per frame", low=1, high=100)

    def __post_init__(self) -> None:
        _Section.__post_init__(self)
        if self.scales % 2 == 0:
            raise ValueError(f"RegressionConfig.scales must be odd, so that one keeps the size, got {self.scales}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerConfig:
    """All settings of a tracker, one section per step a frame takes.

    >>> TrackerConfig().replace({"motion.particles": 400}).motion.particles
    400
    """

    motion: MotionConfig = field(default_factory=MotionConfig)
    features: FeatureConfig = field(default_factory=FeatureConfig)
    representation: RepresentationConfig = field(default_factory=RepresentationConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    metric: MetricConfig = field(default_factory=MetricConfig)
    ranking: RankingConfig = field(default_factory=RankingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    regression: RegressionConfig = field(default_factory=RegressionConfig)

    def __post_init__(self) -> None:
        kind, learning = self.representation.kind, self.metric.learning
        if kind != "metric-weighted" and learning != "off":
            raise ValueError(
                f"representation.kind {kind!r} knows no metric and needs metric.learning to be 'off', got {learning!r}"
            )

    def settings(self) -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
        """Yield dotted name, field and value of every setting."""
        for section in dataclasses.fields(self):
            values = getattr(self, section.name)
            for each in dataclasses.fields(values):
                yield f"{section.name}.{each.name}", each, getattr(values, each.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a flat mapping from dotted name to value."""
        return {name: value for name, _, value in self.settings()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild a configuration from :meth:`to_dict`; all settings must be there, as defaults may have changed."""
        config = cls()
        for name in config.to_dict():
            if name not in values:
                raise KeyError(name)
        return config.replace(values)

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some settings changed; values may be strings, as a command line gives them."""
        fields = {name: each for name, each, _ in self.settings()}
        by_section: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            if name not in fields:
                raise ValueError(f"there is no setting {name!r}{did_you_mean(name, fields)}")
            section, _, key = name.partition(".")
            by_section.setdefault(section, {})[key] = _parse(name, fields[name], value)
        sections = {s: dataclasses.replace(getattr(self, s), **v) for s, v in by_section.items()}
        return dataclasses.replace(self, **sections)


def _parse(name: str, each: dataclasses.Field[Any], value: Any) -> Any:
    """Turn the text of a command line into the type the setting has."""
    if not isinstance(value, str) or isinstance(each.default, str):
        return value
    wanted = int if isinstance(each.default, int) else float
    try:
        return wanted(value)
    except ValueError:
        kind = "a whole number" if wanted is int else "a number"
        raise ValueError(f"setting {name} must be {kind}, got {value!r}") from None


PAPER = TrackerConfig()

PAPER_STRUCTURED = PAPER.replace({"metric.every": 0, "ranking.every": 1})

PAPER_MIXED = PAPER.replace({"metric.every": 1, "ranking.every": 5})

DEFAULT = PAPER.replace(
    {
        "regression.use": "yes",
        "motion.particles": 50,
        "memory.size": 100,
        "memory.first": 7,
        "memory.positives": 7,
        "memory.negatives": 7,
        "memory.learn_when": "tracking",
        "metric.triplets": 200,
        "representation.loyalty": 1.0,
        "search.candidates": 600,
    }
)

FAST = DEFAULT.replace(
    {
        "regression.cells": 32,
        "regression.reach": 4.0,
        "regression.scales": 3,
        "regression.scale_step": 1.02,
        "motion.particles": 8,
        "memory.size": 30,
        "memory.every": 2,
        "memory.first": 3,
        "memory.positives": 3,
        "memory.negatives": 3,
        "metric.learning": "off",
    }
)

PRESETS: dict[str, TrackerConfig] = {
    "default": DEFAULT,
    "fast": FAST,
    "paper": PAPER,
    "paper-structured": PAPER_STRUCTURED,
    "paper-mixed": PAPER_MIXED,
}


def preset(name: str) -> TrackerConfig:
    """Look a preset up by name."""
    if name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
