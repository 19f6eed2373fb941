"""Validation of frames, boxes and numbers: what passes, and the sentence for what does not."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack.box import Box
from metrack.checks import (
    SMALLEST_SIDE,
    check_box,
    check_boxes,
    check_frame,
    check_number,
    check_path,
    check_seed,
    check_switch,
    check_whole,
    did_you_mean,
    is_usable,
    writing,
)

FRAME = (120, 160, 3)


def refusal(check, *arguments):
    with pytest.raises(ValueError) as caught:
        check(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("shape", [(4, 4), (120, 160), (120, 160, 3)])
def test_valid_frames_are_returned_unchanged(shape):
    frame = np.zeros(shape, np.uint8)
    assert check_frame(frame) is frame
    assert check_frame(frame, shape) is frame


@pytest.mark.parametrize(
    ("frame", "got"),
    [
        (None, "frame must be a numpy array, got NoneType"),
        ([[1, 2], [3, 4]], "frame must be a numpy array, got list"),
        (np.zeros((9, 9)), "got float64 with shape (9, 9)"),
        (np.zeros((9, 9), np.uint16), "got uint16 with shape (9, 9)"),
        (np.zeros((9, 9), bool), "got bool with shape (9, 9)"),
        (np.zeros((9, 9, 4), np.uint8), "got uint8 with shape (9, 9, 4)"),
        (np.zeros((9, 9, 1), np.uint8), "got uint8 with shape (9, 9, 1)"),
        (np.zeros(9, np.uint8), "got uint8 with shape (9,)"),
        (np.zeros((2, 9, 9, 3), np.uint8), "got uint8 with shape (2, 9, 9, 3)"),
        (np.zeros((0, 9), np.uint8), "frame must be at least 4 pixels on each side, got shape (0, 9)"),
        (np.zeros((9, 3, 3), np.uint8), "frame must be at least 4 pixels on each side, got shape (9, 3, 3)"),
    ],
)
def test_anything_else_is_not_a_frame(frame, got):
    sentence = refusal(check_frame, frame)
    assert sentence.startswith("frame must be ")
    assert sentence.endswith(got)
    assert "\n" not in sentence


@pytest.mark.parametrize("shape", [(120, 161, 3), (160, 120, 3), (120, 160)])
def test_frames_keep_their_shape(shape):
    sentence = refusal(check_frame, np.zeros(shape, np.uint8), FRAME)
    assert sentence == f"frame must keep the shape {FRAME} it had at init, got {shape}"


@pytest.mark.parametrize(
    "box",
    [
        Box(10, 20, 30, 40),
        (10, 20, 30, 40),
        [10.0, 20, 30, 40],
        np.array([10, 20, 30, 40]),
        ("10", "20", "30", "40"),
    ],
)
def test_four_numbers_make_a_box(box):
    assert check_box(box, FRAME) == Box(10.0, 20.0, 30.0, 40.0)


@pytest.mark.parametrize("box", [Box(-20, -20, 30, 30), Box(150, 110, 50, 50), Box(-10, -10, 200, 200)])
def test_a_box_may_reach_out_of_the_frame(box):
    assert check_box(box, FRAME) == box
    assert check_box(box, FRAME[:2]) == box


@pytest.mark.parametrize(
    "box",
    [
        None,
        5,
        "box",
        "1266",
        b"abcd",
        (1, 2, 3),
        (1, 2, 3, 4, 5),
        (1, 2, "three", 4),
        (1, 2, None, 4),
        (1, 2, 1j, 4),
    ],
)
def test_anything_else_is_not_a_box(box):
    assert refusal(check_box, box, FRAME) == f"box must be four numbers x, y, w, h, got {box!r}"


@pytest.mark.parametrize(
    "box",
    [(1, 2, 10**400, 4), "x" * 10**6, [0] * 10**5, np.ma.masked_array([1, 2, 3, 4], True), "a\nb", 10**5000],
    ids=range(6),
)
def test_what_came_is_cut_to_a_short_line(box):
    sentence = refusal(check_box, box, FRAME)
    assert sentence.startswith("box must be four numbers x, y, w, h, got ")
    assert len(sentence) < 200
    assert sentence.isprintable()


@pytest.mark.parametrize(
    ("box", "sentence"),
    [
        ((np.nan, 1, 9, 9), "box must be finite numbers x, y, w, h, got (nan, 1, 9, 9)"),
        ((1, 1, np.inf, 9), "box must be finite numbers x, y, w, h, got (1, 1, inf, 9)"),
        ((1, 1, 0, 9), "box must have a positive width and height, got (1, 1, 0, 9)"),
        ((1, 1, 9, -5), "box must have a positive width and height, got (1, 1, 9, -5)"),
        ((1, 1, 1, 1), "box must be at least 4 pixels on each side, got (1, 1, 1, 1)"),
        ((1, 1, 9, 3.5), "box must be at least 4 pixels on each side, got (1, 1, 9, 3.5)"),
    ],
)
def test_unusable_boxes(box, sentence):
    assert refusal(check_box, box, FRAME) == sentence
    assert refusal(check_box, Box(*box), FRAME) == sentence


@pytest.mark.parametrize("box", [(500, 10, 20, 20), (-30, 10, 20, 20), (10, 117, 20, 20), (10, -18, 20, 20)])
def test_boxes_outside_the_frame(box):
    x, y, w, h = box
    assert refusal(check_box, box, FRAME) == (
        "box must lie in the frame of 160 x 120 pixels with at least 4 pixels of it visible on each side, "
        f"got ({x}, {y}, {w}, {h})"
    )


@given(values=st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 4))
def test_any_four_numbers_are_a_usable_box_or_refused(values):
    try:
        box = check_box(values, FRAME)
    except ValueError as refused:
        assert str(refused).startswith("box must ")  # noqa: PT017  both outcomes are right
        return
    assert min(box.w, box.h) >= SMALLEST_SIDE
    assert box.x < 160
    assert box.y < 120
    assert box.x + box.w > 0
    assert box.y + box.h > 0


@pytest.mark.parametrize("value", [True, 2.0, "3", None, 1])
def test_a_whole_number_has_a_least_value(value):
    assert refusal(check_whole, "frames", value, 2) == f"frames must be a whole number of at least 2, got {value!r}"
    assert check_whole("frames", np.int64(2), 2) == 2


def test_seeds_begin_at_zero():
    assert check_seed(0) == 0
    assert refusal(check_seed, -1) == "seed must be a whole number of at least 0, got -1"


def test_a_box_is_usable_where_it_passes_the_check():
    assert is_usable(Box(10, 20, 30, 40), FRAME)
    assert not is_usable(Box(500, 20, 30, 40), FRAME)


def test_did_you_mean():
    names = ["particles", "shift_std", "scale_std"]
    assert did_you_mean("particels", names) == "; did you mean 'particles'?"
    assert did_you_mean("shiftstd", names) == "; did you mean 'shift_std'?"
    assert did_you_mean("zzz", names) == "; known are particles, scale_std, shift_std"


@pytest.mark.parametrize("box", [(0, 0, 1e200, 1e200), (0, 0, 201, 50), (-500, 0, 900, 50)])
def test_a_box_far_larger_than_the_frame_is_refused(box):
    with pytest.raises(ValueError, match="box must be at most 2 times as large as the frame of 100 x 80"):
        check_box(box, (80, 100))


def test_a_frame_that_would_fill_the_memory_is_refused():
    for shape in ((10**6, 10**6, 3), (4, 70_000), (20_000, 20_000)):
        assert "at most 65535 pixels on each side" in refusal(check_frame, np.broadcast_to(np.uint8(0), shape))


def test_an_array_of_another_class_is_a_frame_of_its_pixels():
    frame = check_frame(np.ma.masked_array(np.ones((9, 9), np.uint8), True))
    assert type(frame) is np.ndarray
    assert frame.all()


@pytest.mark.parametrize(
    ("boxes", "sentence"),
    [
        ([[0, 0, 1e12, 1e12]], "boxes must be at most 2 times as large as the frame of 160 x 120"),
        ([[0, 0, 9, 9], [1e6, 0, 9, 9]], "boxes must lie within 1000 pixels of the frame, got (1e+06, 0, 9, 9)"),
        ([[0, 0, 9, np.nan]], "boxes must be finite numbers x, y, w, h, got (0, 0, 9, nan)"),
        ([[0, 0, 9, 0]], "boxes must be at least 0.01 pixels wide and high, got (0, 0, 9, 0)"),
        ([[0, 0, 9]], "boxes must be numbers of shape (N, 4), got shape (1, 3)"),
        ([], "boxes must be numbers of shape (N, 4), got shape (0,)"),
        (np.empty((0, 4)), "boxes must be between 1 and 20000, got 0"),
        (np.ones((20_001, 4)), "boxes must be between 1 and 20000, got 20001"),
        ("abc", "boxes must be numbers, got 'abc'"),
        ([[1, 2, 3], [4]], "boxes must be numbers, got [[1, 2, 3], [4]]"),
    ],
)
def test_boxes_that_cannot_be_scored(boxes, sentence):
    assert refusal(check_boxes, boxes, FRAME).startswith(sentence)


@pytest.mark.parametrize(
    "path", [None, 5, "", b"name", "a\0b", "a\nb", "x" * 5000, ["name"]], ids=lambda path: type(path).__name__
)
def test_what_is_no_path(path):
    assert refusal(check_path, "path", path).startswith("path must be ")


def test_paths_and_numbers_that_are():
    assert check_path("path", "a b/c.npz") == check_path("path", Path("a b/c.npz"))
    assert check_number("score", np.float32(0.5), 0, 1) == 0.5
    assert check_switch("learn", np.True_) is True


@pytest.mark.parametrize("value", [True, None, "1", np.nan, 1.5, -1, 10**400, 1j])
def test_a_number_between_two_others(value):
    assert refusal(check_number, "score", value, 0, 1).startswith("score must be a number")


def test_writing_says_why_not(tmp_path):
    with pytest.raises(ValueError, match=r"^path must be a file that can be written, got .*\(Is a directory\)$"):
        with writing("path", tmp_path):
            tmp_path.write_text("")
