"""Charts as values, their geometry in percent of their box; the page draws them, texts show `alt`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from .numbers import percent, quantity

Mark = Literal["advised", "today", "rejected", "other"]
"""The sign of a strategy: filled circle, filled square, hollow circle, grey dot."""

Side = Literal["above", "below"]


@dataclass(frozen=True)
class Point:
    """One strategy on a scatter chart; `row` is the number of its row in the table."""

    name: str
    x: float
    y: float
    mark: Mark
    title: str = ""
    row: int = 0


@dataclass(frozen=True)
class Scatter:
    """Price (x) against missed turns (y); above `limit` is forbidden, `lines` join names of a
    sweep.
    """

    alt: str
    points: tuple[Point, ...]
    x_unit: str
    x_title: str
    y_title: str
    limit: float | None = None
    lines: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Range:
    """A value and the range that it belongs to, on a scale, in a cell of a table.

    `line` is the value to compare with: today's, or with `bad` a limit and its forbidden side.
    """

    alt: str
    value: float
    ends: tuple[float, float]
    scale: tuple[float, float]
    mark: Mark
    line: float | None = None
    bad: Side | None = None

    def at(self, value: float) -> float:
        """The place of a value in percent; what is outside the scale is at its end."""
        low, high = self.scale
        return 100 * (min(max(value, low), high) - low) / ((high - low) or 1.0)


@dataclass(frozen=True)
class Histogram:
    """Counts (or values of `unit`) by bin.

    `labels` are by bin or by edge, "" for none; `now` is the edge where nothing changes; `wide`:
    as wide as the page.
    """

    alt: str
    counts: tuple[float, ...]
    labels: tuple[str, ...]
    marks: tuple[Mark, ...]
    now: int | None = None
    unit: str = "count"
    wide: bool = False

    @property
    def bars(self) -> list[tuple[float, float, Mark, str]]:
        """The place and the height in percent, the mark and the text of each bar.

        Only the highest bar has a text.
        """
        largest = max([*self.counts, 1e-12])
        first = next((at for at, number in enumerate(self.counts) if number == largest), None)
        return [
            (
                100 * (at + 0.5) / len(self.counts),
                100 * number / largest,
                mark,
                quantity(number, self.unit) if at == first else "",
            )
            for at, (number, mark) in enumerate(zip(self.counts, self.marks, strict=True))
        ]

    @property
    def axis(self) -> list[tuple[float, str]]:
        """The labels: place in percent, text."""
        bins = len(self.counts)
        middle = 0.0 if len(self.labels) > bins else 0.5
        return [(100 * (place + middle) / bins, text) for place, text in enumerate(self.labels) if text]


@dataclass(frozen=True)
class SweepLine:
    """One measure over the settings of a sweep, as shares; the limit, its name, the side that it
    forbids.
    """

    title: str
    values: tuple[float | None, ...]
    limit: float | None = None
    limit_name: str = ""
    bad: Side = "above"

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value of the panel, with some room."""
        values = [value for value in (*self.values, self.limit) if value is not None]
        room = (max(values) - min(values)) * 0.12 or 0.01
        return min(values) - room, max(values) + room

    def down(self, value: float) -> float:
        """The place of a value in percent from the top."""
        low, high = self.ends
        return 100 * (high - value) / (high - low)

    @property
    def scale(self) -> list[tuple[float, str]]:
        """The lines of the scale: place and text."""
        return [(self.down(value), percent(value)) for value in ticks(*self.ends, 3)]

    @property
    def points(self) -> list[tuple[float, float, Mark]]:
        """The place and the mark of each value; rejected where it is beyond the limit."""
        points: list[tuple[float, float, Mark]] = []
        for place, value in enumerate(self.values):
            if value is not None:
                limit = value if self.limit is None else self.limit
                over = value > limit if self.bad == "above" else value < limit
                at = 100 * (place + 0.5) / len(self.values)
                points.append((at, self.down(value), "rejected" if over else "other"))
        return points


@dataclass(frozen=True)
class Sweep:
    """Some measures over one setting, one panel above the other."""

    alt: str
    settings: tuple[str, ...]
    axis: str
    lines: tuple[SweepLine, ...]

    @property
    def labels(self) -> list[tuple[float, str]]:
        """The settings that have room for their text on a phone: place, text."""
        many = len(self.settings)
        every = math.ceil(many * (9 * max(map(len, self.settings)) + 8) / 190)
        return [(100 * (place + 0.5) / many, self.settings[place]) for place in range(0, many, every)]


Chart = Scatter | Range | Histogram | Sweep


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
