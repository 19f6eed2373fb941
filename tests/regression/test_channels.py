"""Adding a channel to the correlation filter: one entry in a list, and its slow twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from metrack import Tracker
from metrack.box import Box
from metrack.config import RegressionConfig
from metrack.features.window import Window
from metrack.regression import channels
from metrack.regression.cells import BLOCK, integrate, sum_cells
from metrack.regression.channels import CHANNELS, Channel, Seen, channels_for, finish_average
from metrack.regression.regressor import Regressor
from metrack.synth import builtin_clip


def fill_contrast(seen, blocks):
    """The example: the largest grey value of a block less the smallest, times its area."""
    rows, columns = blocks.shape[:2]
    pixels = seen.window.grey[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    blocks[:, :, 0] = BLOCK * BLOCK * np.ptp(pixels, axis=(1, 3)) / 255


CONTRAST = Channel("contrast", 1, 1, fill_contrast, finish_average, votes_on_size=False)


@pytest.fixture(params=["first", "last"])
def with_contrast(request, monkeypatch):
    """The list with one more entry, whose place does not matter."""
    longer = (CONTRAST, *CHANNELS) if request.param == "first" else (*CHANNELS, CONTRAST)
    monkeypatch.setattr(channels, "CHANNELS", longer)


def test_a_new_channel_is_what_its_twin_says(seed):
    grey = np.random.default_rng(seed).uniform(0, 255, (40, 40)).astype(np.float32)
    integral = np.empty((21, 21, 1), np.float32)
    CONTRAST.fill(Seen(Window(grey, 0.0, 0.0, 1.0), None, None), integral[1:, 1:])
    integrate(integral)
    planes = np.empty((1, 5, 5), np.float32)
    CONTRAST.finish(sum_cells(integral, 8.0, 8.0, 4.0, 5), 16.0, np.ones((5, 5), np.float32), planes)
    for i, j in [(0, 0), (2, 4)]:
        cell = grey[8 + 4 * i : 12 + 4 * i, 8 + 4 * j : 12 + 4 * j]
        slow = np.mean([np.ptp(cell[y : y + 2, x : x + 2]) for y in (0, 2) for x in (0, 2)]) / 255
        assert_allclose(planes[0, i, j], slow, rtol=1e-4)


def test_a_tracker_follows_with_a_new_channel(with_contrast, seed):
    clip = builtin_clip(60, (320, 240), seed, occlusion=False, departure=False)
    tracker = Tracker(seed=seed)
    tracker.init(clip[0], clip.first_box)
    boxes = [tracker.update(clip[index]).box for index in range(1, 30)]
    assert boxes[-1].iou(clip.truth[29].box) > 0.5


@pytest.mark.parametrize("coloured", [True, False])
def test_a_new_channel_is_part_of_the_filter(with_contrast, coloured, seed):
    frame = np.random.default_rng(seed).integers(0, 256, (120, 160, 3), np.uint8)
    frame = frame if coloured else frame[:, :, 0]
    regressor = Regressor.start(RegressionConfig(), frame, Box(60, 40, 30, 30))
    expected = sum(channel.planes for channel in channels_for(coloured))
    assert len(regressor.filter) == expected == (45 if coloured else 33)
    again = Regressor.from_arrays(RegressionConfig(), Box(60, 40, 30, 30), regressor.to_arrays())
    assert again.find(frame, Box(61, 40, 30, 30)) == regressor.find(frame, Box(61, 40, 30, 30))


def test_grey_frames_have_no_channels_of_colour():
    assert [channel.name for channel in channels_for(False)] == ["gradients", "light"]
    assert [channel.name for channel in channels_for(True)] == [channel.name for channel in CHANNELS]
