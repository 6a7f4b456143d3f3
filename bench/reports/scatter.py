"""Price against missed turns, the chart of the first screen, laid out for one width: text never scales."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .charts import Mark, Point, Scatter, ticks
from .numbers import count, dollars, percent
from .places import Box, placed, width_of

LONGEST = 26
"""The letters of a name that a chart shows."""

_ORDER: tuple[Mark, ...] = ("other", "rejected", "today", "advised")  # the last one lies on top
_LOOKS: dict[Mark, str] = {"advised": "a", "today": "s", "rejected": "r", "other": ""}
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 14, 26, 64


@dataclass
class Layout:
    """A scatter chart in pixels: what is drawn, from the back to the front."""

    width: int
    height: int
    zone: Box | None = None
    lines: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    texts: list[tuple[float, float, str, str, str]] = field(default_factory=list)
    marks: list[tuple[float, float, Mark, str]] = field(default_factory=list)
    taken: list[Box] = field(default_factory=list)

    def text(
        self, x: float, y: float, text: str, look: str = "m", anchor: str = "start", *, keep: bool = False
    ) -> None:
        """A text at its baseline; `keep`: no label may cover it."""
        self.texts.append((x, y, text, look, anchor))
        if keep:
            self.taken.append((x - 4, y - 16, x + 4 + width_of(text), y + 6))


def layout(chart: Scatter, width: int) -> Layout:
    """The chart: the limit as a line, its forbidden side tinted, each mark with its name."""
    drawn = Layout(width, 410 if width > 500 else 380)
    xs, right, base = [point.x for point in chart.points], width - _RIGHT, drawn.height - _BOTTOM
    pad = (max(xs) - min(xs)) * 0.09 or abs(xs[0]) * 0.1 or 1.0
    low, high = min(xs) - pad, max(xs) + pad
    top_value = max(max(point.y for point in chart.points) * 1.08, (chart.limit or 0.0) * 1.5, 0.01)

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (right - _LEFT)

    def down(value: float) -> float:
        return _TOP + (1 - value / top_value) * (base - _TOP)

    places = {point.name: (across(point.x), down(point.y)) for point in chart.points}
    limit = chart.limit
    for value in ticks(0.0, top_value, 4):
        if limit is None or abs(down(value) - down(limit)) > 12:
            drawn.lines.append((_LEFT, down(value), right, down(value), "ax"))
            drawn.text(_LEFT - 8, down(value) + 5, percent(value), anchor="end")
    if limit is not None:
        at = down(limit)
        drawn.zone = (_LEFT, _TOP, right, at)
        drawn.lines.append((_LEFT, at, right, at, "lim"))
        drawn.taken.append((_LEFT, at - 2, right, at + 2))
        drawn.text(_LEFT - 8, at + 5, percent(limit), anchor="end")
        drawn.text(_LEFT + 6, at - 6, f"limit {percent(limit)}", "r", keep=True)
        wide = width_of("loses too much")
        high_up = [x for x, y in places.values() if y < _TOP + 30]
        high_up += [across(point.x) for point in chart.points if point.mark == "today"]
        for start in (right - 6 - wide, _LEFT + 6.0, (_LEFT + right - wide) / 2):
            if not any(start - 12 < x < start + wide + 12 for x in high_up):
                drawn.text(start, _TOP + 16, "loses too much", "r", keep=True)
                break
    marked = ticks(low, high, 4 if width > 500 else 3)
    for value in marked:
        if _LEFT + 16 < across(value) < right - 16:
            step = marked[1] - marked[0] if len(marked) > 1 else 0.0
            drawn.text(across(value), base + 38, _axis(value, chart.x_unit, step), anchor="middle")
    drawn.text(right, drawn.height - 4, chart.x_title, anchor="end")
    drawn.text(_LEFT, 14, chart.y_title)
    for x in [across(point.x) for point in chart.points if point.mark == "today"]:
        drawn.lines.append((x, _TOP, x, base + 16, "now"))
        drawn.taken.append((x - 2, _TOP, x + 2, base - 10))
    for names in chart.lines:
        joined = [places[name] for name in names if name in places]
        drawn.paths.append(" ".join(f"{x:.4g},{y:.4g}" for x, y in joined))
        drawn.taken += [box for start, end in pairwise(joined) for box in _along(start, end)]
    _add_marks(drawn, chart.points, places, (_LEFT + 2.0, _TOP, width - 2.0, base + 22.0))
    return drawn


def _along(start: tuple[float, float], end: tuple[float, float]) -> Iterator[Box]:
    """Small boxes on a straight line, so that no label stands on it."""
    steps = max(1, round(math.dist(start, end) / 6))
    for step in range(1, steps):
        x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
        yield x - 1, y - 1, x + 1, y + 1


def _axis(value: float, unit: str, step: float) -> str:
    if unit == "usd":
        return (
            f"${value:,.{max(0, -math.floor(math.log10(step or 1)))}f}"
            if 0 < step < 1
            else dollars(value).removesuffix(".00")
        )
    if abs(value) >= 1e6 and step >= 1e5:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else count(value)


def _add_marks(drawn: Layout, points: Sequence[Point], places: dict[str, tuple[float, float]], inside: Box) -> None:
    """Marks with their names.

    Those at one place share a label; where no name fits, the row of the table stands.
    """
    groups: dict[tuple[int, int, Mark], list[Point]] = {}
    for point in points:
        x, y = places[point.name]
        groups.setdefault((round(x / 5), round(y / 5), point.mark), []).append(point)
    ordered = sorted(groups.values(), key=lambda group: (-_ORDER.index(group[0].mark), group[0].x))
    rows = {point.name: str(place) for place, point in enumerate(points, 1)}
    crowded = drawn.width < 500 and len(ordered) > 9
    spots = [places[group[0].name] for group in ordered]
    bold = [group[0].mark in ("advised", "today") for group in ordered]
    texts = []
    for group, strong in zip(ordered, bold, strict=True):
        row = [rows[group[0].name]] if len(points) > 12 else []
        texts.append([*([] if crowded and not strong and row else _names(group)), *row])
    labels = placed(spots, texts, bold, inside, drawn.taken)
    for group, (x, y), label in reversed([*zip(ordered, spots, labels, strict=True)]):
        if label is not None:
            drawn.lines += [(x, y, *label.leader, "ld")] if label.leader is not None else []
            drawn.text(label.x, label.y, label.text, f"h {_LOOKS[group[0].mark]}".strip())
        drawn.marks.append((x, y, group[0].mark, "; ".join(point.title or point.name for point in group)))


def _names(group: Sequence[Point]) -> list[str]:
    """The texts to try for marks at one place, the fullest first."""
    first = group[0].name if len(group[0].name) <= LONGEST else group[0].name[: LONGEST - 1] + "…"
    ship = f"{first}: ship" if group[0].mark == "advised" else first
    if len(group) == 1:
        return list(dict.fromkeys([ship, first]))
    every = ", ".join(point.name for point in group)
    short = [every] if len(every) < 2 * LONGEST else []
    return [*short, f"{first} and {len(group) - 1} more", f"{first} +{len(group) - 1}"]
