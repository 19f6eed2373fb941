"""Drawings as parts of a page: text and axes take the colour of the page's text, light or dark."""

from __future__ import annotations

from html import escape

from metrack.draw.palette import INK
from metrack.draw.pictures import png_uri
from metrack.draw.shapes import Area, Drawing, Line, Picture, Polygon, Shape, Text


def to_svg(drawing: Drawing, label: str, style: str = "", *, margin: float = 0) -> str:
    """Return a bare ``<svg>`` element as wide as its place; ``label`` describes it to those who cannot see it."""
    corner, (wide, high) = _number(-margin), (_number(side + 2 * margin) for side in (drawing.width, drawing.height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{corner} {corner} {wide} {high}" '
        f'class="{escape(style)}" role="img" aria-label="{escape(label)}" font-family="system-ui, sans-serif">'
        + "".join(map(_element, drawing.shapes))
        + "</svg>"
    )


def _element(shape: Shape) -> str:
    match shape:
        case Area():
            return f"<rect {_rectangle(shape)} {_fill(shape)}{_closed('rect', shape.title)}"
        case Line():
            dash = f' stroke-dasharray="{" ".join(f"{part:g}" for part in shape.dash)}"' if shape.dash else ""
            look = f'stroke="{_colour(shape.colour)}" stroke-width="{shape.width:g}"{dash}{_opacity(shape.strength)}'
            shown = f'<polyline points="{_path(shape)}" fill="none" stroke-linejoin="round" {look}'
            return shown + _closed("polyline", shape.title)
        case Polygon():
            return f'<polygon points="{_path(shape)}" {_fill(shape)}/>'
        case Text():
            x, y = _number(shape.x), _number(shape.y)
            turn = f' transform="rotate({shape.turn} {x} {y})"' if shape.turn else ""
            look = f'text-anchor="{shape.anchor}"{turn} font-size="{shape.size}" {_fill(shape)}'
            return f'<text x="{x}" y="{y}" {look}>{escape(shape.text)}</text>'
        case Picture():
            look = 'preserveAspectRatio="none" style="image-rendering:pixelated"'
            return f'<image {_rectangle(shape)} {look} href="{png_uri(shape.image)}"/>'


def _rectangle(shape: Area | Picture) -> str:
    x, y, w, h = (_number(each) for each in (shape.x, shape.y, shape.w, shape.h))
    return f'x="{x}" y="{y}" width="{w}" height="{h}"'


def _path(shape: Line | Polygon) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)


def _fill(shape: Area | Polygon | Text) -> str:
    return f'fill="{_colour(shape.colour)}"{_opacity(shape.strength)}'


def _closed(name: str, title: str) -> str:
    return f"><title>{escape(title)}</title></{name}>" if title else "/>"


def _colour(colour: str) -> str:
    return "currentColor" if colour == INK else colour


def _opacity(strength: float) -> str:
    return f' opacity="{strength:g}"' if strength < 1 else ""


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
