"""The page of a comparison of trackers, with the same numbers beside it as JSON, CSV and LaTeX.

``report.html`` needs no other file. A tracker has one colour and one line style on the whole page; published
figures without runs stand in the tables. What is not known is left out: attributes, curves, scores, errors.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np

from metrack.draw.chart import Chart
from metrack.draw.page import Cell, Column, Section, page, plots_html, table_html
from metrack.draw.palette import DASHED, INK, Look, looks_of
from metrack.draw.plots import Series, bar_plot, line_plot, scatter_plot
from metrack.evaluation import calibration, scores, tables
from metrack.evaluation.by_frame import details_html
from metrack.evaluation.comparison import Comparison, Reals, TrackerScores
from metrack.evaluation.evaluate import EvaluationSetup
from metrack.evaluation.plan import OPE, SRE, TRE
from metrack.files import replace_text, write_json

PROTOCOLS = {
    OPE: "one pass from the first box",
    TRE: "started again from evenly spaced frames",
    SRE: "started from first boxes that are a little wrong",
}
MOST_BARS = 80
Watch = Callable[[int, int], None]


def write_comparison(
    comparison: Comparison,
    out: Path,
    *,
    title: str,
    setup: EvaluationSetup | None = None,
    watch: Watch = lambda done, total: None,
) -> Path:
    """Write ``report.html``, ``.json``, ``.csv`` and ``.tex`` into a folder; return the path of the page.

    ``setup`` lets the page name the data and the versions of rivals; ``watch(done, total)`` counts sequences drawn.
    """
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "report.json", {"title": title, **tables.to_json(comparison)})
    replace_text(out / "report.csv", tables.to_csv(comparison))
    replace_text(out / "report.tex", tables.to_latex(comparison))
    text = ComparisonPage(comparison, watch).page(title, _footer(comparison, setup))
    replace_text(out / "report.html", text)
    return out / "report.html"


class ComparisonPage:
    """The sections of the page; trackers look the same in all of them."""

    def __init__(self, comparison: Comparison, watch: Watch) -> None:
        self.comparison, self.watch = comparison, watch
        self.names = comparison.names
        self.looks = looks_of(tracker.label for tracker in comparison.trackers)
        self.order = tables.ranked(comparison)

    def page(self, title: str, footer: str) -> str:
        """Return the whole file."""
        made = [self._summary(), self._curves(), self._speed(), self._attributes(), self._calibration()]
        sections = [section for section in [*made, self._table(), self._sequences()] if section is not None]
        count, frames = len(self.names), sum(len(sequence) for sequence in self.comparison.sequences)
        protocol = self.comparison.protocol
        intro = f"{len(self.order)} trackers on {count} sequences, {frames} frames; {PROTOCOLS[protocol.kind]}."
        return page(title, sections, intro=intro, footer=footer)

    def _summary(self) -> Section:
        rows = tables.summary_rows(self.comparison)
        spread = any(row["auc_spread"] is not None for row in rows)
        columns = [Column("Tracker"), *tables.COLUMNS.values(), Column("Sequences", note="scored on so many")]
        cells = [[row["tracker"], *(row[name] for name in tables.COLUMNS), tables.share_of(row)] for row in rows]
        if spread:
            note = "standard deviation of the AUC over the runs on a sequence, averaged over sequences"
            columns.insert(2, Column("± AUC", 0, 3, note=note))
            for cell, row in zip(cells, rows, strict=True):
                cell.insert(2, row["auc_spread"])
        html = table_html(
            columns,
            cells,
            caption="Mean over sequences, best AUC first",
            colours=self._dots([r["tracker"] for r in rows]),
        )
        return Section("Summary", html + _meanings(spread) + self._errors())

    def _dots(self, labels: list[object]) -> list[str | None]:
        return [self.looks[str(label)].colour for label in labels]

    def _errors(self) -> str:
        lines = [
            f"<li>{escape(f'{tracker.label} could not run {name}{_share(tracker, name)}: {error}')}</li>"
            for tracker in self.order
            for name, error in tracker.errors().items()
        ]
        published = [tracker.label for tracker in self.order if not tracker.runs]
        if published:
            lines.append(f"<li>Figures as published, without runs: {escape(', '.join(published))}.</li>")
        return f'<ul class="notes">{"".join(lines)}</ul>' if lines else ""

    def _curves(self) -> Section | None:
        success = {each.label: each.success_curve(self.names) for each in self.order}
        precision = {each.label: each.precision_curve(self.names) for each in self.order}
        if not any(curve.size for curve in success.values()):
            return None
        plots: list[Chart | str] = [
            self._curve(success, scores.SUCCESS_THRESHOLDS, "auc", "Success", "overlap threshold"),
            self._curve(precision, scores.PRECISION_THRESHOLDS, "precision", "Precision", "distance threshold (px)"),
        ]
        intro = (
            "Share of frames whose overlap with the truth exceeds a threshold, and whose centre is within a distance "
            "of it. In brackets: the area under the success curve, and the precision at 20 px."
        )
        return Section("Success and precision", plots_html(plots), intro)

    def _curve(self, curves: dict[str, Reals], x: Reals, figure: str, title: str, x_label: str) -> Chart:
        """Draw one curve per tracker, named with its figure, the best first."""
        worth = {each.label: each.mean(self.names)[figure] for each in self.order if curves[each.label].size}
        shown = {label: f"{label} [{worth[label]:.3f}]" for label in sorted(worth, key=lambda label: -worth[label])}
        return line_plot(
            {name: (x, curves[label]) for label, name in shown.items()},
            title=title,
            x_label=x_label,
            y_label="share of frames",
            y_range=(0, 1),
            looks={name: self.looks[label] for label, name in shown.items()},
        )

    def _speed(self) -> Section | None:
        means = {each.label: each.mean(self.names) for each in self.order}
        points = {
            label: (figures["fps"], figures["auc"])
            for label, figures in means.items()
            if np.isfinite(figures["fps"]) and np.isfinite(figures["auc"])
        }
        if not points:
            return None
        drawn = scatter_plot(
            points,
            title="AUC against frames per second",
            x_label="frames per second (log scale)",
            y_label="AUC",
            looks=self.looks,
        )
        intro = "Time of the tracker alone, without reading frames. Up and to the right is better."
        return Section("Speed against accuracy", plots_html([drawn]), intro)

    def _attributes(self) -> Section | None:
        rows = tables.attribute_rows(self.comparison)
        if not rows:
            return None
        labels = [tracker.label for tracker in self.order]
        columns = [Column("Attribute"), Column("Sequences", 0, 0), *(Column(label, 1, tinted=True) for label in labels)]
        cells = [[row["attribute"], row["sequences"], *(row[label] for label in labels)] for row in rows]
        html = table_html(columns, cells, caption="Mean AUC over the sequences with an attribute", across=True)
        if len(rows) * len(labels) <= MOST_BARS:
            groups = [f"{row['attribute']} ({row['sequences']})" for row in rows]
            series = {label: [_nan(row[label]) for row in rows] for label in labels}
            drawn = bar_plot(groups, series, title="AUC by attribute", y_label="mean AUC", looks=self.looks)
            html = plots_html([html, drawn])
        return Section("Attributes", html, "What is difficult in a sequence, as its makers noted.")

    def _calibration(self) -> Section | None:
        scored = {each.label: pair for each in self.order if (pair := _scores(each)) is not None}
        if not scored:
            return None
        curves: dict[str, Series] = {"as promised": ((0, 1), (0, 1))}
        rows: list[list[Cell]] = []
        for label, (score, overlap) in scored.items():
            table = calibration.reliability(score, overlap)
            filled = table.frames > 0
            curves[label] = (table.score[filled], table.right[filled])
            error = calibration.expected_calibration_error(score, overlap)
            rows.append([label, error, calibration.auroc(score, overlap), len(score)])
        drawn = line_plot(
            curves,
            title="Reliability",
            x_label="score",
            y_label="share of boxes that are right",
            y_range=(0, 1),
            dots=scored,
            looks={"as promised": Look(INK, DASHED), **self.looks},
        )
        columns = [Column("Tracker"), Column("ECE", -1), Column("AUROC", 1), Column("Frames", 0, 0)]
        html = table_html(columns, rows, caption="How far scores can be believed", colours=self._dots(list(scored)))
        intro = (
            "A score is a probability that the box overlaps the truth by more than half. ECE is the mean gap between "
            "promise and result; AUROC the chance that a right box has a higher score than a wrong one."
        )
        return Section("Scores as probabilities", plots_html([drawn, html]), intro)

    def _table(self) -> Section:
        columns = [Column("Sequence"), Column("Frames", 0, 0)]
        columns += [Column(tracker.label, 1, tinted=True) for tracker in self.order]
        cells: list[list[Cell]] = [
            [sequence.name, len(sequence), *(tracker.on(sequence.name)["auc"] for tracker in self.order)]
            for sequence in self.comparison.sequences
        ]
        html = table_html(columns, cells, caption="AUC on every sequence, the bluer the better", across=True)
        return Section("Sequences", html)

    def _sequences(self) -> Section:
        total, parts = len(self.names), []
        self.watch(0, total)
        for done, sequence in enumerate(self.comparison.sequences, 1):
            parts.append(details_html(sequence, self.order, self.looks, opened=done == 1))
            self.watch(done, total)
        intro = "Boxes in the colours of their trackers, the truth thin and white. Grey: no truth, not counted."
        return Section("Frame by frame", "\n".join(parts), intro)


def _scores(tracker: TrackerScores) -> tuple[Reals, Reals] | None:
    """Return scores and overlaps of all frames with truth but the first; None unless all scores are probabilities."""
    made = [run for runs in tracker.runs.values() for run in runs if run.result.error is None]
    score = np.concatenate([np.empty(0), *(run.result.scores[1:] for run in made)])
    overlap = np.concatenate([np.empty(0), *(run.overlap[1:] for run in made)])
    known = ~np.isnan(overlap)
    score, overlap = score[known], overlap[known]
    return (score, overlap) if score.size and ((score >= 0) & (score <= 1)).all() else None


def _share(tracker: TrackerScores, name: str) -> str:
    """Describe the share of runs that failed on a sequence, where not all did."""
    failed = [run.result.error is not None for run in tracker.runs[name]]
    return "" if all(failed) else f" in {sum(failed)} of {len(failed)} runs"


def _meanings(spread: bool) -> str:
    """Explain the columns of the summary, for readers without tooltips."""
    notes = [f"{column.title}: {column.note}" for column in tables.COLUMNS.values()]
    if spread:
        notes.insert(1, "± AUC: standard deviation over the runs on a sequence, averaged over sequences")
    return f'<p class="notes-line">{escape("; ".join(notes))}.</p>'


def _nan(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _footer(comparison: Comparison, setup: EvaluationSetup | None) -> str:
    protocol = comparison.protocol
    starts = "" if protocol.starts is None else f", {protocol.starts} starts"
    lines = [
        f"Protocol {protocol.kind.upper()}{starts}: {PROTOCOLS[protocol.kind]}. "
        f"Repetitions: {protocol.repetitions}. Seed: {protocol.seed}."
    ]
    if setup is not None:
        rivals = [f"{label} ({each['version']})" for label, each in setup.trackers.items() if "version" in each]
        lines.append(f"Data: {Path(setup.data).name}. Trackers: {', '.join(rivals)}.")
    programs = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    lines.append(f"Made by metrack {version('metrack')} with Python {platform.python_version()}, {programs}.")
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
