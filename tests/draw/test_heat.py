import numpy as np
import pytest

from metrack.box import Box
from metrack.draw.heat import CROSS, DOT, OUTSIDE, SIDE, confidence_chart, draw_confidence, heat_map, peak
from metrack.draw.palette import SHADES

BOX = Box(10, 10, 8, 8)
FRAME = np.zeros((40, 40, 3), np.uint8)


def at(image, x, y):
    """The colour at a place counted from the middle of an image."""
    return tuple(image[SIDE // 2 + round(y), SIDE // 2 + round(x)].tolist())


def signs(panel, marker):
    return [(float(c.x[0]) - SIDE / 2, float(c.y[0]) - SIDE / 2) for c in panel.curves if c.marker == marker]


def test_the_peak_is_the_best_shift_and_of_several_the_shortest():
    scores = np.zeros((9, 9))
    assert peak(scores) == (0, 0)
    scores[4 - 3, 4 + 2] = 1
    assert peak(scores) == (2, -3)
    scores[4, 4 - 3] = 1
    assert peak(scores) == (-3, 0)


def test_all_panels_show_the_same_place_at_the_same_scale():
    frame = np.zeros((60, 80, 3), np.uint8)
    frame[20:22, 45:48] = (200, 100, 50)  # three columns and two rows of pixels
    box = Box.from_centre(43.5, 22.5, 6, 4)  # the patch lies right of its middle, and above
    scores = np.zeros((9, 9))
    scores[2:4, 6:9] = 1  # the same place in the map
    chart = confidence_chart(box, {"a": scores, "b": scores[::-1]}, title="here", frame=frame)
    cut, first, second = (panel.image for panel in chart.panels)
    assert [panel.title for panel in chart.panels] == ["here", "a", "b"]
    unit = SIDE / 9
    x, y = 3 * unit, -1.5 * unit
    assert at(cut, x, y)[0] > 180
    assert at(cut, x, -y) == at(cut, -x, y) == (0, 0, 0)
    assert at(first, x, y) == pytest.approx(SHADES[-1], abs=12)
    assert at(first, x, -y) == pytest.approx(SHADES[0], abs=12)
    assert at(second, x, -y) == pytest.approx(SHADES[-1], abs=12)
    for panel in chart.panels:
        outline = panel.curves[0]
        np.testing.assert_allclose([np.ptp(outline.x), np.ptp(outline.y)], [6 * unit, 4 * unit])
        np.testing.assert_allclose([outline.x[:4].mean(), outline.y[:4].mean()], SIDE / 2)


def test_both_maps_share_one_scale_of_colours():
    low, high = np.full((11, 11), 0.5), np.full((11, 11), 0.7)
    chart = confidence_chart(BOX, {"low": low, "high": high}, title="frame", frame=np.full((40, 40), 90, np.uint8))
    frame, *maps = (panel.image for panel in chart.panels)
    assert at(frame, 0, 0) == (90, 90, 90)  # a grey frame will do
    assert [at(image, 100, 0) for image in maps] == [SHADES[0], SHADES[-1]]
    assert chart.keys[0].text == "0.500 to 0.700"
    assert [panel.y_label for panel in chart.panels[1:]] == ["0.500 to 0.500", "0.700 to 0.700"]


def test_what_lies_beyond_the_frame_is_left_blank():
    chart = confidence_chart(Box(0, 10, 10, 10), {"a": np.zeros((41, 41))}, title="", frame=np.full_like(FRAME, 60))
    assert at(chart.panels[0].image, -100, 0) == OUTSIDE
    assert at(chart.panels[0].image, 20, 0) == (60, 60, 60)


def test_signs_are_at_the_estimate_and_at_the_peak():
    scores = np.zeros((31, 31))
    scores[15 - 6, 15 + 10] = 1
    (panel,) = confidence_chart(BOX, {"a": scores}, title="").panels
    assert set(signs(panel, CROSS)) == {(0, 0)}
    np.testing.assert_allclose(signs(panel, DOT), [(10 * SIDE / 31, -6 * SIDE / 31)])


def test_a_box_larger_than_the_map_has_no_outline():
    (panel,) = confidence_chart(Box(0, 0, 60, 20), {"a": np.zeros((31, 31))}, title="").panels
    assert all(curve.marker is not None for curve in panel.curves)


@pytest.mark.parametrize("side", [3, 5, 61])
def test_a_flat_map_can_be_drawn(side):
    picture = draw_confidence(FRAME, BOX, {"flat": np.full((side, side), 0.6)})
    assert (picture.ndim, picture.dtype) == (3, np.uint8)
    assert (heat_map(np.full((side, side), 0.6), 0.6, 0.6, 20) == SHADES[0]).all()


def test_the_picture_of_a_frame_and_two_maps_is_1200_pixels_wide():
    picture = draw_confidence(FRAME, BOX, {"a": np.zeros((5, 5)), "b": np.ones((5, 5))})
    assert picture.shape[1] == 1200
    for shade in (SHADES[0], SHADES[-1]):
        assert (picture == shade).all(axis=-1).any()


def test_nothing_given_is_changed():
    frame, scores = np.full((40, 40, 3), 7, np.uint8), np.linspace(0, 1, 49).reshape(7, 7)
    before = frame.copy(), scores.copy()
    draw_confidence(frame, BOX, {"a": scores})
    np.testing.assert_array_equal(frame, before[0])
    np.testing.assert_array_equal(scores, before[1])


@pytest.mark.parametrize("shapes", [[(5, 5), (7, 7)], [(4, 4)], [(5, 7)], [(5,)], []])
def test_maps_that_do_not_fit_together_are_refused(shapes):
    maps = {str(number): np.zeros(shape) for number, shape in enumerate(shapes)}
    with pytest.raises(ValueError, match="maps must be square with one odd side for all"):
        draw_confidence(FRAME, BOX, maps)
