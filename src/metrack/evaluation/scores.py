"""How good a trajectory is: pure functions of overlaps and distances.

Success is strict, as the field plots it: a frame counts at threshold t if its overlap is greater than t. Frames
without truth (NaN overlap) count neither way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Floats

SUCCESS_THRESHOLDS = np.linspace(0.0, 1.0, 21)


def success_curve(overlap: Floats) -> NDArray[np.float64]:
    """Share of frames whose overlap exceeds each of 21 thresholds from 0 to 1."""
    known = overlap[~np.isnan(overlap)]
    if not len(known):
        return np.full(len(SUCCESS_THRESHOLDS), np.nan)
    share: NDArray[np.float64] = (known[:, None] > SUCCESS_THRESHOLDS).mean(axis=0)
    return share


def success_auc(overlap: Floats) -> float:
    """Area under the success curve: the mean of its 21 points.

    >>> success_auc(np.array([1.0, 0.0]))
    0.47619047619047616
    """
    return float(success_curve(overlap).mean())


def success_rate(overlap: Floats, threshold: float = 0.5) -> float:
    """Share of frames whose overlap exceeds a threshold."""
    known = overlap[~np.isnan(overlap)]
    return float((known > threshold).mean()) if len(known) else float("nan")


def precision(distance: Floats, threshold: float = 20.0) -> float:
    """Share of frames whose centre lies within so many pixels of the truth."""
    known = distance[~np.isnan(distance)]
    return float((known <= threshold).mean()) if len(known) else float("nan")
