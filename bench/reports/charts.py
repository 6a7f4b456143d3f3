"""Charts as Vega-Lite specifications, and as static SVG drawn from them by vl-convert, byte for byte the same each time.

The text of a page styles the axes (light, dark, print); the colours of series are the same everywhere in a report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..text.wording import percent, rough, visible
from .blocks import Chart, Point

VEGA_LITE = "6.1"
ADVISED, TODAY = "#0072B2", "#D55E00"
"""The two colours that mean something: what is advised, and what runs today. Okabe and Ito's, which most colour-blind readers tell apart."""

GREYS = ("#6a6a6a", "#8f8f8f", "#7d7d7d", "#a3a3a3", "#858585")
COMPACTED, EVICTED, DANGLING = "compacted", "results evicted", "needs what is gone"
MARKS = {COMPACTED: ("triangle-down", 60), EVICTED: ("square", 190), DANGLING: ("cross", 60)}
"""Things that happen to a prompt, each with a shape and a size that still shows where several meet at one point."""

STROKES = {"solid": [1, 0], "dashed": [6, 3], "dotted": [2, 3]}
"""Dash patterns of lines by their names in CSS."""

_SIZES = {"scatter": (430, 290), "line": (560, 190)}
_FONT = 12
BEYOND = 1.05
UNEVEN = 8
"""From how many times the median on the largest value bends the axis of a line chart."""

_AXES = {"labelFontSize": _FONT, "titleFontSize": _FONT, "titleFontWeight": "normal", "tickCount": 5, "domain": False}
_FORMATS = {"fraction": ".0%", "tokens": "~s", "usd": "$~g"}


@dataclass(frozen=True)
class Style:
    """The looks of a strategy everywhere in a report: colour, point shape, and the stroke of its lines."""

    colour: str
    shape: str
    stroke: str

    @property
    def grey(self) -> bool:
        """True if it marks nothing: neither what is advised nor what runs today."""
        return self.colour in GREYS


def styles(strategies: Sequence[str], advised: str | None = None, today: str | None = None) -> dict[str, Style]:
    """One style a strategy: a colour for the advised one and for today's, greys told apart by shade and stroke for all others.

    >>> looks = styles(["a", "recorded", "b"], advised="a", today="recorded")
    >>> looks["a"].colour == ADVISED, looks["recorded"].shape, looks["b"].colour in GREYS
    (True, 'square', True)
    """
    strokes = list(STROKES)
    found = {
        name: Style(GREYS[at % len(GREYS)], "circle", strokes[at % len(strokes)]) for at, name in enumerate(strategies)
    }
    if today in found:
        found[today] = Style(TODAY, "square", "solid")
    if advised in found:
        found[advised] = Style(ADVISED, "square" if advised == today else "circle", "solid")
    return found


def svg(chart: Chart, looks: Mapping[str, Style], prefix: str) -> str:
    """The chart as an inline SVG element without namespaces, remote references or fixed text colours; `""` for a chart without points.

    `prefix` makes the ids of this chart its own on a page of several. Series that have no style are grey.
    """
    if not chart.points:
        return ""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(specification(chart, looks), vl_version=VEGA_LITE, allowed_base_urls=[])
    return _inline(drawn, prefix)


def _inline(drawn: str, prefix: str) -> str:
    head, _, rest = drawn.partition(">")
    width, height = (re.search(rf'\b{name}="([\d.]+)"', head) for name in ("width", "height"))
    size = f"{width.group(1)} {height.group(1)}" if width and height else "0 0"
    rest = re.sub(r'\b(id="|url\(#)', rf"\g<1>{prefix}", rest)
    rest = re.sub(r' aria-[a-z]+="[^"]*"| role="[^"]*"', "", rest)
    return f'<svg viewBox="0 0 {size}" width="{size.split()[0]}" aria-hidden="true" focusable="false">{rest}'


Spec = dict[str, Any]


def specification(chart: Chart, looks: Mapping[str, Style], *, interactive: bool = False) -> Spec:
    """The Vega-Lite specification. Series travel as numbers, so that no name from outside is ever a key or an expression.

    `interactive` adds what a page can do with it: a text for every point under the pointer, moving, zooming, and the parameter `highlight`
    that names the one series to show in full. Each datum's `n` is the number of its point in `chart.points`.
    """
    drawn = _Drawn(chart, looks)
    spec = {
        "width": drawn.size[0],
        "height": drawn.size[1],
        "background": None,
        "autosize": {"type": "pad"},
        "padding": 4,
        "config": {"view": {"stroke": None}, "font": "sans-serif", "axis": _AXES},
        "data": {"values": drawn.data()},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": chart.x_title, **drawn.across()},
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": chart.y_title,
                **drawn.measure(chart.y_unit, drawn.ys),
            },
            "color": drawn.by_series([style.colour for style in drawn.styles]),
        },
        "layer": drawn.scatter() if chart.kind == "scatter" else drawn.lines(),
    }
    return _made_interactive(spec, chart) if interactive else spec


def _made_interactive(spec: Spec, chart: Chart) -> Spec:
    layers = spec["layer"]
    for layer in layers:
        if "data" not in layer:  # the names belong to no series
            faded = {"condition": {"test": "highlight === '' || datum.s === highlight", "value": 0.95}, "value": 0.1}
            layer["encoding"] = {**layer["encoding"], "opacity": faded}
    spec["encoding"]["tooltip"] = {"field": "t", "type": "nominal"}
    if chart.kind == "line":
        layers.append(_layer("point", filled=True, size=160, opacity=0.0))
    zoom = {"type": "interval", "zoom": "wheel![event.ctrlKey]"}
    layers[0]["params"] = [{"name": "moved", "bind": "scales", "select": zoom}]
    spec["params"] = [{"name": "highlight", "value": ""}]
    spec["config"]["aria"] = False  # the page has the same numbers as a table
    return spec


def _layer(
    mark: str, encoding: Spec | None = None, *, data: list[Spec] | None = None, only: str = "", **looks: Any
) -> Spec:
    """One layer of a chart: its mark with its looks, its own data (None: the points), and the condition on these."""
    made: Spec = {"mark": {"type": mark, **looks}, "encoding": encoding or {}}
    if data is not None:
        made["data"] = {"values": data}
        made["encoding"] = {"tooltip": {"value": None}, **made["encoding"]}
    return made | ({"transform": [{"filter": only}]} if only else {})


def _nominal(field: str, domain: Sequence[str], values: Sequence[Any]) -> Spec:
    scale = {"domain": list(domain), "range": list(values)}
    return {"field": field, "type": "nominal", "legend": None, "scale": scale}


def _number(value: float) -> float:
    """A number that the renderer can read: it has no whole ones above 64 bits."""
    return value if abs(value) < 2**53 else float(value)


def _uneven(unit: str, values: Sequence[float]) -> bool:
    """True if a few values are so large that an even axis would press the others into a line.

    >>> _uneven("tokens", [10.0, 11.0, 12.0, 500.0]), _uneven("tokens", [10.0, 20.0, 30.0])
    (True, False)
    """
    return unit == "tokens" and max(values) > UNEVEN * sorted(values)[len(values) // 2]


class _Drawn:
    """A chart while its specification is made: its series, their styles, and the room there is."""

    def __init__(self, chart: Chart, looks: Mapping[str, Style]) -> None:
        self.chart = chart
        self.ids = {name: f"s{number}" for number, name in enumerate(chart.series)}
        self.styles = [looks.get(name, Style(GREYS[0], "circle", "solid")) for name in chart.series]
        self.size = _SIZES[chart.kind]
        self.right, self.top = chart.edges
        self.points = [replace(point, x=min(point.x, self.right), y=min(point.y, self.top)) for point in chart.points]
        self.labelled = dict(chart.named) or {name: name for name in chart.series}
        self.xs, self.ys = [point.x for point in self.points], [point.y for point in self.points]

    def data(self) -> list[Spec]:
        """Every point with its text under the pointer, those with a name last: they are drawn over the others."""
        found = [self.datum(number, point) for number, point in enumerate(self.chart.points)]
        return sorted(found, key=lambda item: item["l"]) if self.chart.kind == "scatter" else found

    def datum(self, number: int, point: Point) -> Spec:
        """One point; `l` is 1 where it has a name, `o` says at which edge it lies beyond."""
        chart = self.chart
        across = chart.x_names[int(point.x)] if chart.x_names else f"{rough(point.x, chart.x_unit)} {chart.x_title}"
        told = (point.series, across, f"{rough(point.y, chart.y_unit)} {chart.y_title}", point.mark, point.note)
        place = {
            "n": number,
            "s": self.ids[point.series],
            "x": _number(self.points[number].x),
            "y": _number(self.points[number].y),
        }
        if chart.kind == "scatter":
            beyond = "right" if point.x > self.right else "top" if point.y > self.top else ""
            place |= {"l": int(point.series in self.labelled), "o": beyond}
        return {**place, "m": point.mark, "t": visible(" · ".join(filter(None, told)))}

    def by_series(self, values: Sequence[Any]) -> Spec:
        """An encoding with one value for each series."""
        return _nominal("s", list(self.ids.values()), values)

    def ends(self, unit: str, values: Sequence[float]) -> tuple[float, float]:
        """The ends of an axis: a little beyond what is drawn, so that marks are seen whole. A scatter with a limit begins where its points do."""
        limit = self.chart.limit
        if limit is not None:
            low, top = (0.0, max(1.3 * limit, *values)) if unit == "fraction" else (min(values), max(values))
            room = 0.07 * (top - low or abs(top) or 1.0)
            return low - room, top + room
        top = max(1.0 if unit == "fraction" else 0.0 if unit in _FORMATS else 4.0, *values, 1e-9)
        if self.chart.kind == "line" and not self.chart.x_names:
            return 0.0, top * BEYOND
        low = max(0.0, int(10 * min(values, default=0.0) - 0.5) / 10) if unit == "fraction" else 0.0
        return low - (top - low) * (BEYOND - 1), top + (top - low) * (BEYOND - 1)

    def measure(self, unit: str, values: Sequence[float]) -> Spec:
        """Axis and scale of a unit."""
        steps = {"tickMinStep": 1} if unit not in _FORMATS else {}
        bent = {"type": "sqrt"} if self.chart.kind == "line" and _uneven(unit, values) else {}
        scale = {"domain": list(self.ends(unit, values)), "nice": False, **bent}
        return {"axis": {"format": _FORMATS.get(unit, "d"), **steps, **self.ticks(unit)}, "scale": scale}

    def ticks(self, unit: str) -> Spec:
        """No label below 0 % of a share."""
        return (
            {"labelExpr": "datum.value < 0 ? '' : datum.label"}
            if self.chart.limit is not None and unit == "fraction"
            else {}
        )

    def across(self) -> Spec:
        """The x axis: a measure, or places that have names."""
        places = self.chart.x_names
        if not places:
            return self.measure(self.chart.x_unit, self.xs)
        names = " : ".join(f"datum.value === {at} ? {json.dumps(name)}" for at, name in enumerate(places))
        axis = {"values": list(range(len(places))), "labelExpr": f"{names} : ''", "grid": False}
        return {"axis": axis, "scale": {"domain": [-0.2, len(places) - 0.8], "nice": False}}

    def lines(self) -> list[Spec]:
        """A line a series, and a hollow mark where something happened."""
        marks = sorted({point.mark for point in self.chart.points if point.mark})
        happened = {
            "shape": _nominal("m", marks, [MARKS.get(mark, ("circle", 60))[0] for mark in marks]),
            "size": {"condition": {"test": f"datum.m === '{EVICTED}'", "value": MARKS[EVICTED][1]}, "value": 60},
        }
        dashes = {"strokeDash": self.by_series([STROKES[style.stroke] for style in self.styles])}
        return [
            _layer("line", dashes, strokeWidth=2, interpolate="linear"),
            _layer("point", happened, only="datum.m !== ''", filled=False, opacity=1, strokeWidth=2),
        ]

    def scatter(self) -> list[Spec]:
        """The points, a triangle for one beyond the edge, the limit, and the names that matter."""
        chart = self.chart
        shapes = {
            "shape": self.by_series([style.shape for style in self.styles]),
            "size": {"condition": {"test": "datum.l === 1", "value": 130}, "value": 55},
        }
        layers = [_layer("point", shapes, only="datum.o === ''", filled=True, opacity=0.95)]
        for edge, angle in (("right", 90), ("top", 0)):
            if any(item["o"] == edge for item in self.data()):
                layers.append(
                    _layer("point", only=f"datum.o === '{edge}'", shape="triangle", angle=angle, filled=True, size=90)
                )
        black, grey = ({"color": {"value": value}} for value in ("#000", GREYS[1]))
        if chart.limit is not None:
            layers.append(
                _layer("rule", {**grey, "x": None}, data=[{"y": chart.limit}], strokeDash=[6, 3], strokeWidth=1.5)
            )
            named = {"text": {"field": "label", "type": "nominal"}, **grey, "x": {"value": self.size[0]}}
            words = [{"y": chart.limit, "label": f"limit {percent(chart.limit)}"}]
            layers.append(_layer("text", named, data=words, align="right", dy=-7, fontSize=_FONT))
        for label, at, (align, dx, dy), end in self.labels():
            start = {"x": _number(at.x), "y": _number(at.y)}
            if end is not None:  # a thin line to a name that found no room beside its point
                layers.append(_layer("line", grey, data=[start, {"x": end[0], "y": end[1]}], strokeWidth=0.8))
            named = {"text": {"field": "label", "type": "nominal"}, **black}
            looks: Spec = {"align": align, "dx": dx, "dy": dy, "fontSize": _FONT}
            layers.append(_layer("text", named, data=[{**start, "label": label}], **looks))
        return layers

    def labels(self) -> Iterator[tuple[str, Point, tuple[str, int, int], tuple[float, float] | None]]:
        """The name of each point with its place beside it (align, dx, dy): the first that is free, else the one that covers least.

        Points that lie on each other share a name. The last value is the end of a line from the point to a name that is farther off; None beside it.
        """
        left, right = self.ends(self.chart.x_unit, self.xs)
        low, high = self.ends(self.chart.y_unit, self.ys)
        wide, tall = self.size
        across, up = wide / (right - left), tall / (high - low)
        named = [point for point in self.points if point.series in self.labelled]
        groups: list[list[Point]] = []
        for point in sorted(named, key=lambda item: (item.x, item.y, item.series)):
            near = (g for g in groups if abs(g[0].x - point.x) * across < 9 and abs(g[0].y - point.y) * up < 9)
            group = next(near, None)
            if group is None:
                groups.append([point])
            else:
                group.append(point)
        taken = [_box((p.x - left) * across, (high - p.y) * up, -7, 14) for p in self.points]
        if self.chart.limit is not None:
            taken.append(_box(wide, (high - self.chart.limit) * up - 7, -60, 60))
        for group in groups:
            x, y = (group[0].x - left) * across, (high - group[0].y) * up
            names = (self.labelled[p.series] for p in group)
            label = visible(", ".join(name if len(name) <= 34 else name[:33] + "…" for name in names))
            long = 7 * len(label)
            boxes = [_box(x, y + dy, dx if align == "left" else dx - long, long) for align, dx, dy in _PLACES]
            inside = [n for n, box in enumerate(boxes) if box[0] > 0 and box[1] < wide and box[2] > 0 and box[3] < tall]
            chosen = min(inside or [0], key=lambda n: (sum(_meet(boxes[n], other) for other in taken), n))
            taken.append(boxes[chosen])
            _, dx, dy = _PLACES[chosen]
            end = (group[0].x + dx / across, group[0].y - dy / up) if chosen >= len(_NEAR) else None
            yield label, group[0], _PLACES[chosen], end


_NEAR = (("left", 10, 0), ("right", -10, 0), ("left", 6, 14), ("right", -6, 14), ("left", 6, -14), ("right", -6, -14))
_FAR = tuple(
    (align, sign * dx, dy)
    for dy in (28, -28, 42, -42, 56, -56, 70, -70, 84, -84)
    for dx in (10, 24)
    for align, sign in (("left", 1), ("right", -1))
)
_PLACES = (*_NEAR, *_FAR)
"""The places of a name around its point: alignment, and pixels to the right and down."""


def _box(x: float, y: float, start: float, wide: float) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of something 14 pixels high that begins `start` to the right of a place."""
    return x + start, x + start + wide, y - 7, y + 7


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
