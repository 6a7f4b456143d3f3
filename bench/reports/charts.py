"""Charts as SVG: one drawing for light, dark, phone and paper, since the page's style sheet gives every colour.

The element is plain text without ids, scripts, addresses or fixed colours. `<title>` says what is under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ..comparison.advice import RUN_TODAY
from ..model import CallShown, Case
from ..text.prompts_shown import happened
from ..text.wording import cut, percent, rough
from .blocks import Chart, Point
from .page_parts import shown

COMPACTED, EVICTED, DANGLING = "compacted", "results evicted", "needs what is gone"
DOT, SQUARE, RIGHT, UP = "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "m-4-4h8v8h-8z", "m-4-5l9 5-9 5z", "m-5 4l5-9 5 9z"
SHAPES = {COMPACTED: "m-4-3h8l-4 7z", EVICTED: "m-6-6h12v12h-12z", DANGLING: "m-4-4l8 8m0-8l-8 8"}
"""Things that happen to a prompt, each with a shape that still shows where several meet at one point."""

WIDTH, LEFT, TOP = 420, 44, 10
HEIGHTS = {"scatter": (WIDTH - LEFT - 10, 240), "line": (WIDTH - LEFT - 10, 140)}
"""Width and height of what lies between the axes, in pixels; small enough for a phone."""

UNEVEN = 8  # from how many times the median on the largest value bends the axis of a line chart
MOST_STRIPS = 120  # the most places of a line chart that can be pointed at
_LETTER = 7
_MEASURES = ("fraction", "tokens", "usd")


def svg(chart: Chart, classes: Mapping[str, str]) -> str:
    """The chart as an SVG element; `""` for a chart without points. `classes` are the style classes of series, which colour them.

    >>> svg(Chart("line", "t", "x", "y", "calls", "tokens", (), "text"), {})
    ''
    """
    if not chart.points:
        return ""
    drawn = _Drawn(chart, classes)
    height = TOP + drawn.high + 34
    inner = "".join([*drawn.axes(), *(drawn.scatter() if chart.kind == "scatter" else drawn.lines())])
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{shown(chart.text)}">{inner}</svg>'


def class_of(series: str, at: int, classes: Mapping[str, str]) -> str:
    """The style class of a series by its name, else by its place in the chart."""
    return classes.get(series, f"x{at}")


def ticks(low: float, high: float, whole: bool = False) -> list[float]:
    """Four to six round numbers from `low` to `high`; `whole` for things that are counted.

    >>> ticks(0.0, 0.11), ticks(0, 3, whole=True)
    ([0.0, 0.02, 0.04, 0.06, 0.08, 0.1], [0.0, 1.0, 2.0, 3.0])
    """
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = max(power * next(by for by in (1, 2, 2.5, 5, 10) if (high - low) / (by * power) <= 6), float(whole))
    first = math.ceil(low / step)
    return [float(f"{(first + at) * step:.6g}") for at in range(int((high - first * step) / step + 1e-9) + 1)]


def _uneven(unit: str, values: Sequence[float]) -> bool:
    """True if a few values are so large that an even axis would press the others into a line.

    >>> _uneven("tokens", [10.0, 11.0, 12.0, 500.0]), _uneven("tokens", [10.0, 20.0, 30.0])
    (True, False)
    """
    return unit == "tokens" and max(values) > UNEVEN * sorted(values)[len(values) // 2]


def _brief(value: float, unit: str) -> str:
    """The text of a tick.

    >>> _brief(12000.0, "tokens"), _brief(0.05, "fraction"), _brief(0.025, "usd"), _brief(3.0, "calls")
    ('12k', '5%', '$0.025', '3')
    """
    if unit == "fraction":
        return percent(value)
    if unit == "usd":
        return f"${value:g}"
    by, letter = next((size for size in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= size[0]), (1.0, ""))
    return f"{value / by:.4g}{letter}"


def _at(*numbers: float) -> str:
    return " ".join(f"{round(number, 1):g}" for number in numbers)


class _Drawn:
    """A chart while it is drawn: its points within its edges, and the pixels of its axes."""

    def __init__(self, chart: Chart, classes: Mapping[str, str]) -> None:
        self.chart = chart
        self.classes = {name: class_of(name, at, classes) for at, name in enumerate(chart.series)}
        self.wide, self.high = HEIGHTS[chart.kind]
        right, top = chart.edges
        self.points = [replace(point, x=min(point.x, right), y=min(point.y, top)) for point in chart.points]
        self.labelled = dict(chart.named) or {name: name for name in chart.series}
        xs, ys = [point.x for point in self.points], [point.y for point in self.points]
        self.x_ends = self.ends(chart.x_unit, xs)
        self.y_ends = self.ends(chart.y_unit, ys)
        self.bent = chart.kind == "line" and _uneven(chart.y_unit, ys)

    def ends(self, unit: str, values: Sequence[float]) -> tuple[float, float]:
        """The ends of an axis: a little beyond what is drawn, so that marks are seen whole. A scatter with a limit begins where its points do."""
        limit = self.chart.limit
        if limit is not None:
            low, top = (0.0, max(1.3 * limit, *values)) if unit == "fraction" else (min(values), max(values))
            room = 0.07 * (top - low or abs(top) or 1.0)
            return low - room, top + room
        top = max(1.0 if unit == "fraction" else 0.0 if unit in _MEASURES else 4.0, *values, 1e-9)
        return 0.0, top * 1.05

    def x(self, value: float) -> float:
        """Pixels from the left."""
        low, high = self.x_ends
        return LEFT + (value - low) / (high - low) * self.wide

    def y(self, value: float) -> float:
        """Pixels from the top."""
        low, high = self.y_ends
        share = (value - low) / (high - low)
        return TOP + (1 - (math.sqrt(max(share, 0.0)) if self.bent else share)) * self.high

    def axes(self) -> Iterator[str]:
        """The grid with its numbers, and the titles of both axes."""
        chart, foot = self.chart, TOP + self.high
        ys = [value for value in ticks(*self.y_ends, chart.y_unit not in _MEASURES) if value >= 0]
        xs = ticks(*self.x_ends, chart.x_unit not in _MEASURES)
        lines = "".join(f"M{_at(LEFT, self.y(value))}h{self.wide}" for value in ys)
        lines += "".join(f"M{_at(self.x(value), foot)}v4" for value in xs)
        yield f'<path class="grid" d="{lines}"/><g class="y">'
        for value in ys:
            yield f'<text x="{LEFT - 5}" y="{_at(self.y(value) + 4)}">{_brief(value, chart.y_unit)}</text>'
        yield '</g><g class="x">'
        for value in xs:
            yield f'<text x="{_at(self.x(value))}" y="{foot + 16}">{_brief(value, chart.x_unit)}</text>'
        yield f'<text x="{LEFT + self.wide / 2:g}" y="{foot + 31}">{shown(chart.x_title)}</text></g>'

    def place(self, x: float) -> str:
        """A place on the x axis in words."""
        return shown(f"{rough(x, self.chart.x_unit)} {self.chart.x_title}")

    def value(self, point: Point) -> str:
        """The value of a point in words, with what happened there."""
        parts = (point.series, rough(point.y, self.chart.y_unit), point.mark, point.note)
        return shown(" · ".join(filter(None, parts)))

    def lines(self) -> Iterator[str]:
        """A line a series, a strip to point at for each place (of many every few), and a hollow mark where something happened."""
        across: dict[float, list[Point]] = {}
        for name, style in self.classes.items():
            own = {point.x: point for point in self.chart.points if point.series == name}
            for x, point in own.items():
                across.setdefault(x, []).append(point)
            path = "L".join(_at(self.x(x), self.y(point.y)) for x, point in own.items())
            yield f'<path class="line {style}" d="M{path}h.1"/>'
        xs = sorted(across)
        every = -(-len(xs) // MOST_STRIPS)
        wide = self.wide / max(1, len(xs)) * every
        for x in xs[::every]:
            step = next((point.step for point in across[x] if point.step is not None), None)
            place = "" if step is None else f' data-step="{step}"'
            texts = "\n".join([self.place(x), *map(self.value, across[x])])
            left = min(self.x(x) - wide / 2, LEFT + self.wide - wide)
            yield f'<rect class="strip"{place} x="{_at(left)}" y="{TOP}" width="{_at(wide)}" height="{self.high}"><title>{texts}</title></rect>'
        for point in self.chart.points:
            if point.mark:
                place = "" if point.step is None else f' data-step="{point.step}"'
                yield self.mark(point, SHAPES.get(point.mark, DOT), f"mark {self.classes[point.series]}", place, point)

    def mark(self, at: Point, shape: str, style: str, place: str = "", said: Point | None = None) -> str:
        """A shape at a point, with the words under the pointer."""
        where = f"M{_at(self.x(at.x), self.y(at.y))}{shape}"
        text = f"{self.value(said or at)} {self.chart.y_title}\n{self.place((said or at).x)}"
        return f'<path class="{style}"{place} d="{where}"><title>{text}</title></path>'

    def scatter(self) -> Iterator[str]:
        """The points (a triangle for one beyond the edge), those that matter over the others, the limit, and the names that matter."""
        chart = self.chart
        right, top = chart.edges
        if (word := self.limit_word) is not None:
            yield f'<path class="limit" d="M{_at(LEFT, self.y(chart.limit or 0.0))}h{self.wide}"/>'
            yield f'<text class="soft" x="{_at(word[0] + 4)}" y="{_at(word[3] - 4)}">limit {percent(chart.limit or 0.0)}</text>'
        both = sorted(zip(self.points, chart.points, strict=True), key=lambda item: item[0].series in self.labelled)
        for at, point in both:
            beyond = RIGHT if point.x > right else UP if point.y > top else ""
            shape = beyond or (SQUARE if point.series == RUN_TODAY else DOT)
            hollow = "hollow " if point.mark else ""
            yield self.mark(at, shape, f"point {hollow}{self.classes[point.series]}", said=point)
        for label, at, (anchor, dx, dy), far in self.labels():
            x, y = self.x(at.x), self.y(at.y)
            if far:  # a thin line to a name that found no room beside its point
                yield f'<path class="lead" d="M{_at(x, y)}l{_at(dx, dy)}"/>'
            yield f'<text class="{anchor}" x="{_at(x + dx)}" y="{_at(y + dy + 4)}">{shown(label)}</text>'

    def mark_box(self, point: Point) -> tuple[float, float, float, float]:
        """The place that a point takes."""
        return _box(self.x(point.x), self.y(point.y), -7, 14)

    @cached_property
    def limit_word(self) -> tuple[float, float, float, float] | None:
        """The place of the limit's name over its line: as far right as no point lies."""
        if self.chart.limit is None:
            return None
        ends = range(LEFT + self.wide, LEFT + 60, -30)
        boxes = [_box(end, self.y(self.chart.limit) - 8, -60, 60) for end in ends]
        points = [*map(self.mark_box, self.points)]
        return min(boxes, key=lambda box: sum(_meet(box, point) for point in points))

    def labels(self) -> Iterator[tuple[str, Point, tuple[str, int, int], bool]]:
        """The name of each point with its place beside it (anchor, dx, dy): the first that is free, else the one that covers least.

        Points that lie on each other share a name. The last value is true for a name that is farther off.
        """
        groups: list[list[Point]] = []
        named = [point for point in self.points if point.series in self.labelled]
        for point in sorted(named, key=lambda item: (item.x, item.y, item.series)):
            x, y = self.x(point.x), self.y(point.y)
            near = (g for g in groups if abs(self.x(g[0].x) - x) < 9 and abs(self.y(g[0].y) - y) < 9)
            if (group := next(near, None)) is None:
                groups.append([point])
            else:
                group.append(point)
        taken = [*map(self.mark_box, self.points), *([self.limit_word] if self.limit_word else [])]
        for group in groups:
            x, y = self.x(group[0].x), self.y(group[0].y)
            label = ", ".join(cut(self.labelled[point.series], 34) for point in group)
            long = _LETTER * len(label)
            boxes = [_box(x, y + dy, dx if anchor == "after" else dx - long, long) for anchor, dx, dy in _PLACES]
            inside = [
                at for at, (left, right, top, foot) in enumerate(boxes)
                if left > LEFT and right < WIDTH and top > 0 and foot < TOP + self.high
            ]  # fmt: skip
            chosen = min(inside or [0], key=lambda at: (sum(_meet(boxes[at], other) for other in taken), at))
            taken.append(boxes[chosen])
            yield label, group[0], _PLACES[chosen], chosen >= len(_NEAR)


_NEAR = (("after", 8, 0), ("before", -8, 0), ("after", 5, 16), ("before", -5, 16), ("after", 5, -16), ("before", -5, -16))  # fmt: skip
_FAR = tuple(
    (anchor, sign * dx, dy)
    for dy in (32, -32, 48, -48, 64, -64, 80, -80, 96, -96)
    for dx in (10, 24)
    for anchor, sign in (("after", 1), ("before", -1))
)
_PLACES = (*_NEAR, *_FAR)  # the places of a name around its point: its side, and pixels to the right and down


def _box(x: float, y: float, start: float, wide: float) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of something 16 pixels high that begins `start` to the right of a place."""
    return x + start, x + start + wide, y - 8, y + 8


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


SENTENCE = "Prompt tokens of each model call. Cross: the turn needed something that was gone."
RARE = {COMPACTED: "Triangle: the strategy compacted the history.", EVICTED: "Square: results left the prompt."}
"""Events that are marked where they are rare, each with its sentence."""

MOST_MARKS = 6
"""The most events of one kind that are marked for one strategy: marks at every other call would hide the line."""


def window_chart(case: Case, shown: Sequence[str], marked: Collection[str]) -> Chart | None:
    """Prompt tokens of the model calls of a case, one line a strategy; only `marked` strategies carry marks. None without a call."""
    points = tuple(point for name in shown if name in case.runs for point in _points(case, name, name in marked))
    if not points:
        return None
    seen = {point.mark for point in points}
    text = " ".join([SENTENCE, *(said for mark, said in RARE.items() if mark in seen)])
    return Chart("line", case.id, "model call", "prompt tokens", "calls", "tokens", points, text, case=case.id)


def _points(case: Case, strategy: str, marked: bool) -> Iterator[Point]:
    curve = case.runs[strategy].window.curve
    often = {mark for mark in RARE if sum(mark in _marks(call) for call in curve) > MOST_MARKS}
    for call in curve:
        marks = [mark for mark in _marks(call) if mark not in often] if marked else []
        note = "; ".join(filter(None, [f"step {call.step}", happened(call) if marked else ""]))
        for mark in marks or [""]:
            yield Point(strategy, call.number, call.tokens, mark, note, call.step)


def _marks(call: CallShown) -> list[str]:
    marks = ((COMPACTED, call.compacted), (EVICTED, bool(call.evicted)), (DANGLING, bool(call.missed)))
    return [mark for mark, so in marks if so]
