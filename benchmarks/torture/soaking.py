"""The long-lived process of one preset in the campaign ``soak``: ``python -m torture.soaking PRESET FOLDER``.

Each line of standard input asks for a stretch of frames, each line of standard output tells what came of it.

**Memory** is what the process holds itself (``RssAnon``: neither files nor code), looked at after every loop of the
frames, relative to what it was after the first few. **Time** is that of one thread, in turns with a young tracker: one
that was saved after its first loop is loaded again and sees the same frames in the same process, now one first, now the
other. What else the machine does slows both down, so only their ratio is looked at.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np

from metrack import Box, Estimate, Tracker
from metrack.arrays import Frame
from metrack.files import write_json

COMPARED = 6  # loops from one comparison with the young tracker to the next
AT_A_TIME = 4  # comparisons that the ratio is taken from, the latest
ENOUGH = 300  # frames compared before a ratio means something
SETTLED = range(4, 10)  # loops of a process after which its memory is that of the beginning
LATEST = 12  # loops of which the one with the least memory counts: it goes up and down by 7 MB and more
COPIED = 10  # frames that a tracker saved and loaded goes beside the one it was
PATIENCE = 3  # loops without the target after which the tracker is put on it again: the paper has no search


class Soaking:
    """One tracker on an endless loop of frames: forth and back, so that nothing jumps."""

    def __init__(self, preset: str, folder: Path) -> None:
        self.images = np.load(folder / "loop.npy", mmap_mode="r")
        truth = json.loads((folder / "loop.json").read_text())
        self.boxes = [Box(*each) for each in truth["boxes"]]
        self.visible = truth["visible"]
        count = len(self.images)
        self.order = [*range(count), *range(count - 2, 0, -1)]
        self.preset, self.file, self.youth = preset, folder / f"{preset}.npz", folder / f"{preset}-young.npz"
        self.note = folder / f"{preset}.json"
        self.wrong: list[str] = []
        self.times: deque[tuple[int, int]] = deque(maxlen=AT_A_TIME * len(self.order))
        self.memory: list[float] = []
        self.young: Tracker | None = None
        self._start()

    def _start(self) -> None:
        """Go on from what was saved, or begin."""
        kept = {"frames": 0, "begun": 0, "without": 0, "found": 0, "seen": 0}
        if self.note.is_file():
            self.tracker = Tracker.load(self.file)
            kept = json.loads(self.note.read_text())
        else:
            self.tracker = Tracker(self.preset, seed=1)
        self.frames, self.begun, self.without = kept["frames"], kept["begun"], kept["without"]
        self.found, self.seen = kept["found"], kept["seen"]
        self.on_target = False
        if not self.frames:
            self._begin()

    def _begin(self) -> None:
        """Put the tracker on the target, at the start of a loop."""
        self.tracker.init(self.images[0], self.boxes[0])
        self.begun, self.without = self.begun + 1, 0

    def stretch(self, frames: int, copy_at: int) -> dict[str, object]:
        """Go on for so many frames; after ``copy_at`` of them a tracker saved and loaded goes along for a while."""
        self.wrong = []
        copy: Tracker | None = None
        for number in range(frames):
            place = self.frames % len(self.order)
            if not place:
                self._end_loop()
                copy = None  # the tracker may have been put on the target again
            if number == copy_at:
                copy = self._copied()
            image = np.asarray(self.images[self.order[place]])
            estimate = self._step(image)
            self._look_at(estimate, self.order[place])
            if copy is not None and number < copy_at + COPIED and copy.update(image) != estimate:
                self.wrong.append(f"frame {self.frames}: a tracker that was saved and loaded goes on otherwise")
                copy = None
            self.frames += 1
        return {"wrong": self.wrong[:3], "figures": self.figures()}

    def _step(self, image: Frame) -> Estimate:
        """Track a frame, where there is a young tracker in turns with it."""
        if self.young is None:
            return self.tracker.update(image)
        both = (self.tracker, self.young) if self.frames % 2 else (self.young, self.tracker)
        spent, estimates = {}, {}
        for each in both:
            before = time.thread_time_ns()
            estimates[each] = each.update(image)
            spent[each] = time.thread_time_ns() - before
        self.times.append((spent[self.tracker], spent[self.young]))
        return estimates[self.tracker]

    def _look_at(self, estimate: Estimate, index: int) -> None:
        """Check the numbers of an estimate, and whether it is on the target."""
        evidence = estimate.info.evidence
        numbers = (*estimate.box.to_xywh(), estimate.score, evidence.foreground, evidence.template, evidence.colour)
        if not all(map(math.isfinite, numbers)) or min(estimate.box.w, estimate.box.h) <= 0:
            self.wrong.append(f"frame {self.frames}: {estimate.box}, score {estimate.score}, {evidence}")
        if self.visible[index] > 0.9:
            on = estimate.box.iou(self.boxes[index]) > 0.5
            self.seen, self.found, self.on_target = self.seen + 1, self.found + on, self.on_target or on

    def _end_loop(self) -> None:
        """Between two loops: look at memory and state, save, and see what the next loop is for."""
        loops = self.frames // len(self.order)
        if self.young is None and loops:
            self.memory.append(own_memory())
        if loops:
            self.without = 0 if self.on_target else self.without + 1
            self.on_target = False
            self._check_state()
            self.save()
        given_up = self.without >= PATIENCE
        if given_up:
            self._begin()
        if loops == 1:
            self.tracker.save(self.youth)
        compare = loops % COMPARED == 1 and not given_up  # the memory of a new tracker has yet to fill
        self.young = Tracker.load(self.youth) if compare else None

    def _check_state(self) -> None:
        for name, array in self.tracker.to_saved()[1].items():
            if array.dtype.kind in "fc" and not np.isfinite(array).all():
                self.wrong.append(f"frame {self.frames}: {name} of the state is not finite")

    def _copied(self) -> Tracker:
        self.tracker.save(self.file)
        return Tracker.load(self.file)

    def save(self) -> None:
        """Write down where the tracker is."""
        self.tracker.save(self.file)
        kept = {name: getattr(self, name) for name in ("frames", "begun", "without", "found", "seen")}
        write_json(self.note, kept)

    def figures(self) -> dict[str, float]:
        """Return frames, share of visible ones on the target, and time and memory relative to the beginning."""
        figures = {"frames": float(self.frames), "found": self.found / max(self.seen, 1), "begun": float(self.begun)}
        if len(self.times) >= ENOUGH:
            old, young = np.log(np.array(self.times, float)).T
            figures["time"] = float(np.exp(np.median(old - young)))
        if len(self.memory) >= SETTLED.stop + LATEST:
            start = float(np.median(self.memory[SETTLED.start : SETTLED.stop]))
            figures["memory"] = min(self.memory[-LATEST:]) / start
        return figures


def own_memory() -> float:
    """Return the bytes in memory that belong to this process alone, without what is free already."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024.0 * int(line.split()[1])
    raise OSError("this system does not tell the memory of a process")


def main() -> None:
    """Do what each line asks for, and save when there are no more."""
    soaking = Soaking(sys.argv[1], Path(sys.argv[2]))
    for line in sys.stdin:
        print(json.dumps(soaking.stretch(**json.loads(line))), flush=True)
    soaking.save()


if __name__ == "__main__":
    main()
