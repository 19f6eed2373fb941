"""Boxes as text, there and back again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack.box import Box
from metrack.estimate import RULES, Evidence, Verdict
from metrack.frames.formats import (
    Record,
    from_json_line,
    from_otb_line,
    read_jsonl,
    to_csv_line,
    to_json_line,
    to_otb_line,
)

numbers = st.floats(-1e5, 1e5)
boxes = st.builds(Box, numbers, numbers, numbers, numbers)
records = st.builds(
    Record,
    frame=st.integers(0, 10**9),
    time=st.floats(0, 1e6),
    target=st.integers(1, 99),
    box=boxes,
    score=st.floats(0, 1),
    state=st.sampled_from(["tracking", "occluded", "lost"]),
    identity=st.none() | st.text(max_size=9),
    evidence=st.none() | st.builds(Evidence, numbers, numbers, numbers, numbers),
    verdict=st.none() | st.builds(Verdict, st.just(""), st.sampled_from(sorted(RULES)), numbers, numbers),
    distances=st.none() | st.lists(numbers, max_size=3).map(tuple),
).map(lambda record: replace(record, verdict=record.verdict and replace(record.verdict, state=record.state)))
HALF = 0.5e-3 + 1e-9  # a thousandth, rounded


@given(records)
def test_json_lines_are_exact(record: Record) -> None:
    line = to_json_line(record)
    assert "\n" not in line
    assert from_json_line(line) == record


@given(boxes)
def test_otb_lines_keep_thousandths(box: Box) -> None:
    np.testing.assert_allclose(from_otb_line(to_otb_line(box)).to_xywh(), box.to_xywh(), atol=HALF)


def test_the_lines_look_as_documented() -> None:
    record = Record(7, 0.28, 2, Box(9.0, 19.5, 30.0004, 40.1239), 0.75, "occluded")
    assert to_csv_line(record) == "7,2,0.28,9,19.5,30,40.124,0.75,occluded"
    assert to_otb_line(record.box) == "10,20.5,30,40.124"
    assert to_otb_line(Box(-1.0001, -1, 0, 0)) == "0,0,0,0"
    assert to_json_line(record) == (
        '{"frame": 7, "time": 0.28, "target": 2, "box": [9.0, 19.5, 30.0004, 40.1239], '
        '"score": 0.75, "state": "occluded"}'
    )


@pytest.mark.parametrize("line", ["10,20,30,40", "10\t20\t30\t40\r", "10 20 30 40"])
def test_otb_lines_of_every_dialect_are_read(line: str) -> None:
    assert from_otb_line(line) == Box(9, 19, 30, 40)


def test_an_unfinished_last_line_is_skipped(tmp_path: Path) -> None:
    record = Record(7, 0.28, 1, Box(1, 2, 3, 4), 0.5, "lost")
    (tmp_path / "t.jsonl").write_text(to_json_line(record) + "\n" + to_json_line(record)[:20])
    assert read_jsonl(tmp_path / "t.jsonl") == [record]
