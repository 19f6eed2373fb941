"""One short run of the built-in clip with two targets and a gallery, and what its report shows."""

import json
import re
import shlex
import shutil

import numpy as np
import pytest
from PIL import Image

from metrack.cli import main
from metrack.draw.palette import PALETTE, target_colour
from metrack.draw.raster import SCALE
from metrack.frames import VideoWriter, open_source
from metrack.identity import Gallery
from metrack.runs.follow import follow
from metrack.runs.job import Job
from metrack.runs.report import is_run, write_page, write_run_report
from metrack.runs.report.curves import identification, occlusion, timeline
from metrack.runs.report.reading import read_run
from metrack.runs.report.strip import moments, shots
from metrack.runs.results import PAGE, PICTURES, read_summary, write_summary
from metrack.synth import builtin_clip
from support.browsing import opened_page

HOSTILE = "<img src=x onerror=alert(1)>&"
WALL = (4.0, 80.0, 24.0, 30.0)


def command(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with an occlusion, a second target that stands still, and a gallery that knows the first."""
    place = tmp_path_factory.mktemp("run")
    clip = builtin_clip(90, (160, 120))
    with VideoWriter(place / "clip.mp4", clip.size, clip.fps, crf=16) as video:
        for image in clip:
            video.write(image)
    views = [("balloon", clip[k], clip.truth[k].box) for k in (0, 5, 10)]
    Gallery.from_boxes([*views, *((HOSTILE, clip[k], (30, 10, 20, 24)) for k in (0, 5, 10))]).save(place / "known.npz")
    job = Job(
        source=str(place / "clip.mp4"),
        boxes=[clip.first_box.to_xywh(), WALL],
        changes={"motion.particles": "100"},
        gallery=str(place / "known.npz"),
    )
    follow(job, place / "out")
    return place / "out"


@pytest.fixture(scope="module")
def run(folder):
    return read_run(folder)


@pytest.fixture(scope="module")
def report(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "deep"
    assert command("report", folder, "-o", out) == 0
    return [out / name for name in (PAGE, *PICTURES)]


def test_the_page_needs_nothing_else_and_says_what_happened(report, run):
    page = report[0].read_text()
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)  # nothing lies beside it here
    assert re.findall(r"(?<!xmlns=\")https?://", page) == []
    assert re.search(r"2 targets through \d+ frames, each from one box", page)
    assert page.count("<h2>") == 4
    assert HOSTILE not in page
    assert page.count("data:image/jpeg") == len(moments(run, 12))
    assert {event.event for event in run.events} >= {"occluded", "reappeared", "identity changed"}
    for event in run.events:
        assert f"{event.frame} {event.event}" in page or "identity" in event.event


def test_the_command_of_the_page_is_that_of_the_run(run):
    words = shlex.split(Job.from_summary(run.summary).command)
    assert words[:3] == ["metrack", "track", run.summary["source"]]
    boxes = [[float(side) for side in words[k + 1].split(",")] for k, word in enumerate(words) if word == "--box"]
    assert boxes == [target["box"] for target in run.summary["targets"]]
    assert words[words.index("--set") + 1] == "motion.particles=100"
    assert words[words.index("--gallery") + 1].endswith("known.npz")


def test_pictures_are_as_large_as_promised(report):
    assert sorted(path.name for path in report[0].parent.iterdir()) == sorted((PAGE, *PICTURES))
    for path in report[1:]:
        with Image.open(path) as picture:
            assert picture.size[0] == 1200 * SCALE


def test_the_report_shows_what_the_states_were_decided_by(run):
    panels = occlusion(run).panels
    assert len(panels) == 6  # two errors and a margin of two targets
    limit, margin = (curve.y for curve in panels[2].curves)
    hidden = np.array([record.state != "tracking" for record in run.records[1]])
    assert 5 < hidden.sum() < len(hidden)
    np.testing.assert_array_equal(limit, 1.0)
    np.testing.assert_array_equal(margin > limit, hidden)  # the box of the first frame was given: no verdict
    assert np.isnan(margin[0])
    begins = np.flatnonzero(np.diff(hidden.astype(int)) == 1) + 1
    assert [span.first for span in panels[2].spans] == begins.tolist()


def test_events_name_the_rule_its_value_its_limit_and_the_score(run):
    for event in (each for each in run.events if each.event in ("occluded", "reappeared")):
        (record,) = [each for each in run.records[event.target] if each.frame == event.frame]
        assert record.verdict.reason in event.reason
        assert f"score {record.score:.2f}" in event.reason.replace("score is", "score")


def test_the_nearest_of_all_frames_so_far_is_whom_the_tracker_names(run):
    known = run.known
    chart = identification(run, 1)
    single, together = ({c.colour: c.y for c in panel.curves if not c.dash} for panel in chart.panels)
    means = np.array([together[colour] for colour in PALETTE[: len(known.names)]]).T
    seen = [k for k, record in enumerate(run.records[1]) if record.distances is not None]
    assert 20 < len(seen) < len(run.records[1])  # nobody is looked for while it is hidden
    for k in seen:
        best = int(np.argmin(means[k]))
        assert run.records[1][k].identity == (known.names[best] if means[k, best] <= known.unknown_above else None)
    assert np.isnan(np.delete(means, seen, axis=0)).all()
    np.testing.assert_allclose(single[PALETTE[0]][seen[0]], means[seen[0], 0])
    assert {"balloon"} <= {span.title.split(":")[0] for span in chart.panels[1].ribbons[0].spans}


def test_an_older_trajectory_gives_the_curves_it_has(folder, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    lines = [json.loads(line) for line in (folder / "trajectory.jsonl").read_text().splitlines()]
    kept = ("frame", "time", "target", "box", "score", "state")
    (old / "trajectory.jsonl").write_text("".join(json.dumps({k: line[k] for k in kept}) + "\n" for line in lines))
    summary = json.loads((folder / "summary.json").read_text())
    new = ("stop", "gallery", "check", "trajectory")
    (old / "summary.json").write_text(json.dumps({k: v for k, v in summary.items() if k not in new}))
    page, *pictures = write_run_report(old)
    assert [path.name for path in pictures] == ["events.png"]
    assert re.findall(r"<h2>(.*?)</h2>", page.read_text()) == ["What was followed", "What happened"]
    wanted = [(e.frame, e.target, e.event) for e in read_run(folder).events if e.event != "identity changed"]
    assert [(e.frame, e.target, e.event) for e in read_run(old).events] == wanted


def test_frames_come_from_the_source_or_from_the_video_or_not_at_all(folder, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    from_source = shots(read_run(moved), 8, 160)
    write_summary(moved, {**read_summary(moved), "source": str(tmp_path / "gone.mp4")})
    from_video = shots(read_run(moved), 8, 160)
    assert [shot.moment for shot in from_video] == [shot.moment for shot in from_source]
    for one, other in zip(from_source, from_video, strict=True):
        assert one.image.shape == other.image.shape == (120, 160, 3)
        assert np.abs(one.image.astype(int) - other.image).mean() < 12
    (moved / "tracked.mp4").unlink()
    assert shots(read_run(moved), 8, 160) == []
    assert "No pictures" in write_page(moved).read_text()


def test_picked_frames_are_those_of_the_whole(folder):
    with open_source(folder / "tracked.mp4") as video:
        every = list(video)
        picked = list(video.pick([3, 40, 41, 500]))
    assert [frame.index for frame in picked] == [3, 40, 41]
    for frame in picked:
        assert frame.time == every[frame.index].time
        np.testing.assert_array_equal(frame.image, every[frame.index].image)


def test_moments_are_the_ends_the_events_and_the_weakest(run):
    chosen = moments(run, 40)
    assert (chosen[0].frame, chosen[-1].frame) == (0, 89)
    assert {event.frame for event in run.events} <= {moment.frame for moment in chosen}
    assert len(moments(run, 4)) == 4
    calm = type(run)(run.folder, run.summary, run.records, [])
    lowest = min((record for records in run.records.values() for record in records), key=lambda each: each.score)
    assert lowest.frame in {moment.frame for moment in moments(calm, 8)}


def test_a_folder_that_is_neither_is_refused_and_nothing_is_written(folder, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert command("report", empty) == 1
    assert "must be a folder made by metrack track, demo or evaluate, but" in " ".join(capsys.readouterr().err.split())
    assert list(empty.iterdir()) == []
    assert command("report", folder, "--show", "csrt") == 1
    assert "are for evaluations" in " ".join(capsys.readouterr().err.split())
    begun = tmp_path / "begun"
    shutil.copytree(folder, begun)
    (begun / "trajectory.jsonl").write_text("")
    assert is_run(begun)
    assert command("report", begun) == 1
    assert "summary.json in" in " ".join(capsys.readouterr().err.split())
    write_summary(begun, {**read_summary(begun), "trajectory": None})
    assert command("report", begun) == 1
    assert "at least one followed frame" in " ".join(capsys.readouterr().err.split())
    (begun / "trajectory.jsonl").write_text('{"frame": 1}\n')
    assert command("report", begun) == 1
    assert "line 1 of" in " ".join(capsys.readouterr().err.split())


def test_the_page_fits_desks_and_telephones_light_and_dark(report):
    with opened_page(report[0]) as (tab, asked_for, complaints):
        assert [url for url in asked_for if not url.startswith("data:")] == [report[0].as_uri()]
        assert complaints == []
        inks = set()
        for width, scheme, seen in ((1280, "light", "wide"), (390, "dark", "narrow")):
            tab.set_viewport_size({"width": width, "height": 900})
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            shown = tab.eval_on_selector_all(
                ".chart svg", "all => all.filter(e => e.clientWidth > 0).map(e => e.getAttribute('class'))"
            )
            assert shown == [seen] * 4  # scores, errors, and who each of two is
            outside = tab.evaluate(
                "[...document.querySelectorAll('.chart svg text')].filter(e => e.getClientRects().length && "
                "e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)"
            )
            assert outside == []
            inks.add(tab.evaluate("getComputedStyle(document.querySelector('.chart svg text')).fill"))
        assert len(inks) == 2


def test_a_timeline_for_each_target_in_its_colour(run):
    panels = timeline(run).panels
    assert [panel.curves[0].colour for panel in panels] == [target_colour(1), target_colour(2)]
    for panel, records in zip(panels, run.records.values(), strict=True):
        np.testing.assert_array_equal(panel.curves[0].y, [record.score for record in records])
