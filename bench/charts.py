"""Charts as static SVG: what a Chart block looks like, drawn by vl-convert from a Vega-Lite specification, byte for byte the same each time.

The text of a page styles the axes (light, dark, print); the colours of series are the same everywhere in a report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .blocks import Chart, Point, visible

VEGA_LITE = "6.1"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#B8A60C")
"""Okabe and Ito's colours, which most colour-blind readers can tell apart; the yellow is darker, to be seen on white."""

GREYS = ("#6a6a6a", "#8f8f8f", "#7d7d7d", "#a3a3a3", "#858585")
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross")
_REFERENCE_SHAPES = ("square", "diamond", "triangle-down", "triangle-up", "cross")
STROKES = {"solid": [1, 0], "dashed": [6, 3], "dotted": [2, 3]}
"""Dash patterns of lines by the name that CSS has for them."""

_SIZES = {"scatter": (400, 270), "line": (620, 190)}


@dataclass(frozen=True)
class Style:
    """How a strategy looks everywhere in a report: colour, point shape, and how its lines are stroked."""

    colour: str
    shape: str
    stroke: str


def styles(strategies: Sequence[str], references: Sequence[str]) -> dict[str, Style]:
    """One style a strategy: declared ones in colour, references in grey told apart by shade, shape and stroke.

    >>> styles(["a"], ["keep_all"])["a"].colour
    '#0072B2'
    """
    found = {}
    strokes = list(STROKES)
    for number, name in enumerate(strategies):
        turn = number // len(PALETTE) % len(_SHAPES)
        found[name] = Style(PALETTE[number % len(PALETTE)], _SHAPES[turn], strokes[turn % len(strokes)])
    for number, name in enumerate(references):
        turn = number % len(_REFERENCE_SHAPES)
        found[name] = Style(GREYS[turn], _REFERENCE_SHAPES[turn], strokes[turn % len(strokes)])
    return found


def svg(chart: Chart, looks: Mapping[str, Style], prefix: str) -> str:
    """The chart as an inline SVG element without namespaces, remote references or fixed text colours; `""` for a chart without points.

    `prefix` makes the ids of this chart its own on a page of several. Series that have no style are grey.
    """
    if not chart.points:
        return ""
    import vl_convert

    names = list(dict.fromkeys(point.series for point in chart.points))
    shown = [looks.get(name, Style(GREYS[0], "circle", "solid")) for name in names]
    drawn: str = vl_convert.vegalite_to_svg(
        _specification(chart, names, shown), vl_version=VEGA_LITE, allowed_base_urls=[]
    )
    return _inline(drawn, prefix)


def _inline(drawn: str, prefix: str) -> str:
    head, _, rest = drawn.partition(">")
    width, height = (re.search(rf'\b{name}="([\d.]+)"', head) for name in ("width", "height"))
    size = f"{width.group(1)} {height.group(1)}" if width and height else "0 0"
    rest = re.sub(r'\b(id="|url\(#)', rf"\g<1>{prefix}", rest)
    rest = re.sub(r' aria-[a-z]+="[^"]*"| role="[^"]*"', "", rest)
    return f'<svg viewBox="0 0 {size}" width="{size.split()[0]}" aria-hidden="true" focusable="false">{rest}'


def _specification(chart: Chart, names: Sequence[str], shown: Sequence[Style]) -> dict[str, Any]:
    """The Vega-Lite specification. Series travel as numbers, so that no name from outside is ever a key or an expression."""
    ids = [f"s{number}" for number in range(len(names))]
    width, height = _SIZES[chart.kind]
    return {
        "width": width,
        "height": height,
        "background": None,
        "autosize": {"type": "pad"},
        "padding": 4,
        "config": {
            "view": {"stroke": None},
            "font": "sans-serif",
            "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "tickCount": 5, "domain": False},
        },
        "data": {"values": [{"s": ids[names.index(p.series)], "x": p.x, "y": p.y, "m": p.mark} for p in chart.points]},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": chart.x_title, "axis": _axis(chart.x_unit), "scale": _scale(chart.x_unit)},
            "y": {"field": "y", "type": "quantitative", "title": chart.y_title, "axis": _axis(chart.y_unit), "scale": _scale(chart.y_unit)},
            "color": _encoded(ids, [style.colour for style in shown]),
        },
        "layer": _scatter(chart, names, ids, shown) if chart.kind == "scatter" else _lines(ids, shown, chart),
    }  # fmt: skip


def _axis(unit: str) -> dict[str, Any]:
    return {"format": ".0%" if unit == "fraction" else "~s" if unit == "tokens" else "d"}


def _scale(unit: str) -> dict[str, Any]:
    return {"domain": [0, 1]} if unit == "fraction" else {"zero": True, "nice": True}


def _encoded(ids: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {"field": "s", "type": "nominal", "legend": None, "scale": {"domain": list(ids), "range": list(values)}}


def _scatter(chart: Chart, names: Sequence[str], ids: Sequence[str], shown: Sequence[Style]) -> list[dict[str, Any]]:
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 0.95, "clip": False},
            "encoding": {"shape": _encoded(ids, [style.shape for style in shown])},
        }
    ]
    for group, align, dx, dy in _labels(chart.points):
        label = visible(", ".join(_short(point.series) for point in group))
        layers.append(
            {
                "data": {"values": [{"x": group[0].x, "y": group[0].y, "label": label}]},
                "mark": {"type": "text", "align": align, "dx": dx, "dy": dy, "fontSize": 12},
                "encoding": {"text": {"field": "label", "type": "nominal"}, "color": {"value": "#000"}},
            }
        )
    return layers


_PLACES = (("left", 10, 0), ("right", -10, 0), ("left", 6, 14), ("right", -6, 14), ("left", 6, -14), ("right", -6, -14))


def _labels(points: Sequence[Point]) -> list[tuple[list[Point], str, int, int]]:
    """Where each name is written (align, dx, dy): the first place beside its point that is free, else the first. Near points share a label."""
    width, height = _SIZES["scatter"]
    widest = max((point.x for point in points), default=0.0) or 1.0
    groups: list[list[Point]] = []
    for point in sorted(points, key=lambda item: (item.x, item.y, item.series)):
        near = (g for g in groups if abs(g[0].x - point.x) < 0.03 * widest and abs(g[0].y - point.y) < 0.03)
        group = next(near, None)
        if group is None:
            groups.append([point])
        else:
            group.append(point)
    at = {id(group): (group[0].x / widest * width, (1 - group[0].y) * height) for group in groups}
    taken = [(x - 6, x + 6, y - 6, y + 6) for x, y in at.values()]
    found = []
    for group in groups:
        x, y = at[id(group)]
        long = 7 * len(", ".join(_short(point.series) for point in group))
        boxes = []
        for align, dx, dy in _PLACES:
            start = x + dx if align == "left" else x + dx - long
            boxes.append((start, start + long, y + dy - 6, y + dy + 6))
        free = (
            n
            for n, box in enumerate(boxes)
            if box[0] > -20 and box[1] < width + 40 and not any(_meet(box, t) for t in taken)
        )
        chosen = next(free, 0)
        taken.append(boxes[chosen])
        found.append((group, *_PLACES[chosen]))
    return found


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


def _lines(ids: Sequence[str], shown: Sequence[Style], chart: Chart) -> list[dict[str, Any]]:
    marks = sorted({point.mark for point in chart.points if point.mark})
    return [
        {
            "mark": {"type": "line", "strokeWidth": 2, "interpolate": "linear"},
            "encoding": {"strokeDash": _encoded(ids, [STROKES[style.stroke] for style in shown])},
        },
        {
            "transform": [{"filter": "datum.m !== ''"}],
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {
                "shape": {
                    "field": "m",
                    "type": "nominal",
                    "legend": None,
                    "scale": {"domain": marks, "range": [_MARK_SHAPES.get(mark, "circle") for mark in marks]},
                }
            },
        },
    ]


_MARK_SHAPES = {"history cut": "triangle-down", "needs what is gone": "cross"}
