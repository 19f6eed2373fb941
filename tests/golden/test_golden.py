"""No box changes: what is recorded now equals what was recorded before the redesign.

``golden.zip`` was made by ``record.py`` from the commit before it, the paper's presets with ``motion.cell=0``. It was
made anew when the filter's gradients got exact roots: approximate ones differ between makes of processors. Boxes
and scores agree to 1e-6; states, events and text files agree exactly, save for what newer versions add or renamed.
"""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
ANEW = {"version", "tracker_fps", "source", "changed", "check", "trajectory"}  # of summary.json: another in each run


@pytest.fixture(scope="module")
def golden():
    with zipfile.ZipFile(HERE / "golden.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def now(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    subprocess.run([sys.executable, HERE / "record.py", folder], check=True, capture_output=True)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_file_is_there(golden, now):
    assert set(golden) <= set(now)


def test_boxes_scores_and_states_of_every_preset(golden, now):
    old, new = (np.load(io.BytesIO(each["trackers.npz"])) for each in (golden, now))
    assert set(old) == set(new)
    for name in old:
        np.testing.assert_allclose(new[name], old[name], rtol=0, atol=0 if "states" in name else 1e-6, err_msg=name)


def test_tables_to_the_last_byte(golden, now):
    tables = [name for name in golden if name.endswith((".csv", ".txt"))]
    assert len(tables) > 10
    for name in tables:
        assert now[name] == golden[name], name


def test_trajectories(golden, now):
    for name, (old, new) in lines_of("trajectory.jsonl", golden, now).items():
        for before, after in zip(old, new, strict=True):
            before.pop("check", None)  # of all digits, of which only the first are compared
            evidence = before.pop("evidence", {})
            evidence.pop("scale", None)
            assert_same(before, after, name)
            assert_same(evidence, after.get("evidence", {}), name)


def test_events(golden, now):
    """The reasons are told anew: they name what the state was decided by."""
    for name, (old, new) in lines_of("events.jsonl", golden, now).items():
        for each in (*old, *new):
            assert each.pop("reason")
        assert new == old, name


def test_summaries(golden, now):
    names = [name for name in golden if name.endswith("summary.json")]
    assert names
    for name in names:
        old, new = (json.loads(each[name]) for each in (golden, now))
        for each in (old, new):
            (each["gallery"] or {}).pop("path", None)
        assert_same({key: value for key, value in old.items() if key not in ANEW}, new, name)


def lines_of(file, golden, now):
    names = [name for name in golden if name.endswith(file)]
    assert len(names) > 3
    return {
        name: tuple([json.loads(line) for line in each[name].splitlines()] for each in (golden, now)) for name in names
    }


def assert_same(old, new, where):
    """Everything of ``old`` is in ``new``; numbers may differ by 1e-6."""
    if isinstance(old, dict):
        for key, value in old.items():
            assert key in new, f"{where}: {key} is missing"
            assert_same(value, new[key], f"{where}: {key}")
    elif isinstance(old, list):
        assert len(old) == len(new), where
        for before, after in zip(old, new, strict=True):
            assert_same(before, after, where)
    elif isinstance(old, float):
        assert new == pytest.approx(old, rel=0, abs=1e-6), where
    else:
        assert new == old, where
