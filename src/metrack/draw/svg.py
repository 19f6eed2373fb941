"""Drawings as parts of a page: text and axes take the colour of the page's text, light or dark."""

from __future__ import annotations

from html import escape

from metrack.draw.drawing import INK, Area, Drawing, Line, Shape, Text


def to_svg(drawing: Drawing, label: str, style: str = "") -> str:
    """Return a bare ``<svg>`` element as wide as its place; ``label`` says what it shows to who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(drawing.width)} {_number(drawing.height)}" '
        f'class="{escape(style)}" role="img" aria-label="{escape(label)}" font-family="system-ui, sans-serif">'
        + "".join(map(_element, drawing.shapes))
        + "</svg>"
    )


def _element(shape: Shape) -> str:
    match shape:
        case Area():
            place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" width="{_number(shape.w)}"'
            look = f'fill="{_colour(shape.colour)}"{_opacity(shape.strength)}'
            return f'<rect {place} height="{_number(shape.h)}" {look}{_closed("rect", shape.title)}'
        case Line():
            path = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
            dash = ' stroke-dasharray="4 3"' if shape.dashed else ""
            look = f'stroke="{_colour(shape.colour)}" stroke-width="{shape.width:g}"{dash}{_opacity(shape.strength)}'
            shown = f'<polyline points="{path}" fill="none" stroke-linejoin="round" {look}'
            return shown + _closed("polyline", shape.title)
        case Text():
            place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" text-anchor="{shape.anchor}"'
            look = f'font-size="{shape.size}" fill="{_colour(shape.colour)}"{_opacity(shape.strength)}'
            return f"<text {place} {look}>{escape(shape.text)}</text>"


def _closed(name: str, title: str) -> str:
    return f"><title>{escape(title)}</title></{name}>" if title else "/>"


def _colour(colour: str) -> str:
    return "currentColor" if colour == INK else colour


def _opacity(strength: float) -> str:
    return f' opacity="{strength:g}"' if strength < 1 else ""


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
