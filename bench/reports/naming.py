"""Labels beside the marks of a plot: none covers another, a mark or a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
    (11, -9, "start"), (-11, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"), (-2, -26, "end"),
)  # fmt: skip
"""The places to try for a label: pixels from the mark to its anchor, and to its top."""


@dataclass(frozen=True)
class Field:
    """The size of a plot in pixels, on `wide` pages or on phones."""

    width: int
    height: int
    wide: bool

    def around(self, point: Point) -> Box:
        """The box of a mark."""
        x, y = point.x * self.width / 100, point.y * self.height / 100
        size = 8 if point.mark == "rejected" else 7
        return Box(x - size, y - size, x + size, y + size)

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
    """The labels of the marks that have room for one, in the order of the marks, and the name of
    the limit after the first.

    `today` is the place of today's line, `limit` that of the limit with its name, above its line or
    at the top. The name and the label of the first mark may cross a line.
    """
    marks, lines, placed = [*map(field.around, points)], list[Box](), list[Name]()
    labels = [([*_ways(point, field)], False) for point in points]
    if today is not None:
        x = today * field.width / 100
        lines.append(Box(x - 1, 0, x + 1, field.height))
    if limit is not None:
        at, text = limit
        ends: list[tuple[float, float, Anchor]] = [(0.0, 6.0, "start"), (100.0, -6.0, "end")]
        ends += [] if today is None else [(today, -6.0, "end")]
        ways = [
            Name(text, x, y, dx, dy, anchor, "rejected", field.wide)
            for y, dy in ((at, -20), (0.0, 3))
            for x, dx, anchor in ends
        ]
        labels.insert(1, (ways, True))
        y = at * field.height / 100
        lines.append(Box(0, y - 1, field.width, y + 1))
    for number, (ways, is_limit) in enumerate(labels):
        boxes = [*marks, *map(field.beside, placed)]
        tries = [[*boxes, *lines], *([boxes] if is_limit or number == 0 else [])]
        free = (way for taken in tries for way in ways if field.has_room(way, taken))
        way = next(free, ways[0] if is_limit else None)
        placed += [] if way is None else [way]
    return placed


def _ways(point: Point, field: Field) -> Iterator[Name]:
    """Yield the labels to try for a mark, the best first; today's stands beside its line, if it
    can."""
    most = field.width // 12
    text = point.name if len(point.name) <= most else f"{point.name[: most - 1]}…"
    if point.mark == "today":
        for y in (0.0, 50.0):
            yield Name(text, point.x, y, 4, 3, "start", point.mark, field.wide)
            yield Name(text, point.x, y, -4, 3, "end", point.mark, field.wide)
    for dx, dy, anchor in _BESIDE:
        yield Name(text, point.x, point.y, dx, dy, anchor, point.mark, field.wide)


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 8.8 * len(text) - 3 * len(re.findall(r"[fijlrt1.,:;' -]", text))
