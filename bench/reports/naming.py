"""Labels beside the marks of a plot: none covers another, a mark or the limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .charts import Anchor, Name, Point


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """True if two boxes have an area in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (11, -9, "start"), (-11, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"),
)  # fmt: skip
"""The places to try for a label: pixels from the mark to its anchor, and to its top."""
_AT_THE_LIMIT: tuple[tuple[float, float, Anchor], ...] = (
    (0, 6, "start"), (100, -6, "end"), (65, 0, "middle"), (55, 0, "middle"),
)  # fmt: skip
"""The places to try for the name of the limit: percent from the left, then as for a mark."""
_AT_THE_LINE: tuple[tuple[float, Anchor], ...] = ((4, "start"), (-4, "end"))
"""The places to try for the name of today's line."""
_GAP = 6
"""The pixels to leave free at each side of a label."""
_BELONGS = 26
"""A label this many pixels above or below a mark looks as if it were that mark's."""


@dataclass(frozen=True)
class Field:
    """The size of a plot in pixels, on `wide` pages or on phones."""

    width: int
    height: int
    wide: bool

    def around(self, point: Point, reach: float = 6) -> Box:
        """The box of a mark, up to some pixels above and below it."""
        x, y = point.x * self.width / 100, point.y * self.height / 100
        return Box(x - 7, y - reach, x + 7, y + reach)

    def beside(self, name: Name) -> Box:
        """The box of a label."""
        wide = width_of(name.text)
        left = name.x * self.width / 100 + name.dx
        left -= {"start": 0.0, "middle": wide / 2, "end": wide}[name.anchor]
        top = name.y * self.height / 100 + name.dy
        return Box(left, top + 1, left + wide, top + 17)

    def has_room(self, name: Name, taken: Iterable[Box]) -> bool:
        """True if a label overlaps nothing, and lies in the field or only a little beside it."""
        box = self.beside(name)
        within = box.right <= self.width and box.bottom <= self.height + 8
        return box.left >= -4 and box.top >= 0 and within and not any(map(box.overlaps, taken))


ON_PHONES = Field(284, 290, wide=False)
FIELDS = Field(562, 320, wide=True), ON_PHONES
"""The boxes of a large plot, on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: tuple[float, str] | None
) -> list[Name]:
    """The labels of the marks that have room for one, in the order of the marks. Only where nothing
    else is free they cross the lines of today and of no loss, and, but for grey marks, are near others.

    `today` is the place of today's line, `limit` that of the limit with its name, which has its
    place first, above its line.
    """
    taken = [*map(field.around, points)]
    x = -10.0 if today is None else today * field.width / 100
    lines = [Box(x - 2, 0, x + 2, field.height), Box(0, field.height - 2, field.width, 1e9)]
    placed: list[Name] = []
    if limit is not None:
        at, text = limit
        ways = [
            Name(text, x, at, dx, -20, anchor, "rejected", field.wide)
            for x, dx, anchor in _AT_THE_LIMIT
        ]
        placed.append(next((name for name in ways if field.has_room(name, taken + lines)), ways[0]))
        y = at * field.height / 100
        taken += [Box(0, y - 2, field.width, y + 2), field.beside(placed[0])]
    for point in points:
        own = field.around(point)
        apart = (it for it in points if it.mark == "today" or not own.overlaps(field.around(it)))
        crowd = [field.around(it, _BELONGS) for it in apart if it is not point]
        rooms = [taken + crowd + lines, taken + crowd, taken][: 2 if point.mark == "other" else 3]
        tries = product(rooms, _ways(point, field))
        if name := next((way for boxes, way in tries if field.has_room(way, boxes)), None):
            box = field.beside(name)
            taken.append(box._replace(left=box.left - _GAP, right=box.right + _GAP))
            placed.append(name)
    return placed


def _ways(point: Point, field: Field) -> Iterator[Name]:
    """Yield the labels to try for a mark, the best first: its name with and without its verdict, at
    each place. That of today stands beside its line, if it can."""
    most = field.width // 12
    text = point.name if len(point.name) <= most else f"{point.name[: most - 1]}…"
    if point.mark == "today":
        for top, (dx, anchor) in product((0.0, 50.0), _AT_THE_LINE):
            yield Name(text, point.x, top, dx, 3, anchor, point.mark, field.wide)
    texts = dict.fromkeys([f"{text}: {point.verdict}".removesuffix(": "), text])
    for words, (dx, dy, anchor) in product(texts, _BESIDE):
        yield Name(words, point.x, point.y, dx, dy, anchor, point.mark, field.wide)


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 8.8 * len(text) - 3 * len(re.findall(r"[fijlrt1.,:;' -]", text))
