"""The page of a run: what was followed, what happened, and the curves that tell why."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files
from pathlib import Path

from metrack.draw.chart import Chart
from metrack.draw.page import Cell, Column, Section, chart_html, page, strip_html, table_html
from metrack.draw.palette import target_colour
from metrack.frames.base import is_camera
from metrack.runs.job import Job
from metrack.runs.report.curves import identification, occlusion, timeline
from metrack.runs.report.reading import RunData
from metrack.runs.report.strip import Shot, shots
from metrack.runs.results import VIDEO
from metrack.tracking import confidence

SHOTS, SHOT_WIDTH = 12, 420
DATA_FILES = (VIDEO, "trajectory.jsonl", "events.jsonl", "boxes.csv", "summary.json")


def run_page(run: RunData, beside: Path) -> str:
    """Return the whole page; ``beside`` is the folder it will lie in, whose files it names."""
    known = [identification(run, target) for target in run.records]
    sections = [
        Section("What was followed", _facts_html(run)),
        Section("What happened", _events_html(run), EVENTS_INTRO),
        *_section("Hidden or not", [occlusion(run)], OCCLUSION_INTRO),
        *_section("Who it is", known, IDENTITY_INTRO),
    ]
    return page(
        f"{_title(run)}, followed",
        sections,
        intro=_intro(run),
        footer=_footer(run, beside),
        style=(files("metrack.runs.report") / "run.css").read_text(encoding="utf-8"),
    )


EVENTS_INTRO = (
    "Frames from the first to the last: where something happened, then where the score was lowest. A dashed box is a "
    "best guess while the target is hidden, a dotted one while it is lost. Below, the score of every frame."
)
OCCLUSION_INTRO = (
    "How badly the best place in a frame is explained: by the appearances remembered, and by those of the first "
    "frame, which are never forgotten. When the target is covered, the errors jump. The last curve shows the value of "
    "the rule that decided each frame: above 1 the target counts as hidden. A visible target becomes hidden when its "
    "error against the memory is above {SUSPICIOUS:g} times the usual one, its score below {UNLIKELY:g} and the "
    "filter's response, where there is a filter, below {FAINT:g}; or when that response falls below {HALVED:g} times "
    "the usual one in other colours. It is seen again when its score is above {SURE:g} ({LIKELY:g} once it was lost), "
    "when the response is at least {FIRM:g}, or when no error is above {FAMILIAR:g} times the usual one. A target "
    "whose place another one has the better claim to is hidden too. The first {SETTLING} frames are not judged."
).format_map(vars(confidence))
IDENTITY_INTRO = (
    "Distance of what was followed to the templates of every known target: first by each frame alone, then by all "
    "frames so far, each weighted by its score and divided by the sum of scores. The bar below the curves says who is "
    "nearest at each frame, in the colour of the curve. Frames in which the target was hidden are left out."
)


def _title(run: RunData) -> str:
    source = str(run.summary["source"])
    parts = [part for part in Path(source).parts if part not in ("/", "img", "img1")]
    return source if "://" in source or is_camera(source) or not parts else parts[-1]


def _intro(run: RunData) -> str:
    count = len(run.records)
    targets, each = ("one target", "") if count == 1 else (f"{count} targets", "each ")
    said = {"done": "", "running": " The run was still under way.", "interrupted": " The run was interrupted."}
    frames = "1 frame" if len(run.frames) == 1 else f"{len(run.frames)} frames"
    return (
        f"metrack followed {targets} through {frames}, {each}from one box in the first frame, and says "
        f"of every frame how sure it is and whether the target is in sight."
        f"{said.get(run.summary['status'], ' The source ended early.')}"
    )


def _facts_html(run: RunData) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{html}</dd>" for name, html in _facts(run))
    return f'<dl class="facts">{rows}</dl>'


def _facts(run: RunData) -> Iterator[tuple[str, str]]:
    """Give names and HTML."""
    summary = run.summary
    width, height = summary["size"]
    frames = run.frames
    yield "source", escape(str(summary["source"]))
    yield "frames", f"{len(frames)} ({frames[0]} to {frames[-1]}) of {width} x {height} pixels"
    yield "length", f"{run.seconds:.1f} seconds at {summary['fps']:.4g} frames a second"
    if summary["tracker_fps"] is not None:
        yield "speed", f"{summary['tracker_fps']:.0f} frames a second (tracker alone)"
    yield "preset", escape(f"{summary['preset']}, seed {summary['seed']}")
    changed = ", ".join(f"{name} = {value}" for name, value in summary["changed"].items())
    yield "settings", escape(changed) or "those of the preset"
    if run.known is not None:
        yield "gallery", escape(f"{len(run.known.names)} known, from {summary['gallery']['path'] or 'memory'}")
    if summary["notice"]:
        yield "note", escape(summary["notice"])
    yield "again", f"<code>{escape(Job.from_summary(summary).command)}</code>"


def _events_html(run: RunData) -> str:
    return _shots_html(shots(run, SHOTS, SHOT_WIDTH)) + chart_html(timeline(run)) + _event_table(run)


def _shots_html(chosen: list[Shot]) -> str:
    if not chosen:
        return "<p>No pictures: the source cannot be read from here, and the run has no video.</p>"
    figures = [
        (shot.image, f"Frame {frame} with its boxes", f"frame {frame}: <b>{escape(shot.moment.why)}</b>")
        for shot in chosen
        for frame in [shot.moment.frame]
    ]
    return strip_html(figures, "moments")


def _event_table(run: RunData) -> str:
    if not run.events:
        return "<p>Nothing happened: in every frame the target counts as seen.</p>"
    columns = [Column("event"), Column("frame", digits=0), Column("second", digits=2), Column("target", digits=0)]
    rows: list[list[Cell]] = [
        [event.event, event.frame, event.time, event.target, event.reason] for event in run.events
    ]
    colours = [target_colour(event.target) for event in run.events]
    return table_html([*columns, Column("why")], rows, caption="Every event", colours=colours)


def _section(title: str, charts: list[Chart | None], intro: str) -> Iterator[Section]:
    shown = [chart_html(chart) for chart in charts if chart is not None]
    if shown:
        yield Section(title, "".join(shown), intro)


def _footer(run: RunData, beside: Path) -> str:
    present = [name for name in DATA_FILES if (beside / name).is_file()]
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in present)
    made = f"Made by metrack {escape(str(run.summary.get('version', '')))}"
    return f"{made}. Beside this page: {links}." if links else f"{made}."
