"""What a disk could hold after a power cut: a recorded folder, at any moment, without what was not synced.

A recorder looks at a folder before every operation on files and notes what has changed, so that writes of libraries in
C are seen as well; it notes every sync. A disk keeps what was synced. Of what was written since the last sync it
keeps any part: of a file a shorter beginning, perhaps with zeros after it; of the names in a folder those of
any moment since.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Names = dict[str, int]  # in a folder: the number of each file or folder in it
EVENTS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
CLOCK = 0.05  # seconds: two changes of a file so far apart have different times


@dataclass(slots=True)
class History:
    """What happened: the states of every folder and file with the moments at which they began, and of every sync.

    Files and folders have numbers; number 0 is the folder that is looked at.
    """

    moments: int = 0
    folders: dict[int, list[tuple[int, Names]]] = field(default_factory=dict)
    files: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)
    syncs: dict[int, list[int]] = field(default_factory=dict)


class Recorder:
    """Records a folder in this process, from now on to its end."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.history = folder, History()
        self._numbers: dict[tuple[int, int], int] = {}
        self._held: list[int] = []  # open files: an inode in use is never given to another file
        self._marks: dict[int, tuple[int, int]] = {}  # size and time of change of files that were read
        self._busy = False
        folder.mkdir(parents=True, exist_ok=True)
        self._look()
        for number in (*self.history.files, *self.history.folders):
            self.history.syncs[number] = [0]  # what was there before is on disk
        plain, os.fsync = os.fsync, self._sync
        self._plain: Callable[[int], None] = plain
        sys.addaudithook(self._watch)

    def save(self, path: Path) -> None:
        """Look once more, and write the history down."""
        self._look()
        self._busy = True
        path.write_bytes(pickle.dumps(self.history))

    def _watch(self, name: str, arguments: tuple[Any, ...]) -> None:
        opened = name == "open" and str(arguments[0]).startswith(str(self.folder))
        if (opened or name in EVENTS) and not self._busy:
            self._look()

    def _sync(self, file: int) -> None:
        self._look()
        status = os.fstat(file)
        number = self._numbers.get((status.st_dev, status.st_ino))
        if number is not None:
            self.history.syncs.setdefault(number, []).append(self.history.moments)
            self.history.moments += 1
        self._plain(file)

    def _look(self) -> None:
        self._busy = True
        changed = self._look_into(self.folder)
        self.history.moments += changed
        self._busy = False

    def _look_into(self, folder: Path) -> bool:
        number, names, changed = self._number(str(folder)), Names(), False
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            names[entry.name] = self._number(entry.path)
            changed |= self._look_into(Path(entry.path)) if entry.is_dir() else self._look_at(entry.path)
        return self._note(self.history.folders, number, names) or changed

    def _look_at(self, path: str) -> bool:
        number, status = self._number(path), os.stat(path)
        mark = (status.st_size, status.st_mtime_ns)
        if self._marks.get(number) == mark and time.time() - status.st_mtime > CLOCK:
            return False
        self._marks[number] = mark
        return self._note(self.history.files, number, Path(path).read_bytes())

    def _note(self, kept: dict[int, list[tuple[int, Any]]], number: int, state: Any) -> bool:
        states = kept.setdefault(number, [])
        if states and states[-1][1] == state:
            return False
        states.append((self.history.moments, state))
        return True

    def _number(self, path: str) -> int:
        status = os.stat(path)
        key = (status.st_dev, status.st_ino)
        if key not in self._numbers:
            self._held.append(os.open(path, os.O_RDONLY))
            self._numbers[key] = len(self._numbers)
        return self._numbers[key]


def cut(history: History, moment: int, rng: np.random.Generator, folder: Path) -> None:
    """Make a folder as a disk could hold it if the power was cut at that moment."""
    _restore_folder(history, 0, moment, rng, folder)


def _restore_folder(history: History, number: int, moment: int, rng: np.random.Generator, folder: Path) -> None:
    folder.mkdir()
    names: Names = _any_since_sync(history, history.folders[number], number, moment, rng)[0]
    for name, each in names.items():
        if each in history.folders:
            _restore_folder(history, each, moment, rng, folder / name)
        else:
            (folder / name).write_bytes(_restored(history, each, moment, rng))


def _restored(history: History, number: int, moment: int, rng: np.random.Generator) -> bytes:
    """Return a file: as it was synced, with any part of what was written since."""
    data, synced = _any_since_sync(history, history.files[number], number, moment, rng)
    if data == synced:
        return data
    same = next((n for n, (new, old) in enumerate(zip(data, synced, strict=False)) if new != old), len(synced))
    kept = int(rng.integers(min(same, len(data)), len(data) + 1)) if rng.random() < 0.7 else len(data)
    length = int(rng.integers(kept, len(data) + 1)) if rng.random() < 0.3 else kept
    return data[:kept] + bytes(length - kept)


def _any_since_sync(
    history: History, states: list[tuple[int, Any]], number: int, moment: int, rng: np.random.Generator
) -> tuple[Any, Any]:
    """Return one of the states since the last sync before a moment, and the one that was synced."""
    synced = max((when for when in history.syncs.get(number, ()) if when <= moment), default=None)
    nothing = {} if isinstance(states[0][1], dict) else b""
    base = nothing if synced is None else [state for when, state in states if when <= synced][-1]
    later = [state for when, state in states if (synced is None or when > synced) and when <= moment]
    choices = [base, *later]
    pick = {0: 0, 1: len(choices) - 1}.get(int(rng.integers(4)), int(rng.integers(len(choices))))
    return choices[pick], base
