"""Times of the stages of a frame."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Splits the time since its creation into named laps, in seconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def resume(self) -> None:
        """Leave out the time since the last lap."""
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """End a lap."""
        now = perf_counter()
        self.laps[name] = now - self._last
        self._last = now
