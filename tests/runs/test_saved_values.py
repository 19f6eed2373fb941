"""What a checkpoint's note may say."""

import copy

import pytest

from metrack.runs.job import Job
from metrack.runs.saved_values import CHECKPOINT, check_values

WHOLE = {
    "job": Job(source="clip.mp4", boxes=[(1.0, 2, 30, 40)], changes={"motion.particles": 20}).to_dict(),
    "frames": 20,
    "busy": 0.5,
    "first_frame": 123,
    "corrections": [{"frame": 3, "target": 1, "box": [1.0, 2.0, 3.0, 4.0]}],
    "ahead": [["{}"]],
    "trajectory": None,
    "state": "state_20.npz",
    "state_check": "00000000",
}


def test_what_is_written_is_right():
    check_values(WHOLE, CHECKPOINT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("frames", -1),
        ("frames", True),
        ("busy", "x"),
        ("busy", float("inf")),
        ("corrections", [None]),
        ("ahead", [[1]]),
        ("state", "../../state_20.npz"),
        ("state_check", 7),
        ("job", []),
        ("job", {"gallery": [None]}),
        ("job", {"changes": 1.0}),
        ("job", {"changes": {"motion.particles": []}}),
        ("job", {"boxes": [[1, 2, 3]]}),
        ("job", {"boxes": []}),
        ("job", {"source": None}),
        ("job", {"stop": "soon"}),
    ],
)
def test_anything_else_is_refused_by_name(name, value):
    changed = copy.deepcopy(WHOLE)
    if isinstance(value, dict):
        changed["job"] |= value
        name = next(iter(value))
    else:
        changed[name] = value
    with pytest.raises(ValueError, match=f"{name} must be as it was written, got"):
        check_values(changed, CHECKPOINT)
