"""The state of one target: all that the next frame needs, how it begins, and how it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame
from metrack.box import Box
from metrack.config import TrackerConfig
from metrack.features.colour import DIMENSION, colours_of
from metrack.features.extractor import Extractor
from metrack.files import Expectations, Expected
from metrack.motion.random_walk import Bounds
from metrack.threads import one_blas_thread
from metrack.tracking.appearance import Appearance
from metrack.tracking.confidence import Presence
from metrack.tracking.locators import Locator, expected_of_locator, restore_locator, start_locator
from metrack.tracking.observer import Observer
from metrack.tracking.saved_values import SavedTarget

COLOURED = 3  # axes of a frame with colours


@dataclass(slots=True)
class TargetState:
    """Everything that the next frame needs; only ``Tracker.init`` and ``Tracker.commit`` change it."""

    shape: tuple[int, ...]
    """Shape of all frames."""
    rng: np.random.Generator
    box: Box
    """The last estimate."""
    last_seen: Box
    """The last estimate that the search was continued from: hidden ones are not, with ``learn_when`` "tracking"."""
    colours: NDArray[np.float32]
    """Colours of the first box."""
    observer: Observer
    locator: Locator
    presence: Presence = field(default_factory=Presence)
    frame: int = 0
    """Number of frames since the first."""
    unseen: int = 0
    """Number of frames since ``last_seen``."""

    @property
    def appearance(self) -> Appearance:
        """Foreground and background memory, and the metric."""
        return self.observer.appearance

    @classmethod
    def start(cls, config: TrackerConfig, frame: Frame, box: Box, seed: int) -> Self:
        """Begin with the first box on the first frame; nothing is learned from it yet but the filter."""
        observer = make_observer(config, Bounds.around(box, frame.shape))
        locator = start_locator(config, observer, frame, box)
        return cls(frame.shape, np.random.default_rng(seed), box, box, colours_of(frame, box), observer, locator)

    def to_saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state as values for JSON and as named arrays."""
        meta = {
            "rng": self.rng.bit_generator.state,
            "shape": list(self.shape),
            "bounds": self.observer.bounds.to_dict(),
            "box": list(self.box.to_xywh()),
            "last_seen": list(self.last_seen.to_xywh()),
            "frame": self.frame,
            "unseen": self.unseen,
            "presence": self.presence.to_dict(),
        }
        return meta, {"colours": self.colours, **self.appearance.to_arrays(), **self.locator.to_arrays()}

    @staticmethod
    def expected(config: TrackerConfig, meta: Mapping[str, Any]) -> Expectations:
        """Say what saved arrays must be, by the values saved beside them, which are checked too."""
        saved = SavedTarget.of(meta)
        return {
            "colours": Expected("float32", (DIMENSION,), 0, 1),
            **Appearance.expected(config, Extractor(config.features).dimension, saved.frame),
            **expected_of_locator(config, coloured=len(saved.shape) == COLOURED),
        }

    @classmethod
    def from_saved(cls, config: TrackerConfig, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a state from :meth:`to_saved`; it goes on exactly as the saved one would have."""
        saved = SavedTarget.of(meta)
        saved.check_particles(arrays["survivors"])
        observer = make_observer(config, saved.bounds)
        with one_blas_thread():
            observer.appearance.restore(arrays)
        return cls(
            shape=saved.shape,
            rng=saved.generator(),
            box=saved.box,
            last_seen=saved.last_seen,
            colours=arrays["colours"],
            observer=observer,
            locator=restore_locator(config, observer, arrays),
            presence=saved.presence,
            frame=saved.frame,
            unseen=saved.unseen,
        )


def make_observer(config: TrackerConfig, bounds: Bounds) -> Observer:
    """Make the observation model of a target, with an empty memory."""
    extractor = Extractor(config.features)
    return Observer(config, bounds, Appearance(config, extractor.dimension), extractor)
