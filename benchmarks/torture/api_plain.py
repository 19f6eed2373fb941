"""Calls that need no tracker: boxes, configuration, checks, galleries, scores, clips, videos and adapters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from metrack import Box, Estimate, Gallery, Identifier, MultiTracker, Tracker, TrackerConfig, confidence_map, config
from metrack.adapters.opencv import OpenCVTracker
from metrack.adapters.supervision import to_detections
from metrack.adapters.vot import VOTTracker
from metrack.arrays import shown
from metrack.box import LARGEST, centre_distance, iou
from metrack.checks import check_box, check_boxes, check_frame, check_seed, is_usable
from metrack.evaluation import calibration, events, scores
from metrack.frames import VideoWriter, open_source
from metrack.synth import builtin_clip, crossing_balloons, hard_clip
from torture.api_answers import Call, call
from torture.api_values import KINDS, SETTINGS, examples

SECTIONS = [each.default_factory for each in dataclasses.fields(TrackerConfig)]


class Draw:
    """Values for calls, drawn from the pool of a case."""

    def __init__(self, rng: np.random.Generator, folder: Path, begin: Callable[[str], None]) -> None:
        self.rng, self.folder, self.begin = rng, folder, begin
        numbers = rng.integers(0, 2**31, len(KINDS)).tolist()
        self.pool = {kind: examples(KINDS[kind], number) for kind, number in zip(KINDS, numbers, strict=True)}

    def __call__(self, kind: str) -> Any:
        """Return a value of a kind."""
        return self.choice(self.pool[kind])

    def choice(self, values: Iterable[Any]) -> Any:
        """Return one of the values."""
        listed = list(values)
        return listed[int(self.rng.integers(len(listed)))]

    def chance(self, share: float) -> bool:
        """Return True that often."""
        return bool(self.rng.random() < share)

    def path(self) -> Any:
        """Return a path in the folder of the case, or what is none."""
        name = self("file")
        text = isinstance(name, str) and not name.startswith("/") and ".." not in name
        inside = text or isinstance(name, (int, float, bytes, type(None), list, dict))
        return f"{self.folder}/{name}" if text else name if inside else None


def _box(draw: Draw) -> Call:
    given = draw("box")
    return call(Box.from_otb, given, loose=not _is_plain(given))


def _is_plain(values: Any) -> bool:
    """Whether values are finite and small enough to compute areas of."""
    if isinstance(values, str) or (isinstance(values, list) and len(values) > 100):
        return True
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(values.to_xywh() if isinstance(values, Box) else values)
            return found.dtype.kind == "c" or bool((np.abs(found.astype(float)) <= LARGEST).all())
    except Exception:  # then it is refused
        return True


def _four(draw: Draw) -> Call:
    numbers = [draw("number") for _ in range(4)]
    return call(draw.choice([Box, Box.from_centre]), *numbers, loose=not all(map(_is_plain, numbers)))


def _method(draw: Draw) -> Call:
    try:
        values = tuple(float(v) for v in draw("box"))
        box = Box(*values)
    except Exception:
        box = Box(1.0, 2.0, 3.0, 4.0)
    other, step = draw.choice([draw("box"), box, Box(3.0, 3.0, 9.0, 9.0)]), draw("number")
    plain = all(map(_is_plain, (box, other, step)))
    makers: list[Callable[[], Call]] = [
        lambda: call(box.iou, other, loose=not plain),
        lambda: call(box.centre_distance, other, loose=not plain),
        lambda: call(box.contains, other),
        lambda: call(box.grow, step, step, loose=not plain),
        lambda: Call(f"{box}.centre", lambda: (box.centre, box.area, box.to_xyxy(), box.to_otb()), not plain),
    ]
    return draw.choice(makers)()


def _rows(draw: Draw) -> Call:
    first, second = draw("rows"), draw("rows")
    function = draw.choice([iou, centre_distance, scores.normalised_distance])
    empty_boxes = function is scores.normalised_distance  # have no size to count in
    return call(function, first, second, loose=empty_boxes or not (_is_plain(first) and _is_plain(second)))


def _check(draw: Draw) -> Call:
    shape = draw.choice([(36, 48, 3), (36, 48), (4, 4), (2160, 3840, 3)])
    makers: list[Callable[[], Call]] = [
        lambda: call(check_box, draw("box"), shape),
        lambda: call(is_usable, draw("box"), shape),
        lambda: call(check_boxes, draw("rows"), shape),
        lambda: call(check_frame, draw("frame")),
        lambda: call(check_seed, draw("whole")),
    ]
    return draw.choice(makers)()


def _replace(draw: Draw) -> Call:
    start = draw.choice(config.PRESETS.values())
    return call(start.replace, draw("changes"))


def _config(draw: Draw) -> Call:
    values = TrackerConfig().to_dict()
    section = draw.choice(SECTIONS)
    name = draw.choice([each.name for each in dataclasses.fields(section)])
    part = draw.choice([each.name for each in dataclasses.fields(TrackerConfig)])
    makers: list[Callable[[], Call]] = [
        lambda: call(section, **{name: draw("value")}),
        lambda: call(section, **{name: draw("anything")}),
        lambda: call(TrackerConfig, **{part: draw("anything")}),
        lambda: call(TrackerConfig.from_dict, draw("changes")),
        lambda: call(TrackerConfig.from_dict, values | {draw.choice(SETTINGS): draw("value")}),
        lambda: call(config.preset, draw("text")),
    ]
    return draw.choice(makers)()


def _made(draw: Draw) -> Call:
    seed, gallery = draw.choice([0, draw("whole")]), draw.choice([None, draw("anything")])
    kind = draw.choice([Tracker, MultiTracker, OpenCVTracker, VOTTracker])
    known = {"gallery": gallery} if kind in (Tracker, MultiTracker) else {}
    text = draw.choice(["default", draw("text")])
    return call(kind, text, seed=seed, **known)


def _unready(draw: Draw) -> Call:
    """Calls before init."""
    tracker, several = Tracker("fast"), MultiTracker("fast")
    makers: list[Callable[[], Call]] = [
        lambda: call(tracker.update, draw("frame")),
        lambda: call(tracker.look, draw("frame")),
        lambda: call(tracker.score, draw("frame"), draw("rows")),
        lambda: call(tracker.save, draw.path()),
        lambda: call(tracker.claim, draw("anything")),
        lambda: call(tracker.commit, draw("frame"), draw("anything")),
        lambda: call(confidence_map, draw.choice([tracker, draw("anything")]), draw("frame"), draw("whole")),
        lambda: call(several.remove, draw("whole")),
        lambda: call(several.update, draw("frame")),
        lambda: call(MultiTracker.of, draw.choice([{}, {1: tracker}, draw("anything")])),
        lambda: call(OpenCVTracker("fast").update, draw("frame")),
        lambda: call(VOTTracker("fast").init, draw("file"), draw("box")),
        lambda: call(VOTTracker("fast").update, draw.choice([draw("file"), {"color": draw("file")}])),
    ]
    return draw.choice(makers)()


def _scores(draw: Draw) -> Call:
    values, limit = draw("series"), draw("number")
    unknown = not (isinstance(values, list) and values and _is_plain(values))
    one = [
        scores.mean_overlap,
        scores.mean_centre_error,
        scores.success_curve,
        scores.success_auc,
        scores.precision_curve,
        scores.normalised_precision_curve,
        scores.normalised_precision_auc,
        events.onsets,
    ]
    makers: list[Callable[[], Call]] = [
        lambda: call(draw.choice(one), values, loose=unknown),
        lambda: call(draw.choice([scores.success_rate, scores.precision]), values, limit, loose=unknown),
        lambda: call(scores.frames_per_second, values, loose=True),
        lambda: call(scores.robustness, values, limit, draw("whole"), loose=True),
        lambda: call(calibration.reliability, values, draw("series"), draw("whole"), loose=True),
        lambda: call(calibration.expected_calibration_error, values, draw("series"), loose=True),
        lambda: call(calibration.auroc, values, draw("series"), loose=True),
        lambda: call(events.matches, values, draw("series"), draw("whole")),
        lambda: call(events.event_precision, values, draw("series"), loose=True),
        lambda: call(events.event_recall, values, draw("series"), loose=True),
        lambda: call(events.identification_accuracy, values, draw("series"), loose=True),
    ]
    return draw.choice(makers)()


def _identity(draw: Draw) -> Call:
    rng = np.random.default_rng(0)
    some = tuple(rng.random((2, 5), np.float32) for _ in range(2))
    gallery = Gallery(("ann", "bob"), some, None, 0.5)
    identifier = Identifier(gallery)
    makers: list[Callable[[], Call]] = [
        lambda: call(
            Gallery,
            draw.choice([("a", "b"), draw("anything")]),
            draw.choice([some, draw("anything")]),
            None,
            draw("number"),
        ),
        lambda: call(gallery.distances, draw.choice([draw("rows"), rng.random((3, 5))])),
        lambda: call(Identifier, draw.choice([gallery, draw("anything")]), unknown=draw("number")),
        lambda: call(identifier.identify, draw("frame"), draw("box"), draw("number")),
        lambda: call(identifier.take_in, draw.choice([rng.random(5), draw("series")]), draw("number")),
        lambda: call(
            Identifier.from_dict,
            gallery,
            draw.choice([{"sums": draw("series"), "weight": draw("number")}, draw("anything")]),
        ),
        lambda: call(gallery.save, draw.path()),
        lambda: call(Gallery.load, draw.path()),
        lambda: call(Gallery.from_folder, draw.path(), seed=draw("whole")),
    ]
    return draw.choice(makers)()


def _gallery(draw: Draw) -> Call:
    boxes = [(draw.choice(["ann", "bob", draw("text")]), draw("frame"), draw("box")) for _ in range(2)]
    return call(
        Gallery.from_boxes,
        draw.choice([boxes, draw("anything"), [draw("anything")]]),
        seed=draw.choice([0, draw("whole")]),
        allowed=(RuntimeError,),  # of the iterable itself
    )


def _clip(draw: Draw) -> Call:
    size = draw.choice([(160, 120), (draw("whole"), 10**9), draw("anything"), (10**6, 120)])
    frames = draw.choice([1, draw("anything"), 10**9, 0.5])
    small = builtin_clip(1, (160, 120), occlusion=False, departure=False) if draw.chance(0.02) else None
    makers: list[Callable[[], Call]] = [
        lambda: call(hard_clip, draw("text"), frames, draw("whole")),
        lambda: call(
            builtin_clip,
            frames,
            draw.choice([draw("anything"), (10**6, 120)]),
            occlusion=draw("switch"),
            twin=draw("switch"),
        ),
        lambda: call(
            crossing_balloons,
            1,
            draw.choice([-1, draw("anything")]),
            alike=draw("anything"),
            speed=draw("anything"),
            apart=math.nan,
        ),
        lambda: (
            call(builtin_clip, 10**9, size)
            if small is None
            else call(small.__getitem__, draw("whole"), allowed=(IndexError,))
        ),
    ]
    return draw.choice(makers)()


def _video(draw: Draw) -> Call:
    sizes = [(16, 16), (draw("whole"), draw("whole")), draw("anything")]
    makers: list[Callable[[], Call]] = [
        lambda: Call(
            *_writing(draw.path(), draw.choice(sizes), draw.choice([25, draw("number")]), draw("whole"), draw)
        ),
        lambda: call(open_source, draw.choice([f"{draw.folder}/none", "", "ftp://x", None, 1.5, (), b"x"])),
    ]
    return draw.choice(makers)()


def _writing(path: Any, size: Any, fps: Any, crf: Any, draw: Draw) -> tuple[str, Callable[[], Any]]:
    image = draw.choice([np.zeros((16, 16, 3), np.uint8), draw("frame")])
    time = draw.choice([None, draw("number")])
    made = call(VideoWriter, path, size, fps, crf=crf).text
    crf = draw.choice([20, crf])

    def act() -> None:
        with VideoWriter(path, size, fps, crf=crf) as video:
            video.write(image, time)

    return f"{made}, crf={shown(crf)}: {call(VideoWriter.write, image, time).text}", act


def _detections(draw: Draw) -> Call:
    given = Estimate(Box(1.0, 2.0, 3.0, 4.0), 0.5, "tracking")
    one = draw.choice([given, [given], [draw("anything")], draw("anything")])
    ids = draw.choice([None, draw("series"), [1]])
    act = lambda: to_detections(one, ids).xyxy  # noqa: E731
    return Call(call(to_detections, one, ids).text, act, allowed=(RuntimeError,))  # of the iterable itself


# each with how often it is made
PLAIN: tuple[tuple[Callable[[Draw], Call], int], ...] = (
    (_box, 10),
    (_four, 12),
    (_method, 16),
    (_rows, 8),
    (_check, 14),
    (_replace, 12),
    (_config, 16),
    (_made, 8),
    (_unready, 8),
    (_scores, 20),
    (_identity, 10),
    (_gallery, 1),
    (_clip, 3),
    (_video, 2),
    (_detections, 2),
)
SHARES = np.array([share for _, share in PLAIN], float) / sum(share for _, share in PLAIN)


def plain(draw: Draw) -> Call:
    """Return one call of any kind."""
    return PLAIN[int(draw.rng.choice(len(PLAIN), p=SHARES))][0](draw)
