"""Which runs are in memory: those under way, and the few that were paused or over last.

A run holds trackers, records and open files. One that is put away goes back to what its folder holds, as after a
restart of the studio: its results are there, one that was not over can go on from its checkpoint, and only the memory
of its trackers is gone. Finished runs go before paused ones, and those that have rested longest go first. A camera that
is paused stays: nothing could bring it back.
"""

from __future__ import annotations

import threading

from metrack.studio.answers import RefusedError
from metrack.studio.run_thread import RunThread

MOST_IN_MEMORY = 20  # runs, with those that wait for their turn
KEPT_AT_REST = 2  # runs that can still be looked into, corrected and undone


class LoadedRuns:
    """The runs that are in memory, by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, RunThread] = {}
        self._resting: dict[str, None] = {}  # in the order in which they came to rest
        self._leaving: dict[str, threading.Thread] = {}

    def put(self, name: str, run: RunThread) -> None:
        """Keep a run in memory, until it has rested and others rest after it."""
        run.rested = lambda: self._rested(name)
        with self._lock:
            self._runs[name] = run

    def check_room(self) -> None:
        """Refuse another run where too many wait already."""
        if len(self._runs) >= MOST_IN_MEMORY:
            raise RefusedError(429, f"At most {MOST_IN_MEMORY} runs can wait for their turn; stop one first.")

    def get(self, name: str) -> RunThread | None:
        """Return a run that is in memory."""
        return self._runs.get(name)

    def wait_for(self, name: str) -> None:
        """Wait until a run that is being put away has written everything."""
        leaving = self._leaving.get(name)
        if leaving is not None:
            leaving.join()

    def close(self) -> None:
        """Stop all runs; those that are not over can be taken up later."""
        for run in list(self._runs.values()):
            run.close()
        for leaving in list(self._leaving.values()):
            leaving.join()

    def _rested(self, name: str) -> None:
        """Note that a run rests now, and put away those that are too many."""
        with self._lock:
            self._resting.pop(name, None)
            self._resting[name] = None
            resting = [each for each in self._resting if each in self._runs and self._runs[each].resting]
            self._resting = dict.fromkeys(resting)
            spare = [each for each in resting if each != name and not self._runs[each].unrecoverable]
            spare.sort(key=lambda each: self._runs[each].over is None)
            for each in spare[: max(len(resting) - KEPT_AT_REST, 0)]:
                self._put_away(each)

    def _put_away(self, name: str) -> None:
        self._resting.pop(name)
        thread = threading.Thread(target=self._leave, args=(name, self._runs.pop(name)), daemon=True)
        self._leaving[name] = thread
        thread.start()

    def _leave(self, name: str, run: RunThread) -> None:
        run.put_away()
        self._leaving.pop(name, None)
