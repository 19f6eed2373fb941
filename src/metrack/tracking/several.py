"""Several targets in one video.

Every target has its own tracker and seed; the first takes the seed itself, so that one target alone is followed exactly
as :class:`Tracker` follows it. Three rules make several targets more than a list of trackers:

* Two targets are never at one place. Where two estimates overlap strongly, the target with the better claim keeps the
  place: the log odds of its evidence, less its squared distance from where it was last visible, in steps. The other
  one counts as hidden: it learns nothing and is looked for where it was last. Targets that were at one place from the
  start, such as a face and its head, may stay so until they part.
* Many targets take turns: each one is searched over scales and learned from in every ``ceil(n / AT_ONCE)``-th frame
  only. In between it is found at the size it had.
* With a gallery, each known target is at most one of those followed.

Targets are processed in parallel; the results do not depend on the number of processors.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from metrack.arrays import Floats, Frame, shown
from metrack.box import Box
from metrack.checks import check_frame, check_path, writing
from metrack.config import TrackerConfig
from metrack.estimate import TRACKING, Estimate
from metrack.files import Expectations, naming, under
from metrack.identity import Gallery, check_gallery
from metrack.threads import one_blas_thread
from metrack.tracking.saved import read_tracker, write_tracker
from metrack.tracking.saved_values import MOST_FRAMES, checked_shape, whole
from metrack.tracking.tracker import Sighting, Tracker

COLLAPSED = 0.5  # overlap above which two estimates are at one place
PARTED = COLLAPSED / 2  # overlap below which two targets that began at one place have parted
AT_ONCE = 2  # targets that take their turn in a frame
KIND = "several targets"

Item = TypeVar("Item")
Result = TypeVar("Result")
Pair = tuple[int, int]  # of target numbers, the smaller one first


class MultiTracker:
    """Follows any number of targets, which come and go.

    Parameters
    ----------
    preset : name of a preset, or a configuration of your own; for all targets
    seed : everything random follows from it and from the numbers of the targets
    gallery : known targets, of which estimates then say who is who

    >>> from metrack.synth import builtin_clip
    >>> clip = builtin_clip(frames=60, occlusion=False, departure=False)
    >>> tracker = MultiTracker()
    >>> tracker.add(clip[0], clip.first_box), tracker.add(clip[0], (300, 250, 40, 40))
    (1, 2)
    >>> sorted(tracker.update(clip[1]))
    [1, 2]
    >>> tracker.remove(2)
    >>> sorted(tracker.boxes), tracker.add(clip[1], (300, 250, 40, 40))
    ([1], 3)
    """

    def __init__(
        self, preset: str | TrackerConfig = "default", *, seed: int = 0, gallery: Gallery | None = None
    ) -> None:
        usual = Tracker(preset, seed=seed)
        self.config, self.seed = usual.config, usual.seed
        self.gallery = check_gallery(gallery)
        self._trackers: dict[int, Tracker] = {}
        self._apart: set[Pair] = set()  # pairs that have been at two places
        self._numbers = 0  # given so far
        self._frame = 0
        self._shape: tuple[int, ...] | None = None

    @classmethod
    def of(cls, trackers: Mapping[int, Tracker]) -> Self:
        """Go on with targets, at least one, that were followed one by one; all with the same settings."""
        if not isinstance(trackers, Mapping) or not trackers or not all(map(_is_followed, trackers.items())):
            raise ValueError(f"trackers must be trackers with a target, by numbers from 1 on, got {shown(trackers)}")
        first = trackers[min(trackers)]
        gallery = None if first.identifier is None else first.identifier.gallery
        several = cls(first.config, seed=first.seed, gallery=gallery)
        several._trackers = dict(sorted(trackers.items()))
        several._numbers, several._frame, several._shape = max(trackers), first.frames, first.shape
        pairs = combinations(several.boxes.items(), 2)
        several._apart = {(one, other) for (one, at), (other, there) in pairs if at.iou(there) <= COLLAPSED}
        return several

    def add(self, frame: Frame, box: Box | tuple[float, float, float, float]) -> int:
        """Follow one target more, marked by ``box`` (x, y, w, h) in the frame last updated with; return its number."""
        frame = check_frame(frame, like=self._shape)
        number = self._numbers + 1
        tracker = Tracker(self.config, seed=target_seed(self.seed, number), gallery=self.gallery)
        tracker.init(frame, box)
        self._apart |= {(other, number) for other, at in self.boxes.items() if at.iou(tracker.box) <= COLLAPSED}
        self._trackers[number] = tracker
        self._numbers, self._shape = number, frame.shape
        return number

    def remove(self, target: int) -> None:
        """Follow a target no longer; its number is not given again."""
        whole = isinstance(target, (int, np.integer)) and not isinstance(target, bool)
        if not whole or target not in self._trackers:
            known = shown(list(self._trackers))[1:-1] or "none"
            raise ValueError(f"target must be one of those followed ({known}), got {shown(target)}")
        del self._trackers[target]
        self._apart = {pair for pair in self._apart if target not in pair}
        self._shape = self._shape if self._trackers else None

    def update(self, frame: Frame) -> dict[int, Estimate]:
        """Find every target in the next frame; return the estimates by target number."""
        frame = check_frame(frame, like=self._shape)
        self._frame += 1
        numbers = list(self._trackers)
        with one_blas_thread():
            found = _in_parallel(lambda n: self._trackers[n].look(frame, brief=not self._has_turn(n)), numbers)
            seen = dict(zip(numbers, found, strict=True))
            overlaps = self._displaced(seen)
            self._send_elsewhere(frame, seen, overlaps.keys())
            done = _in_parallel(lambda n: self._commit(n, frame, seen[n], overlaps.get(n)), numbers)
        estimates = dict(zip(numbers, done, strict=True))
        self._part(estimates)
        return self._named(estimates)

    @property
    def boxes(self) -> dict[int, Box]:
        """Where every target was last, by its number."""
        return {number: tracker.box for number, tracker in self._trackers.items()}

    @property
    def trackers(self) -> dict[int, Tracker]:
        """The tracker of every target, to look into, by its number."""
        return dict(self._trackers)

    def _commit(self, target: int, frame: Frame, sighting: Sighting, overlap: float | None) -> Estimate:
        displaced = None if overlap is None else (overlap, COLLAPSED)
        return self._trackers[target].commit(frame, sighting, learn=self._has_turn(target), displaced=displaced)

    def _has_turn(self, target: int) -> bool:
        """Whether it is a target's turn to be looked at fully and learned from."""
        return (self._frame + target) % math.ceil(len(self._trackers) / AT_ONCE) == 0

    def _displaced(self, seen: Mapping[int, Sighting]) -> dict[int, float]:
        """Return the targets to whose place another one has the better claim, with their overlap."""
        claims = {number: self._trackers[number].claim(sighting) for number, sighting in seen.items()}
        kept: list[int] = []
        displaced: dict[int, float] = {}
        for number in sorted(claims, key=lambda each: (-claims[each], each)):
            rivals = [other for other in kept if _pair(number, other) in self._apart]
            overlap = max((seen[number].box.iou(seen[other].box) for other in rivals), default=0.0)
            if overlap > COLLAPSED:
                displaced[number] = overlap
            else:
                kept.append(number)
        return displaced

    def _send_elsewhere(self, frame: Frame, seen: dict[int, Sighting], hidden: Collection[int]) -> None:
        """Give displaced targets the best place that is not taken."""
        kept = [number for number in seen if number not in hidden]
        for number in sorted(hidden):
            taken = [seen[other].box.to_xywh() for other in kept if _pair(number, other) in self._apart]
            seen[number] = self._trackers[number].look_elsewhere(frame, seen[number], np.array(taken), COLLAPSED)

    def _part(self, estimates: Mapping[int, Estimate]) -> None:
        """Note the pairs of targets that are at two places by now."""
        tracked = [number for number, each in estimates.items() if each.state == TRACKING]
        for pair in set(combinations(tracked, 2)) - self._apart:
            if estimates[pair[0]].box.iou(estimates[pair[1]].box) < PARTED:
                self._apart.add(pair)

    def _named(self, estimates: dict[int, Estimate]) -> dict[int, Estimate]:
        """Assign every known target to at most one of those followed; a hidden one keeps its name."""
        judges = {number: tracker.identifier for number, tracker in self._trackers.items()}
        means = {number: each.means for number, each in judges.items() if each is not None and each.means is not None}
        if self.gallery is None or len(means) < 2:
            return estimates
        limit = max(each.limit for each in judges.values() if each is not None)
        given = dict(zip(means, assign(np.array(list(means.values())), limit), strict=True))
        return {number: _renamed(each, given.get(number), self.gallery) for number, each in estimates.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything the next frame needs to an ``.npz`` file (no pickle)."""
        file = check_path("path", path)
        states = {str(number): tracker.to_saved() for number, tracker in self._trackers.items()}
        meta = {
            "kind": KIND,
            "config": self.config.to_dict(),
            "seed": self.seed,
            "shape": None if self._shape is None else list(self._shape),
            "frame": self._frame,
            "numbers": self._numbers,
            "apart": sorted(self._apart),
            "trackers": {number: state for number, (state, _) in states.items()},
        }
        arrays = {f"{number}.{name}": each for number, (_, own) in states.items() for name, each in own.items()}
        with writing("path", file):
            write_tracker(file, meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, gallery: Gallery | None = None) -> Self:
        """Read a file made by :meth:`save` and go on exactly where it stopped, with the gallery it had, if any."""
        file, gallery = check_path("path", path), check_gallery(gallery)
        meta, arrays = read_tracker(file, cls._expected)
        with naming(file):
            several = cls(TrackerConfig.from_dict(meta["config"]), seed=meta["seed"], gallery=gallery)
            several._restore(meta, arrays)
        return several

    @classmethod
    def _expected(cls, meta: Mapping[str, Any]) -> Expectations:
        """Say what saved arrays must be, by the values saved beside them."""
        if meta.get("kind") != KIND:
            raise ValueError("it was not saved by MultiTracker")
        each = [under(f"{number}.", Tracker.expected(state)) for number, state in meta["trackers"].items()]
        return {name: wanted for own in each for name, wanted in own.items()}

    def _restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._shape = None if meta["shape"] is None else checked_shape(meta["shape"])
        self._frame, self._numbers = (whole(name, meta[name], MOST_FRAMES) for name in ("frame", "numbers"))
        for number, state in meta["trackers"].items():
            own = {
                name.removeprefix(f"{number}."): each for name, each in arrays.items() if name.startswith(f"{number}.")
            }
            self._trackers[_target(number, self._numbers)] = Tracker.from_saved(state, own, self.gallery)
        self._apart = {_known_pair(pair, self._trackers) for pair in meta["apart"]}
        shapes = {None} if not self._trackers else {tracker.shape for tracker in self._trackers.values()}
        if shapes != {self._shape} or any(each.config != self.config for each in self._trackers.values()):
            raise ValueError("its targets must have the same settings and frames of one shape")


def _is_followed(item: tuple[object, object]) -> bool:
    number, tracker = item
    return type(number) is int and number >= 1 and isinstance(tracker, Tracker) and tracker.has_target


def target_seed(seed: int, target: int) -> int:
    """Return the seed of a target, which count from 1; the first takes the given one itself.

    >>> target_seed(5, 1), target_seed(5, 2) == target_seed(5, 2), target_seed(5, 2) == target_seed(5, 3)
    (5, True, False)
    """
    return seed if target == 1 else int(np.random.SeedSequence([seed, target]).generate_state(1)[0])


def assign(distances: Floats, limit: float) -> list[int | None]:
    """Give each of K known targets to at most one of T, at the least sum of distances ``(T, K)``.

    Nobody (None) costs the limit, so no distance beyond it is ever chosen.

    >>> assign(np.array([[0.1, 0.5], [0.2, 0.9]]), 0.6)
    [1, 0]
    >>> assign(np.array([[0.1, 0.9], [0.2, 0.8]]), 0.6)
    [0, None]
    """
    nobody = np.full((len(distances), len(distances)), limit)
    _, columns = linear_sum_assignment(np.hstack([distances, nobody]))
    return [int(column) if column < distances.shape[1] else None for column in columns]


def _renamed(estimate: Estimate, given: int | None, gallery: Gallery) -> Estimate:
    if estimate.identity is None:
        return estimate
    name = None if given is None else gallery.names[given]
    return dataclasses.replace(estimate, identity=dataclasses.replace(estimate.identity, name=name))


def _target(text: str, most: int) -> int:
    """Return the number of a target, as it was saved."""
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f"trackers must have numbers, got {text[:60]!r}")
    return whole("number of a target", int(text), most, 1)


def _known_pair(pair: object, known: Collection[int]) -> Pair:
    """Return a pair of targets, as it was saved."""
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(n) is int and n in known for n in pair):
        raise ValueError("apart must have pairs of its targets")
    return _pair(*pair)


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)


def _in_parallel(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do the same work on every item, on as many threads as there are processors."""
    threads = min(len(items), os.cpu_count() or 1)
    if threads < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))
