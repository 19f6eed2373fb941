"""A disk after a power cut: what was synced is there, and of the rest any part."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from torture.disk import History, cut

WRITING = """
import os, sys
from pathlib import Path
from torture.disk import Recorder
from metrack.files import replacing, replace_text, sync, sync_folder
folder = Path(sys.argv[1])
(folder / "old").write_text("before")
recorder = Recorder(folder)
"""
SAVING = "\nrecorder.save(Path(sys.argv[2]))\n"


@pytest.fixture
def outcomes(tmp_path):
    """A function that records some writes, and returns all that may be left of them after a cut at their end."""

    def find(code):
        folder, kept = tmp_path / "folder", tmp_path / "kept"
        folder.mkdir()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
        words = [sys.executable, "-c", WRITING + code + SAVING, folder, kept]
        subprocess.run(words, check=True, timeout=120, env=environment)
        history: History = pickle.loads(kept.read_bytes())
        found = set()
        for seed in range(200):
            out = tmp_path / f"cut-{seed}"
            cut(history, history.moments, np.random.default_rng(seed), out)
            found.add(frozenset((path.name, path.read_bytes()) for path in out.iterdir()))
        return found

    return find


OLD = ("old", b"before")


def test_what_was_not_synced_may_be_lost_in_part(outcomes):
    found = outcomes("(folder / 'new').write_text('abc')")
    assert frozenset({OLD}) in found
    assert frozenset({OLD, ("new", b"abc")}) in found
    assert frozenset({OLD, ("new", b"a")}) in found
    assert any(b"\0" in data for each in found for _, data in each)
    assert all(OLD in each for each in found)


def test_what_was_synced_with_its_folder_is_there(outcomes):
    code = "(folder / 'new').write_text('abc'); sync(folder / 'new'); sync_folder(folder)"
    assert outcomes(code) == {frozenset({OLD, ("new", b"abc")})}


def test_a_name_needs_a_sync_of_its_own(outcomes):
    code = "(folder / 'new').write_text('abc'); sync(folder / 'new')"
    assert outcomes(code) == {frozenset({OLD}), frozenset({OLD, ("new", b"abc")})}


def test_appended_text_keeps_what_was_synced(outcomes):
    code = "file = (folder / 'old').open('a'); file.write('1'); file.flush(); os.fsync(file.fileno())\n"
    found = outcomes(code + "file.write('23'); file.flush()")
    assert found == {frozenset({("old", b"before1" + rest)}) for rest in (b"", b"2", b"23", b"2\0", b"\0", b"\0\0")}


def test_a_file_replaced_in_one_step_is_the_old_one_or_the_new_one(outcomes):
    assert outcomes("replace_text(folder / 'old', 'after')") == {frozenset({("old", b"after")})}


def test_a_file_renamed_without_syncs_may_be_empty_or_half(outcomes):
    found = outcomes("(folder / 'part').write_text('after'); os.replace(folder / 'part', folder / 'old')")
    assert frozenset({("old", b"")}) in found
    assert frozenset({("old", b"af")}) in found
    assert frozenset({OLD}) in found
