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
    RepresentationConfig,
    TrackerConfig,
)
from metrack.estimate import Estimate, Info
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
    "RepresentationConfig",
    "Tracker",
    "TrackerConfig",
]
