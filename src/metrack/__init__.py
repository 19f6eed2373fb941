"""metrack: follow one thing through a video from one box.

On a CPU, with no model to download. See :class:`Tracker`.
"""

from importlib.metadata import version

from metrack.box import Box
from metrack.config import (
    PRESETS,
    FeatureConfig,
    MemoryConfig,
    MetricConfig,
    MotionConfig,
    RankingConfig,
    RepresentationConfig,
    TrackerConfig,
)
from metrack.estimate import Estimate, Info
from metrack.score_map import confidence_map
from metrack.tracker import Tracker

__version__ = version("metrack")

__all__ = [
    "PRESETS",
    "Box",
    "Estimate",
    "FeatureConfig",
    "Info",
    "MemoryConfig",
    "MetricConfig",
    "MotionConfig",
    "RankingConfig",
    "RepresentationConfig",
    "Tracker",
    "TrackerConfig",
    "confidence_map",
]
