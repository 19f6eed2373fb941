"""The story of the built-in clip: where the balloon, its twin and the cloud are in every frame.

All is laid out on a stage of 480 x 360 units; one entry per frame.
"""

from __future__ import annotations

import numpy as np

from metrack.synth.picture import Reals

STAGE = (480.0, 360.0)
BODY = (40.0, 52.0)  # width and height of a balloon of scale 1, on the stage
SHORTEST_STORY = 60  # frames: an occlusion and a departure need this many
LONG_STORY = 420  # frames: a return elsewhere needs this many
AWAY = 60  # frames out of sight before a return elsewhere
GUST = 6.4  # fastest flight in x, units per frame
BREEZE = 3.0  # its speed when it comes into view again
RESTING_X = 423.0  # where the balloon is before it leaves and after
LANDING, LOWER = 110.0, 70.0  # where it comes to rest after a return elsewhere, and how much lower


class Flight:
    """Positions and scale of the target per frame ``(T,)``, and the moments of the events."""

    def __init__(self, frames: int, departure: bool, elsewhere: bool = False):
        leaves = 44.5 + round(0.81 * max(frames - SHORTEST_STORY, 0))
        calm = leaves - 17 if departure else max(frames - 1.0, 1.0)
        ease = min(calm / 220, 1.0)  # a short clip drifts and grows less, not faster
        self.meets, self.dims, self.hides = 0.4 * calm, max(0.54 * calm, 25.0), 0.72 * calm
        t = np.arange(frames, dtype=float)
        u = np.minimum(t / calm, 1.0)
        growth = np.interp(u, [0, 0.1, 0.3, 0.42, 0.68], [0, 0, 0.34, 0.34, -0.32])
        height = np.interp(u, [0, 0.2, 0.6, 0.8, 1], [15, 55, -50, -30, 0])
        self.scale = np.exp(ease * _smooth(growth, 6))
        self.y = 165 + ease * _smooth(height, 6) + 3 * np.sin(t / 13)
        x = RESTING_X - 330 * ease * (1 + np.cos(np.pi * u)) / 2
        width = BODY[0] * float(np.interp(leaves, t, self.scale))
        if departure:
            x += self._leave(t - leaves, width)
        self.x = _smooth(x, 1.8)
        if elsewhere:
            self._return_elsewhere(t - leaves, width)

    def _return_elsewhere(self, t: Reals, width: float) -> None:
        """Keep the target out of sight for a while, then bring it in from the left and lower."""
        out, back = STAGE[0] + width, -width / 2
        arrived = AWAY + (LANDING - back) / BREEZE
        self.x = np.where(t < 0, self.x, np.where(t < AWAY, out, np.interp(t, [AWAY, arrived], [back, LANDING])))
        self.y = np.where(t < AWAY, self.y, self.y + LOWER)

    @staticmethod
    def _leave(t: Reals, width: float) -> Reals:
        """Return the offset in x of a flight over the border and back, slow once half in view."""
        edge, half = STAGE[0] - RESTING_X, 5 + width / 2 / GUST
        times = [-half - edge / GUST, 0, half + 1, half + 1 + (edge - GUST) / BREEZE]
        return np.interp(t, times, [0, edge + half * GUST, edge - GUST, 0])

    def at(self, moment: float) -> tuple[float, float, float]:
        """Return x, y and scale of the target at a moment, also between frames."""
        t = np.arange(len(self.x))
        x, y, scale = (float(np.interp(moment, t, track)) for track in (self.x, self.y, self.scale))
        return x, y, scale

    def cloud(self) -> list[tuple[float, float, float]]:
        """Return x, y and scale of the cloud that hides the target: it flies the other way, nearer to us."""
        x, y, scale = self.at(self.hides)
        return [(x - 5.5 * s, y + 2, scale) for s in np.arange(len(self.x)) - self.hides]

    def twin(self) -> list[tuple[float, float, float]]:
        """Return x, y and scale of the twin: it flies the other way, its basket over the target's crown."""
        x, y, scale = self.at(self.meets)
        above, since = BODY[1] * (0.82 + scale) / 2 - 4, np.arange(len(self.x)) - self.meets
        return [(x - 2.4 * s, y - above + 4 * np.sin(s / 19), 0.82) for s in since]


def _smooth(track: Reals, spread: float) -> Reals:
    """Smooth a track by a Gaussian; this never makes it faster than it was."""
    reach = int(4 * spread)
    bell = np.exp(-((np.arange(-reach, reach + 1) / spread) ** 2) / 2)
    return np.convolve(np.pad(track, reach, mode="edge"), bell / bell.sum(), mode="valid")
