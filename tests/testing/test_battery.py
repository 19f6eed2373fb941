"""The battery is passed by our presets and by every rival, and failed by trackers with a planted fault."""

from functools import partial

import numpy as np
import pytest

from metrack import PRESETS, Box, MultiTracker, Tracker
from metrack.estimate import Estimate
from metrack.rivals import RIVALS
from metrack.testing import CHECKS, check_tracker

NO_PICKLE = "picklable"  # OpenCV's and dlib's trackers are C++ objects that offer no way to their state
NO_SEED = ("repeatable", "takes_any_view", "starts_again")  # OpenCV seeds MIL and TLD from the clock, whatever is asked
LEFT_OUT = {
    **dict.fromkeys(RIVALS, (NO_PICKLE,)),
    "mil": (NO_PICKLE, *NO_SEED),
    "tld": (NO_PICKLE, *NO_SEED),
    "static": (),
}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_passes(preset):
    check_tracker(partial(Tracker, preset))


class OneOfMany:
    """A tracker of several targets that is given one."""

    def __init__(self, seed):
        self.seed, self.several = seed, None

    def init(self, frame, box):
        self.several = MultiTracker("paper", seed=self.seed)
        self.several.add(frame, box)

    def update(self, frame):
        if self.several is None:
            raise ValueError("update needs a target: call init first")
        (estimate,) = self.several.update(frame).values()
        return estimate


def test_a_tracker_of_several_targets_passes_with_one():
    check_tracker(OneOfMany)


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_passes(name):
    check_tracker(lambda seed: RIVALS[name].make(seed), leave_out=LEFT_OUT[name])


class Faulty:
    """The first box for ever, with one fault."""

    fault = ""
    shape = None

    def init(self, frame, box):
        if self.fault == "small" and min(frame.shape[:2]) < 10:
            raise ZeroDivisionError("no room")
        self.shape, self.box, self.count = frame.shape, box, getattr(self, "count", 0)

    def update(self, frame):
        if self.shape is None and self.fault != "eager":
            raise ValueError("update needs a target: call init first")
        if frame.shape != self.shape and self.fault not in ("any shape", "eager"):
            raise ValueError("no" if self.fault == "terse" else "frame must keep its shape, but has another one")
        return Estimate(self._found(frame), 2.0 if self.fault == "score" else np.nan, self._state())

    def _found(self, frame):
        self.count += 1
        if self.fault == "writes":
            frame[0, 0] = 0
        if self.fault == "lost" and not frame.any():
            raise RuntimeError("where is it?")
        x, y, w, h = self.box.to_xywh()
        shifts = {"counts": self.count, "draws": np.random.default_rng().random(), "infinite": np.inf}
        shifts["strides"] = float(frame.strides[0] % 7)
        return Box(x + shifts.get(self.fault, 0.0), y, w, h)

    def _state(self):
        return "bored" if self.fault == "state" else "tracking"

    def __getstate__(self):
        if self.fault == "pickle":
            raise TypeError("cannot pickle")
        return self.__dict__


@pytest.mark.parametrize(
    ("fault", "checks"),
    [
        ("draws", {"repeatable"}),
        ("infinite", {"finite"}),
        ("score", {"finite"}),
        ("state", {"finite"}),
        ("lost", {"outlives_a_lost_target"}),
        ("strides", {"takes_any_view"}),
        ("small", {"takes_the_smallest_frame"}),
        ("any shape", {"refuses_another_shape"}),
        ("terse", {"refuses_another_shape"}),
        ("eager", {"refuses_update_before_init"}),
        ("writes", {"leaves_inputs_alone"}),
        ("counts", {"starts_again"}),
        ("pickle", {"picklable"}),
    ],
)
def test_a_planted_fault_is_named(fault, checks):
    def make():
        tracker = Faulty()
        tracker.fault = fault
        return tracker

    with pytest.raises(AssertionError) as found:
        check_tracker(make)
    named = {line.partition(":")[0] for line in str(found.value).splitlines()}
    assert checks <= named
    assert len(named & set(CHECKS)) < len(CHECKS)


def test_the_same_tracker_without_a_fault_passes():
    check_tracker(Faulty)


def test_what_is_left_out_must_be_a_check():
    with pytest.raises(ValueError, match=r"leave_out must name checks, got 'pickle'; did you mean 'picklable'\?"):
        check_tracker(Faulty, leave_out=("pickle",))


def test_a_check_that_is_left_out_is_not_run():
    class NoPickle(Faulty):
        fault = "pickle"

    with pytest.raises(AssertionError, match="1 of 13 checks failed\npicklable: raised TypeError"):
        check_tracker(NoPickle)
    check_tracker(NoPickle, leave_out=("picklable",))
