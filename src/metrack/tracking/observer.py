"""The observation model: how candidate states look in a frame, and how the memory scores them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats, Frame
from metrack.box import Box, bounding
from metrack.config import TrackerConfig
from metrack.features.extractor import Extractor, View
from metrack.memory.training_boxes import POSITIVE_RADIUS, REACH
from metrack.motion.cloud import Cloud
from metrack.motion.random_walk import Bounds, States
from metrack.representation.metric_weighted import score
from metrack.tracking.appearance import Appearance


@dataclass(frozen=True, slots=True)
class Observer:
    """Cuts search windows out of frames and scores the states of one target in them."""

    config: TrackerConfig
    bounds: Bounds
    appearance: Appearance
    extractor: Extractor

    def observe(self, view: View, states: States) -> Cloud:
        """Return states ``(N, 3)`` with their boxes, residuals, template errors and scores."""
        boxes = self.bounds.to_boxes(states)
        descriptors = view.describe(boxes)
        theta_f, theta_b = self.appearance.energies(descriptors)
        template_error = self.appearance.template_error(descriptors)
        return Cloud(states, boxes, theta_f, theta_b, template_error, self.score(theta_f, theta_b, template_error))

    def score(self, theta_f: Floats, theta_b: Floats, template_error: Floats) -> NDArray[np.float64]:
        """Score candidates by their residuals and template errors ``(N,)``; scores are in [0, 1]."""
        settings = self.config.representation
        loyal = theta_f + settings.loyalty * template_error
        return score(loyal, theta_b, settings.gamma_f, settings.gamma_b, settings.rho)

    def cut(self, frame: Frame, boxes: Floats, zoom: float, margin: float = 0.0) -> View:
        """Cut the window that holds boxes ``(N, 4)``, and so many image pixels more on every side."""
        return self.extractor.look(frame, bounding(boxes).grow(margin, margin), zoom)

    def cut_for_learning(
        self, frame: Frame, boxes: Floats, zoom: float, margin: float, target: Box, shift: float = 0.0
    ) -> View:
        """Cut a window that also holds the samples around a target box, which may yet shift by some pixels."""
        room = POSITIVE_RADIUS + shift
        learned = target.grow(target.w * REACH + room, target.h * REACH + room)
        region = bounding(np.array([bounding(boxes).grow(margin, margin).to_xywh(), learned.to_xywh()]))
        return self.extractor.look(frame, region, zoom)
