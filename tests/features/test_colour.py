import numpy as np
import pytest

from metrack.box import Box
from metrack.features.colour import DIMENSION, SAMPLED, colours_of, strips_of_colour


@pytest.fixture
def frame(seed):
    return np.random.default_rng(seed).integers(0, 256, (90, 120, 3), np.uint8)


def test_a_box_is_described_by_a_grid_of_its_pixels(frame):
    box = Box(10.3, 20.7, 33.1, 41.9)
    picture = np.empty((*SAMPLED, 3), np.uint8)
    for i in range(SAMPLED[0]):
        for j in range(SAMPLED[1]):
            y, x = box.y + (i + 0.5) * box.h / SAMPLED[0], box.x + (j + 0.5) * box.w / SAMPLED[1]
            picture[i, j] = frame[int(y), int(x)]
    np.testing.assert_allclose(colours_of(frame, box), strips_of_colour(picture), atol=1e-6)


@pytest.mark.parametrize(
    "box", [Box(-500, -500, 20, 20), Box(110, 80, 40, 40), Box(5, 5, 0.5, 0.5), Box(0, 0, 500, 500)]
)
def test_any_box_on_any_frame_has_colours(frame, box):
    for picture in (frame, frame[:, :, 0], np.zeros_like(frame)):
        described = colours_of(picture, box)
        assert described.shape == (DIMENSION,)
        np.testing.assert_allclose(described @ described, 1, rtol=1e-4)


def test_other_clothes_are_farther_than_another_place_in_the_same_light():
    scene = np.full((100, 200, 3), 120, np.uint8)
    scene[20:50, 20:40], scene[50:80, 20:40] = (200, 40, 40), (40, 40, 160)  # red above blue
    scene[22:52, 120:140], scene[52:82, 120:140] = (195, 45, 42), (44, 42, 150)  # the same, elsewhere
    scene[20:50, 160:180], scene[50:80, 160:180] = (40, 40, 160), (200, 40, 40)  # blue above red
    first, same, other = (colours_of(scene, Box(x, y, 20, 60)) for x, y in ((20, 20), (120, 22), (160, 20)))
    assert ((first - same) ** 2).sum() < 0.1
    assert ((first - other) ** 2).sum() > 0.5
