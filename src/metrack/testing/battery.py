"""One battery of checks that every single-target tracker must pass, ours and those of others.

A check is a function of ``make``, which returns a fresh tracker for a seed; it raises an AssertionError with a
sentence when the tracker does not behave. All frames are painted here: a textured square that moves over a textured
background. They are read-only, so that a tracker that writes into its input is found out.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.checks import SMALLEST_SIDE, did_you_mean
from metrack.estimate import LOST, OCCLUDED, TRACKING, Estimate
from metrack.rivals.base import TargetTracker

Make = Callable[[int], TargetTracker]
Check = Callable[[Make], None]

HEIGHT, WIDTH = 96, 128
FIRST_BOX = Box(40.0, 30.0, 24.0, 28.0)
LENGTH = 8  # frames of a clip
LONG = 20  # frames without a target, enough for a tracker to give it up


def check_tracker(make: Callable[..., TargetTracker], leave_out: Collection[str] = ()) -> None:
    """Run every check of ``CHECKS`` on fresh trackers and raise one AssertionError that names all that failed.

    Parameters
    ----------
    make : returns a fresh tracker; called as ``make(seed=...)`` if it has a parameter of that name, else ``make()``
    leave_out : names of checks this kind of tracker cannot pass
    """
    for name in leave_out:
        if name not in CHECKS:
            raise ValueError(f"leave_out must name checks, got {name!r}{did_you_mean(name, CHECKS)}")
    seeded = "seed" in inspect.signature(make).parameters
    fresh: Make = (lambda seed: make(seed=seed)) if seeded else (lambda seed: make())
    failures = [f"{name}: {why}" for name in CHECKS if name not in leave_out and (why := _failure(name, fresh))]
    if failures:
        raise AssertionError(f"{len(failures)} of {len(CHECKS)} checks failed\n" + "\n".join(failures))


def _failure(name: str, make: Make) -> str:
    try:
        CHECKS[name](make)
    except AssertionError as error:
        return str(error)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    return ""


def repeatable(make: Make) -> None:
    """The same frames and the same seed give the same boxes, scores and states."""
    clip = paint()
    _assert_same(run(make(3), clip), run(make(3), clip), "a second run with the same frames and seed")


def finite(make: Make) -> None:
    """Boxes are finite and have an area, scores are probabilities or NaN, states are known ones."""
    for estimate in run(make(0), paint(2 * LENGTH)):
        _assert_sane(estimate)


def outlives_a_lost_target(make: Make) -> None:
    """The target vanishes, the picture turns black or into noise: still a box in every frame, and no exception."""
    clip, rng = paint(), np.random.default_rng(0)
    empty = paint(1, target=False)[0]
    black = np.zeros_like(empty)
    noise = [rng.integers(0, 256, empty.shape, np.uint8) for _ in range(LONG)]
    for lost in ([empty] * LONG, [black] * LONG, noise):
        for estimate in run(make(0), [*clip, *lost, *clip]):
            _assert_sane(estimate)


def takes_grey_frames(make: Make) -> None:
    """Frames of shape (H, W) do as well as colours."""
    for estimate in run(make(0), [frame[:, :, 1] for frame in paint()]):
        _assert_sane(estimate)


def takes_any_view(make: Make) -> None:
    """A frame that is a view with strides of its own gives what its contiguous copy gives."""
    clip = paint()
    doubled = [np.repeat(np.repeat(frame, 2, axis=0), 2, axis=1)[::2, ::2] for frame in clip]
    mirrored = [np.ascontiguousarray(frame[:, ::-1])[:, ::-1] for frame in clip]
    expected = run(make(1), clip)
    for views in (doubled, mirrored, [np.asfortranarray(frame) for frame in clip]):
        _assert_same(expected, run(make(1), views), "a run over views of the same pixels")


def takes_the_smallest_frame(make: Make) -> None:
    """A frame of the smallest size, filled by its target, can be tracked or is refused by ``init``."""
    side = SMALLEST_SIDE
    _start_or_refuse(make, [frame[:side, :side] for frame in paint()], Box(0.0, 0.0, side, side))


def takes_the_smallest_box(make: Make) -> None:
    """A target of the smallest size can be tracked or is refused by ``init``."""
    (x, y), side = FIRST_BOX.centre, SMALLEST_SIDE
    _start_or_refuse(make, paint(), Box(x, y, side, side))


def takes_a_box_half_outside(make: Make) -> None:
    """A target half outside the frame, at each side of it, can be tracked or is refused by ``init``."""
    w, h = FIRST_BOX.w, FIRST_BOX.h
    for x, y in ((-w / 2, 30.0), (WIDTH - w / 2, 30.0), (40.0, -h / 2), (40.0, HEIGHT - h / 2)):
        _start_or_refuse(make, paint(), Box(x, y, w, h))


def refuses_another_shape(make: Make) -> None:
    """A frame of another shape is a ValueError with a sentence, after which the right frames go on."""
    clip, tracker = paint(), make(0)
    tracker.init(clip[0], FIRST_BOX)
    tracker.update(clip[1])
    for wrong in (clip[2][:-2], clip[2][:, :-2], clip[2][:, :, 0]):
        _assert_refused(lambda wrong=wrong: tracker.update(wrong), f"a frame of shape {wrong.shape}")  # type: ignore[misc]
    _assert_sane(tracker.update(clip[2]))


def refuses_update_before_init(make: Make) -> None:
    """Without a target, ``update`` is a ValueError with a sentence."""
    _assert_refused(lambda: make(0).update(paint(1)[0]), "update before init")


def leaves_inputs_alone(make: Make) -> None:
    """Frames are the same after tracking as before."""
    clip = [frame.copy() for frame in paint()]  # writable: what cannot be written would not be found out
    before = [frame.copy() for frame in clip]
    run(make(0), clip)
    for index, (frame, copy) in enumerate(zip(clip, before, strict=True)):
        assert np.array_equal(frame, copy), f"frame {index} was written into"


def starts_again(make: Make) -> None:
    """``init`` may be called at any time, with frames of another size: what follows is what a fresh tracker gives."""
    clip, smaller = paint(), [frame[8:, 10:] for frame in paint()]
    box = Box(FIRST_BOX.x - 10, FIRST_BOX.y - 8, FIRST_BOX.w, FIRST_BOX.h)
    used = make(2)
    run(used, clip)
    _assert_same(run(make(2), smaller, box), run(used, smaller, box), "a run after a second init")


def picklable(make: Make) -> None:
    """A tracker can be pickled before ``init``, after it and between updates, and then goes on as if it had not."""
    clip = paint()
    expected = run(make(4), clip)
    tracker = _pickled(make(4))
    tracker.init(clip[0], FIRST_BOX)
    found = []
    for frame in clip[1:]:
        tracker = _pickled(tracker)
        found.append(tracker.update(frame))
    _assert_same(expected, found, "a run that is pickled before every frame")


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        repeatable,
        finite,
        outlives_a_lost_target,
        takes_grey_frames,
        takes_any_view,
        takes_the_smallest_frame,
        takes_the_smallest_box,
        takes_a_box_half_outside,
        refuses_another_shape,
        refuses_update_before_init,
        leaves_inputs_alone,
        starts_again,
        picklable,
    )
}


def paint(frames: int = LENGTH, *, target: bool = True) -> list[Frame]:
    """Paint a textured square that moves by two pixels a frame from ``FIRST_BOX`` on; or the background alone."""
    rng = np.random.default_rng(0)
    background = _texture(rng, HEIGHT, WIDTH, 40, 140)
    square = _texture(rng, int(FIRST_BOX.h), int(FIRST_BOX.w), 120, 255)
    clip = []
    for index in range(frames):
        frame = background.copy()
        if target:
            x, y = int(FIRST_BOX.x) + 2 * index, int(FIRST_BOX.y) + index
            frame[y : y + square.shape[0], x : x + square.shape[1]] = square
        frame.setflags(write=False)
        clip.append(frame)
    return clip


def run(tracker: TargetTracker, clip: Sequence[Frame], box: Box = FIRST_BOX) -> list[Estimate]:
    """Track a clip from its first box; one estimate for each further frame."""
    tracker.init(clip[0], box)
    return [tracker.update(frame) for frame in clip[1:]]


def _texture(rng: np.random.Generator, height: int, width: int, low: int, high: int) -> Frame:
    """Paint blocks of 4 x 4 pixels in random colours: gradients everywhere, but none from pixel to pixel."""
    blocks = rng.integers(low, high, (-(-height // 4), -(-width // 4), 3), np.uint8)
    texture: Frame = np.repeat(np.repeat(blocks, 4, axis=0), 4, axis=1)[:height, :width].copy()
    return texture


def _start_or_refuse(make: Make, clip: Sequence[Frame], box: Box) -> None:
    tracker = make(0)
    try:
        tracker.init(clip[0], box)
    except ValueError as error:
        _assert_sentence(error)
        return
    for frame in clip[1:]:
        _assert_sane(tracker.update(frame))


def _assert_sane(estimate: Estimate) -> None:
    x, y, w, h = estimate.box.to_xywh()
    assert np.isfinite([x, y, w, h]).all(), f"the box {estimate.box} is not finite"
    assert w > 0, f"the box {estimate.box} has no width"
    assert h > 0, f"the box {estimate.box} has no height"
    assert np.isnan(estimate.score) or 0 <= estimate.score <= 1, f"the score {estimate.score} is no probability"
    assert estimate.state in (TRACKING, OCCLUDED, LOST), f"the state {estimate.state!r} is not a known one"


def _assert_same(expected: Sequence[Estimate], found: Sequence[Estimate], what: str) -> None:
    for index, (one, other) in enumerate(zip(expected, found, strict=True), 1):
        assert one.box == other.box, f"{what} differs at frame {index}: {other.box} instead of {one.box}"
        assert _equal(one.score, other.score), f"{what} differs at frame {index}: score {other.score}, not {one.score}"
        assert one.state == other.state, f"{what} differs at frame {index}: {other.state}, not {one.state}"


def _equal(one: float, other: float) -> bool:
    return one == other or (np.isnan(one) and np.isnan(other))


def _assert_refused(act: Callable[[], object], what: str) -> None:
    try:
        act()
    except ValueError as error:
        _assert_sentence(error)
        return
    raise AssertionError(f"{what} was not refused with a ValueError")


def _assert_sentence(error: ValueError) -> None:
    assert len(str(error).split()) > 3, f"the ValueError {str(error)!r} is not a sentence that says what is wrong"


def _pickled(tracker: Any) -> Any:
    return pickle.loads(pickle.dumps(tracker))
