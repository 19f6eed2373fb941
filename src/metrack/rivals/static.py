"""A box that never moves: what every tracker has to beat."""

from __future__ import annotations

from metrack.arrays import Frame
from metrack.box import Box
from metrack.rivals.base import Rival, RivalTracker


class StaticBox(RivalTracker):
    """Repeats the first box for ever."""

    def _start(self, frame: Frame, box: Box) -> None:
        pass

    def _find(self, frame: Frame) -> Box | None:
        return self._box


STATIC = Rival("static", "metrack", lambda: lambda seed: StaticBox())
