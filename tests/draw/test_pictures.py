import base64
import io

import numpy as np
import pytest
from PIL import Image

from metrack.draw.pictures import PICTURE_FORMATS, crop, grid, jpeg_uri, png_uri, resized, shrunk, write_picture

GREY = (128, 128, 128)


def read(uri):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))


def test_pictures_are_made_smaller_but_not_larger_unless_asked():
    frame = np.full((40, 60), 7, np.uint8)  # grey
    small, scale = shrunk(frame, 30)
    assert (small.shape, scale) == ((20, 30, 3), 0.5)
    assert shrunk(frame, 90)[0].shape == (40, 60, 3)
    assert resized(frame, 90)[0].shape == (60, 90, 3)
    assert (small == 7).all()


def test_a_crop_is_where_its_corners_are_and_padded_outside():
    frame = np.zeros((20, 20, 3), np.uint8)
    frame[4:8, 10:14] = 200
    assert (crop(frame, (10, 4, 14, 8), 16, GREY)[4:-4, 4:-4] > 190).all()
    half = crop(frame, (-10, 0, 10, 20), 20, GREY)
    assert (half[:, :9] == GREY).all()
    assert (half[:, 11:] == 0).all()


def test_tiles_stand_row_by_row_with_gaps_between():
    tiles = [np.full((2, 3, 3), value, np.uint8) for value in (10, 20, 30)]
    sheet = grid(tiles, 2, gap=1)
    assert sheet.shape == (5, 7, 3)
    assert sheet[..., 0].tolist() == [
        [10, 10, 10, 255, 20, 20, 20],
        [10, 10, 10, 255, 20, 20, 20],
        [255] * 7,
        [30, 30, 30, 255, 255, 255, 255],
        [30, 30, 30, 255, 255, 255, 255],
    ]


@pytest.mark.parametrize("suffix", [*PICTURE_FORMATS, ".PNG"])
def test_the_suffix_chooses_the_format(tmp_path, suffix):
    path = tmp_path / f"picture{suffix}"
    write_picture(path, np.full((20, 30, 3), 200, np.uint8))
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == (PICTURE_FORMATS[suffix.lower()], (30, 20))
    assert list(tmp_path.iterdir()) == [path]  # no temporary file is left


def test_addresses_hold_the_picture():
    image = np.random.default_rng(1).integers(0, 255, (8, 8, 3), np.uint8)
    assert png_uri(image).startswith("data:image/png;base64,")
    np.testing.assert_array_equal(read(png_uri(image)), image)
    flat = np.full((8, 8, 3), 90, np.uint8)
    assert np.abs(read(jpeg_uri(flat)).astype(int) - flat).max() <= 2
