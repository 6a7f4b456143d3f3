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
    """A mark that wants a name: its place in percent, the number of its row, its words."""

    name: str
    x: float
    y: float
    mark: Mark
    row: int = 0
    title: str = ""


@dataclass(frozen=True)
class Field:
    """The box of a plot in pixels, on pages that are wide or on phones."""

    width: int
    height: int
    wide: bool

    def place(self, x: float, y: float) -> tuple[float, float]:
        """The place of a mark in pixels."""
        return x * self.width / 100, y * self.height / 100


FIELDS = Field(634, 320, True), Field(284, 290, False)
"""The box of a large plot on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: Line | None
) -> list[Name]:
    """The names of marks, the advised one first; a mark where no text has room gets none.

    `today` is the place of today's line; the name of the limit stands above it at the left.
    """
    groups = _groups(points, field)
    taken = [_around(*field.place(group[0].x, group[0].y)) for group in groups]
    if today is not None:
        x, _ = field.place(today, 0)
        taken.append((x - 2, 0, x + 2, field.height))
    if limit is not None:
        _, y = field.place(0, limit.at)
        taken += [(0, y - 2, field.width, y + 2), (0, y - 20, width_of(limit.name) + 6, y)]
    found: list[Name] = []
    for group in groups:
        own = _around(*field.place(group[0].x, group[0].y))
        others = [box for box in taken if box != own]
        tries = [
            Name(text, group[0].x, group[0].y, dx, dy, anchor, group[0].mark, field.wide)
            for text, (dx, dy, anchor) in product(_texts(group, field.width // 12), _BESIDE)
        ]
        if name := next((one for one in tries if _is_free(one, field, others)), None):
            found.append(name)
            taken.append(_box(name, field))
    return found


def _groups(points: Sequence[Point], field: Field) -> list[list[Point]]:
    """The marks at one place, which share a name; the advised one and today's first."""
    groups: dict[tuple[int, int, Mark], list[Point]] = {}
    for point in points:
        x, y = field.place(point.x, point.y)
        groups.setdefault((round(x / 5), round(y / 5), point.mark), []).append(point)
    return sorted(groups.values(), key=lambda group: (_ORDER.index(group[0].mark), group[0].row))


def _texts(group: Sequence[Point], most: int) -> list[str]:
    """The texts to try for marks at one place: names of at most so many letters, then rows."""
    first = group[0].name if len(group[0].name) <= most else group[0].name[: most - 1] + "…"
    texts = [f"{first}: ship", first] if group[0].mark == "advised" else [first]
    if len(group) > 1:
        every = ", ".join(point.name for point in group)
        texts = [*([every] if len(every) <= most else []), f"{first} and {len(group) - 1} more"]
    rows = sorted(point.row for point in group if point.row)
    if not rows:
        return texts
    return [*texts, f"{rows[0]}–{rows[-1]}" if len(rows) > 1 else str(rows[0])]


def _around(x: float, y: float) -> Box:
    """The box of a mark."""
    return x - 7, y - 7, x + 7, y + 7


def _box(name: Name, field: Field) -> Box:
    """The box of a name."""
    x, y = field.place(name.x, name.y)
    wide = width_of(name.text)
    left = x + name.dx - {"start": 0.0, "middle": wide / 2, "end": wide}[name.anchor]
    return left, y + name.dy, left + wide, y + name.dy + 17


def _is_free(name: Name, field: Field, taken: Sequence[Box]) -> bool:
    """True if a name stands inside of the plot and covers nothing that is taken."""
    left, top, right, bottom = box = _box(name, field)
    inside = left >= 0 and top >= 0 and right < field.width + 14 and bottom <= field.height + 22
    return inside and not any(_overlap(box, other) for other in taken)


def _overlap(one: Box, other: Box) -> bool:
    across = one[0] < other[2] and other[0] < one[2]
    return across and one[1] < other[3] - 2 and other[1] < one[3] - 2


def width_of(text: str) -> float:
    """The width of a text of 14 pixels with a gap at each side, a little above what fonts need."""
    return 6 + 9.2 * len(text)
