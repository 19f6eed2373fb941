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
    SearchConfig,
    TrackerConfig,
)
from metrack.estimate import Estimate, Evidence, Identity, Info
from metrack.identity import Gallery, Identifier
from metrack.tracking.score_map import confidence_map
from metrack.tracking.several import MultiTracker
from metrack.tracking.tracker import Tracker

__version__ = version("metrack")

__all__ = [
    "PRESETS",
    "Box",
    "Estimate",
    "Evidence",
    "FeatureConfig",
    "Gallery",
    "Identifier",
    "Identity",
    "Info",
    "MemoryConfig",
    "MetricConfig",
    "MotionConfig",
    "MultiTracker",
    "RankingConfig",
    "RepresentationConfig",
    "SearchConfig",
    "Tracker",
    "TrackerConfig",
    "confidence_map",
]
