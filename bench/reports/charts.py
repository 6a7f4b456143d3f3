"""Charts as values with their geometry in percent of their box; the page draws them, texts show `alt`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from .numbers import change, percent, quantity

Mark = Literal["advised", "today", "rejected", "other"]
"""The sign of a strategy, a shape and a colour.

Filled circle, filled square, hollow circle, grey dot.
"""

Side = Literal["above", "below"]


@dataclass(frozen=True)
class Point:
    """One strategy on a scatter chart."""

    name: str
    x: float
    y: float
    mark: Mark
    title: str = ""


@dataclass(frozen=True)
class Scatter:
    """Price (x) against missed turns (y).

    Above `limit` is forbidden; `lines` join the settings of a sweep.
    """

    alt: str
    points: tuple[Point, ...]
    x_unit: str
    x_title: str
    y_title: str
    limit: float | None = None
    lines: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Interval:
    """A change with its bounds on a scale that all rows of a table share; today is 0."""

    alt: str
    low: float
    value: float
    high: float
    scale: tuple[float, float]
    mark: Mark

    def at(self, value: float) -> float:
        """The place of a value in percent; what is outside the scale is at its end."""
        low, high = self.scale
        return 100 * (min(max(value, low), high) - low) / ((high - low) or 1.0)


@dataclass(frozen=True)
class Histogram:
    """Counts (or values of `unit`) by bin.

    `labels` are by bin or by edge, "" for none; `now` is the edge where nothing changes. `values`:
    every bar has its value above it, not only the highest. `wide`: as wide as the page.
    """

    alt: str
    counts: tuple[float, ...]
    labels: tuple[str, ...]
    marks: tuple[Mark, ...]
    now: int | None = None
    unit: str = "count"
    values: bool = False
    wide: bool = False

    @property
    def bars(self) -> list[tuple[float, float, Mark, str]]:
        """The place and the height in percent, the mark and the text of each bar."""
        largest = max([*self.counts, 1e-12])
        texts = [
            quantity(number, self.unit) if number and (self.values or number == largest) else ""
            for number in self.counts
        ]
        if not self.values:
            texts = [text if text not in texts[:place] else "" for place, text in enumerate(texts)]
        many, rows = len(self.counts), zip(self.counts, self.marks, texts, strict=True)
        return [(100 * (at + 0.5) / many, 100 * n / largest, mark, text) for at, (n, mark, text) in enumerate(rows)]

    @property
    def axis(self) -> list[tuple[float, str, str]]:
        """The labels: place in percent, text, look."""
        bins = len(self.counts)
        middle = 0.0 if len(self.labels) > bins else 0.5
        return [(100 * (place + middle) / bins, text, "mut") for place, text in enumerate(self.labels) if text]


@dataclass(frozen=True)
class SweepLine:
    """One measure over the settings of a sweep; `limit` and the side that it forbids."""

    title: str
    unit: str
    values: tuple[float | None, ...]
    limit: float | None = None
    bad: Side = "above"
    dashed: tuple[float | None, ...] = ()
    names: tuple[str, str] = ("", "")

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value of the panel, with some room."""
        limit = [] if self.limit is None else [self.limit]
        values = [*limit, *(value for value in (*self.values, *self.dashed) if value is not None)]
        room = (max(values) - min(values)) * 0.12 or 0.01
        return min(values) - room, max(values) + room

    def down(self, value: float) -> float:
        """The place of a value in percent from the top."""
        low, high = self.ends
        return 100 * (high - value) / (high - low)

    def text(self, value: float) -> str:
        """A value in words."""
        return change(1 + value) if self.unit == "change" else percent(value)

    @property
    def scale(self) -> list[tuple[float, str]]:
        """The lines of the scale: place and text."""
        return [(self.down(value), self.text(value)) for value in ticks(*self.ends, 3)]

    def points(self, dashed: bool = False) -> list[tuple[float, float, Mark, str]]:
        """Place, mark and text of each value; rejected where it is beyond the limit."""
        series = self.dashed if dashed else self.values
        points: list[tuple[float, float, Mark, str]] = []
        for place, value in enumerate(series):
            if value is not None:
                limit = self.limit if self.unit != "change" and self.limit is not None else value
                over = value > limit if self.bad == "above" else value < limit
                mark: Mark = "rejected" if over else "other"
                points.append((100 * (place + 0.5) / len(series), self.down(value), mark, self.text(value)))
        return points

    @property
    def beside(self) -> list[tuple[float, str, str]]:
        """Texts at the right ends of lines, pushed apart: place, text, look."""
        ends = [(self.points()[-1][1], self.names[0], "mut"), (self.points(True)[-1][1], self.names[1], "mut")] if self.dashed else []  # fmt: skip
        if self.limit is not None:
            today = self.unit == "change"
            text = "today" if today else f"limit {percent(self.limit)}"
            ends.append((self.down(self.limit), text, "mut" if today else "rej"))
        last, placed = -math.inf, []
        for at, text, look in sorted(ends):
            last = max(at, last + 18)
            placed.append((last, text, look))
        return placed


@dataclass(frozen=True)
class Sweep:
    """Some measures over one setting, one panel above the other."""

    alt: str
    settings: tuple[str, ...]
    axis: str
    lines: tuple[SweepLine, ...]

    @property
    def labels(self) -> list[tuple[float, str, str]]:
        """The settings that have room for their text on a phone: place, text, look."""
        many = len(self.settings)
        every = math.ceil(many * (9 * max(map(len, self.settings)) + 8) / 190)
        places = range(0, many, every)
        return [(100 * (place + 0.5) / many, self.settings[place], "mut") for place in places]


@dataclass(frozen=True)
class Arcs:
    """Arcs from the result that gave a value to the turn that needed it: (result, turn, values)."""

    alt: str
    results: tuple[int, ...]
    arcs: tuple[tuple[int, int, int], ...]

    @property
    def turns(self) -> list[int]:
        """The turns that needed something, in order."""
        return sorted({turn for _, turn, _ in self.arcs})

    def at(self, step: int) -> float:
        """The place of a step in percent."""
        steps = [*self.results, *self.turns]
        return 2 + 96 * (step - min(steps)) / max(max(steps) - min(steps), 1)

    @property
    def paths(self) -> list[tuple[str, float]]:
        """The curve of each arc in a box of 100 by 100, and its width in pixels; the widest reaches the top."""
        widest, paths = max(abs(self.at(end) - self.at(start)) for start, end, _ in self.arcs) or 1.0, []
        for start, end, values in self.arcs:
            a, b = self.at(start), self.at(end)
            top = 100 - max(abs(b - a) / widest * 128, 30)
            paths.append((f"M{a:.4g} 100C{a:.4g} {top:.4g} {b:.4g} {top:.4g} {b:.4g} 100", min(1 + values * 0.5, 4)))
        return paths

    @property
    def labels(self) -> list[tuple[float, int, str]]:
        """The steps that have room for their number: place, step, look. Turns come first."""
        sources = sorted({start for start, _, _ in self.arcs})
        placed: list[tuple[float, int, str]] = []
        for step, look in [*((turn, "rej") for turn in self.turns), *((start, "mut") for start in sources)]:
            at = self.at(step)
            if all(abs(at - other) > 9 for other, _, _ in placed):
                placed.append((at, step, look))
        return placed


@dataclass(frozen=True)
class Gauge:
    """A value before and now beside its limit; `bad` is the forbidden side."""

    alt: str
    value: float
    unit: str
    before: float | None = None
    limit: float | None = None
    bad: Side = "above"
    failed: bool = True

    def at(self, value: float) -> float:
        """The place of a value in percent."""
        values = [value for value in (self.before, self.value, self.limit) if value is not None]
        low, high = min(values), max(values)
        room = (high - low) * 0.4 or abs(high) * 0.2 or 1.0
        return 100 * (value - low + room) / (high - low + 2 * room)

    @property
    def labels(self) -> list[tuple[float, str, str]]:
        """Place, text and side of the values: the lower one stands left of its mark, the higher one right of it."""
        values = sorted({value for value in (self.before, self.value) if value is not None})
        sides = ("left", "right") if len(values) > 1 else ("middle",)
        return [(self.at(value), quantity(value, self.unit), side) for value, side in zip(values, sides, strict=True)]

    @property
    def limit_text(self) -> str:
        """The limit in words."""
        return f"limit {quantity(self.limit, self.unit)}"


@dataclass(frozen=True)
class Shares:
    """Parts of a whole as one bar: better, the same, worse."""

    alt: str
    better: int
    same: int
    worse: int


@dataclass(frozen=True)
class Bars:
    """A bar by item: name, length from 0 to 1, its text, the mark."""

    alt: str
    items: tuple[tuple[str, float, str, Mark], ...]


Chart = Scatter | Interval | Histogram | Sweep | Arcs | Gauge | Shares | Bars


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round values between two ends, at most so many.

    >>> ticks(0.0, 0.16), ticks(48.0, 67.0, 4)
    ([0.0, 0.05, 0.1, 0.15], [50.0, 55.0, 60.0, 65.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10, 20))
    step = next((one for one in steps if span / one < most), 20 * power)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]
