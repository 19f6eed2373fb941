"""Files of saved trackers that somebody has changed: refused in one sentence, before any memory is taken."""

import json
import resource
import warnings
import zipfile

import numpy as np
import pytest

from metrack import MultiTracker, Tracker
from metrack.files import MOST_JSON, read_state, write_state
from metrack.tracking.saved import write_tracker
from support.tracking import LIGHT, follow, started

SENTENCE = r"path must name a saved tracker, but \S*changed\.npz' (cannot be read: |lacks |is not one)"


@pytest.fixture(scope="module")
def saved(clip):
    tracker = started(clip, LIGHT)
    follow(tracker, clip, 6)
    return json.dumps(tracker.to_saved()[0]), tracker.to_saved()[1]


def refused(path, meta, arrays):
    write_tracker(path / "changed.npz", meta, arrays)
    with pytest.raises(ValueError, match=SENTENCE) as caught:
        Tracker.load(path / "changed.npz")
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        (
            "space_metric",
            lambda a: a[:-1],
            "space_metric must be float32 of shape (405, 405), got float32 of (404, 405)",
        ),
        ("space_metric", lambda a: a.astype(float), "space_metric must be float32 of shape (405, 405), got float64"),
        ("space_metric", lambda a: a * np.nan, "space_metric must have numbers between -1e+12 and 1e+12, got others"),
        ("space_metric", lambda a: -a, "space_metric must be symmetric and positive definite"),
        ("space_samples", lambda a: a + 2, "space_samples must have numbers between -1 and 1"),
        ("space_gram", lambda a: a[:-2, :-2], "space_gram must be float32 of shape"),
        ("space_counts", lambda a: a + 10**9, "counts must be at most half of"),
        ("reservoir_0_born", lambda a: a - 1, "reservoir_0_born must have numbers between 0 and 6"),
        ("reservoir_0_keys", lambda a: a[:-1], "reservoir_0_born must be int64 of shape"),
        ("survivors", lambda a: a + 1e4, "survivors must lie on the frame"),
        ("colours", lambda a: a[:-1], "colours must be float32 of shape (900)"),
        ("refreshed", lambda a: a + 7, "refreshed must have numbers between 0 and 6"),
    ],
)
def test_arrays_of_another_type_shape_or_range_are_refused(saved, tmp_path, name, change, told):
    meta, arrays = json.loads(saved[0]), dict(saved[1])
    assert told in refused(tmp_path, meta, {**arrays, name: change(arrays[name])})


def test_missing_and_unknown_arrays_are_refused(saved, tmp_path):
    meta, arrays = json.loads(saved[0]), dict(saved[1])
    assert refused(tmp_path, meta, {**arrays, "odd": np.zeros(1)}).endswith("cannot be read: 'odd' is no part of it")
    del arrays["first"]
    assert refused(tmp_path, meta, arrays).endswith("lacks 'first'")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("frame", -1, "frame must be a whole number between 0 and"),
        ("frame", True, "frame must be a whole number"),
        ("unseen", 7, "unseen must be a whole number between 0 and 6, got 7"),
        ("shape", [10**9, 320, 3], "shape must be a whole number between 4 and"),
        ("box", [1e300, 0, 10, 10], "box must be a number between"),
        ("box", [0, 0, 1e9, 10], "box must lie on the frame"),
        ("bounds", {"width": 1e-300, "height": 5, "frame_width": 320, "frame_height": 240}, "bounds must be those of"),
        ("presence", {}, "presence must have the fields of one"),
        ("seed", -1, "seed must be a whole number of at least 0"),
        ("config", [], "values must be a mapping from names of settings"),
        ("config", 3, "values must be a mapping"),
        ("identifier", {"sums": [-1.0], "weight": 1.0}, "identifier must be a number between 0 and"),
    ],
)
def test_values_that_no_tracker_has_are_refused(saved, tmp_path, name, value, told):
    assert told in refused(tmp_path, {**json.loads(saved[0]), name: value}, saved[1])


@pytest.mark.parametrize(
    ("name", "value"), [("has_uint32", 2), ("uinteger", -1), ("bit_generator", "MT19937"), ("state", {})]
)
def test_a_generator_that_is_none_is_refused(saved, tmp_path, name, value):
    meta = json.loads(saved[0])
    refused(tmp_path, {**meta, "rng": {**meta["rng"], name: value}}, saved[1])


def test_settings_are_checked_before_arrays_of_their_size_are_made(saved, tmp_path):
    meta = json.loads(saved[0])
    changed = {**meta, "config": {**meta["config"], "memory.size": 2000}}
    assert "space_samples must be float32 of shape (4000, 405)" in refused(tmp_path, changed, saved[1])


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused_at_once(saved, tmp_path):
    path = tmp_path / "changed.npz"
    write_tracker(path, json.loads(saved[0]), saved[1])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000000,), }".ljust(
        117
    )
    members["first.npy"] = header + b"\n" + bytes(400_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    del members, data
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="is not one"):
        Tracker.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB


@pytest.mark.parametrize("shape", ["(4611686018427387904,)", "(-1,)", "(100000, 100000)", "(True,)", "(" * 300])
def test_headers_that_claim_what_is_not_there_are_refused(tmp_path, shape):
    path = tmp_path / "changed.npz"
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("meta.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    with pytest.raises(ValueError, match="is not one"):
        Tracker.load(path)


def test_a_member_that_is_there_twice_is_refused(saved, tmp_path):
    path = tmp_path / "changed.npz"
    write_tracker(path, json.loads(saved[0]), saved[1])
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("first.npy", archive.read("first.npy"))
    with pytest.raises(ValueError, match="is not one"):
        Tracker.load(path)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format": 1e999}', '{"format": NaN}', '"\\ud800"', " " * (MOST_JSON + 1)]
)
def test_json_that_is_deep_infinite_or_too_long_is_refused(tmp_path, text):
    np.savez(tmp_path / "x.npz", meta=np.frombuffer(text.encode(), np.uint8))
    with pytest.raises(ValueError, match="is not one"):
        Tracker.load(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"numbers": 1}, "number of a target must be a whole number between 1 and 1, got 2"),
        ({"apart": [[1, 9]]}, "apart must have pairs of its targets"),
        ({"shape": [50, 50]}, "its targets must have the same settings and frames of one shape"),
        ({"kind": "gallery"}, "it was not saved by MultiTracker"),
    ],
)
def test_several_targets_must_agree(clip, tmp_path, change, told):
    several = MultiTracker(LIGHT)
    several.add(clip[0], clip.first_box)
    several.add(clip[0], (20, 20, 30, 30))
    several.save(tmp_path / "changed.npz")
    meta, arrays = read_state(tmp_path / "changed.npz", version=2)
    own = {name: value for name, value in meta.items() if name not in ("format", "metrack")}
    write_state(tmp_path / "changed.npz", own | change, arrays, version=2)
    with pytest.raises(ValueError, match=SENTENCE) as caught:
        MultiTracker.load(tmp_path / "changed.npz")
    assert told in str(caught.value)


def test_a_target_can_be_lost_for_hours(clip):
    tracker = started(clip, "fast")
    follow(tracker, clip, 3)
    tracker._state.frame = tracker._state.unseen = 100_000
    assert tracker.update(clip[4]).box.area > 0
