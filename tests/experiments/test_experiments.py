import json
from dataclasses import replace

import numpy as np
import pytest

from metrack.box import iou
from metrack.evaluation.execute import execute
from metrack.evaluation.plan import runs_on
from metrack.experiments import state_of_the_art
from metrack.experiments.base import Context
from metrack.experiments.cache import cached_arrays
from metrack.experiments.pages import page_columns, split_means
from metrack.experiments.paper import read_paper
from metrack.experiments.particles import VALUES, growth
from metrack.experiments.registry import EXPERIMENTS, look_up
from support.in_process import InProcess

IDS = """confidence-map buffer-size particles linear-representation sampling metric-configuration batch initialisation
trade-off state-of-the-art structured identification occlusion""".split()


@pytest.fixture
def context(clips, tmp_path):
    """One very short sequence under a name of the paper, and one seed."""
    sequence = replace(clips["balloon-calm"].part(0, 4), name="Trellis")
    return Context([sequence], tmp_path / "out", InProcess())


def as_dicts(finding):
    return [dict(zip(finding.columns, row, strict=True)) for row in finding.rows]


def run(id, context):
    return EXPERIMENTS[id].run(EXPERIMENTS[id], context)


def test_every_experiment_of_the_paper_is_there():
    assert list(EXPERIMENTS) == IDS
    assert all(each.id == id for id, each in EXPERIMENTS.items())
    assert len(EXPERIMENTS["buffer-size"].trackers) == 9
    assert [dict(e.changes)["representation.rho"] for e in EXPERIMENTS["trade-off"].specs()] == [
        "0.07", "0.08", "0.1", "0.12", "0.14", "0.16", "0.19"
    ]  # fmt: skip


def test_every_entrant_exists_and_has_its_own_settings():
    for each in EXPERIMENTS.values():
        specs = each.specs()
        settings = [json.dumps({"name": e.name, **e.settings()} if e.name in state_of_the_art.SHOWN else e.settings())
                    for e in specs]  # fmt: skip
        assert len(set(settings)) == len(specs), each.id


def test_an_unknown_experiment_is_refused_with_a_hint():
    with pytest.raises(ValueError, match=r"no experiment 'buffersize'; did you mean 'buffer-size'\?"):
        look_up("buffersize")


def test_numbers_printed_in_the_paper():
    paper = {id: each.paper for id, each in EXPERIMENTS.items()}
    assert paper["linear-representation"]["error", "metric", "Trellis"] == 20.91
    assert paper["linear-representation"]["success", "l1", "Trellis"] == 0.34
    assert paper["sampling"]["error", "uniform", "Trellis"] == 8.58
    assert paper["metric-configuration"]["overlap", "step-by-step eigen", "Trellis"] == 0.83
    assert paper["metric-configuration"]["error", "none", "Football"] == 51.73
    assert paper["structured"]["error", "structured", "Trellis"] == 4.22
    assert paper["structured"]["success", "Struck", "Trellis"] == 0.96
    art = paper["state-of-the-art"]
    assert len({label for _, label, _ in art}) == 15
    assert len(art) == 15 * 5 * 3 - 6  # TLD has none on Football and CarDark
    assert art["error", "MILT", "Football"] == 103.59
    assert art["overlap", "SCM", "Coke"] == 0.11
    assert art["success", "TLD", "Girl"] == 0.90
    assert ("error", "TLD", "CarDark") not in art


def test_a_printed_line_with_a_number_too_few_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        read_paper("Trellis Girl", "Ours | 1 2 3 4 5")


@pytest.mark.parametrize("id", [id for id in IDS if id != "identification"])
def test_every_experiment_runs(id, context):
    experiment = EXPERIMENTS[id]
    finding = run(id, context)
    assert finding.id == id
    assert finding.rows
    assert finding.figures
    assert not any("could not run" in note for note in finding.notes)
    assert all(len(row) == len(finding.columns) for row in finding.rows)
    for each in as_dicts(finding):
        assert 0 <= (each.get("VOR") or 0) <= 1
        assert 0 <= (each.get("success") or 0) <= 1
    if experiment.measures and id != "initialisation":
        labels = {spec.label for spec in experiment.specs()}
        assert {row["tracker"] for row in as_dicts(finding) if row["sequence"] == "mean"} == labels
    assert run(id, replace(context, workers=(again := InProcess()))).rows == finding.rows
    assert again.executed == []


def test_the_table_says_what_the_files_say(context, clips):
    context = replace(context, seeds=2, sequences=[*context.sequences, clips["balloon-twin"].part(0, 3)])
    rows = {(row["tracker"], row["sequence"]): row for row in as_dicts(run("sampling", context))}
    means = []
    for sequence in context.sequences:
        files = [context.out / "ope" / "uniform" / f"{sequence.name}_00{run}.txt" for run in (1, 2)]
        boxes = [np.loadtxt(file, delimiter=",") - [1, 1, 0, 0] for file in files]  # OTB counts from one
        each = [iou(found, sequence.truth).mean() for found in boxes]
        row = rows["uniform", sequence.name]
        np.testing.assert_allclose([row["VOR"], row["VOR ±"]], [np.mean(each), np.std(each, ddof=1)], atol=1e-4)
        assert row["VOR ±"] > 0
        means.append(each)
    overall = np.mean(means, axis=0)
    row = rows["uniform", "mean"]
    np.testing.assert_allclose([row["VOR"], row["VOR ±"]], [overall.mean(), overall.std(ddof=1)], atol=1e-4)


def test_the_paper_stands_beside_the_same_sequence_only(context):
    rows = {(row["tracker"], row["sequence"]): row for row in as_dicts(run("structured", context))}
    assert rows["proximity", "Trellis"]["CLE paper"] == 5.62
    assert rows["Struck", "Trellis"]["VOR paper"] == 0.80
    assert rows["Struck", "Trellis"]["VOR"] is None
    assert rows["proximity", "mean"]["CLE paper"] is None
    assert "ms per frame paper" not in rows["proximity", "mean"]
    elsewhere = replace(context.sequences[0], name="Elsewhere")
    finding = run("structured", replace(context, sequences=[elsewhere]))
    assert "CLE paper" not in finding.columns
    assert "Struck" not in {row[0] for row in finding.rows}


def test_a_sequence_may_bear_the_name_it_has_in_the_paper(context):
    context = replace(context, sequences=[replace(context.sequences[0], name="trellis70")])
    row = next(row for row in as_dicts(run("sampling", context)) if row["sequence"] == "trellis70")
    assert row["CLE paper"] == 5.62


def test_first_boxes_are_told_apart(context):
    finding = run("initialisation", replace(context, seeds=2))
    rows = as_dicts(finding)
    assert [row["first box"] for row in rows] == [
        "x -0.1, y -0.1, scale 1.0",
        "x -0.1, y +0.1, scale 1.0",
        "x +0.0, y +0.1, scale 1.0",
        "x +0.1, y +0.1, scale 1.0",
        "x +0.0, y +0.0, scale 0.9",
    ]
    protocol = replace(EXPERIMENTS["initialisation"].protocol, repetitions=2)
    runs = runs_on(EXPERIMENTS["initialisation"].specs()[0], context.sequences[0], protocol)
    third = [iou(execute(run).boxes, context.sequences[0].truth).mean() for run in runs[4:6]]
    np.testing.assert_allclose(rows[2]["VOR"], np.mean(third), atol=1e-4)


def test_rivals_that_are_missing_are_named(context, monkeypatch):
    monkeypatch.setattr(state_of_the_art, "_is_here", lambda name: name == "kcf")
    finding = run("state-of-the-art", context)
    assert {label for label, _ in context.workers.executed} == {"Ours", "Ours+S", "kcf"}
    assert "Not installed, so not run: csrt, mil, oab, tld, medianflow, dsst." in finding.notes


def test_a_run_that_fails_is_told(context):
    tiny = context.sequences[0].truth.copy()
    tiny[0, 2:] = 1  # pixels
    finding = run("sampling", replace(context, sequences=[replace(context.sequences[0], truth=tiny)]))
    assert [note[:46] for note in finding.notes] == [
        "time-weighted could not run on Trellis: box mu",
        "uniform could not run on Trellis: box must be ",
    ]


def test_identification_needs_two_targets(context):
    with pytest.raises(ValueError, match="at least 2 sequences, one per target, got 1"):
        run("identification", context)


def test_identification_names_the_followed_target(context, clips):
    pair = [clips["balloon-calm"].part(0, 12), _upside_down(clips["balloon-twin"].part(0, 12))]
    finding = run("identification", replace(context, sequences=pair, seeds=2))
    rows = {row["sequence"]: row for row in as_dicts(finding)}
    assert list(rows) == ["mean", "balloon-calm", "balloon-twin"]
    assert rows["mean"]["cumulative, metric"] == 1
    assert len(finding.figures) == 1 + 2 * 2


def _upside_down(sequence):
    """A balloon that cannot be mistaken for the others."""
    frames = [frame[::-1].copy() for frame in sequence.pictures]
    truth = sequence.truth.copy()
    truth[:, 1] = frames[0].shape[0] - truth[:, 1] - truth[:, 3]
    return replace(sequence, pictures=Frames(frames), truth=truth)


class Frames(list):
    def part(self, start, stop=None):
        return Frames(self[start:stop])


def test_occlusion_is_seen_in_the_reconstruction_error(context, clips):
    finding = run("occlusion", replace(context, sequences=[clips["balloon-cloud"]]))
    ours = as_dicts(finding)[0]
    hidden = clips["balloon-cloud"].tags["occlusion"]
    assert ours["hidden from frames"] == str(int(np.flatnonzero(hidden)[0]))
    assert ours["recall"] == 1
    assert ours["error hidden"] > 1.5 * ours["error in view"]
    assert len(finding.figures[0].panels[0].spans) == 1  # the stretch in which it is hidden


def test_pages_round_a_measure_and_what_stands_beside_it_alike():
    titles = ["tracker", "frame", "CLE", "CLE ±", "CLE paper", "VOR"]
    rows = [["a", 3, 2.0, 0.25, None, 0.5], ["b", None, 4.0, None, 12.5, None]]
    assert [column.digits for column in page_columns(titles, rows)] == [0, 0, 1, 1, 1, 3]
    assert split_means([["a", "mean", 1.0], ["a", "Girl", 2.0]]) == ([["a", "mean", 1.0]], [["a", "Girl", 2.0]])
    assert split_means([["Girl", "x", 2.0]]) == ([["Girl", "x", 2.0]], [])


def test_particles_tell_how_time_grows(context):
    notes = run("particles", context).notes
    assert [note[:23] for note in notes] == ["The time of a frame gro", "The time of scoring alo"]
    counts = np.array(VALUES, float)
    assert growth(counts, 2 + 0.01 * counts) < 0.6
    np.testing.assert_allclose(growth(counts, counts**1.2), 1.2)


def test_kept_arrays_are_made_once_and_again_when_broken(tmp_path):
    made = []

    def make():
        made.append(1)
        return {"a": np.arange(3)}

    path = tmp_path / "deep" / "a.npz"
    for _ in range(2):
        np.testing.assert_array_equal(cached_arrays(path, make)["a"], [0, 1, 2])
    assert len(made) == 1
    path.write_bytes(path.read_bytes()[:40])
    np.testing.assert_array_equal(cached_arrays(path, make)["a"], [0, 1, 2])
    assert len(made) == 2
