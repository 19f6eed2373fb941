"""What is seen where a particle stands: how well it is explained by what is remembered, and its score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats
from metrack.config import TrackerConfig
from metrack.features.extractor import View
from metrack.motion.cloud import Cloud
from metrack.motion.random_walk import Bounds, States
from metrack.representation.metric_weighted import score
from metrack.tracking.appearance import Appearance


@dataclass(frozen=True, slots=True)
class Observer:
    """Looks at states of one target."""

    config: TrackerConfig
    bounds: Bounds
    appearance: Appearance

    def observe(self, view: View, states: States) -> Cloud:
        """Look at states: how well they are explained by foreground and background, and their score."""
        boxes = self.bounds.to_boxes(states)
        descriptors = view.describe(boxes)
        theta_f, theta_b = self.appearance.energies(descriptors)
        strangeness = self.appearance.strangeness(descriptors)
        return Cloud(states, boxes, theta_f, theta_b, strangeness, self.score(theta_f, theta_b, strangeness))

    def score(self, theta_f: Floats, theta_b: Floats, strangeness: Floats) -> NDArray[np.float64]:
        """Score what was seen ``(N,)``, in [0, 1]."""
        settings = self.config.representation
        loyal = theta_f + settings.loyalty * strangeness
        return score(loyal, theta_b, settings.gamma_f, settings.gamma_b, settings.rho)
