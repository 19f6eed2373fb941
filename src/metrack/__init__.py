"""metrack: follow one thing through a video from one box.

On a CPU, with no model to download. See :class:`Tracker`. What is heavy is imported at its first use.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "PRESETS": "config",
    "Box": "box",
    "Estimate": "estimate",
    "Evidence": "estimate",
    "FeatureConfig": "config",
    "Gallery": "identity",
    "Identifier": "identity",
    "Identity": "estimate",
    "Info": "estimate",
    "MemoryConfig": "config",
    "MetricConfig": "config",
    "MotionConfig": "config",
    "MultiTracker": "tracking.several",
    "RankingConfig": "config",
    "RepresentationConfig": "config",
    "SearchConfig": "config",
    "Tracker": "tracking.tracker",
    "TrackerConfig": "config",
    "confidence_map": "tracking.score_map",
}
_ROOMS = {module.partition(".")[0] for module in _MODULES.values()}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"metrack.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'metrack' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"metrack.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
