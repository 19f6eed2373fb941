"""Every setting of the tracker, and the presets.

A setting is a field of a frozen dataclass, with its default, help text and range. The command line, the documentation
table and the web form are made from these fields. A preset is a value of :class:`TrackerConfig`; ``TrackerConfig()``
is the preset ``default``. What nobody needs to change is a named constant beside the code that uses it.

The ranges keep the work of a frame bounded; on one processor, with everything else as in ``default``:

======================== ======== ===========================================================================
setting                  at most  because
======================== ======== ===========================================================================
motion.particles         20,000   a frame takes 0.3 s, and the descriptors 30 MB
memory.size              2,000    Gram matrices take 32 size^2 bytes (128 MB), their factors size^3 steps
memory.first, positives, 1,000    each is described and offered to every slot
memory.negatives
metric.triplets          1,000    a round takes triplets^2 steps, and the guard triplets^3
search.candidates        20,000   as for particles
regression.cells         128      cells^2 log(cells) steps for each scale; at the largest scale, LARGEST_WINDOW
regression.scales        33       each costs as much as the first
======================== ======== ===========================================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from metrack.arrays import shown
from metrack.checks import did_you_mean

LARGEST_WINDOW = 512  # cells along a side at the largest scale: some 200 MB
NOUNS = {"switch": "true or false", "whole": "a whole number", "number": "a number"}
SWITCHES = {"true": True, "yes": True, "false": False, "no": False}


def setting(
    default: Any,
    text: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare one setting: its default, help text, and range or choices."""
    return field(default=default, metadata={"text": text, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A group of settings that checks its values."""

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            _check_value(type(self).__name__, each, getattr(self, each.name))


def kind_of(each: dataclasses.Field[Any]) -> str:
    """Return what a setting holds: "switch" (true or false), "choice", "whole" or "number"."""
    if each.metadata["choices"]:
        return "choice"
    return {bool: "switch", int: "whole"}.get(type(each.default), "number")


def possible_values(each: dataclasses.Field[Any]) -> str:
    """Return the values a setting may have, for people to read."""
    low, high, choices = (each.metadata[k] for k in ("low", "high", "choices"))
    kind = kind_of(each)
    return ", ".join(choices) if kind == "choice" else NOUNS[kind] if kind == "switch" else f"{low:g} to {high:g}"


def _check_value(owner: str, each: dataclasses.Field[Any], value: Any) -> None:
    low, high, choices = (each.metadata[k] for k in ("low", "high", "choices"))
    name, kind = f"{owner}.{each.name}", kind_of(each)
    if kind == "choice":
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {shown(value)}")
        return
    if isinstance(value, bool) != (kind == "switch") or not isinstance(value, (int, type(each.default))):
        raise ValueError(f"{name} must be {NOUNS[kind]}, got {shown(value)}")
    if kind != "switch" and not low <= value <= high:
        raise ValueError(f"{name} must be between {low:g} and {high:g}, got {shown(value)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionConfig(_Section):
    """How the particles move and how they are weighted."""

    particles: int = setting(50, "number of particles", 1, 20_000)
    refined: float = setting(
        0.5, "share of the particles that refine: short steps around the best of the others (0: the paper)", 0, 0.9
    )
    shift_std: float = setting(10.0, "standard deviation of a step in x and y, in 1/32 of the target's size", 0, 1000)
    scale_std: float = setting(0.02, "standard deviation of a step in log-scale", 0, 1)
    sharpness: float = setting(1000.0, "exponent of the score in a particle's weight (1: the paper)", 0, 1e6)

    @property
    def explorers(self) -> int:
        """Number of particles that take full steps; the others refine."""
        return self.particles - int(self.refined * self.particles)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureConfig(_Section):
    """How an image region is described."""

    kind: str = setting("hog", "descriptor of a region", choices=("hog", "pixels"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentationConfig(_Section):
    """How candidates are reconstructed from samples and scored."""

    kind: str = setting(
        "metric-weighted",
        "linear representation: least squares in the learned metric, or a sparse one without a metric",
        choices=("metric-weighted", "l1", "omp"),
    )
    ridge: float = setting(0.02, "ridge, as a share of the Gram matrix's trace (0: the paper)", 0, 1e6)
    gamma_f: float = setting(1.0, "scale of the foreground residual in the score", 1e-9, 1e9)
    gamma_b: float = setting(1.0, "scale of the background residual in the score", 1e-9, 1e9)
    rho: float = setting(0.1, "weight of the background term in the score", 0, 10)
    loyalty: float = setting(1.0, "weight of the distance to the first frame's samples (0: the paper)", 0, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig(_Section):
    """Which samples are taken, and which are kept."""

    sampling: str = setting(
        "time-weighted",
        "which samples a full buffer keeps",
        choices=("time-weighted", "uniform", "with-replacement", "everything"),
    )
    learn_when: str = setting(
        "tracking",
        "whether to learn in every frame, or only while the state of the target is tracking",
        choices=("always", "tracking"),
    )
    every: int = setting(1, "learn in every n-th frame", 1, 1000)
    size: int = setting(100, "buffer size: samples kept per class", 1, 2_000)
    growth: float = setting(1.6, "q: sampling weight of a frame relative to the one before it", 1, 100)
    first: int = setting(7, "samples of each class taken in the first frame", 1, 1_000)
    positives: int = setting(7, "positive (foreground) samples taken in every later frame", 1, 1_000)
    negatives: int = setting(7, "negative (background) samples taken in every later frame", 1, 1_000)

    def counts(self, frame: int) -> tuple[int, int]:
        """Return how many positive and negative samples a frame gives; the first is number 0."""
        return (self.positives, self.negatives) if frame > 0 else (self.first, self.first)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricConfig(_Section):
    """How the metric is learned from triplets."""

    learning: str = setting(
        "guarded",
        "whether the metric is learned, and how it is kept positive definite",
        choices=("off", "guarded", "unprojected", "projected-round", "projected-step"),
    )
    triplets: int = setting(200, "triplets per round of learning", 1, 1_000)
    margin: float = setting(1.0, "by how much negative samples must be farther than positive ones", 0, 1e6)
    step_limit: float = setting(1.0, "C: upper bound of the step length of one triplet", 0, 1e6)
    every: int = setting(5, "learn from triplets in every n-th frame (0: never)", 0, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingConfig(_Section):
    """How the metric is learned from the overlaps of boxes around the estimate (structured learning)."""

    every: int = setting(0, "learn from overlaps in every n-th frame (0: never)", 0, 1_000_000)
    solver: str = setting(
        "quadratic",
        "solver of the step lengths: the exact dual, or the paper's linear programme",
        choices=("quadratic", "linear"),
    )
    step_limit: float = setting(1.0, "C: upper bound of the sum of the step lengths of a round", 0, 1e6)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig(_Section):
    """How a lost target is searched for."""

    candidates: int = setting(600, "boxes compared per frame while the target is lost (0: no search)", 0, 20_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionConfig(_Section):
    """How a correlation filter, trained by ridge regression over all shifts, finds the target."""

    enabled: bool = setting(True, "find the target by the correlation filter instead of the particles alone")
    cells: int = setting(48, "cells along the side of the search window", 8, 128)
    reach: float = setting(4.8, "side of the search window, in target sizes", 1.5, 20)
    scales: int = setting(5, "number of target sizes compared in a frame; odd", 1, 33)
    scale_step: float = setting(1.01, "ratio of one size to the next", 1.0001, 1.5)
    temporal_regularisation: float = setting(60.0, "weight of the penalty on changes of the filter", 0, 1e6)

    def __post_init__(self) -> None:
        _Section.__post_init__(self)
        if self.scales % 2 == 0:
            raise ValueError(f"RegressionConfig.scales must be odd, so that one keeps the size, got {self.scales}")
        most = self.cells * self.scale_step ** (self.scales // 2)
        if most > LARGEST_WINDOW:
            raise ValueError(
                f"RegressionConfig.cells times the largest scale, scale_step ** (scales // 2), must be at most "
                f"{LARGEST_WINDOW}, got {most:g}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceConfig(_Section):
    """How the errors of an estimate become a probability."""

    weights: str = setting(
        "regression",
        "weights of the errors: those fitted with the regression's response, or for particles alone",
        choices=("regression", "particles"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerConfig:
    """All settings of a tracker, one section per step of tracking a frame.

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
    confidence: ConfidenceConfig = field(default_factory=ConfidenceConfig)

    def __post_init__(self) -> None:
        for section in dataclasses.fields(self):
            wanted, value = section.default_factory, getattr(self, section.name)
            if not isinstance(value, wanted):  # type: ignore[arg-type]
                raise ValueError(f"{section.name} must be a {wanted.__name__}, got {shown(value)}")  # type: ignore[union-attr]
        kind, learning = self.representation.kind, self.metric.learning
        if kind != "metric-weighted" and learning != "off":
            raise ValueError(
                f"representation.kind {kind!r} uses no metric and needs metric.learning to be 'off', got {learning!r}"
            )
        if self.confidence.weights == "regression" and not self.regression.enabled:
            raise ValueError("confidence.weights must be 'particles' where regression.enabled is false")

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
        config, values = cls(), _mapping("values", values)
        for name in config.to_dict():
            if name not in values:
                raise ValueError(f"values must have every setting, but {name} is missing")
        return config.replace(values)

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some settings changed; values may be strings, as a command line gives them."""
        fields = {name: each for name, each, _ in self.settings()}
        by_section: dict[str, dict[str, Any]] = {}
        for name, value in _mapping("changes", changes).items():
            if name not in fields:
                raise ValueError(f"there is no setting {shown(name)}{did_you_mean(name, fields)}")
            section, _, key = name.partition(".")
            by_section.setdefault(section, {})[key] = _parse(name, fields[name], value)
        sections = {s: dataclasses.replace(getattr(self, s), **v) for s, v in by_section.items()}
        return dataclasses.replace(self, **sections)


def _mapping(name: str, values: object) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise ValueError(f"{name} must be a mapping from names of settings to values, got {shown(values)}")
    return values


def _parse(name: str, each: dataclasses.Field[Any], value: Any) -> Any:
    """Turn the text of a command line into the type the setting has."""
    kind = kind_of(each)
    if not isinstance(value, str) or kind == "choice":
        return value
    try:
        return SWITCHES[value.lower()] if kind == "switch" else (int if kind == "whole" else float)(value)
    except (KeyError, ValueError):
        raise ValueError(f"setting {name} must be {NOUNS[kind]}, got {shown(value)}") from None


DEFAULT = TrackerConfig()

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

PAPER = DEFAULT.replace(
    {
        "regression.enabled": False,
        "confidence.weights": "particles",
        "motion.particles": 200,
        "memory.size": 300,
        "memory.first": 50,
        "memory.positives": 2,
        "memory.negatives": 2,
        "memory.learn_when": "always",
        "metric.triplets": 500,
        "representation.loyalty": 0.0,
        "search.candidates": 0,
    }
)

PRESETS: dict[str, TrackerConfig] = {
    "default": DEFAULT,
    "fast": FAST,
    "paper": PAPER,
    "paper-structured": PAPER.replace({"metric.every": 0, "ranking.every": 1}),
    "paper-mixed": PAPER.replace({"metric.every": 1, "ranking.every": 5}),
}


def preset(name: str) -> TrackerConfig:
    """Look a preset up by name."""
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"there is no preset {shown(name)}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
