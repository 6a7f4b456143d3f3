"""Price against missed turns: the chart of the first screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .blocks import Mark, Point, Scatter
from .drawing import LONGEST, TEXT, frame, line_at, rect_at, shape, text_at, ticks
from .numbers import count, dollars, percent
from .places import Box, placed, width_of

_RANK: dict[Mark, int] = {"advised": 0, "today": 1, "rejected": 2, "other": 3}


def scatter(chart: Scatter, width: int) -> str:
    """The scatter chart: the limit as a line, its forbidden side tinted, each mark with its name.."""
    height, left, right, top, bottom = (410 if width > 500 else 380), 50, 14, 26, 64
    xs, ys = [point.x for point in chart.points], [point.y for point in chart.points]
    low, high = min(xs), max(xs)
    pad = (high - low) * 0.09 or abs(high) * 0.1 or 1.0
    low, high = low - pad, high + pad
    ceiling = max(max(ys) * 1.08, (chart.limit or 0.0) * 1.5, 0.01)

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (width - left - right)

    def down(value: float) -> float:
        return top + (1 - value / ceiling) * (height - top - bottom)

    parts: list[str] = []
    taken: list[Box] = []
    if chart.limit is not None and chart.limit < ceiling:
        parts.append(rect_at(left, top, width - left - right, down(chart.limit) - top, "zone"))
    for value in ticks(0.0, ceiling, 4):
        if chart.limit is None or abs(down(value) - down(chart.limit)) > 12:
            parts += [
                line_at(left, down(value), width - right, down(value), "ax"),
                text_at(left - 8, down(value) + 5, percent(value), "m", "end"),
            ]
    if chart.limit is not None:
        at = down(chart.limit)
        parts += [
            line_at(left, at, width - right, at, "lim"),
            text_at(left - 8, at + 5, percent(chart.limit), "m", "end"),
        ]
        words = f"limit {percent(chart.limit)}"
        parts.append(text_at(left + 6, at - 6, words, "r"))
        taken += [
            (left, at - 20, left + 10 + width_of(words), at),
            (left, at - 2, width - right, at + 2),
        ]
        spots = [(across(point.x), top if point.mark == "today" else down(point.y)) for point in chart.points]
        wide, over = width_of("loses too much"), "loses too much"
        for start in (width - right - 6 - wide, left + 6, (left + width - right - wide) / 2):
            if not any(start - 12 < x < start + wide + 12 and y < top + 30 for x, y in spots):
                parts.append(text_at(start, top + 16, over, "r"))
                taken.append((start - 4, top, start + wide + 4, top + 22))
                break
    shown, step = ticks(low, high, 4 if width > 500 else 3), 0.0
    step = shown[1] - shown[0] if len(shown) > 1 else 0.0
    for value in shown:
        if left + 16 < across(value) < width - right - 16:
            parts.append(
                text_at(
                    across(value),
                    height - bottom + 38,
                    _axis(value, chart.x_unit, step),
                    "m",
                    "middle",
                )
            )
    parts += [
        text_at(width - right, height - 4, chart.x_title, "m", "end"),
        text_at(left, 14, chart.y_title, "m"),
    ]
    today = next((point for point in chart.points if point.mark == "today"), None)
    if today is not None:
        parts.append(line_at(across(today.x), top, across(today.x), height - bottom + 16, "now"))
        taken.append((across(today.x) - 2, top, across(today.x) + 2, height - bottom - 10))
    by_name = {point.name: point for point in chart.points}
    for names in chart.lines:
        joined = [by_name[name] for name in names if name in by_name]
        line = " ".join(f"{across(point.x):.4g},{down(point.y):.4g}" for point in joined)
        parts.append(f'<polyline class="ld" points="{line}"/>')
    inside = (left + 2.0, top, float(width - 2), height - bottom + 22.0)
    parts += _named_points(chart.points, across, down, inside, taken, short=width < 500)
    return frame(width, height, chart.alt, parts)


def _axis(value: float, unit: str, step: float) -> str:
    if unit != "usd":
        return (
            f"{value / 1e6:g}M"
            if abs(value) >= 1e6 and step >= 1e5
            else f"{value / 1e3:g}k"
            if abs(value) >= 1e4
            else count(value)
        )
    return (
        dollars(value).removesuffix(".00")
        if step >= 1 or not value
        else f"${value:,.{max(0, -math.floor(math.log10(step or 1)))}f}"
    )


def _named_points(
    points: Sequence[Point],
    across: Callable[[float], float],
    down: Callable[[float], float],
    inside: Box,
    taken: list[Box],
    *,
    short: bool,
) -> list[str]:
    """Marks with their names.

    Those at one place share a label; where no name fits, the row of the table stands.
    """
    groups: dict[tuple[int, int, Mark], list[Point]] = {}
    for point in points:
        groups.setdefault((round(across(point.x) / 5), round(down(point.y) / 5), point.mark), []).append(point)
    ordered = sorted(groups.values(), key=lambda group: (_RANK[group[0].mark], group[0].x))
    rows = {point.name: str(place) for place, point in enumerate(points, 1)}
    crowded = short and len(ordered) > 9
    spots = [(across(group[0].x), down(group[0].y)) for group in ordered]
    bold = [group[0].mark in ("advised", "today") for group in ordered]
    texts = []
    for group, strong in zip(ordered, bold, strict=True):
        number = rows[group[0].name] if len(points) > 12 else ""
        names = _names(group)
        texts.append([*([] if crowded and not strong and number else names), *([number] if number else [])])
    labels = placed(spots, texts, bold, inside, taken)
    marks, words = [], []
    for group, (x, y), label in zip(ordered, spots, labels, strict=True):
        mark = group[0].mark
        if label is not None:
            if label.leader is not None:
                marks.append(line_at(x, y, *label.leader, "ax"))
            words.append(text_at(label.x, label.y, label.text, f"h {TEXT[mark]}".strip()))
        marks.append(shape(x, y, mark, title="; ".join(point.title or point.name for point in group)))
    return marks + words


def _names(group: Sequence[Point]) -> list[str]:
    """The texts to try for marks at one place, the fullest first."""
    first = group[0].name if len(group[0].name) <= LONGEST else group[0].name[: LONGEST - 1] + "…"
    ship = f"{first}: ship" if group[0].mark == "advised" else first
    if len(group) == 1:
        return list(dict.fromkeys([ship, first]))
    every = ", ".join(point.name for point in group)
    return [
        *([every] if len(every) < 2 * LONGEST else []),
        f"{first} and {len(group) - 1} more",
        f"{first} +{len(group) - 1}",
    ]
