"""Price against missed turns, laid out for one width: text never scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from .charts import Mark, Point, Scatter, ticks
from .numbers import count, dollars, percent

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""

_LOOKS: dict[Mark, str] = {"advised": "h a", "today": "h s", "rejected": "h r", "other": "h"}


@dataclass
class Layout:
    """A scatter chart in pixels: what is drawn, from the back to the front."""

    chart: Scatter
    width: int
    lines: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    texts: list[tuple[float, float, str, str, str]] = field(default_factory=list)
    marks: list[tuple[float, float, Mark, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """The box between the axes, and the values at its ends."""
        xs = [point.x for point in self.chart.points]
        room = (max(xs) - min(xs)) * 0.09 or abs(xs[0]) * 0.1 or 1.0
        self.height = 410 if self.width > 500 else 380
        self.left, self.top, self.right, self.base = 50, 26, self.width - 14, self.height - 64
        self.ends = min(xs) - room, max(xs) + room
        most = max(point.y for point in self.chart.points) * 1.08
        self.most = max(most, (self.chart.limit or 0.0) * 1.3, 0.01)

    def across(self, value: float) -> float:
        """The place of a price."""
        low, high = self.ends
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def down(self, value: float) -> float:
        """The place of a share."""
        return self.top + (1 - value / self.most) * (self.base - self.top)

    @property
    def zone(self) -> Box | None:
        """The forbidden side of the limit."""
        limit = self.chart.limit
        return None if limit is None else (self.left, self.top, self.right, self.down(limit))


def layout(chart: Scatter, width: int) -> Layout:
    """The chart: a limit with its forbidden side tinted, each mark with its name or row."""
    drawn = Layout(chart, width)
    places = {point.name: (drawn.across(point.x), drawn.down(point.y)) for point in chart.points}
    todays = [drawn.across(point.x) for point in chart.points if point.mark == "today"]
    groups = _groups(drawn)
    taken = [_around(*places[group[0].name]) for group in groups]
    taken += [(x - 2, drawn.top, x + 2, drawn.base - 10) for x in todays]
    _add_prices(drawn)
    _add_shares(drawn)
    if chart.limit is not None:
        taken += _add_limit(drawn, chart.limit, taken)
    drawn.lines += [(x, drawn.top, x, drawn.base + 16, "now") for x in todays]
    for names in chart.lines:
        joined = [places[name] for name in names if name in places]
        drawn.lines += [(*start, *end, "ld") for start, end in pairwise(joined)]
    for group in groups:
        _add_mark(drawn, group, *places[group[0].name], taken)
    return drawn


def _around(x: float, y: float) -> Box:
    """The box of a mark."""
    return x - 7, y - 7, x + 7, y + 7


def _add_prices(drawn: Layout) -> None:
    steps = ticks(*drawn.ends, 4 if drawn.width > 500 else 3)
    step = steps[1] - steps[0] if len(steps) > 1 else 0.0
    for value in steps:
        if drawn.left + 16 < drawn.across(value) < drawn.right - 16:
            text = _price(value, drawn.chart.x_unit, step)
            drawn.texts.append((drawn.across(value), drawn.base + 38, text, "m", "middle"))
    drawn.texts.append((drawn.right, drawn.height - 4, drawn.chart.x_title, "m", "end"))


def _add_shares(drawn: Layout) -> None:
    """Adds the lines of the shares, but none that would touch the limit."""
    limit = drawn.chart.limit
    drawn.texts.append((drawn.left, 14, drawn.chart.y_title, "m", "start"))
    for value in ticks(0.0, drawn.most, 4):
        y = drawn.down(value)
        if limit is None or abs(y - drawn.down(limit)) > 12:
            drawn.lines.append((drawn.left, y, drawn.right, y, "ax"))
            drawn.texts.append((drawn.left - 8, y + 5, percent(value), "m", "end"))


def _add_limit(drawn: Layout, limit: float, taken: Sequence[Box]) -> tuple[Box, Box]:
    """Adds the limit with its words where they have room; gives the boxes of both."""
    left, right, y = drawn.left, drawn.right, drawn.down(limit)
    text = f"above {percent(limit)}: loses too much"
    wide = width_of(text)
    starts = [left + 6 + share * (right - wide - left - 6) for share in (0, 1, 0.75, 0.5, 0.25)]
    boxes = [(start - 4, y - 20, start + wide + 4, y) for start in starts]
    free = (box for box in boxes if not any(_overlap(box, one) for one in taken))
    words = next(free, boxes[0])
    drawn.lines.append((left, y, right, y, "lim"))
    drawn.texts.append((left - 8, y + 5, percent(limit), "m", "end"))
    drawn.texts.append((words[0] + 4, y - 6, text, "r", "start"))
    return (left, y - 2, right, y + 2), words


def _price(value: float, unit: str, step: float) -> str:
    if unit == "usd" and 0 < step < 1:
        decimals = len(f"{step:.9f}".rstrip("0").partition(".")[2])
        return f"${value:,.{max(2, decimals)}f}"
    if unit == "usd":
        return dollars(value).removesuffix(".00")
    if abs(value) >= 1e6 and step >= 1e5:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else count(value)


# ---------------------------------------------------------------- marks and their names


def _groups(drawn: Layout) -> list[list[Point]]:
    """The marks at one place of the chart, which share a label; the advised one and today's first."""
    groups: dict[tuple[int, int, Mark], list[Point]] = {}
    for point in drawn.chart.points:
        place = round(drawn.across(point.x) / 5), round(drawn.down(point.y) / 5), point.mark
        groups.setdefault(place, []).append(point)
    order = [*_LOOKS]
    return sorted(groups.values(), key=lambda group: (order.index(group[0].mark), group[0].row))


def _add_mark(drawn: Layout, group: Sequence[Point], x: float, y: float, taken: list[Box]) -> None:
    """A mark below the earlier ones, with its name, or its row where the name has no room.

    No name covers another, the limit or today's line.
    """
    mark, label = group[0].mark, _placed(drawn, x, y, _texts(group, drawn.width // 13), taken)
    if label is not None:
        text, box, anchor = label
        taken.append(box)
        at = {"start": box[0] + 3, "middle": (box[0] + box[2]) / 2, "end": box[2] - 3}[anchor]
        drawn.texts.append((at, box[1] + 14, text, _LOOKS[mark], anchor))
    title = "; ".join(point.title or point.name for point in group)
    drawn.marks.insert(0, (x, y, mark, title))


def _texts(group: Sequence[Point], most: int) -> list[str]:
    """The texts to try for marks at one place: names of at most so many letters, then rows."""
    first = group[0].name if len(group[0].name) <= most else group[0].name[: most - 1] + "…"
    names = [f"{first}: ship", first] if group[0].mark == "advised" else [first]
    if len(group) > 1:
        every = ", ".join(point.name for point in group)
        names = [*([every] if len(every) <= most else []), f"{first} and {len(group) - 1} more"]
    rows = sorted(point.row for point in group if point.row)
    if not rows:
        return names
    return [*names, f"{rows[0]}–{rows[-1]}" if len(rows) > 1 else str(rows[0])]


_Label = tuple[str, Box, str]
"""A text, its box, and which end of it is next to the mark."""


_BESIDE = (
    (9, -9, "start"), (-9, -9, "end"), (0, -26, "middle"), (0, 9, "middle"), (2, -26, "start"),
    (-2, -26, "end"), (-8, 9, "start"), (8, 9, "end"), (-8, -43, "start"),
)  # fmt: skip
"""The places of a label: from the mark to its end or middle, and to its top."""


def _placed(
    drawn: Layout, x: float, y: float, texts: Sequence[str], taken: Sequence[Box]
) -> _Label | None:
    """The first text that has room beside a mark; None where there is none."""
    others = [box for box in taken if box != _around(x, y)]
    for text, (across, down, anchor) in product(texts, _BESIDE):
        wide = width_of(text)
        left = x + across - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        box = (left, y + down, left + wide, y + down + 17)
        inside = drawn.left < left and box[2] < drawn.width and drawn.top < box[1]
        if inside and box[3] <= drawn.base + 26 and not any(_overlap(box, it) for it in others):
            return text, box, anchor
    return None


def width_of(text: str) -> float:
    """The width of a text of 14 pixels with 3 pixels at each side, a little above what fonts need.

    >>> width_of("mask_1") > width_of("mask")
    True
    """
    narrow, wide = (
        sum(letter in letters for letter in text) for letters in ("ijl.,:'| ", "%MWm@−")
    )
    return 6 + (len(text) - narrow - wide) * 9.2 + narrow * 5.0 + wide * 13.0


def _overlap(one: Box, other: Box) -> bool:
    return (
        one[0] < other[2] and other[0] < one[2] and one[1] < other[3] - 2 and other[1] < one[3] - 2
    )
