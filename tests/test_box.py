import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box, bounding, centre_distance, iou

places, sides = st.floats(-1e4, 1e4), st.floats(0.01, 1e4)
boxes = st.builds(Box, places, places, sides, sides)
near_boxes = st.builds(Box, *[st.floats(-5, 5)] * 2, *[st.floats(1, 20)] * 2)
pixel_boxes = st.builds(Box, *[st.integers(0, 20)] * 2, *[st.integers(1, 20)] * 2)
flat = st.sampled_from([(0.0, 5.0), (5.0, 0.0), (0.0, 0.0), (-3.0, 5.0), (5.0, -3.0), (-2.0, -2.0)])


def test_the_pixel_convention():
    box = Box(2, 3, 4, 6)  # covers the pixels 2 to 5 across and 3 to 8 down
    assert box.centre == (4.0, 6.0)
    assert box.area == 24
    assert box.to_xyxy() == (2, 3, 6, 9)
    assert box.to_xywh() == (2, 3, 4, 6)
    assert box.to_otb() == (3, 4, 4, 6)  # whose first pixel is number one


def test_known_overlaps():
    one = Box(0, 0, 2, 2)
    assert_allclose(one.iou(Box(1, 0, 2, 2)), 1 / 3)
    assert_allclose(one.iou(Box(1, 1, 2, 2)), 1 / 7)
    assert_allclose(one.iou(Box(0, 0, 1, 1)), 1 / 4)
    assert one.iou(Box(2, 0, 2, 2)) == 0  # touching is not overlapping
    assert one.iou(Box(50, 50, 2, 2)) == 0
    assert one.iou(Box(3, 0, 2, 2)) == one.iou(Box(0, -3, 2, 2)) == 0  # apart one way, side by side the other


@given(box=boxes)
def test_every_format_makes_a_round_trip(box):
    assert_allclose(Box.from_otb(box.to_otb()).to_xywh(), box.to_xywh(), rtol=0, atol=1e-9)
    assert_allclose(Box.from_centre(*box.centre, box.w, box.h).to_xywh(), box.to_xywh(), rtol=0, atol=1e-9)
    left, top, right, bottom = box.to_xyxy()
    assert_allclose((right - left, bottom - top), (box.w, box.h), rtol=0, atol=1e-9)
    assert Box(*box.to_xywh()) == box


@given(one=near_boxes, other=near_boxes)
def test_iou_is_symmetric_and_between_0_and_1(one, other):
    assert 0 <= one.iou(other) <= 1
    assert one.iou(other) == other.iou(one)


@given(box=boxes)
def test_iou_of_a_box_with_itself_is_one(box):
    assert_allclose(box.iou(box), 1, rtol=1e-6)  # a side of 0.01 at 10,000 keeps nine digits
    assert box.iou(box) <= 1


@given(box=boxes, size=flat)
def test_iou_without_area_is_zero(box, size):
    empty = Box(box.x, box.y, *size)
    assert empty.area == 0
    assert empty.iou(box) == box.iou(empty) == empty.iou(empty) == 0


@given(one=near_boxes, other=near_boxes, dx=places, dy=places, scale=st.floats(0.01, 100))
def test_iou_does_not_change_with_position_and_scale(one, other, dx, dy, scale):
    moved = [Box(b.x + dx, b.y + dy, b.w, b.h) for b in (one, other)]
    assert_allclose(moved[0].iou(moved[1]), one.iou(other), rtol=0, atol=1e-9)
    magnified = [Box(*(scale * v for v in b.to_xywh())) for b in (one, other)]
    assert_allclose(magnified[0].iou(magnified[1]), one.iou(other), rtol=0, atol=1e-9)
    distance = one.centre_distance(other)
    assert_allclose(moved[0].centre_distance(moved[1]), distance, rtol=0, atol=1e-9)
    assert_allclose(magnified[0].centre_distance(magnified[1]), scale * distance, rtol=1e-9, atol=1e-9)


@given(one=pixel_boxes, other=pixel_boxes)
def test_iou_agrees_with_counting_pixels(one, other):
    a, b = np.zeros((40, 40), bool), np.zeros((40, 40), bool)
    for canvas, box in ((a, one), (b, other)):
        canvas[box.y : box.y + box.h, box.x : box.x + box.w] = True
    assert_allclose(one.iou(other), (a & b).sum() / (a | b).sum(), rtol=1e-12)


@pytest.mark.parametrize("where", range(4))
def test_nan_stays_nan(where):
    broken = np.array([[1.0, 2.0, 3.0, 4.0]])
    broken[0, where] = np.nan
    for other in ([[1.0, 2.0, 3.0, 4.0]], [[0.0, 0.0, 0.0, 0.0]], [[50.0, 50.0, 1.0, 1.0]]):
        assert_array_equal(iou(broken, other), [np.nan])
        assert_array_equal(iou(other, broken), [np.nan])
        assert_array_equal(centre_distance(broken, other), [np.nan])


def test_rows_are_compared_one_by_one_or_with_a_single_one():
    many = np.array([[0.0, 0, 2, 2], [1, 0, 2, 2], [5, 5, 1, 1]])
    expected = [Box(*row).iou(Box(0, 0, 2, 2)) for row in many]
    assert_allclose(iou(many, [[0, 0, 2, 2]]), expected)
    assert_allclose(iou([[0, 0, 2, 2]], many), expected)
    assert_allclose(iou(many, many), [1, 1, 1])
    assert_allclose(centre_distance(many, many[:1]), [0, 1, np.hypot(4.5, 4.5)])
    assert iou(np.empty((0, 4)), np.empty((0, 4))).shape == (0,)


def test_inputs_are_not_changed():
    first, second = np.array([[0.0, 0, -2, 2]]), np.array([[1.0, 0, 2, 2]])
    iou(first, second)
    centre_distance(first, second)
    assert_array_equal(first, [[0, 0, -2, 2]])
    assert_array_equal(second, [[1, 0, 2, 2]])


@given(one=near_boxes, other=near_boxes, third=near_boxes)
def test_centre_distance_is_a_distance(one, other, third):
    assert one.centre_distance(one) == 0
    assert one.centre_distance(other) == other.centre_distance(one)
    detour = one.centre_distance(third) + third.centre_distance(other)
    assert one.centre_distance(other) <= detour + 1e-9


def test_a_box_is_hashable_and_immutable():
    assert Box(1, 2, 3, 4) == Box(1.0, 2.0, 3.0, 4.0)
    assert len({Box(1, 2, 3, 4), Box(1, 2, 3, 4)}) == 1
    with pytest.raises(AttributeError):
        Box(1, 2, 3, 4).x = 5


def test_a_grown_box_keeps_its_centre():
    assert Box(10, 20, 30, 40).grow(5, 7) == Box(5, 13, 40, 54)


@pytest.mark.parametrize(("inner", "inside"), [((0, 0, 4, 3), True), ((1, 1, 2, 1), True), ((1, 1, 2, 2.5), False)])
def test_containing_includes_the_border(inner, inside):
    assert Box(0, 0, 4, 3).contains(Box(*inner)) == inside
    assert Box(-9, 5, 4, 3).contains(Box(inner[0] - 9, inner[1] + 5, *inner[2:])) == inside
    assert not Box(*inner).contains(Box(-0.1, 0, 4, 3))


def test_the_bounding_box_is_the_smallest_that_contains_all():
    boxes = np.array([[3.0, -2.0, 5.0, 4.0], [1.0, 1.0, 2.0, 8.0]])
    assert bounding(boxes) == Box(1.0, -2.0, 7.0, 11.0)
    assert all(bounding(boxes).contains(Box(*box)) for box in boxes.tolist())
