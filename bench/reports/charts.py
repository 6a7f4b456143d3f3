"""Charts as values, with geometry in percent of their box; a page draws them, a text shows
`alt`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Mark = Literal["advised", "acceptable", "today", "rejected", "other"]
"""The sign of a strategy: filled circle, filled square, hollow circle, grey dot."""

Anchor = Literal["start", "middle", "end"]
"""The part of a text that is at its position."""


@dataclass(frozen=True)
class Axis:
    """A scale from the value at its beginning (left or top) to the one at its end."""

    first: float
    last: float

    def at(self, value: float) -> float:
        """The place of a value in percent.

        >>> Axis(10.0, 20.0).at(12.0), Axis(0.2, 0.0).at(0.05)
        (20.0, 75.0)
        """
        return 100 * (value - self.first) / ((self.last - self.first) or 1.0)


@dataclass(frozen=True)
class Range:
    """A value and an interval on a scale, drawn in a table cell, with a line at 0: no
    change."""

    alt: str
    value: float
    ends: tuple[float, float]
    axis: Axis
    mark: Mark


@dataclass(frozen=True)
class Histogram:
    """Counts by bin, with a text at the first of the highest bars, and one at each end of the axis
    ("" for none)."""

    alt: str
    counts: tuple[float, ...]
    marks: tuple[Mark, ...]
    highest: str
    ends: tuple[str, str]

    @property
    def bars(self) -> Iterator[tuple[float, float, Mark, str]]:
        """Yield the position and the height in percent, the mark and the text of each bar."""
        largest = max([*self.counts, 1e-12])
        for at, (number, mark) in enumerate(zip(self.counts, self.marks, strict=True)):
            is_first = number == largest and largest not in self.counts[:at]
            text = self.highest if is_first else ""
            yield 100 * (at + 0.5) / len(self.counts), 100 * number / largest, mark, text

    @property
    def axis(self) -> list[tuple[float, str]]:
        """The labels, each with its position in percent."""
        return [(at, text) for at, text in zip((0.0, 100.0), self.ends, strict=True) if text]


@dataclass(frozen=True)
class Point:
    """A mark of a plot: its place in percent, a text to show on demand, and its `name`."""

    x: float
    y: float
    mark: Mark
    title: str
    name: str = ""


@dataclass(frozen=True)
class Name:
    """A text beside a mark: its `anchor` is `dx` pixels and its top `dy` pixels from the mark.

    It is for `wide` pages, or else for phones.
    """

    text: str
    x: float
    y: float
    dx: float
    dy: float
    anchor: Anchor
    mark: Mark
    wide: bool


@dataclass(frozen=True)
class Plot:
    """Marks, in percent from the left and from the top.

    `scale` and `axis` are lines and labels at the left and below, `limit` and `today` the places of
    the lines to compare with, from the top and from the left; above the limit is forbidden. A plot
    with `names` is large.
    """

    alt: str
    marks: tuple[Point, ...]
    axis: tuple[tuple[float, str], ...]
    axis_title: str
    scale: tuple[tuple[float, str], ...] = ()
    scale_title: str = ""
    limit: float | None = None
    today: float | None = None
    names: tuple[Name, ...] = ()


Chart = Range | Histogram | Plot


def spaced(
    labels: Iterable[tuple[float, str]], room: Callable[[str], float]
) -> tuple[tuple[float, str], ...]:
    """The labels that fit beside those before them, in order of place; each needs `room`, in
    percent.

    >>> spaced([(4, "2"), (0, "1"), (10, "3")], lambda text: 6.0)
    ((4, '2'), (10, '3'))
    """
    kept: list[tuple[float, str]] = []
    for place, text in labels:
        if all(2 * abs(place - at) >= room(text) + room(beside) for at, beside in kept):
            kept.append((place, text))
    return tuple(sorted(kept))


def stretched(value: float) -> float:
    """A place on an axis that shows small values apart: the square root, with the value's sign.

    >>> stretched(0.25), stretched(-0.01)
    (0.5, -0.1)
    """
    return math.copysign(math.sqrt(abs(value)), value)
