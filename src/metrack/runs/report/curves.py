"""The charts of a run: scores and states, the errors that tell an occlusion, and distances to known targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from metrack.draw.chart import Chart, Curve, Key, Note, Numbers, Panel, Ribbon, Span
from metrack.draw.palette import DASHED, INK, PALETTE, STATES, target_colour
from metrack.draw.stretches import stretches
from metrack.estimate import TRACKING
from metrack.frames.formats import Record
from metrack.identity import cumulative
from metrack.runs.events import Event
from metrack.runs.report.reading import Known, RunData

UNKNOWN, OTHER = "unknown", "somebody else"
GREY, PALE = 0.5, 0.2  # strengths of ink: unknown, and others
MOST_MARGIN = 3.0  # drawn: how far beyond it does not matter
MOST = len(PALETTE)  # known targets in one chart


def name_of(run: RunData, target: int) -> str:
    """Name a target where there are several."""
    return f"Target {target}" if len(run.records) > 1 else ""


def timeline(run: RunData) -> Chart:
    """Scores over frames, one panel per target: spans where it was not seen, notes where that changed."""
    panels = [
        Panel(
            title=f"{name_of(run, target)}: score" if name_of(run, target) else "Score",
            curves=[Curve(run.numbers_of(target), _array(each.score for each in records), target_colour(target))],
            y_range=(0.0, 1.0),
            spans=_hidden(records),
            notes=[_note(run, event) for event in run.events if event.target == target],
        )
        for target, records in run.records.items()
    ]
    keys = [Key("score: probability that the box is right", target_colour(min(run.records)))]
    return Chart("Score of every frame, and when the target was hidden", panels, [*keys, *_state_keys(run)])


def occlusion(run: RunData) -> Chart | None:
    """The errors of a target, and how far beyond its limit the rule was that decided; None where none are kept."""
    panels = [panel for target in run.records for panel in (*_error_panels(run, target), *_margin_panels(run, target))]
    if not panels:
        return None
    keys = [
        Key("best place in the frame", target_colour(min(run.records))),
        Key("limit: above it, hidden", INK, dash=DASHED),
    ]
    return Chart("Errors over the frames, and what decided", panels, [*keys, *_state_keys(run)])


def identification(run: RunData, target: int) -> Chart | None:
    """Distances to known targets, of each frame and of all so far, and whom they name; None where there are none."""
    known = run.known
    records = [record for record in run.records[target] if record.distances is not None]
    if known is None or not records:
        return None
    frames = _array(record.frame for record in records)
    single = np.array([record.distances for record in records], float)
    scores = _array(record.score for record in records)
    together = cumulative(single, scores) / np.maximum(np.cumsum(scores), 1e-9)[:, None]
    colours = _person_colours(known, together[-1])
    alone = [_nearest(row, known) for row in single]
    top = _top([values[:, known.names.index(name)] for name in colours for values in (single, together)])
    prefix = f"{name_of(run, target)}: " if name_of(run, target) else ""
    axis = run.numbers_of(target)
    panels = [
        _distance_panel(prefix + title, axis, frames, values, names, known, colours, top)
        for title, values, names in (
            ("Each frame by itself", single, alone),
            ("All frames so far, weighted by score", together, [record.identity for record in records]),
        )
    ]
    return Chart("Distance to every known target, and whom it names", panels, _person_keys(known, colours), columns=2)


def _error_panels(run: RunData, target: int) -> Iterator[Panel]:
    records = run.records[target]
    if all(record.evidence is None for record in records):
        return
    foreground = _array(np.nan if (e := record.evidence) is None else e.foreground for record in records)
    template = _array(np.nan if (e := record.evidence) is None else e.template for record in records)
    yield _panel_of(run, target, "Error against what is remembered", foreground)
    yield _panel_of(run, target, "Error against the first frame", template)


def _margin_panels(run: RunData, target: int) -> Iterator[Panel]:
    """Show the margin of every verdict, with its limit at 1."""
    records = run.records[target]
    if all(record.verdict is None for record in records):
        return
    margins = _array(np.nan if (v := record.verdict) is None else min(v.margin, MOST_MARGIN) for record in records)
    axis = run.numbers_of(target)
    limit = Curve(axis, np.ones(len(axis)), INK, dash=DASHED)
    yield _panel_of(run, target, "Value that decided; above 1: hidden", margins, limit)


def _panel_of(run: RunData, target: int, title: str, values: Numbers, *others: Curve) -> Panel:
    name = name_of(run, target)
    return Panel(
        title=f"{name}: {title[0].lower()}{title[1:]}" if name else title,
        curves=[*others, Curve(run.numbers_of(target), values, target_colour(target))],
        y_range=(0.0, _top([values, *(each.y for each in others)])),
        spans=_hidden(run.records[target]),
        height=105.0,
    )


def _distance_panel(
    title: str,
    axis: Numbers,
    frames: Numbers,
    values: Numbers,
    names: Sequence[str | None],
    known: Known,
    colours: dict[str, str],
    top: float,
) -> Panel:
    """Draw the distances of those who have a colour; a ribbon says who is named."""
    places = np.searchsorted(axis, frames)
    spread = np.full((len(axis), len(known.names)), np.nan)
    spread[places] = values
    shown = [Curve(axis, spread[:, known.names.index(name)], colour) for name, colour in colours.items()]
    limit = Curve(axis, np.full(len(axis), known.unknown_above), INK, dash=DASHED)
    return Panel(
        title=title,
        curves=[*([limit] if known.unknown_above < top else []), *shown],
        y_range=(0.0, top),
        ribbons=[Ribbon("named", _named(frames.tolist(), names, colours))],
        height=190.0,
    )


def _named(frames: Sequence[float], names: Sequence[str | None], colours: dict[str, str]) -> list[Span]:
    spans = []
    for name, first, last in stretches(frames, list(names)):
        colour, strength = (INK, GREY) if name is None else (colours[name], 1.0) if name in colours else (INK, PALE)
        spans.append(Span(first, last, colour, f"{name or UNKNOWN}: frames {first:g} to {last:g}", strength))
    return spans


def _nearest(distances: Numbers, known: Known) -> str | None:
    best = int(np.argmin(distances))
    return known.names[best] if distances[best] <= known.unknown_above else None


def _person_colours(known: Known, last: Numbers) -> dict[str, str]:
    """Give the nearest ones a colour, in the order of the gallery."""
    nearest = set(np.argsort(last, kind="stable")[:MOST].tolist())
    shown = [name for place, name in enumerate(known.names) if place in nearest]
    return dict(zip(shown, PALETTE, strict=False))


def _person_keys(known: Known, colours: dict[str, str]) -> list[Key]:
    keys = [Key(name, colour) for name, colour in colours.items()]
    keys += [Key(UNKNOWN, INK, "area", GREY), Key("unknown above", INK, dash=DASHED)]
    hidden = len(known.names) - len(colours)
    return [*keys, Key(f"{OTHER} ({hidden} more, farther away)", INK, "area", PALE)] if hidden else keys


def _hidden(records: Sequence[Record]) -> list[Span]:
    """Return the spans in which a target was not seen."""
    found = stretches([record.frame for record in records], [record.state for record in records])
    return [
        Span(first, last, STATES[state][0], f"{state}: frames {first:g} to {last:g}", STATES[state][1])
        for state, first, last in found
        if state != TRACKING
    ]


def _state_keys(run: RunData) -> list[Key]:
    seen = {record.state for records in run.records.values() for record in records}
    return [Key(state, colour, "area", strength) for state, (colour, strength) in STATES.items() if state in seen]


def _note(run: RunData, event: Event) -> Note:
    return Note(event.frame, f"{event.frame} {run.words(event)}", f"frame {event.frame}: {event.event}, {event.reason}")


def _top(curves: Sequence[Numbers]) -> float:
    highest = max((float(np.nanmax(each)) for each in curves if np.isfinite(each).any()), default=0.0)
    return 1.08 * highest or 1.0


def _array(values: Iterator[float] | Sequence[float]) -> Numbers:
    return np.fromiter(values, float)
