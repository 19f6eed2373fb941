"""Files: written whole or not at all, and state files of other versions migrated or refused by name."""

from __future__ import annotations

import errno
import json
import os
from contextlib import nullcontext
from importlib.metadata import version

import numpy as np
import pytest

from metrack.files import load_json, read_state, replace_text, replacing, sync_folder, write_json, write_state


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_replaced_file_holds_the_new_text_and_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "a.txt"
    replace_text(path, "first\n")
    replace_text(path, "second, with ü\r\n")
    assert path.read_bytes() == "second, with ü\r\n".encode()
    assert names(tmp_path) == ["a.txt"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def write_half():
        with replacing(path) as part:
            part.write_bytes(b"ne")
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        write_half()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_the_old_file_is_there_until_the_end_of_the_block(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with replacing(path) as part:
        part.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_json_is_strict(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"x": 1.5})
    assert json.loads(path.read_text()) == {"x": 1.5}
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"x": float("nan")})
    assert json.loads(path.read_text()) == {"x": 1.5}


def test_names_that_are_not_utf_8_can_be_written_and_read_where_they_are_expected(tmp_path):
    path, name = tmp_path / "a.json", os.fsdecode(b"caf\xe9.mp4")
    write_json(path, {"source": name})
    assert load_json(path, any_names=True) == {"source": name}
    with pytest.raises(ValueError, match="missing or damaged"):
        load_json(path)


def test_a_folder_in_one_that_may_not_be_read_is_written_as_any_other(tmp_path, monkeypatch):
    plain = os.open

    def closed(path, *rest, **options):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied")
        return plain(path, *rest, **options)

    monkeypatch.setattr(os, "open", closed)
    write_json(tmp_path / "a.json", {"x": 1})
    assert load_json(tmp_path / "a.json") == {"x": 1}


@pytest.mark.parametrize(("code", "forgiven"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_file_system_that_cannot_sync_folders_is_used_as_it_is(tmp_path, monkeypatch, code, forgiven):
    def fail(number):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with nullcontext() if forgiven else pytest.raises(OSError, match=os.strerror(code)):
        sync_folder(tmp_path)


# State files


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "state.npz"
    write_state(path, {"size": 3}, {"rows": np.arange(3.0)}, version=2)
    return path


def test_a_state_file_gives_back_what_was_written_and_who_wrote_it(saved):
    meta, arrays = read_state(saved, version=2)
    assert meta == {"format": 2, "metrack": version("metrack"), "size": 3}
    assert list(arrays) == ["rows"]
    np.testing.assert_array_equal(arrays["rows"], [0, 1, 2])


def test_older_formats_are_migrated_one_version_at_a_time(saved):
    def rename(meta, arrays):
        return {**meta, "count": meta["size"]}, {"columns": arrays["rows"]}

    def double(meta, arrays):
        return meta, {"columns": 2 * arrays["columns"]}

    meta, arrays = read_state(saved, version=4, migrations={1: pytest.fail, 2: rename, 3: double})
    assert (meta["format"], meta["count"]) == (4, 3)
    np.testing.assert_array_equal(arrays["columns"], [0, 2, 4])


def test_newer_formats_are_refused_by_the_version_that_wrote_them(saved):
    write_state(saved, {"metrack": "9.8.7"}, {}, version=5)
    sentence = rf"metrack {version('metrack')} can read \(format 2\), but .*state\.npz' was saved by metrack 9\.8\.7"
    with pytest.raises(ValueError, match=sentence):
        read_state(saved, version=2, migrations={1: lambda meta, arrays: (meta, arrays)})


def test_older_formats_without_a_migration_are_refused(saved):
    with pytest.raises(ValueError, match=rf"was saved by metrack {version('metrack')} \(format 2\)"):
        read_state(saved, version=4, migrations={3: lambda meta, arrays: (meta, arrays)})


def test_files_from_before_versions_were_written_are_named_so(tmp_path):
    path = tmp_path / "old.npz"
    np.savez(path, meta=np.frombuffer(b'{"format": 1}', np.uint8))
    with pytest.raises(ValueError, match=r"was saved by an early metrack \(format 1\)"):
        read_state(path, version=2)


@pytest.mark.parametrize("meta", [b"[1]", b"{}", b'{"format": "new"}', b'{"format": null}', b"no JSON", b""])
def test_other_archives_are_no_state_files(tmp_path, meta):
    np.savez(tmp_path / "x.npz", meta=np.frombuffer(meta, np.uint8))
    with pytest.raises(ValueError, match=r"path must name a saved tracker, but .*x\.npz' is not one"):
        read_state(tmp_path / "x.npz")


def test_a_state_that_a_migration_cannot_read_is_no_state_file(saved):
    with pytest.raises(ValueError, match="is not one"):
        read_state(saved, version=3, migrations={2: lambda meta, arrays: (meta, {"x": arrays["missing"]})})


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"there is no file .*gone\.npz'"):
        read_state(tmp_path / "gone.npz")
