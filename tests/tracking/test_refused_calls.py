"""Calls that are refused: one sentence at once, and a tracker that is as it was before."""

from time import process_time

import numpy as np
import pytest

from metrack import Gallery, MultiTracker, Tracker, TrackerConfig, confidence_map
from support.tracking import LIGHT, follow, started

HUGE = "x" * 1_000_000
CONFIG = LIGHT.replace({"motion.particles": 20, "memory.size": 15})


def one(clip):
    tracker = started(clip, CONFIG)
    follow(tracker, clip, 3)
    return tracker


def several(clip):
    tracker = MultiTracker(CONFIG)
    tracker.add(clip[0], clip.first_box)
    tracker.add(clip[0], (300, 250, 40, 40))
    tracker.update(clip[1])
    return tracker


ON_ONE = {
    "score of a box of 1e12 pixels": lambda t, f: t.score(f, [[0, 0, 1e6, 1e6]]),
    "score far away": lambda t, f: t.score(f, [[1e12, 0, 9, 9]]),
    "score of text": lambda t, f: t.score(f, HUGE),
    "score of nothing": lambda t, f: t.score(f, np.empty((0, 4))),
    "score without a switch": lambda t, f: t.score(f, [[0, 0, 9, 9]], metric="no"),
    "score of a list": lambda t, f: t.score(f.tolist(), [[0, 0, 9, 9]]),
    "map of a text": lambda t, f: confidence_map(HUGE, f, 3),
    "map without end": lambda t, f: confidence_map(t, f, 10**5000),
    "init on a huge frame": lambda t, f: t.init(np.broadcast_to(f[0, 0], (10**6, 10**6, 3)), (0, 0, 9, 9)),
    "init on NaN": lambda t, f: t.init(f, (np.nan, 0, 9, 9)),
    "update with another size": lambda t, f: t.update(f[:-1]),
    "look at nothing": lambda t, f: t.look(None),
    "a claim of nothing": lambda t, f: t.claim(None),
    "a sighting of another tracker": lambda t, f: t.commit(f, one_look(f)),
    "a place displaced by text": lambda t, f: t.commit(f, t.look(f), displaced=np.array(["a", "b"])),
    "learning perhaps": lambda t, f: t.commit(f, t.look(f), learn=np.array([1, 2])),
    "commit of another frame": lambda t, f: t.commit(f[:, :-1], t.look(f)),
    "elsewhere than text": lambda t, f: t.look_elsewhere(f, t.look(f), HUGE, 0.5),
    "elsewhere by infinity": lambda t, f: t.look_elsewhere(f, t.look(f), np.ones((1, 4)), np.inf),
}
ON_SEVERAL = {
    "add nothing": lambda t, f: t.add(f, None),
    "add to another size": lambda t, f: t.add(f[:-1], (0, 0, 9, 9)),
    "remove what is not there": lambda t, f: t.remove(3),
    "remove a truth": lambda t, f: t.remove(True),
    "remove a list": lambda t, f: t.remove([1]),
    "update with text": lambda t, f: t.update(HUGE),
}
ON_BOTH = {
    "save to a number": lambda t, f: t.save(5),
    "save into nowhere": lambda t, f: t.save("/nowhere/of/that/name.npz"),
    "save to a folder": lambda t, f: t.save("/"),
    "save to a long name": lambda t, f: t.save("x" * 300),
    "save to two lines": lambda t, f: t.save("a\nb"),
    "save to nothing": lambda t, f: t.save("a\0b"),
    "load of a number": lambda t, f: type(t).load(5),
    "load of nothing": lambda t, f: type(t).load("a\0b"),
    "load with a gallery of text": lambda t, f: type(t).load("a.npz", gallery=HUGE),
}
CALLS = [(one, name) for name in ON_ONE | ON_BOTH] + [(several, name) for name in ON_SEVERAL | ON_BOTH]


def one_look(frame):
    other = Tracker(CONFIG)
    other.init(frame, (30, 30, 40, 40))
    return other.look(frame)


@pytest.mark.parametrize(("make", "name"), CALLS, ids=[f"{make.__name__}: {name}" for make, name in CALLS])
def test_a_refused_call_is_one_sentence_and_changes_nothing(clip, tmp_path, make, name):
    tracker, twin = make(clip), make(clip)
    tracker.save(tmp_path / "before.npz")
    began = process_time()
    with pytest.raises(ValueError, match=r"\b(must|needs)\b") as refusal:
        (ON_ONE | ON_SEVERAL | ON_BOTH)[name](tracker, clip[4])
    assert process_time() - began < 2
    assert len(str(refusal.value)) <= 400
    assert str(refusal.value).isprintable()
    tracker.save(tmp_path / "after.npz")
    assert (tmp_path / "before.npz").read_bytes() == (tmp_path / "after.npz").read_bytes()
    assert tracker.update(clip[4]) == twin.update(clip[4])


def test_the_size_of_a_box_to_score_bounds_the_work(clip):
    tracker, (height, width) = one(clip), clip[0].shape[:2]
    began = process_time()
    scores = tracker.score(clip[4], [[-999 - 2 * width, 0, 2 * width, 2 * height], [width + 999, height + 999, 1, 1]])
    assert np.isfinite(scores).all()
    assert process_time() - began < 2


def test_a_second_init_that_is_refused_keeps_the_first_target(clip):
    tracker = one(clip)
    box = tracker.box
    with pytest.raises(ValueError, match="box must"):
        tracker.init(clip[0], (0, 0, 1e9, 1e9))
    assert tracker.box == box


@pytest.mark.parametrize("make", [Tracker, MultiTracker])
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"preset": None}, "preset must be a name or a TrackerConfig"),
        ({"preset": HUGE}, "there is no preset"),
        ({"seed": 2**64}, "seed must be a whole number of at most"),
        ({"seed": 10**5000}, "seed must be a whole number of at most"),
        ({"gallery": "people"}, "gallery must be a Gallery or None"),
    ],
)
def test_what_no_tracker_is_made_of(make, arguments, wanted):
    with pytest.raises(ValueError, match=wanted) as refusal:
        make(**arguments)
    assert len(str(refusal.value)) < 300


def test_several_are_made_of_trackers_that_follow_something(clip):
    for trackers in ({}, None, [1], {1: Tracker()}, {0: one(clip)}, {1: "text"}):
        with pytest.raises(ValueError, match="trackers must be trackers with a target, by numbers from 1 on"):
            MultiTracker.of(trackers)


def test_a_configuration_is_made_of_its_sections():
    with pytest.raises(ValueError, match="motion must be a MotionConfig, got 5"):
        TrackerConfig(motion=5)
    with pytest.raises(ValueError, match="changes must be a mapping from names of settings to values"):
        TrackerConfig().replace([("motion.particles", 5)])
    with pytest.raises(ValueError, match=r"values must have every setting, but motion\.particles is missing"):
        TrackerConfig.from_dict({})
    for value in (10**400, 10**5000, HUGE, [HUGE], np.zeros(9)):
        with pytest.raises(ValueError, match="particles must be") as refusal:
            TrackerConfig().replace({"motion.particles": value})
        assert len(str(refusal.value)) < 300


def test_a_gallery_is_made_of_names_frames_and_boxes(clip):
    for boxes in (5, [5], [("name", clip[0])], [(5, clip[0], clip.first_box)], [("a\nb", clip[0], clip.first_box)]):
        with pytest.raises(ValueError, match=r"^(boxes|name) must be "):
            Gallery.from_boxes(boxes)
