"""Labels beside the marks of a plot: none covers another, a mark, the limit, or, but for those that
the page names, today's line and the line of no loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .charts import Anchor, Mark, Name, Point


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


_ORDER: tuple[Mark, ...] = ("advised", "today", "acceptable", "other", "rejected")
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (9, -9, "start"), (-9, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"),
)  # fmt: skip
"""The places to try for a label: pixels from the mark to its anchor, and to its top."""
_AT_THE_LIMIT: tuple[tuple[float, float, Anchor], ...] = (
    (0, 6, "start"), (100, -6, "end"), (65, 0, "middle"), (55, 0, "middle"),
)  # fmt: skip
"""The places to try for the name of the limit: percent from the left, then as for a mark."""
_TOGETHER = 14
"""Marks at most this many pixels apart share a label."""
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
        return Box(x - 6, y - reach, x + 6, y + reach)

    def distance(self, one: Point, other: Point) -> float:
        """The distance of two marks, across or down, whichever is larger."""
        across, down = one.x - other.x, one.y - other.y
        return max(abs(across) * self.width, abs(down) * self.height) / 100

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
FIELDS = Field(562, 400, wide=True), ON_PHONES
"""The boxes of a large plot, on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: tuple[float, str] | None
) -> list[Name]:
    """The labels of the marks that have room for one; those that the page names take room near
    other marks too. Marks that are close together share a label.

    `today` is the place of today's line, `limit` that of the limit with its name, which has its
    place first, above its line or at the top.
    """
    taken = [*map(field.around, points)]
    x = -10.0 if today is None else today * field.width / 100
    no_loss = Box(0, field.height - 2, field.width, field.height + 2)
    lines = [Box(x - 2, 0, x + 2, field.height), no_loss]
    placed: list[Name] = []
    if limit is not None:
        at, text = limit
        ways = [
            Name(text, x, top, dx, dy, anchor, "rejected", field.wide)
            for top, dy in ((at, -20), (0.0, 3))
            for x, dx, anchor in _AT_THE_LIMIT
        ]
        placed.append(next((name for name in ways if field.has_room(name, taken + lines)), ways[0]))
        y = at * field.height / 100
        taken += [Box(0, y - 2, field.width, y + 2), field.beside(placed[0])]
    rest = sorted(points, key=_rank)
    while rest:
        group = [point for point in rest if field.distance(point, rest[0]) < _TOGETHER]
        rest = [point for point in rest if point not in group]
        crowd = [field.around(point, _BELONGS) for point in points if point not in group]
        rooms = [taken + lines + crowd, taken + lines, taken][: 3 if group[0].is_named else 1]
        tries = product(rooms, _ways(group, field))
        if name := next((way for boxes, way in tries if field.has_room(way, boxes)), None):
            box = field.beside(name)
            taken.append(box._replace(left=box.left - _GAP, right=box.right + _GAP))
            placed.append(name)
    return placed


def _rank(point: Point) -> tuple[bool, int]:
    return not point.is_named, _ORDER.index(point.mark)


def _ways(group: Sequence[Point], field: Field) -> Iterator[Name]:
    """Yield the labels to try for a group, the best first: each text at each place."""
    xs, ys = [point.x for point in group], [point.y for point in group]
    sides = {"start": max(xs), "middle": (min(xs) + max(xs)) / 2, "end": min(xs)}
    for text, (dx, dy, anchor) in product(_texts(group, field.width // 12), _BESIDE):
        y = min(ys) if dy < -9 else max(ys) if dy > 0 else (min(ys) + max(ys)) / 2
        yield Name(text, sides[anchor], y, dx, dy, anchor, group[0].mark, field.wide)


def _texts(group: Sequence[Point], most: int) -> list[str]:
    """The texts to try for a group: the names of those that the page names, each in at most `most`
    letters; the first one; its name alone."""
    named = [it.name if len(it.name) <= most else f"{it.name[: most - 1]}…" for it in group]
    first = f"{named[0]}: {group[0].verdict}" if group[0].verdict else named[0]
    more = zip(named[1:], group[1:], strict=True)
    key = [first, *(f"{it}: {one.verdict}".rstrip(": ") for it, one in more if one.is_named)]
    return [", ".join(texts) for texts in (key, [first], named[:1])]


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 8.8 * len(text) - 3 * len(re.findall(r"[fijlrt1.,:;' -]", text))
