"""What travels to the browser, and that the page repeats nothing of what Python knows."""

import json
import math
import re
import struct
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

from metrack import Tracker, studio
from metrack.box import Box
from metrack.config import PRESETS, TrackerConfig, setting
from metrack.draw.marks import DASHES
from metrack.draw.palette import SHADES, TARGETS
from metrack.estimate import LOST, OCCLUDED, TRACKING, Verdict
from metrack.frames import VideoFrame
from metrack.frames.formats import Record
from metrack.runs.events import REAPPEARED, RECOVERED, Event
from metrack.studio import protocol
from metrack.studio.pictures import WIDEST, Picture
from support.studio import CLIP

STATIC = Path(studio.__file__).parent / "static"
PAGE = [path for path in sorted(STATIC.rglob("*")) if path.suffix in (".js", ".css", ".html")]


def record(frame, target=1, **more):
    box = Box(10.004 + frame, 20.006, 30.0, 40.0)
    return Record(frame, frame / 25, target, box, 0.123456, TRACKING if frame else OCCLUDED, **more)


def test_records_become_columns_per_target():
    one, other = protocol.series([[record(0), record(0, 2)], [record(1), record(1, 2)]])
    assert one == {
        "x": [10.0, 11.0],
        "y": [20.01, 20.01],
        "w": [30.0, 30.0],
        "h": [40.0, 40.0],
        "score": [0.1235, 0.1235],
        "state": [OCCLUDED, TRACKING],
    }
    assert other == one
    assert protocol.series([]) == []


def test_columns_that_only_some_records_fill_keep_their_length():
    known = record(1, identity="anna", distances=(0.5, 0.25))
    (columns,) = protocol.series([[record(0)], [known]])
    assert columns["identity"] == [None, "anna"]
    assert columns["distances"] == [None, (0.5, 0.25)]


def test_what_a_state_was_decided_by_is_carried_along():
    verdicts = [Verdict(OCCLUDED, "residual", 0.87654321, 0.5), Verdict(TRACKING, "change", math.inf, 1.5)]
    (columns,) = protocol.series([[record(n, verdict=verdict)] for n, verdict in enumerate(verdicts)])
    assert columns["rule"] == ["residual", "change"]
    assert columns["value"] == [0.8765, None]  # JSON has no infinity
    assert columns["limit"] == [0.5, 1.5]


def test_a_hundred_thousand_frames_take_less_than_eight_megabytes():
    rng, count = np.random.default_rng(0), 5_000
    boxes = rng.uniform(20, 600, (count, 4))
    judged = Verdict(TRACKING, "probability", 0.987654321, 0.5)
    frames = [[Record(0, 0, 1, Box(*box), rng.random(), TRACKING, verdict=judged)] for box in boxes.tolist()]
    size = len(json.dumps(protocol.series(frames), separators=(",", ":")))
    assert size * 100_000 / count < 8e6


def test_particles_and_messages_are_named():
    tracker = Tracker("fast")
    tracker.init(CLIP[0], CLIP.first_box)
    info = tracker.update(CLIP[1]).info
    cloud = protocol.particles(info)
    assert {name: len(values) for name, values in cloud.items()} == dict.fromkeys(
        ("x", "y", "weight"), len(info.weights)
    )
    np.testing.assert_allclose(cloud["x"], info.particles[:, 0] + info.particles[:, 2] / 2, atol=0.051)
    np.testing.assert_allclose(cloud["y"], info.particles[:, 1] + info.particles[:, 3] / 2, atol=0.051)
    np.testing.assert_allclose(cloud["weight"], info.weights, atol=0.000051)
    data = protocol.pack({"epoch": 3}, Picture(VideoFrame(1, 0.04, CLIP[1]), (info, None)))
    length = struct.unpack(">I", data[:4])[0]
    message = json.loads(data[4 : 4 + length])
    assert message == {"epoch": 3, "frame": 1, "particles": [cloud, {"x": [], "y": [], "weight": []}]}
    assert data[4 + length :].startswith(b"\xff\xd8")
    assert protocol.pack({}, None) == struct.pack(">I", 2) + b"{}"


def test_events_are_what_the_file_of_events_says():
    event = Event(3, 0.12, 1, REAPPEARED, "seen again")
    assert json.loads(json.dumps(protocol.event_values(event))) == json.loads(event.to_json_line())


def test_about_tells_every_preset_setting_state_and_status():
    about = json.loads(json.dumps(protocol.about(), allow_nan=False))
    assert about["presets"] == {name: json.loads(json.dumps(config.to_dict())) for name, config in PRESETS.items()}
    assert about["default_preset"] in about["presets"]
    assert [each["name"] for each in about["settings"]] == [name for name, _, _ in TrackerConfig().settings()]
    assert {each["kind"] for each in about["settings"]} <= {"choice", "switch", "whole", "number"}
    assert [each["name"] for each in about["states"]] == [TRACKING, OCCLUDED, LOST] == list(DASHES)
    assert set(about["events"].values()) == {TRACKING, OCCLUDED, LOST}
    assert about["events"][RECOVERED] == TRACKING
    assert len(about["line_colours"]["light"]) == len(about["target_colours"]) == len(TARGETS)
    assert about["most_targets"] <= len(TARGETS)
    assert not any(each["busy"] and each["over"] for each in about["statuses"])


@dataclass
class Kinds:
    flag: bool = setting(True, "a switch")
    count: int = setting(3, "a whole number", low=1, high=5)
    share: float = setting(0.5, "a number", low=0, high=1)
    way: str = setting("on", "a choice", choices=("on", "off"))


def test_the_kind_of_a_setting_says_how_a_form_asks_for_it():
    told = [protocol.describe_setting(each.name, each) for each in fields(Kinds)]
    assert [each["kind"] for each in told] == ["switch", "whole", "number", "choice"]
    assert told[1] == {"name": "count", "kind": "whole", "text": "a whole number", "low": 1, "high": 5, "choices": ()}


@pytest.mark.parametrize("path", PAGE, ids=lambda path: path.name)
def test_the_page_repeats_nothing_that_python_knows(path):
    text, about = path.read_text().lower(), protocol.about()
    shades = [each for state in about["states"] for scheme in ("light", "dark") for each in state[scheme].values()]
    colours = [*about["target_colours"], *about["line_colours"]["light"], *about["heat_colours"], *shades]
    spaced = [" ".join(map(str, colour)) for colour in (*TARGETS, *SHADES)]
    assert [colour for colour in (*colours, *spaced) if colour in text] == []
    names = {each["name"] for each in (*about["states"], *about["statuses"])} | set(about["events"])
    quoted = {name for name in names for mark in "\"'`" if f"{mark}{name}{mark}" in text}
    classes = {name for name in names if path.suffix == ".css" and re.search(rf"\.{name}\b", text)}
    numbers = {protocol.PUT_AWAY, WIDEST} & {int(each) for each in re.findall(r"\b\d+\b", text)}
    assert (quoted, classes, numbers) == (set(), set(), set())


@pytest.mark.parametrize("path", [path for path in PAGE if path.suffix == ".js"], ids=lambda path: path.name)
def test_no_module_of_the_page_is_over_250_lines(path):
    assert len(path.read_text().splitlines()) <= 250
