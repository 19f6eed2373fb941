"""The table of README.md, made by one command: really run, on short sequences."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrack.evaluation.comparison import score_folder
from metrack.evaluation.sequences import builtin_sequences
from metrack.rivals import RIVALS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import readme  # noqa: E402
from marked import END, around_the_table, begin_mark  # noqa: E402
from support.in_process import InProcess  # noqa: E402

CHOSEN = ("csrt", "mil", "dsst")
FRAMES = 8
BEGIN = begin_mark(readme.COMMAND)
TEXT = f"# Title\n\nbefore\n\n{BEGIN}\nold | table\n{END}\n\nafter ünd\n"


@pytest.fixture(scope="module")
def sequences():
    chosen = {"balloon-calm", "balloon-twin"}
    return [each.part(0, FRAMES) for each in builtin_sequences() if each.name in chosen]


@pytest.fixture
def data(tmp_path, monkeypatch, sequences):
    """Two short sequences as OTB keeps them, and figures that others published for them."""
    folder = tmp_path / "data"
    for sequence in sequences:
        place = folder / "sequences" / sequence.name
        (place / "img").mkdir(parents=True)
        for number, picture in enumerate(sequence.pictures, 1):
            Image.fromarray(picture).save(place / "img" / f"{number:04d}.png")
        boxes = sequence.truth + np.array([1, 1, 0, 0])  # OTB counts pixels from one
        np.savetxt(place / "groundtruth_rect.txt", boxes, delimiter=",", fmt="%.3f")
    (folder / "published").mkdir()
    with (folder / "published" / readme.PUBLISHED).open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["tracker", "sequence", "success_auc", "success_rate_0.5", "precision_20px"])
        rows.writerows(["MDNet", sequence.name, 1, 1, 1] for sequence in sequences)
        rows.writerows(["SRDCF", sequence.name, *figures] for sequence, *figures in zip(
            sequences, (0.2, 0.3), (0.1, 0.2), (0.5, 0.6), strict=True))  # fmt: skip
        rows.writerow(["MEEM", sequences[0].name, 0.9, 0.9, 0.9])  # not on all: not comparable
    monkeypatch.setenv("METRACK_DATA", str(folder))
    return folder


@pytest.fixture
def page(tmp_path):
    file = tmp_path / "README.md"
    file.write_text(TEXT)
    return file


def make(page, out, *arguments, workers=None):
    return readme.main(["--readme", str(page), "--out", str(out), *arguments], workers or InProcess())


def cells(page):
    """Rows of the table by their first cell, without the heading."""
    _, *rows = [line[2:-2].split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    return {title: figures for title, *figures in rows}


def test_the_table_has_a_title_for_every_rival():
    assert readme.TITLES_OF_RIVALS.keys() == RIVALS.keys() - {"static"}


def test_the_readme_has_the_marks():
    before, after = around_the_table(ROOT / "README.md", readme.COMMAND)
    assert "## What to expect" in before
    assert "## How it works" in after


def check_figures(rows, seconds, out, names):
    """Every cell of a preset's row, and of CSRT's, is what the runs and the times in the folder say."""
    for label, title in ((name, f"metrack, preset `{name}`") for name in readme.PRESETS):
        tracker = score_folder(out / "several").tracker(label)
        mean, row = tracker.mean(names), rows[title]
        auc = np.array([[run.figures["auc"] for run in tracker.runs[name]] for name in names])
        assert [row[0].strip("*"), row[3], row[4]] == [f"{mean[n]:.3f}" for n in ("auc", "success", "precision")]
        by_seed = sorted(auc[0] + auc[1])
        assert row[1] == f"{by_seed[0] / 2:.3f} to {by_seed[1] / 2:.3f}"
        assert row[2] == f"{np.abs(auc[:, 0] - auc[:, 1]).mean():.3f}"
        own = seconds[f"metrack {label}"]
        assert row[5:] == [f"{1e3 * own:.1f}", f"{seconds['CSRT'] / own:.3g}x as long"]
    once = score_folder(out / "once").tracker("csrt").mean(names)
    assert [cell.strip("*") for cell in rows["OpenCV CSRT"]] == [
        f"{once['auc']:.3f}", "", "", f"{once['success']:.3f}", f"{once['precision']:.3f}",
        f"{1e3 * seconds['CSRT']:.1f}", ""]  # fmt: skip


def test_one_command_runs_everybody_and_replaces_the_table_alone(tmp_path, data, page, sequences, monkeypatch, capsys):
    monkeypatch.setattr(readme, "TITLES_OF_RIVALS", {name: readme.TITLES_OF_RIVALS[name] for name in CHOSEN})
    monkeypatch.setitem(sys.modules, "dlib", None)
    monkeypatch.setitem(readme.due.__globals__, "fingerprint", lambda spec: 6)  # whoever edits the code meanwhile
    out, workers = tmp_path / "out", InProcess()
    twice = ["--repetitions", "2", "--rounds", "1"]
    assert make(page, out, *twice, workers=workers) == 0
    assert len(workers.executed) == 2 * (2 * len(readme.PRESETS) + len(["csrt", "mil"]))

    text, names = page.read_text(), [sequence.name for sequence in sequences]
    head, tail = TEXT.split("old | table\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert "old | table" not in text
    assert "2 sequences (balloon-calm, balloon-twin), first box to last frame, 2 seeds" in text
    assert "Not installed here: dlib (DSST)." in text
    assert "not in the table: dsst; pip install 'metrack[peers]'" in capsys.readouterr().out

    rows, seconds = cells(page), json.loads((out / "speed.json").read_text())
    first = [f"metrack, preset `{name}`" for name in readme.PRESETS]
    last = ["MDNet (published, a network)", "SRDCF (published)"]
    assert list(rows)[:4] == first
    assert set(list(rows)[4:6]) == {"OpenCV CSRT", "OpenCV MIL"}
    assert list(rows)[6:] == last
    check_figures(rows, seconds, out, names)
    assert rows["SRDCF (published)"] == ["0.250", "", "", "0.150", "0.550", "", ""]
    without = {title: row[0].strip("*") for title, row in rows.items() if title != last[0]}
    best = [title for title, auc in without.items() if auc == max(without.values())]
    assert [title for title, row in rows.items() if "**" in row[0]] == best
    assert rows[last[0]][0] == "1.000"

    page.write_text(text.replace("after ünd", "written meanwhile").replace(rows[first[0]][0], "lost"))
    again = InProcess()
    assert make(page, out, *twice, workers=again) == 0
    assert len(again.executed) == 0
    assert page.read_text() == text.replace("after ünd", "written meanwhile")

    monkeypatch.setitem(readme.due.__globals__, "fingerprint", lambda spec: 7)
    assert make(page, out, *twice) == 1
    assert "made by other code; choose another folder or say --keep" in capsys.readouterr().err
    assert make(page, out, *twice, "--keep", workers=again) == 0
    assert len(again.executed) == 0


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (TEXT.replace(BEGIN, ""), ["--data", "builtin"], "must be a file with the lines <!-- table"),
        (TEXT.replace(END, ""), ["--data", "builtin"], "must be a file with the lines <!-- table"),
        (TEXT, [], "METRACK_DATA must be a folder with sequences/"),
        (TEXT, ["--data", "builtin", "--repetitions", "0"], "repetitions must be at least 1, got 0"),
        (TEXT, ["--data", "builtin", "--rounds", "0"], "--rounds must be at least 1, got 0"),
        (TEXT, ["--data", "nowhere"], "nowhere"),
    ],
)
def test_nonsense_is_one_sentence_and_nothing_is_written(tmp_path, page, monkeypatch, capsys, text, arguments, words):
    monkeypatch.setenv("METRACK_DATA", str(tmp_path / "nothing"))
    page.write_text(text)
    workers = InProcess()
    assert make(page, tmp_path / "out", *arguments, workers=workers) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert (len(workers.executed), page.read_text()) == (0, text)
    assert not (tmp_path / "out").exists()
