import json

from metrack.box import Box
from metrack.estimate import Verdict
from metrack.frames.formats import Record
from metrack.runs.events import EventDetector


def told(*states, target=1):
    detector = EventDetector()
    records = [Record(k, k / 30, target, Box(0, 0, 9, 9), 0.5, state) for k, state in enumerate(states)]
    return [(event.frame, event.event) for record in records for event in detector.update([record])]


def test_changes_of_the_state_are_events():
    assert told("tracking", "occluded", "occluded", "tracking") == [(1, "occluded"), (3, "reappeared")]
    assert told("tracking", "occluded", "lost", "lost", "tracking") == [
        (1, "occluded"),
        (2, "lost"),
        (4, "recovered"),
    ]
    assert told("tracking", "tracking") == []


def test_targets_do_not_mix():
    detector = EventDetector()
    both = [[Record(k, 0.0, t, Box(0, 0, 9, 9), 0.5, s) for t, s in ((1, "tracking"), (2, "occluded"))] for k in (0, 1)]
    assert [(e.target, e.event) for records in both for e in detector.update(records)] == [(2, "occluded")]


def test_an_event_is_one_line_with_frame_time_and_reason():
    detector = EventDetector()
    detector.update([Record(0, 0.0, 1, Box(0, 0, 9, 9), 0.9, "occluded")])
    detector.update([Record(1, 0.1, 1, Box(0, 0, 9, 9), 0.9, "occluded")])
    verdict = Verdict("tracking", "change", 1.2, 1.75)
    (event,) = detector.update([Record(2, 0.2, 1, Box(0, 0, 9, 9), 0.93, "tracking", verdict=verdict)])
    assert json.loads(event.to_json_line()) == {
        "frame": 2,
        "time": 0.2,
        "target": 1,
        "event": "reappeared",
        "reason": "seen again after 2 frames: its errors are 1.20 times the usual ones (limit 1.75), score 0.93",
    }


def test_records_of_earlier_versions_have_no_verdict_and_their_events_only_a_score():
    detector = EventDetector()
    (event,) = detector.update([Record(0, 0.0, 1, Box(0, 0, 9, 9), 0.31, "occluded")])
    assert event.reason == "no longer seen: score 0.31"
