"""How many pictures a second a run at full speed is shown by: as many as its tracker need not wait for.

Making and drawing pictures takes processors. Where there are some to spare, a page gets all it can show; where the
tracker's thread spends more than a tenth of its time waiting for one, pictures become fewer, down to six a second.
"""

from __future__ import annotations

MOST, FEWEST = 26.0, 6.0  # pictures a second
TOLERATED = 0.1  # of its time that a tracker may wait
LESS, MORE = 0.6, 2.0  # times as many, or so many more, after every look
LOOK_AFTER = 0.5  # seconds of tracking


class Ration:
    """Watches how long a tracker waits; told the seconds it took so far, by the clock and of a processor."""

    def __init__(self, busy: float, worked: float) -> None:
        self._busy, self._worked = busy, worked
        self._rate = MOST

    def pictures_per_second(self, busy: float, worked: float) -> float:
        """Return how many pictures there may be from now on."""
        took = busy - self._busy
        if took >= LOOK_AFTER:
            waited = 1 - (worked - self._worked) / took
            self._rate = max(self._rate * LESS, FEWEST) if waited > TOLERATED else min(self._rate + MORE, MOST)
            self._busy, self._worked = busy, worked
        return self._rate
