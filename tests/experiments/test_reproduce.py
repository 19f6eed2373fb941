import csv
import json
from dataclasses import replace

import pytest

from metrack.experiments.base import Finding
from metrack.experiments.registry import EXPERIMENTS
from metrack.experiments.reproduce import reproduce
from support.in_process import InProcess


@pytest.fixture
def few(clips, monkeypatch):
    """Let ``builtin`` mean two short sequences."""
    monkeypatch.setattr(
        "metrack.evaluation.sequences.builtin_sequences", lambda: [clips["balloon-calm"], clips["balloon-cloud"]]
    )


@pytest.mark.usefixtures("few")
def test_reproducing_leaves_files_and_does_nothing_twice(tmp_path):
    workers, told = InProcess(), []
    out, ids = tmp_path / "out", ["sampling", "confidence-map"]
    findings = reproduce(
        ids,
        "builtin",
        out,
        workers=workers,
        seeds=1,
        length=3,
        watch=lambda id, progress: told.append((id, progress.done)),
    )
    assert [finding.id for finding in findings] == ids
    assert len(workers.executed) == 4
    assert findings[0].notes == [
        "Sequences were cut to their first 3 frames; numbers of the paper are over whole ones."
    ]
    assert ("sampling", 4) in told
    for id, figures in (("sampling", 3), ("confidence-map", 2)):
        names = {"table.csv", "table.json", "table.tex", "index.html"}
        names |= {f"figure-{n + 1}.{kind}" for n in range(figures) for kind in ("svg", "png")}
        assert names <= {file.name for file in (out / id).iterdir()}
        assert not (out / id / f"figure-{figures + 1}.svg").exists()
    with (out / "sampling" / "table.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.reader(file))
    assert read[0] == findings[0].columns
    assert [float(row[2]) for row in read[1:]] == [row[2] for row in findings[0].rows]
    assert json.loads((out / "sampling" / "table.json").read_text())["rows"] == findings[0].rows
    assert (out / "sampling" / "table.tex").read_text().count(r"\\") == 1 + len(findings[0].rows)
    index = (out / "index.html").read_text()
    assert all(f'href="{id}/index.html"' in index and f'src="{id}/figure-1.svg"' in index for id in ids)
    again = InProcess()
    assert reproduce(ids[:1], "builtin", out, workers=again, seeds=1, length=3)[0].rows == findings[0].rows
    assert again.executed == []
    assert 'href="confidence-map/index.html"' in (out / "index.html").read_text()  # what was there stays


@pytest.mark.usefixtures("few")
def test_one_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    def broken(experiment, context):
        raise RuntimeError("the <cable> is\nloose")

    monkeypatch.setitem(EXPERIMENTS, "batch", replace(EXPERIMENTS["batch"], run=broken))
    findings = reproduce(
        ["batch", "identification", "sampling"],
        "builtin",
        tmp_path,
        sequences=["balloon-calm"],
        workers=InProcess(),
        length=2,
    )
    assert findings[0].error == "RuntimeError: the <cable> is loose"
    assert findings[1].error == "identification needs at least 2 sequences, one per target, got 1"
    assert findings[2].error is None
    assert len(findings[2].rows) == 4
    index = (tmp_path / "index.html").read_text()
    assert "the &lt;cable&gt; is loose" in index
    assert "the &lt;cable&gt; is loose" in (tmp_path / "batch" / "index.html").read_text()
    assert 'href="sampling/index.html"' in index


@pytest.mark.usefixtures("few")
def test_all_means_every_experiment(tmp_path, monkeypatch):
    for id, each in list(EXPERIMENTS.items()):
        monkeypatch.setitem(EXPERIMENTS, id, replace(each, run=lambda experiment, context: Finding(experiment.id)))
    assert [finding.id for finding in reproduce(["all"], "builtin", tmp_path, workers=InProcess())] == list(EXPERIMENTS)
    index = (tmp_path / "index.html").read_text()
    assert [id for id in EXPERIMENTS if f'href="{id}/index.html"' not in index] == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ids": []}, "at least one experiment, or all, got none"),
        ({"ids": ["simpling"]}, "did you mean 'sampling'"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"length": 1}, "length must be at least 2 frames, got 1"),
        ({"sequences": ["balloon"]}, "sequences must be among those found"),
    ],
)
@pytest.mark.usefixtures("few")
def test_what_cannot_be_done_is_refused_before_any_work(wrong, message, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=message):
        reproduce(**{"ids": ["sampling"], "data": "builtin", "out": out, "workers": InProcess(), **wrong})
    assert not out.exists()


def test_somebody_elses_folder_is_refused(tmp_path):
    (tmp_path / "sampling").mkdir()
    (tmp_path / "sampling" / "thesis.tex").touch()
    (tmp_path / "summary.json").write_text('{"program": "metrack"}')
    with pytest.raises(ValueError, match="folder must be new, empty or an earlier metrack result"):
        reproduce(["sampling"], "builtin", tmp_path, workers=InProcess())
