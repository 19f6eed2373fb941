import json

from metrack.box import Box
from metrack.frames.formats import Record
from metrack.runs.events import Witness


def told(*states, target=1):
    witness = Witness()
    records = [Record(k, k / 30, target, Box(0, 0, 9, 9), 0.5, state) for k, state in enumerate(states)]
    return [(event.frame, event.event) for record in records for event in witness.take([record])]


def test_turns_of_the_state_are_events():
    assert told("tracking", "occluded", "occluded", "tracking") == [(1, "occluded"), (3, "reappeared")]
    assert told("tracking", "occluded", "lost", "lost", "tracking") == [
        (1, "occluded"),
        (2, "lost"),
        (4, "recovered"),
    ]
    assert told("tracking", "tracking") == []


def test_targets_do_not_mix():
    witness = Witness()
    both = [[Record(k, 0.0, t, Box(0, 0, 9, 9), 0.5, s) for t, s in ((1, "tracking"), (2, "occluded"))] for k in (0, 1)]
    assert [(e.target, e.event) for records in both for e in witness.take(records)] == [(2, "occluded")]


def test_an_event_is_one_line_with_frame_time_and_reason():
    witness = Witness()
    list(witness.take([Record(0, 0.0, 1, Box(0, 0, 9, 9), 0.9, "occluded")]))
    list(witness.take([Record(1, 0.1, 1, Box(0, 0, 9, 9), 0.9, "occluded")]))
    (event,) = witness.take([Record(2, 0.2, 1, Box(0, 0, 9, 9), 0.93, "tracking")])
    assert json.loads(event.to_json_line()) == {
        "frame": 2,
        "time": 0.2,
        "target": 1,
        "event": "reappeared",
        "reason": "looks like the target again after 2 frames (score 0.93)",
    }
