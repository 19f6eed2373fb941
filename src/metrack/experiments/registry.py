"""All experiments, by id, in the order of the paper."""

from __future__ import annotations

from metrack.checks import did_you_mean
from metrack.experiments.base import Experiment
from metrack.experiments.batch import BATCH
from metrack.experiments.buffer_size import BUFFER_SIZE
from metrack.experiments.confidence_map import CONFIDENCE_MAP
from metrack.experiments.identification import IDENTIFICATION
from metrack.experiments.initialisation import INITIALISATION
from metrack.experiments.linear_representation import LINEAR_REPRESENTATION
from metrack.experiments.metric_configuration import METRIC_CONFIGURATION
from metrack.experiments.occlusion import OCCLUSION
from metrack.experiments.particles import PARTICLES
from metrack.experiments.sampling import SAMPLING
from metrack.experiments.state_of_the_art import STATE_OF_THE_ART
from metrack.experiments.structured import STRUCTURED
from metrack.experiments.trade_off import TRADE_OFF

EXPERIMENTS: dict[str, Experiment] = {
    each.id: each
    for each in (
        CONFIDENCE_MAP,
        BUFFER_SIZE,
        PARTICLES,
        LINEAR_REPRESENTATION,
        SAMPLING,
        METRIC_CONFIGURATION,
        BATCH,
        INITIALISATION,
        TRADE_OFF,
        STATE_OF_THE_ART,
        STRUCTURED,
        IDENTIFICATION,
        OCCLUSION,
    )
}


def look_up(id: str) -> Experiment:
    """Look an experiment up by its id."""
    if id not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {id!r}{did_you_mean(id, EXPERIMENTS)}")
    return EXPERIMENTS[id]
