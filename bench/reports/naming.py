"""Labels beside the marks of a plot: none covers another, a mark, the limit or today's line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

from .charts import Anchor, Mark, Name, Point


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """True if two boxes have an area in common that is more than two pixels high."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom - 2 and other.top < self.bottom - 2


_ORDER: tuple[Mark, ...] = ("advised", "today", "acceptable", "other", "rejected")
_BESIDE: tuple[tuple[float, float, Anchor], ...] = (
    (9, -9, "start"), (-9, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"), (-8, -43, "start"),
)  # fmt: skip
"""The places to try for a label: pixels from the mark to its anchor, and to its top."""
_AT_THE_LIMIT: tuple[tuple[float, float, Anchor], ...] = ((0, 6, "start"), (100, -6, "end"))
"""The places to try for the name of the limit: percent from the left, then as for a mark."""
_REACHES = (14, 24, 40)
"""The distances in pixels up to which marks share a label, each tried where the last had no room."""


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
        return Box(left, top, left + wide, top + 17)

    def has_room(self, name: Name, taken: Iterable[Box]) -> bool:
        """True if a label overlaps nothing, and lies in the field or only a little to the right of
        it or below."""
        box = self.beside(name)
        within = box.right < self.width + 14 and box.bottom <= self.height + 22
        return box.left >= 0 and box.top >= 0 and within and not any(map(box.overlaps, taken))


ON_PHONES = Field(284, 290, wide=False)
FIELDS = Field(562, 400, wide=True), ON_PHONES
"""The boxes of a large plot, on a wide page and on a phone."""


def names(
    points: Sequence[Point], field: Field, today: float | None, limit: tuple[float, str] | None
) -> list[Name]:
    """The labels of all marks. Marks that are close together share one, which has the numbers of
    their rows; some keep their names.

    `today` is the place of today's line, `limit` that of the limit with its name, which has its
    place first, above its line or at the top.
    """
    taken = [field.around(point) for point in points]
    taken.append(Box(0, field.height - 2, field.width, field.height + 2))  # the line of no loss
    if today is not None:
        x = today * field.width / 100
        taken.append(Box(x - 2, 0, x + 2, field.height))
    placed: list[Name] = []
    if limit is not None:
        at, text = limit
        y = at * field.height / 100
        ways = [
            Name(text, x, top, dx, dy, anchor, "rejected", field.wide)
            for top, dy in ((at, -20), (0.0, 3))
            for x, dx, anchor in _AT_THE_LIMIT
        ]
        placed.append(next((name for name in ways if field.has_room(name, taken)), ways[0]))
        taken += [Box(0, y - 2, field.width, y + 2), field.beside(placed[0])]
    tries: list[tuple[int, list[Name]]] = []
    for reach in _REACHES:
        groups = _groups(points, field, reach)
        labels = list(_placed(groups, field, taken))
        tries.append((len(groups) - len(labels), labels))
    _, labels = min(tries, key=lambda tried: tried[0])  # the first with the fewest without one
    return placed + labels


def _groups(points: Sequence[Point], field: Field, reach: float) -> list[list[Point]]:
    """The marks in groups: each is within a distance of another of its group. The advised one
    comes first."""
    groups: list[list[Point]] = []
    for point in points:
        near = [group for group in groups if any(field.distance(point, it) < reach for it in group)]
        far = [group for group in groups if group not in near]
        groups = [*far, [point, *chain.from_iterable(near)]]
    ordered = [sorted(group, key=_rank) for group in groups]
    return sorted(ordered, key=lambda group: _rank(group[0]))


def _rank(point: Point) -> tuple[bool, int, int]:
    return not point.keeps_name, _ORDER.index(point.mark), point.row


def _placed(groups: Iterable[list[Point]], field: Field, taken: Sequence[Box]) -> Iterator[Name]:
    """Yield the labels that have room beside their groups."""
    full = list(taken)
    for group in groups:
        xs, ys = [point.x for point in group], [point.y for point in group]
        sides = {"start": max(xs), "middle": (min(xs) + max(xs)) / 2, "end": min(xs)}
        for text, (dx, dy, anchor) in product(_texts(group, field.width // 12), _BESIDE):
            y = min(ys) if dy < -9 else max(ys) if dy > 0 else (min(ys) + max(ys)) / 2
            name = Name(text, sides[anchor], y, dx, dy, anchor, group[0].mark, field.wide)
            if field.has_room(name, full):
                full.append(field.beside(name))
                yield name
                break


def _texts(group: Sequence[Point], most: int) -> Iterator[str]:
    """Yield the labels to try for a group: names in at most `most` letters, with the row numbers of
    the others or how many they are; then numbers or the first name alone."""
    key = [point for point in group if len(group) == 1 or point.keeps_name]
    if not all(point.row for point in group):
        key = list(group) if len(group) < 3 else key or [group[0]]
    named = [
        point.name if len(point.name) <= most else f"{point.name[: most - 1]}…" for point in key
    ]
    others = [point for point in group if point not in key]
    rows = numbers([point.row for point in others if point.row])
    more = f"{len(others)} more" if others else ""
    rest = f"row{'s' if len(others) > 1 else ''} {rows}" if rows else more
    if group[0].mark == "advised":
        yield ", ".join(filter(None, [f"{named[0]}: ship", *named[1:], rest]))
    yield ", ".join(filter(None, [*named, rest]))
    if named and others:
        yield f"{named[0]}…"
    if all(point.row for point in group):
        yield numbers([point.row for point in group])


def numbers(rows: Iterable[int]) -> str:
    """Row numbers in a few letters.

    >>> numbers([9, 2, 3, 4, 12])
    '2–4, 9, 12'
    """
    spans: list[tuple[int, int]] = []
    for row in sorted(rows):
        follows = bool(spans) and spans[-1][1] == row - 1
        spans[-1:] = [(spans[-1][0], row)] if follows else [*spans[-1:], (row, row)]
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in spans)


def width_of(text: str) -> float:
    """The estimated width, rounded up, of a text of 14 pixels with a gap at each side."""
    return 6 + 9.2 * len(text)
