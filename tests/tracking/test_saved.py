"""Files of earlier formats are read, or refused by name."""

import numpy as np
import pytest

from metrack import MultiTracker, Tracker
from metrack.files import read_state, write_state
from metrack.synth import builtin_clip
from metrack.tracking.saved import CONSTANTS, UNUSED


@pytest.fixture(scope="module")
def clip():
    return builtin_clip(60, (320, 240), occlusion=False, departure=False)


def as_format_1(config):
    """The settings as metrack 0.1.0 named them."""
    old = {name: value for name, value in config.items() if name != "confidence.weights"}
    enabled, penalty = old.pop("regression.enabled"), old.pop("regression.temporal_regularisation")
    renamed = {"regression.use": "yes" if enabled else "no", "regression.inertia": penalty}
    return old | renamed | CONSTANTS | dict.fromkeys(UNUSED, 0.3)


def save_as_format_1(tracker, path, **changes):
    tracker.save(path)
    meta, arrays = read_state(path, version=2)
    meta["config"] = as_format_1(meta["config"]) | changes
    for each in meta.get("trackers", {}).values():
        each["config"] = as_format_1(each["config"])
    write_state(path, {name: value for name, value in meta.items() if name not in ("format", "metrack")}, arrays)


@pytest.mark.parametrize("preset", ["default", "fast", "paper"])
def test_a_tracker_of_format_1_goes_on_where_it_stopped(clip, tmp_path, preset):
    tracker = Tracker(preset, seed=2)
    tracker.init(clip[0], clip.first_box)
    for image in list(clip)[1:12]:
        tracker.update(image)
    save_as_format_1(tracker, tmp_path / "old.npz")
    loaded = Tracker.load(tmp_path / "old.npz")
    assert loaded.config == tracker.config
    assert loaded.update(clip[12]) == tracker.update(clip[12])


def test_so_do_several(clip, tmp_path):
    several = MultiTracker("fast")
    several.add(clip[0], clip.first_box)
    several.add(clip[0], (200, 150, 40, 40))
    several.update(clip[1])
    save_as_format_1(several, tmp_path / "old.npz")
    loaded = MultiTracker.load(tmp_path / "old.npz")
    assert loaded.update(clip[2]) == several.update(clip[2])


def test_another_value_of_what_is_a_constant_now_is_refused_by_name(clip, tmp_path):
    tracker = Tracker("fast")
    tracker.init(clip[0], clip.first_box)
    save_as_format_1(tracker, tmp_path / "old.npz", **{"motion.cell": 0.3})
    with pytest.raises(ValueError, match=r"saved by metrack 0\.1\.0 with motion\.cell = 0\.3, which is 0\.0"):
        Tracker.load(tmp_path / "old.npz")


def test_a_newer_format_is_refused_by_name(tmp_path):
    write_state(tmp_path / "new.npz", {}, {"x": np.zeros(1)}, version=3)
    with pytest.raises(ValueError, match=r"saved by metrack \S+ \(format 3\)"):
        Tracker.load(tmp_path / "new.npz")
