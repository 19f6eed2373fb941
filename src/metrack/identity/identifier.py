"""Identifying a tracked target frame by frame.

The name is that of the smallest sum H_k (paper: section 5). It is unknown, None, while the mean distance H_k / sum of
scores exceeds ``unknown`` times the gallery's usual distance, and while no frame has a score above 0. A frame is
abnormal (covered, say) when its distance to the nearest target exceeds ``ABNORMAL`` times both the usual distance and
the mean so far, so that a target that always looks different in this camera is not abnormal all the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import Frame, as_floats, shown
from metrack.box import Box
from metrack.checks import check_number
from metrack.estimate import Identity
from metrack.identity.describe import describe, patch_of
from metrack.identity.gallery import Gallery

UNKNOWN = 1.5  # times the usual distance of the gallery
LARGEST_WEIGHT = 1e15  # sums of scores beyond it would no longer change
ABNORMAL = 2.0  # times the usual distance and the mean distance so far


class Identifier:
    """Compares one tracked target with a gallery, frame after frame.

    Parameters
    ----------
    gallery : the known targets
    unknown : mean distance, in units of the gallery's usual one, beyond which the name is None; inf for never

    >>> from metrack.synth import builtin_clip
    >>> clip = builtin_clip(frames=60)
    >>> gallery = Gallery.from_boxes([("balloon", clip[0], clip.first_box), ("wall", clip[0], (0, 0, 40, 60))])
    >>> Identifier(gallery).identify(clip[1], clip.truth[1].box, score=0.9).name
    'balloon'
    """

    def __init__(self, gallery: Gallery, *, unknown: float = UNKNOWN) -> None:
        if not isinstance(gallery, Gallery):
            raise ValueError(f"gallery must be a Gallery, got {shown(gallery)}")
        if not check_number("unknown", unknown, 0) > 0:
            raise ValueError(f"unknown must be a number above 0, got {shown(unknown)}")
        self.gallery = gallery
        self.unknown = float(unknown)
        self.reset()

    def reset(self) -> None:
        """Forget all frames, before another target is tracked."""
        self._sums = np.zeros(len(self.gallery))
        self._weight = 0.0

    def identify(self, frame: Frame, box: Box | tuple[float, float, float, float], score: float) -> Identity:
        """Take in what ``box`` marks in the next frame, followed with this score in [0, 1]."""
        score = check_number("score", score, 0, 1)
        return self.take_in(describe(patch_of(frame, box)), score)

    def take_in(self, descriptor: NDArray[np.float32], score: float) -> Identity:
        """Take in a descriptor ``(D,)`` instead of a frame and a box."""
        score = check_number("score", score, 0, 1)
        apart = self.gallery.distances(as_floats("descriptor", descriptor)[None])[0]
        before = self._sums / self._weight if self._weight > 0 else self._sums
        self._sums = self._sums + score * apart
        self._weight += score
        best = int(np.argmin(self._sums if self._weight > 0 else apart))
        return Identity(
            name=self.gallery.names[best] if self._is_known(best) else None,
            nearest=self.gallery.names[best],
            distances=apart,
            cumulative=self._sums,
            error=float(apart[best] / self.gallery.usual),
            abnormal=bool(apart[best] > ABNORMAL * max(self.gallery.usual, before[best])),
        )

    @property
    def means(self) -> NDArray[np.float64] | None:
        """Mean distances ``(K,)`` so far, weighted by the scores; None while no frame has a score above 0."""
        return self._sums / self._weight if self._weight > 0 else None

    @property
    def limit(self) -> float:
        """Mean distance beyond which the name is None."""
        return self.unknown * self.gallery.usual

    def _is_known(self, best: int) -> bool:
        return self._weight > 0 and bool(self._sums[best] <= self.limit * self._weight)

    def to_dict(self) -> dict[str, Any]:
        """Return what was summed so far, for saving beside the gallery."""
        return {"sums": self._sums.tolist(), "weight": self._weight}

    @classmethod
    def from_dict(cls, gallery: Gallery, values: Mapping[str, Any], *, unknown: float = UNKNOWN) -> Self:
        """Go on from what :meth:`to_dict` returned."""
        identifier = cls(gallery, unknown=unknown)
        if not isinstance(values, Mapping) or not {"sums", "weight"} <= values.keys():
            raise ValueError(f"values must be sums and a weight, got {shown(values)}")
        sums = as_floats("sums", values["sums"])
        if len(sums) != len(gallery):
            raise ValueError(f"values must have {len(gallery)} sums, one per target, got {len(sums)}")
        if not (np.isfinite(sums).all() and sums.min() >= 0):
            raise ValueError(f"sums must be finite numbers of at least 0, got {shown(values['sums'])}")
        identifier._sums = np.array(sums)
        identifier._weight = check_number("weight", values["weight"], 0, LARGEST_WEIGHT)
        return identifier
