"""Labels beside the marks of a plot: none covers another, a mark or the limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .charts import Anchor, Name, Point
from .numbers import listed


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


_LEVEL = -9
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (11, _LEVEL, "start"), (-11, _LEVEL, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
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

    def around(self, point: Point, reach: float = 6, side: float = 7) -> Box:
        """The box of a mark, up to some pixels above and below it, and at each side."""
        x, y = point.x * self.width / 100, point.y * self.height / 100
        return Box(x - side, y - reach, x + side, y + reach)

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
    """The labels of the marks that have room for one, in the order of the marks; one for marks that
    overlap and look alike. Each is on its mark's side of the limit and of today's line. Only where
    nothing else is free it crosses the line of no loss, or, but for grey marks, is near others or
    crosses today's line.

    `today` is the place of today's line, `limit` that of the limit with its name, which has its
    place first, above its line; where there is no room, the name ends before its colon.
    """
    taken = [*map(field.around, points)]
    x, y = -10.0 if today is None else today * field.width / 100, -1.0
    floor = Box(0, field.height - 2, field.width, 1e9)
    placed: list[Name] = []
    if limit is not None:
        at, text = limit
        ways = [
            Name(words, left, at, dx, -20, anchor, "rejected", field.wide)
            for words in (text, text.partition(":")[0])
            for left, dx, anchor in _AT_THE_LIMIT
        ]
        boxes = [*taken, floor, Box(x - 2, 0, x + 2, field.height)]
        placed.append(next((name for name in ways if field.has_room(name, boxes)), ways[0]))
        taken.append(field.beside(placed[0]))
        y = at * field.height / 100
    for group in _groups(points, field):
        point, own = group[0], field.around(group[0])
        left, above = point.x * field.width / 100 < x, point.y * field.height / 100 < y
        across = Box(x - 2, 0, 1e9, 1e9) if left else Box(-1e9, 0, x + 2, 1e9)
        beyond = Box(0, y - 2, field.width, 1e9) if above else Box(0, 0, field.width, y + 2)
        sides = taken + ([] if point.mark == "today" else [beyond, across])
        apart = (it for it in points if it.mark == "today" or not own.overlaps(field.around(it)))
        crowd = [field.around(it, _BELONGS, 4) for it in apart if it not in group]
        rooms = [([*sides, floor], crowd), (sides, crowd), (sides, []), (taken, [])]
        tries = product(rooms, _ways(group, field))
        for (boxes, near), way in tries:
            if field.has_room(way, boxes if way.dy == _LEVEL else boxes + near):
                box = field.beside(way)
                taken.append(box._replace(left=box.left - _GAP, right=box.right + _GAP))
                placed.append(way)
                break
    return placed


def _groups(points: Sequence[Point], field: Field) -> list[list[Point]]:
    """The marks in order; those together that overlap and look alike."""
    groups: list[list[Point]] = []
    for point in points:
        own, look = field.around(point), (point.mark, point.verdict)
        alike = (one for one in groups if (one[0].mark, one[0].verdict) == look)
        near = (one for one in alike if any(own.overlaps(field.around(it)) for it in one))
        if group := next(near, None):
            group.append(point)
        else:
            groups.append([point])
    return groups


def _ways(group: Sequence[Point], field: Field) -> Iterator[Name]:
    """Yield the labels to try for marks, the best first: their names with and without their verdict,
    at each place. That of today stands beside its line, if it can."""
    point, most = group[0], field.width // 12
    left, *_, right = sorted([point.x, *(it.x for it in group)])
    ends: dict[Anchor, float] = {"start": right, "end": left, "middle": point.x}
    if point.mark == "today":
        for top, (dx, anchor) in product((0.0, 50.0), _AT_THE_LINE):
            yield Name(point.name, point.x, top, dx, 3, anchor, point.mark, field.wide)
    texts = [listed([it.name for it in group]), f"{point.name} +{len(group) - 1}"][: len(group)]
    texts = [text for text in texts if len(text) <= most] or [f"{point.name[: most - 1]}…"]
    texts = [*(f"{text}: {point.verdict}" for text in texts if point.verdict), *texts]
    for text, (dx, dy, anchor) in product(dict.fromkeys(texts), _BESIDE):
        yield Name(text, ends[anchor], point.y, dx, dy, anchor, point.mark, field.wide)


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 8.8 * len(text) - 3 * len(re.findall(r"[fijlrt1.,:;' -]", text))
