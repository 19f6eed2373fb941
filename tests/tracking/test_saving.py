"""A tracker that was saved or pickled goes on as if never stopped; what is none is refused."""

import pickle

import numpy as np
import pytest

from metrack import Tracker
from metrack.tracking.saved import write_tracker
from support.tracking import LIGHT, follow, started


def test_saved_while_the_target_is_hidden_it_goes_on_alike(clip, tmp_path):
    tracker = started(clip, LIGHT.replace({"memory.learn_when": "tracking"}))
    follow(tracker, clip, 20)
    blank = np.zeros_like(clip[0])
    tracker.update(blank)
    tracker.save(tmp_path / "hidden.npz")
    again = Tracker.load(tmp_path / "hidden.npz")
    for image in (blank, blank, clip[23], clip[24]):
        assert tracker.update(image) == again.update(image)


@pytest.mark.parametrize("sampling", ["time-weighted", "uniform", "with-replacement", "everything"])
def test_saved_and_loaded_goes_on_as_if_never_stopped(clip, tmp_path, sampling):
    config = LIGHT.replace({"memory.sampling": sampling})
    tracker = started(clip, config)
    follow(tracker, clip, 12)
    tracker.save(tmp_path / "half-way.npz")
    straight = follow(tracker, clip, 12, start=13)
    resumed = follow(Tracker.load(tmp_path / "half-way.npz"), clip, 12, start=13)
    assert straight == resumed
    for one, two in zip(straight, resumed, strict=True):
        np.testing.assert_array_equal(one.info.weights, two.info.weights)


def test_a_saved_tracker_holds_no_pickle(clip, tmp_path):
    started(clip).save(tmp_path / "tracker.npz")
    with np.load(tmp_path / "tracker.npz", allow_pickle=False) as stored:
        assert all(stored[name].dtype != object for name in stored.files)
    assert [p.name for p in tmp_path.iterdir()] == ["tracker.npz"]


@pytest.mark.parametrize("meta", [b"[1]", b"{}", b'{"format": 1}', b'{"format": 99}'])
def test_loading_an_archive_of_something_else_says_so(tmp_path, meta):
    np.savez(tmp_path / "x.npz", meta=np.frombuffer(meta, np.uint8))
    with pytest.raises(ValueError, match="saved"):
        Tracker.load(tmp_path / "x.npz")
    np.save(tmp_path / "y.npy", np.zeros(3))
    with pytest.raises(ValueError, match="saved tracker"):
        Tracker.load(tmp_path / "y.npy")


@pytest.mark.parametrize("content", [b"", b"not a tracker", None])
def test_loading_something_else_says_so(tmp_path, content):
    path = tmp_path / "x.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match="saved tracker"):
        Tracker.load(path)


def test_a_file_without_a_setting_is_refused(clip, tmp_path):
    """What is the default today need not be what the tracker was saved with."""
    meta, arrays = started(clip).to_saved()
    del meta["config"]["motion.refined"]
    write_tracker(tmp_path / "old.npz", meta, arrays)
    with pytest.raises(ValueError, match=r"saved tracker, but .*old\.npz' .* but motion\.refined is missing"):
        Tracker.load(tmp_path / "old.npz")


def test_a_pickled_tracker_goes_on_as_the_original(clip, seed):
    for config in (LIGHT, "default"):
        tracker = started(clip, config, seed)
        follow(tracker, clip, 8)
        copy = pickle.loads(pickle.dumps(tracker))
        assert [tracker.update(clip[i]) for i in (9, 10)] == [copy.update(clip[i]) for i in (9, 10)]
