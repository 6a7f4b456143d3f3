"""Names beside the marks of a plot: none covers another, a mark, the limit or today's line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .charts import Anchor, Mark, Name


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float


_ORDER: tuple[Mark, ...] = ("advised", "today", "other", "rejected")
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (9, -9, "start"), (-9, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"), (-8, -43, "start"),
)  # fmt: skip
"""The places to try for a name: pixels from the mark to its anchor, and to its top."""
_AT_THE_LIMIT: tuple[tuple[float, float, float, Anchor], ...] = (
    (0, 6, -20, "start"), (100, -6, -20, "end"), (0, 6, 3, "start"), (100, -6, 3, "end"),
)  # fmt: skip
"""The places to try for the name of the limit: percent from the left, then as for a mark."""


@dataclass(frozen=True)
class Point:
    """A mark that needs a name: its place in percent, and the number of its row."""

    name: str
    x: float
    y: float
    mark: Mark
    row: int = 0


@dataclass(frozen=True)
class Field:
    """The size of a plot in pixels, on `wide` pages or on phones."""

    width: int
    height: int
    wide: bool

    def around(self, point: Point) -> Box:
        """The box of a mark."""
        x, y = point.x * self.width / 100, point.y * self.height / 100
        return Box(x - 7, y - 7, x + 7, y + 7)

    def beside(self, name: Name) -> Box:
        """The box of a name."""
        wide = width_of(name.text)
        left = name.x * self.width / 100 + name.dx
        left -= {"start": 0.0, "middle": wide / 2, "end": wide}[name.anchor]
        top = name.y * self.height / 100 + name.dy
        return Box(left, top, left + wide, top + 17)

    def has_room(self, name: Name, taken: Sequence[Box]) -> bool:
        """True if a name overlaps nothing, and lies in the field or only a little to the right of it
        or below."""
        box = self.beside(name)
        within = box.right < self.width + 14 and box.bottom <= self.height + 22
        inside = box.left >= 0 and box.top >= 0 and within
        return inside and not any(_overlap(box, other) for other in taken)


ON_PHONES = Field(284, 290, wide=False)
FIELDS = Field(634, 320, wide=True), ON_PHONES
"""The boxes of a large plot, on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: tuple[float, str] | None
) -> list[Name]:
    """The names placed beside marks, the advised one first; a row number where the name has no room.

    A mark without room for either gets none. `today` is the place of today's line, `limit` that of
    the limit with its name, which has its place first, above or below its line.
    """
    taken = [field.around(point) for point in points]
    if today is not None:
        x = today * field.width / 100
        taken.append(Box(x - 2, 0, x + 2, field.height))
    placed: list[Name] = []
    if limit is not None:
        at, text = limit
        y = at * field.height / 100
        ways = [
            Name(text, x, at, dx, dy, anchor, "rejected", field.wide)
            for x, dx, dy, anchor in _AT_THE_LIMIT
        ]
        placed.append(next((name for name in ways if field.has_room(name, taken)), ways[0]))
        taken += [Box(0, y - 2, field.width, y + 2), field.beside(placed[0])]
    for point in sorted(points, key=lambda point: (_ORDER.index(point.mark), point.row)):
        others = [box for box in taken if box != field.around(point)]
        for text, (dx, dy, anchor) in product(_texts(point, field.width // 12), _BESIDE):
            name = Name(text, point.x, point.y, dx, dy, anchor, point.mark, field.wide)
            if field.has_room(name, others):
                placed.append(name)
                taken.append(field.beside(name))
                break
    return placed


def _texts(point: Point, most: int) -> list[str]:
    """The labels to try for a mark: its name in at most `most` letters, then its row number."""
    name = point.name if len(point.name) <= most else point.name[: most - 1] + "…"
    texts = [f"{name}: ship", name] if point.mark == "advised" else [name]
    return [*texts, str(point.row)] if point.row else texts


def _overlap(one: Box, other: Box) -> bool:
    """True if two boxes have an area in common that is more than two pixels high."""
    across = one.left < other.right and other.left < one.right
    return across and one.top < other.bottom - 2 and other.top < one.bottom - 2


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 9.2 * len(text)
