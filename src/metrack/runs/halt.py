"""Stopping a run from outside."""

from __future__ import annotations

from collections.abc import Callable


class Halt:
    """A request to stop after the frame in hand; :meth:`ask` may be called from a signal handler."""

    def __init__(self) -> None:
        self.asked = False
        self.also: Callable[[], None] = lambda: None

    def ask(self) -> None:
        """Stop soon."""
        self.asked = True
        self.also()
