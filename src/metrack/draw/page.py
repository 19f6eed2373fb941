"""The shell of every page: one HTML file that needs nothing else, no network, no fonts, one short script.

A page is a title and sections of HTML; a table is columns and rows of text and numbers. Everything that is given as
text is escaped; ``html`` is taken as it is. Light or dark as the reader's system asks, from telephones to desks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from metrack.arrays import Frame
from metrack.draw.chart import Chart
from metrack.draw.layout import draw_chart
from metrack.draw.palette import Look
from metrack.draw.pictures import jpeg_uri
from metrack.draw.shapes import Drawing, Line
from metrack.draw.svg import to_svg

WIDE, NARROW = 1160, 350  # pixels of a chart as wide as the page: for desks and for telephones
PLOT = 400  # pixels of a plot beside others
Cell = str | float | None
NONE = "–"  # where nothing is known


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, a sentence or two of text, and what is shown below."""

    title: str
    html: str
    intro: str = ""

    @property
    def anchor(self) -> str:
        """Id of the section, for links to it."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; ``best`` is +1 where more is better, -1 where less is, 0 where nothing is marked.

    ``digits`` are those after the point; ``tinted`` colours the cells by value, from 0 to 1.
    """

    title: str
    best: int = 0
    digits: int = 3
    tinted: bool = False
    note: str = ""


def page(title: str, sections: Sequence[Section], *, intro: str = "", footer: str = "", style: str = "") -> str:
    """Return the whole HTML file; ``intro`` is text, ``footer`` HTML, ``style`` CSS beyond that of all pages."""
    contents = "".join(f'<a href="#{each.anchor}">{escape(each.title)}</a>' for each in sections)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>\n<style>\n{_asset('page.css')}{style}</style>\n</head>\n<body>",
            f"<header>\n<h1>{escape(title)}</h1>\n{_paragraph(intro)}",
            f'<nav aria-label="Contents">{contents}</nav>\n</header>\n<main>',
            *(_section(each) for each in sections),
            f"</main>\n<footer>{footer}</footer>\n<script>\n{_asset('page.js')}</script>\n</body>\n</html>\n",
        ]
    )


def table_html(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    caption: str,
    colours: Sequence[str | None] = (),
    across: bool = False,
) -> str:
    """Return a table whose columns sort at a click; the best number is bold, the second of three or more underlined.

    Numbers are compared down their column, or ``across`` their row. The first cell of a row names it; ``colours``
    puts a dot of that colour before it.
    """
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"rows must have one cell for each of {len(columns)} columns, got {len(row)}")
    marks = marks_of(columns, rows, across=across)
    dots = [*colours, *[None] * len(rows)]
    body = [
        f"<tr>{_name(row[0], dots[place])}{''.join(map(_cell, columns[1:], row[1:], marks[place][1:]))}</tr>"
        for place, row in enumerate(rows)
    ]
    return (
        f'<div class="table" role="region" aria-label="{escape(caption)}" tabindex="0"><table>'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{''.join(map(_head, columns))}</tr></thead>\n<tbody>\n"
        + "\n".join(body)
        + "\n</tbody></table></div>"
    )


def marks_of(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, across: bool = False) -> list[list[str]]:
    """Return ``best``, ``second`` or nothing for every cell, compared as rounded on the page."""
    signs = [column.best for column in columns]
    seen = [[_seen(column, value) for column, value in zip(columns, row, strict=True)] for row in rows]
    if across:
        sign = next((sign for sign in signs if sign), 0)
        return [_marks([value if each else None for value, each in zip(row, signs, strict=True)], sign) for row in seen]
    down = [_marks([row[place] for row in seen], sign) for place, sign in enumerate(signs)]
    return [[marks[number] for marks in down] for number in range(len(rows))]


def chart_html(chart: Chart) -> str:
    """Return a chart as wide as the page, drawn twice: style sheets show the one for wide or for narrow screens."""
    wide, narrow = draw_chart(chart, WIDE), draw_chart(chart, NARROW, columns=1)
    return f'<div class="chart">{to_svg(wide, chart.label, "wide")}{to_svg(narrow, chart.label, "narrow")}</div>'


def plots_html(parts: Sequence[Chart | str]) -> str:
    """Lay plots, and HTML such as tables, beside each other where there is room."""
    drawn = [to_svg(draw_chart(part, PLOT), part.label) if isinstance(part, Chart) else part for part in parts]
    return '<div class="plots">' + "".join(f'<div class="plot">{each}</div>' for each in drawn) + "</div>"


def legend_html(looks: Mapping[str, Look]) -> str:
    """Return a legend: a sample line and the name of every tracker."""
    keys = []
    for name, look in looks.items():
        sample = Drawing(28, 10, [Line([(0, 5), (28, 5)], look.colour, 3, dash=look.dash)])
        keys.append(f"<li>{to_svg(sample, '')} {escape(name)}</li>")
    return f'<ul class="legend">{"".join(keys)}</ul>'


def strip_html(figures: Iterable[tuple[Frame, str, str]], style: str = "") -> str:
    """Lay photographs in rows: each an image, its alternative text, and the HTML of its caption."""
    shown = [
        f'<figure><img src="{jpeg_uri(image)}" decoding="async" alt="{escape(text)}">'
        f"<figcaption>{caption}</figcaption></figure>"
        for image, text, caption in figures
    ]
    return f'<div class="strip {style}">{"".join(shown)}</div>'


def _section(section: Section) -> str:
    return (
        f'<section id="{section.anchor}">\n<h2>{escape(section.title)}</h2>\n'
        f"{_paragraph(section.intro)}{section.html}\n</section>"
    )


def _paragraph(text: str) -> str:
    return f'<p class="intro">{escape(text)}</p>\n' if text else ""


def _head(column: Column) -> str:
    note = f' title="{escape(column.note)}"' if column.note else ""
    return f'<th scope="col"{note}><button type="button">{escape(column.title)}</button></th>'


def _name(value: Cell, colour: str | None) -> str:
    dot = f'<i class="dot" style="background:{escape(colour)}"></i>' if colour else ""
    return f'<th scope="row">{dot}{escape(str(value))}</th>'


def _seen(column: Column, value: Cell) -> float | None:
    return None if isinstance(value, str) or value is None or not math.isfinite(value) else round(value, column.digits)


def _marks(values: Sequence[float | None], sign: int) -> list[str]:
    """Mark the best where there is a worse one, and the second where there is a third."""
    order = sorted({value for value in values if value is not None}, key=lambda value: -sign * value)
    best = order[0] if sign and len(order) > 1 else None
    second = order[1] if sign and len(order) > 2 else None
    return [
        "" if value is None else "best" if value == best else "second" if value == second else "" for value in values
    ]


def _cell(column: Column, value: Cell, mark: str) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    if value is None or not math.isfinite(value):
        return f"<td>{NONE}</td>"
    tint = f' class="tinted" style="--share:{100 * min(max(value, 0.0), 1.0):.0f}%"' if column.tinted else ""
    text = f"{value:.{column.digits}f}"
    shown = {"best": f"<b>{text}</b>", "second": f"<u>{text}</u>"}.get(mark, text)
    return f'<td data-value="{value:.6g}"{tint}>{shown}</td>'


def _asset(name: str) -> str:
    return (files("metrack.draw") / name).read_text(encoding="utf-8")
