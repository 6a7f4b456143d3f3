"""Names beside the marks of a plot: none covers another, a mark, the limit or today's line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from .charts import Anchor, Line, Mark, Name

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""

_ORDER: tuple[Mark, ...] = ("advised", "today", "rejected", "other")
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (9, -9, "start"), (-9, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"), (-8, -43, "start"),
)  # fmt: skip
"""The places of a name: from the mark to its end or middle, and to its top."""


@dataclass(frozen=True)
class Point:
    """A mark that wants a name: its place in percent, the number of its row."""

    name: str
    x: float
    y: float
    mark: Mark
    row: int = 0


@dataclass(frozen=True)
class Field:
    """The box of a plot in pixels, on pages that are wide or on phones."""

    width: int
    height: int
    wide: bool

    def around(self, point: Point) -> Box:
        """The box of a mark."""
        x, y = point.x * self.width / 100, point.y * self.height / 100
        return x - 7, y - 7, x + 7, y + 7

    def beside(self, name: Name) -> Box:
        """The box of a name."""
        wide = width_of(name.text)
        left = name.x * self.width / 100 + name.dx
        left -= {"start": 0.0, "middle": wide / 2, "end": wide}[name.anchor]
        top = name.y * self.height / 100 + name.dy
        return left, top, left + wide, top + 17


FIELDS = Field(634, 320, True), Field(284, 290, False)
"""The box of a large plot on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: Line | None
) -> list[Name]:
    """The names of marks, the advised one first, else the numbers of their rows.

    A mark where neither has room gets none. `today` is the place of today's line; the name of the
    limit stands above it at the left.
    """
    taken = [field.around(point) for point in points]
    if today is not None:
        x = today * field.width / 100
        taken.append((x - 2, 0, x + 2, field.height))
    if limit is not None:
        y = limit.at * field.height / 100
        taken += [(0, y - 2, field.width, y + 2), (0, y - 20, width_of(limit.name) + 6, y)]
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
    left, top, right, bottom = box
    return left >= 0 and top >= 0 and right < field.width + 14 and bottom <= field.height + 22


def _overlap(one: Box, other: Box) -> bool:
    across = one[0] < other[2] and other[0] < one[2]
    return across and one[1] < other[3] - 2 and other[1] < one[3] - 2


def width_of(text: str) -> float:
    """The width of a text of 14 pixels with a gap at each side, a little above what fonts need."""
    return 6 + 9.2 * len(text)
