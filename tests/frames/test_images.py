"""Images: every kind as RGB, upright, within bounds, and a sentence for what cannot be read."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.evaluation.pictures import ImagePictures
from metrack.frames import open_source
from metrack.frames.images import MOST_PIXELS, read_image
from metrack.identity.crops import folder_crops

STORED = {  # how a picture lies in the file for each orientation, by what the EXIF standard says of row 0 and column 0
    1: lambda upright: upright,
    2: lambda upright: upright[:, ::-1],
    3: lambda upright: upright[::-1, ::-1],
    4: lambda upright: upright[::-1],
    5: lambda upright: upright.transpose(1, 0, 2),
    6: lambda upright: upright.transpose(1, 0, 2)[::-1],
    7: lambda upright: upright.transpose(1, 0, 2)[::-1, ::-1],
    8: lambda upright: upright.transpose(1, 0, 2)[:, ::-1],
}
EXACT = {"tif": {}, "png": {}, "webp": {"lossless": True}}


def painted() -> np.ndarray:
    """Return a picture of which no part is like another: dark above, and left red, right blue."""
    picture = np.zeros((48, 64, 3), np.uint8)
    picture[:24, :32], picture[:24, 32:] = (90, 0, 0), (0, 0, 90)
    picture[24:, :32], picture[24:, 32:] = (250, 0, 0), (0, 0, 250)
    return picture


def write(path: Path, upright: np.ndarray, orientation: int, **options: object) -> Path:
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    stored = Pillow.fromarray(np.ascontiguousarray(STORED[orientation](upright)))
    stored.save(path, exif=exif, **options)
    return path


def png_of(width: int, height: int) -> bytes:
    """Return a small file that says it is a large picture."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [head, b"IDAT" + zlib.compress(b"\0" * 1000), b"IEND"]
    packed = [struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def refusal(source: object) -> str:
    with pytest.raises(ValueError, match=r"^source must ") as caught:
        list(open_source(source))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("orientation", STORED)
@pytest.mark.parametrize("suffix", EXACT)
def test_an_image_comes_upright(tmp_path: Path, suffix: str, orientation: int) -> None:
    path = write(tmp_path / f"phone.{suffix}", painted(), orientation, **EXACT[suffix])
    for source in (path, tmp_path):  # alone, and as one of a folder
        with open_source(source) as opened:
            assert opened.size == (64, 48)
            np.testing.assert_array_equal(next(iter(opened)).image, painted())


@pytest.mark.parametrize("orientation", STORED)
def test_a_jpeg_comes_upright_in_folders_galleries_and_datasets(tmp_path: Path, orientation: int) -> None:
    crops = []
    for gallery, number in (("turned", orientation), ("upright", 1)):
        (tmp_path / gallery / "ann").mkdir(parents=True)
        path = write(tmp_path / gallery / "ann" / "0.jpg", painted(), number, quality=100, subsampling=0)
        crops += [crop for _, crop in folder_crops(tmp_path / gallery)]
        for frame in (next(iter(open_source(path.parent))).image, next(iter(ImagePictures((path,))))):
            assert frame.shape == painted().shape
            assert abs(frame.astype(int) - painted()).mean() < 2  # but for the edges
    assert crops[0].shape == crops[1].shape
    assert abs(crops[0].astype(float) - crops[1]).mean() < 2


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_orientation_that_there_is_not_is_none(tmp_path: Path, orientation: int) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    Pillow.fromarray(painted()).save(tmp_path / "odd.png", exif=exif)
    np.testing.assert_array_equal(read_image(tmp_path / "odd.png"), painted())


def test_grey_stays_grey_only_where_it_is_wanted(tmp_path: Path) -> None:
    grey = painted()[:, :, 0]
    Pillow.fromarray(grey).save(tmp_path / "grey.png")
    np.testing.assert_array_equal(read_image(tmp_path / "grey.png", keep_grey=True), grey)
    np.testing.assert_array_equal(read_image(tmp_path / "grey.png"), np.repeat(grey[:, :, None], 3, axis=2))


def test_16_bits_of_a_pgm_are_scaled(tmp_path: Path) -> None:
    data = (painted()[:, :, 0].astype(">u2") * 257).tobytes()
    (tmp_path / "deep.pgm").write_bytes(b"P5\n64 48\n65535\n" + data)
    np.testing.assert_array_equal(read_image(tmp_path / "deep.pgm")[:, :, 1], painted()[:, :, 0])


def test_32_bits_of_a_tiff_are_levels_as_they_are(tmp_path: Path) -> None:
    levels = painted()[:, :, 0]
    Pillow.fromarray(levels.astype(np.int32)).save(tmp_path / "levels.tif")
    np.testing.assert_array_equal(read_image(tmp_path / "levels.tif")[:, :, 1], levels)
    Pillow.fromarray(levels.astype(np.uint16) * 257).save(tmp_path / "deep.tif")
    np.testing.assert_array_equal(read_image(tmp_path / "deep.tif")[:, :, 1], levels)


def test_a_photo_of_a_large_camera_is_read(tmp_path: Path) -> None:
    Pillow.new("L", (8660, 5774), 90).save(tmp_path / "photo.png", compress_level=1)  # 50 megapixels
    with open_source(str(tmp_path / "photo.png")) as source:
        assert source.size == (8660, 5774)
    assert read_image(tmp_path / "photo.png", keep_grey=True).shape == (5774, 8660)


@pytest.mark.parametrize("side", [8001, 12000, 100_000])
def test_a_huge_image_is_refused_by_its_header(tmp_path: Path, side: int) -> None:
    (tmp_path / "huge.png").write_bytes(png_of(side, side))
    told = refusal(tmp_path / "huge.png")
    assert told.startswith(f"source must have frames of at most {MOST_PIXELS} pixels, but those of '")
    assert "huge.png' have" in told


def test_an_image_as_another_kind_than_its_name_says_is_read_but_no_program_is_started(tmp_path: Path) -> None:
    Pillow.fromarray(painted()).save(tmp_path / "shot.bmp", "PNG")
    np.testing.assert_array_equal(read_image(tmp_path / "shot.bmp"), painted())
    (tmp_path / "shot.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n")
    assert "shot.png' cannot be read (it is not an image)" in refusal(tmp_path / "shot.png")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_among_images_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    os.mkfifo(tmp_path / "ann" / "0.png")
    assert "has no files" in refusal(tmp_path / "ann")
    with pytest.raises(ValueError, match=r"gallery must have readable images, but '.*0.png' cannot be read"):
        list(folder_crops(tmp_path))
    with pytest.raises(ValueError, match=r"dataset must have readable images, but '.*0.png' cannot be read"):
        list(ImagePictures((tmp_path / "ann" / "0.png",)))


def test_a_damaged_tiff_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Pillow.fromarray(painted()).save(tmp_path / "shot.tif", compression="tiff_lzw")
    data = bytearray((tmp_path / "shot.tif").read_bytes())
    data[8:60] = b"\xff" * 52
    (tmp_path / "shot.tif").write_bytes(data)
    assert "shot.tif' cannot be read" in refusal(tmp_path / "shot.tif")
    assert capfd.readouterr().err == ""
