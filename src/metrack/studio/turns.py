"""One run at a time: the others wait for their turn, first come, first served."""

from __future__ import annotations

import threading


class Turns:
    """A queue at one counter; whoever is in front may work until it leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: list[object] = []

    def take(self, who: object) -> bool:
        """Stand in line, and say whether it is one's turn."""
        with self._lock:
            if who not in self._line:
                self._line.append(who)
            return self._line[0] is who

    def leave(self, who: object) -> None:
        """Step out of the line."""
        with self._lock:
            if who in self._line:
                self._line.remove(who)

    def place(self, who: object) -> int:
        """Say how many are before one in the line; -1 for who is not in it."""
        with self._lock:
            return self._line.index(who) if who in self._line else -1
