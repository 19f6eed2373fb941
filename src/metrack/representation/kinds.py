"""The kinds of linear representation, by the name that the setting ``representation.kind`` gives them."""

from __future__ import annotations

from metrack.config import TrackerConfig
from metrack.metric.sample_space import SampleSpace
from metrack.representation.base import Representation
from metrack.representation.l1 import L1
from metrack.representation.omp import MatchingPursuit
from metrack.representation.residuals import MetricWeighted

KINDS: dict[str, type[Representation]] = {
    "metric-weighted": MetricWeighted,
    "l1": L1,
    "omp": MatchingPursuit,
}


def make_representation(config: TrackerConfig, space: SampleSpace) -> Representation:
    """Make the representation that a configuration asks for, over a sample space."""
    kind = config.representation.kind
    if kind not in KINDS:
        raise ValueError(f"representation.kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind](config, space)
