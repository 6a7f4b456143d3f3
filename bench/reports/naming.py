"""Names beside the marks of a plot: none covers another, a mark, the limit or today's line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .charts import Anchor, Line, Mark, Name


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float


_ORDER: tuple[Mark, ...] = ("advised", "today", "rejected", "other")
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (9, -9, "start"), (-9, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"), (-8, -43, "start"),
)  # fmt: skip
"""The places to try for a name: pixels from the mark to its anchor, and to its top."""


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


ON_PHONES = Field(284, 290, wide=False)
FIELDS = Field(634, 320, wide=True), ON_PHONES
"""The boxes of a large plot, on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: Line | None
) -> list[Name]:
    """The names placed beside marks, the advised one first; a row number where the name has no room.

    A mark without room for either gets none. `today` is the place of today's line; the name of the
    limit is above its line at the left.
    """
    taken = [field.around(point) for point in points]
    if today is not None:
        x = today * field.width / 100
        taken.append(Box(x - 2, 0, x + 2, field.height))
    if limit is not None:
        y = limit.at * field.height / 100
        line, name_of_line = (y - 2, field.width, y + 2), (y - 20, width_of(limit.name) + 6, y)
        taken += [Box(0, *line), Box(0, *name_of_line)]
    placed: list[Name] = []
    for point in sorted(points, key=lambda point: (_ORDER.index(point.mark), point.row)):
        others = [box for box in taken if box != field.around(point)]
        for text, (dx, dy, anchor) in product(_texts(point, field.width // 12), _BESIDE):
            name = Name(text, point.x, point.y, dx, dy, anchor, point.mark, field.wide)
            box = field.beside(name)
            if _is_inside(box, field) and not any(_overlap(box, other) for other in others):
                placed.append(name)
                taken.append(box)
                break
    return placed


def _texts(point: Point, most: int) -> list[str]:
    """The labels to try for a mark: its name in at most `most` letters, then its row number."""
    name = point.name if len(point.name) <= most else point.name[: most - 1] + "…"
    texts = [f"{name}: ship", name] if point.mark == "advised" else [name]
    return [*texts, str(point.row)] if point.row else texts


def _is_inside(box: Box, field: Field) -> bool:
    """True if a box lies in the field, or only a little to the right of it or below."""
    within = box.right < field.width + 14 and box.bottom <= field.height + 22
    return box.left >= 0 and box.top >= 0 and within


def _overlap(one: Box, other: Box) -> bool:
    """True if two boxes have an area in common that is more than two pixels high."""
    across = one.left < other.right and other.left < one.right
    return across and one.top < other.bottom - 2 and other.top < one.bottom - 2


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 9.2 * len(text)
