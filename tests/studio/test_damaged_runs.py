"""A run whose files are damaged is listed as that, and all others as ever."""

import json
import os

import pytest

from metrack.files import write_json
from metrack.runs.job import Job
from metrack.runs.results import ResultFolder, claim_folder
from metrack.studio.media import Library
from metrack.studio.store import NOTE, RunStore


@pytest.fixture
def store(tmp_path):
    for number, name in enumerate("abc"):
        claim_folder(tmp_path / name)
        ResultFolder.create(tmp_path / name, 1).close()
        job = Job(source="clip.mp4", boxes=[[1.0, 2.0, 30.0, 40.0]]).to_dict()
        write_json(tmp_path / name / NOTE, {"source": "clip", "title": name, "created": 1e9 + number, "job": job})
    return RunStore(tmp_path, Library(tmp_path, None, 1 << 20, 1 << 20))


def states(store):
    lines = store.listing()
    json.dumps(lines, allow_nan=False, ensure_ascii=False).encode()
    return {line["id"]: line["status"]["state"] for line in lines}


WHOLE = {"source": "clip", "title": "b", "created": 1.0, "job": {"source": "x", "boxes": [[1, 2, 3, 4]]}}


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        json.dumps({**WHOLE, "created": float("nan")}).encode(),
        json.dumps({**WHOLE, "created": "soon"}).encode(),
        json.dumps({**WHOLE, "title": "\ud800"}).encode(),
        json.dumps({**WHOLE, "job": {}}).encode(),
        json.dumps({**WHOLE, "job": {"source": "x", "boxes": []}}).encode(),
        json.dumps({**WHOLE, "job": {"source": "x", "boxes": [[1, 2, 3, 4]], "odd": 1}}).encode(),
    ],
)
def test_a_damaged_note_hides_no_other_run(store, tmp_path, note):
    (tmp_path / "b" / NOTE).write_bytes(note)
    assert states(store) == {"c": "interrupted", "b": "damaged", "a": "interrupted"}
    told = next(line for line in store.listing() if line["id"] == "b")["status"]["notice"]
    assert "studio.json must be" in told
    assert str(tmp_path / "b") in told
    for ask in (store.describe, store.job, store.go_on):
        with pytest.raises(ValueError, match=r"studio\.json must be"):
            ask("b")
    assert store.describe("a")["title"] == "a"


def test_a_damaged_summary_hides_none_either(store, tmp_path):
    (tmp_path / "b" / "summary.json").write_text('{"program": ')
    assert states(store) == {"c": "interrupted", "b": "damaged", "a": "interrupted"}


def test_what_is_no_note_is_no_run(store, tmp_path):
    for name in ("folder", ".hidden", "loop", "fifo", "line\nfeed"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / NOTE).mkdir()
    (tmp_path / ".hidden" / NOTE).write_text("{}")
    (tmp_path / "line\nfeed" / NOTE).write_text("{}")
    (tmp_path / "loop" / NOTE).symlink_to(NOTE)
    os.mkfifo(tmp_path / "fifo" / NOTE)
    assert set(states(store)) == {"a", "b", "c"}


def test_a_note_of_an_earlier_version_has_fewer_options(store, tmp_path):
    write_json(tmp_path / "b" / NOTE, WHOLE)
    assert states(store)["b"] == "interrupted"
    assert (store.job("b").boxes, store.job("b").preset) == ([[1, 2, 3, 4]], "default")
