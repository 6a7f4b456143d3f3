"""Charts as SVG, drawn at one width: text never scales."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from ..model.errors import visible
from .blocks import (
    Arcs,
    Bars,
    Chart,
    Gauge,
    Histogram,
    Interval,
    Mark,
    Point,
    Scatter,
    Shares,
    Sweep,
)
from .numbers import change, count, dollars, percent, quantity
from .places import Box, Label, placed, width_of

FILL: dict[Mark, str] = {"advised": "fa", "today": "fi", "rejected": "fr", "other": "fd"}
_STROKE: dict[Mark, str] = {"advised": "la", "today": "li", "rejected": "lr", "other": "ld"}
_TEXT: dict[Mark, str] = {"advised": "a", "today": "s", "rejected": "r", "other": ""}
_RANK: dict[Mark, int] = {"advised": 0, "today": 1, "rejected": 2, "other": 3}
_LONGEST = 26


def svg(chart: Chart, width: int) -> str:
    """A chart at a width in pixels."""
    return _DRAWN[type(chart)](chart, width)


def _svg(width: float, height: float, alt: str, parts: Iterable[str], extra: str = "") -> str:
    named = f'role="img" aria-label="{safe(alt)}"' if alt else 'aria-hidden="true"'
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f"<svg {extra}{size} {named}>{''.join(parts)}</svg>"


def safe(text: str) -> str:
    """A text made visible and escaped for HTML."""
    return escape(visible(text))


def _text(x: float, y: float, text: str, look: str = "", anchor: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.4g}" y="{y:.4g}"{anchored}{_class(look)}>{safe(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    return f'<line x1="{x1:.4g}" y1="{y1:.4g}" x2="{x2:.4g}" y2="{y2:.4g}"{_class(look)}/>'


def _rect(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:.4g}" y="{y:.4g}" width="{max(0.0, width):.4g}" height="{max(0.0, height):.4g}"{_class(look)}/>'


def _class(look: str) -> str:
    return f' class="{look}"' if look else ""


def shape(x: float, y: float, mark: Mark, size: float = 5.5, title: str = "") -> str:
    """The sign of a strategy: a square for today, a circle for any other, hollow for a rejected one."""
    inner = f"<title>{safe(title)}</title>" if title else ""
    if mark == "today":
        return f'<rect x="{x - size:.4g}" y="{y - size:.4g}" width="{size * 2:g}" height="{size * 2:g}" class="fi">{inner}</rect>'
    return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{size + (mark == "advised"):g}" class="{FILL[mark]}">{inner}</circle>'


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round values between two ends, at most so many.

    >>> ticks(0.0, 0.16), ticks(48.0, 67.0, 4)
    ([0.0, 0.05, 0.1, 0.15], [50.0, 55.0, 60.0, 65.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(
        (factor * power for factor in (1, 2, 2.5, 5, 10, 20) if span / (factor * power) < most),
        20 * power,
    )
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


# ---------------------------------------------------------------- scatter


def _scatter(chart: Scatter, width: int) -> str:
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
        parts.append(_rect(left, top, width - left - right, down(chart.limit) - top, "zone"))
    for value in ticks(0.0, ceiling, 4):
        if chart.limit is None or abs(down(value) - down(chart.limit)) > 12:
            parts += [
                _line(left, down(value), width - right, down(value), "ax"),
                _text(left - 8, down(value) + 5, percent(value), "m", "end"),
            ]
    if chart.limit is not None:
        at = down(chart.limit)
        parts += [
            _line(left, at, width - right, at, "lim"),
            _text(left - 8, at + 5, percent(chart.limit), "m", "end"),
        ]
        words = f"limit {percent(chart.limit)}"
        parts.append(_text(left + 6, at - 6, words, "r"))
        taken += [
            (left, at - 20, left + 10 + width_of(words), at),
            (left, at - 2, width - right, at + 2),
        ]
        spots = [
            (across(point.x), top if point.mark == "today" else down(point.y))
            for point in chart.points
        ]
        wide, over = width_of("loses too much"), "loses too much"
        for start in (width - right - 6 - wide, left + 6, (left + width - right - wide) / 2):
            if not any(start - 12 < x < start + wide + 12 and y < top + 30 for x, y in spots):
                parts.append(_text(start, top + 16, over, "r"))
                taken.append((start - 4, top, start + wide + 4, top + 22))
                break
    shown, step = ticks(low, high, 4 if width > 500 else 3), 0.0
    step = shown[1] - shown[0] if len(shown) > 1 else 0.0
    for value in shown:
        if left + 16 < across(value) < width - right - 16:
            parts.append(
                _text(
                    across(value),
                    height - bottom + 38,
                    _axis(value, chart.x_unit, step),
                    "m",
                    "middle",
                )
            )
    parts += [
        _text(width - right, height - 4, chart.x_title, "m", "end"),
        _text(left, 14, chart.y_title, "m"),
    ]
    today = next((point for point in chart.points if point.mark == "today"), None)
    if today is not None:
        parts.append(_line(across(today.x), top, across(today.x), height - bottom + 16, "now"))
        taken.append((across(today.x) - 2, top, across(today.x) + 2, height - bottom - 10))
    by_name = {point.name: point for point in chart.points}
    for names in chart.lines:
        joined = [by_name[name] for name in names if name in by_name]
        line = " ".join(f"{across(point.x):.4g},{down(point.y):.4g}" for point in joined)
        parts.append(f'<polyline class="ld" points="{line}"/>')
    inside = (left + 2.0, top, float(width - 2), height - bottom + 22.0)
    parts += _named_points(chart.points, across, down, inside, taken, short=width < 500)
    return _svg(width, height, chart.alt, parts)


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
    """Marks with their names. Those at one place share a label; where no name fits, the row of the table stands."""
    groups: dict[tuple[int, int, Mark], list[Point]] = {}
    for point in points:
        groups.setdefault(
            (round(across(point.x) / 5), round(down(point.y) / 5), point.mark), []
        ).append(point)
    ordered = sorted(groups.values(), key=lambda group: (_RANK[group[0].mark], group[0].x))
    rows = {point.name: str(place) for place, point in enumerate(points, 1)}
    crowded = short and len(ordered) > 9
    spots = [(across(group[0].x), down(group[0].y)) for group in ordered]
    bold = [group[0].mark in ("advised", "today") for group in ordered]
    texts = []
    for group, strong in zip(ordered, bold, strict=True):
        number = rows[group[0].name] if len(points) > 12 else ""
        names = _names(group)
        texts.append(
            [*([] if crowded and not strong and number else names), *([number] if number else [])]
        )
    labels = placed(spots, texts, bold, inside, taken)
    marks, words = [], []
    for group, (x, y), label in zip(ordered, spots, labels, strict=True):
        mark = group[0].mark
        if label is not None:
            if label.leader is not None:
                marks.append(_line(x, y, *label.leader, "ax"))
            words.append(_text(label.x, label.y, label.text, f"h {_TEXT[mark]}".strip()))
        marks.append(
            shape(x, y, mark, title="; ".join(point.title or point.name for point in group))
        )
    return marks + words


def _names(group: Sequence[Point]) -> list[str]:
    """The texts to try for marks at one place, the fullest first."""
    first = group[0].name if len(group[0].name) <= _LONGEST else group[0].name[: _LONGEST - 1] + "…"
    ship = f"{first}: ship" if group[0].mark == "advised" else first
    if len(group) == 1:
        return list(dict.fromkeys([ship, first]))
    every = ", ".join(point.name for point in group)
    return [
        *([every] if len(every) < 2 * _LONGEST else []),
        f"{first} and {len(group) - 1} more",
        f"{first} +{len(group) - 1}",
    ]


# ---------------------------------------------------------------- small charts


def _interval(chart: Interval, width: int) -> str:
    low, high = chart.scale
    span, pad = (high - low) or 1.0, 8.0

    def across(value: float) -> float:
        return pad + (min(max(value, low), high) - low) / span * (width - 2 * pad)

    parts = [_line(across(0), 0, across(0), 22, "now")]
    if chart.low != chart.high:
        parts.append(
            f'<path d="M{across(chart.low):.4g} 11H{across(chart.high):.4g}" stroke-width="2" class="{_STROKE[chart.mark]}"/>'
        )
    return _svg(width, 22, chart.alt, [*parts, shape(across(chart.value), 11, chart.mark, 4.5)])


def _shares(chart: Shares, width: int) -> str:
    total, x, parts = chart.better + chart.same + chart.worse, 0.0, []
    for number, look in ((chart.better, "fa"), (chart.same, "fl"), (chart.worse, "fw")):
        part = width * number / total if total else 0.0
        parts += [_rect(x, 2, part, 10, look)] if part else []
        x += part
    return _svg(width, 14, chart.alt, parts)


def _histogram(chart: Histogram, width: int) -> str:
    small, bins = width < 300, len(chart.counts)
    height, base, top = (104, 80, 24) if small else (190, 150, 34)
    wide, largest = width / max(bins, 1), max([*chart.counts, 1e-12])
    edges = len(chart.labels) == bins + 1
    gap = min(2.0 if small else 8.0, wide / 4)
    parts = []
    for place, (number, mark) in enumerate(zip(chart.counts, chart.marks, strict=True)):
        if number:
            high = max(2.0, number / largest * (base - top))
            look = "fw" if mark == "rejected" and not small else FILL[mark]
            parts.append(_rect(place * wide + gap / 2, base - high, wide - gap, high, look))
            text = quantity(number, chart.unit)
            if (number == largest and chart.counts.index(number) == place) or (
                not small and wide > width_of(text)
            ):
                parts.append(
                    _text(
                        _clamped((place + 0.5) * wide, text, width),
                        base - high - 6,
                        text,
                        "m",
                        "middle",
                    )
                )
    parts.append(_line(0, base, width, base, "ax"))
    if chart.now is not None and 0 <= chart.now <= bins:
        parts.append(_line(chart.now * wide, 8, chart.now * wide, base + 4, "now"))
    for place, text in enumerate(chart.labels):
        if text:
            x = place * wide if edges else (place + 0.5) * wide
            half = width_of(text) / 2
            parts.append(_text(min(max(x, half), width - half), base + 20, text, "m", "middle"))
    return _svg(width, height if small else 176, chart.alt, parts)


def _gauge(chart: Gauge, width: int) -> str:
    shown = [
        value
        for value in (chart.before, chart.value, chart.limit)
        if value is not None and math.isfinite(value)
    ]
    low, high = min(shown), max(shown)
    pad = (high - low) * 0.22 or abs(high) * 0.2 or 1.0
    low, high = low - pad, high + pad

    def across(value: float) -> float:
        return 8 + (value - low) / (high - low) * (width - 16)

    parts = []
    if chart.limit is not None:
        at = across(chart.limit)
        start, end = (at, width - 8.0) if chart.bad == "above" else (8.0, at)
        parts.append(_rect(start, 24, end - start, 30, "zone"))
        words = f"limit {quantity(chart.limit, chart.unit)}"
        half = width_of(words) / 2
        parts += [
            _line(at, 20, at, 58, "lim"),
            _text(min(max(at, half), width - half), 74, words, "r", "middle"),
        ]
    parts.insert(1 if parts else 0, _line(8, 39, width - 8, 39, "ax"))
    now, mark = across(chart.value), "rejected" if chart.failed else "advised"
    text = quantity(chart.value, chart.unit)
    if chart.before is not None and chart.before != chart.value:
        then, before = across(chart.before), quantity(chart.before, chart.unit)
        parts += [
            f'<path d="M{then:.4g} 39H{now:.4g}" class="{"lr" if chart.failed else "la"}" stroke-width="2"/>',
            shape(then, 39, "other"),
        ]
        room = (width_of(text) + width_of(before)) / 2 + 8
        side = 1 if now >= then else -1
        move = max(0.0, room - abs(now - then)) / 2 * side
        parts.append(_text(_clamped(then - move, before, width), 16, before, "m", "middle"))
        now_text = _clamped(now + move, text, width)
    else:
        now_text = _clamped(now, text, width)
    parts += [
        shape(now, 39, mark),
        _text(now_text, 16, text, "r" if chart.failed else "a", "middle"),
    ]  # type: ignore[arg-type]
    return _svg(width, 80, chart.alt, parts)


def _clamped(x: float, text: str, width: float) -> float:
    half = width_of(text) / 2
    return min(max(x, half), width - half)


def _bars(chart: Bars, width: int) -> str:
    """Names beside the bars, on a narrow chart above them."""
    names = [
        name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name, *_ in chart.items
    ]
    narrow = width < 500
    left = 0.0 if narrow else max(map(width_of, names), default=0) + 14
    right, tall = (
        max((width_of(text) for _, _, text, _ in chart.items), default=0) + 12,
        46 if narrow else 26,
    )
    parts = []
    for place, (name, (_, share, text, mark)) in enumerate(zip(names, chart.items, strict=True)):
        y, bar = (
            place * tall + (22 if narrow else 4),
            max(0.0, min(1.0, share)) * max(20.0, width - left - right),
        )
        look = "s" if mark in ("advised", "today") else _TEXT[mark]
        parts.append(
            _text(0, y - 6, name, look) if narrow else _text(left - 8, y + 14, name, look, "end")
        )
        parts.append(_rect(left, y, max(bar, 1.5), 18, "fw" if mark == "rejected" else FILL[mark]))
        parts.append(_text(left + bar + 8, y + 14, text, "m"))
    return _svg(width, len(chart.items) * tall + 8, chart.alt, parts)


# ---------------------------------------------------------------- sweep and arcs


def _sweep(chart: Sweep, width: int) -> str:
    left, right, tall, top = 56, 108, 116, 22
    many = len(chart.settings)
    parts: list[str] = []

    def across(place: int) -> float:
        return left + (place + 0.5) / many * (width - left - right)

    for number, line in enumerate(chart.lines):
        start = number * (tall + 30) + top
        values = [value for value in (*line.values, *line.dashed) if value is not None]
        ends = [*values, *([line.limit] if line.limit is not None else [])]
        low, high = min(ends), max(ends)
        if high - low < 1e-9:
            low, high = low - 0.01, high + 0.01
        low, high = low - (high - low) * 0.12, high + (high - low) * 0.12

        def down(value: float, start: float = start, low: float = low, high: float = high) -> float:
            return start + 8 + (1 - (value - low) / (high - low)) * (tall - 12)

        write = (lambda value: change(1 + value)) if line.unit == "change" else percent
        parts.append(_text(0, start - 2, line.title, "s"))
        for value in ticks(low, high, 3):
            parts += [
                _line(left, down(value), width - right, down(value), "ax"),
                _text(left - 8, down(value) + 5, write(value), "m", "end"),
            ]
        ends_at: list[tuple[float, str, str]] = []
        if line.limit is not None:
            now = line.unit == "change"
            parts.append(
                _line(
                    left, down(line.limit), width - right, down(line.limit), "now" if now else "lim"
                )
            )
            ends_at.append(
                (
                    down(line.limit),
                    "today" if now else f"limit {percent(line.limit)}",
                    "m" if now else "r",
                )
            )
        for dashed, series in ((True, line.dashed), (False, line.values)):
            spots = [
                (across(place), down(value), value)
                for place, value in enumerate(series)
                if value is not None
            ]
            if spots:
                joined = " ".join(f"{x:.4g},{y:.4g}" for x, y, _ in spots)
                look = 'class="ld" stroke-dasharray="3 4"' if dashed else 'class="li"'
                parts.append(f'<polyline {look} points="{joined}"/>')
            for x, y, value in spots if not dashed else ():
                over = (
                    line.limit is not None
                    and line.unit != "change"
                    and (value > line.limit if line.bad == "above" else value < line.limit)
                )
                parts.append(shape(x, y, "rejected" if over else "other", 4.5, write(value)))
        for series, name in zip((line.values, line.dashed), line.names, strict=True):
            last = next((value for value in reversed(series) if value is not None), None)
            if line.dashed and last is not None:
                ends_at.append((down(last), name, "m"))
        parts += _beside(ends_at, width - right + 8)
    base = len(chart.lines) * (tall + 30) + 14
    every = max(
        1, math.ceil(max(map(width_of, chart.settings)) * 1.3 / ((width - left - right) / many))
    )
    for place, text in enumerate(chart.settings):
        if place % every == 0:
            parts.append(_text(across(place), base, text, "m", "middle"))
    parts.append(_text(0, base + 20, chart.axis, "m"))
    return _svg(width, base + 26, chart.alt, parts)


def _beside(labels: list[tuple[float, str, str]], x: float) -> list[str]:
    """Texts beside the ends of lines, pushed apart where lines end close together."""
    parts, last = [], -math.inf
    for y, text, look in sorted(labels):
        last = max(y, last + 17)
        parts.append(_text(x, last + 5, text, look))
    return parts


def _arcs(chart: Arcs, width: int) -> str:
    turns = sorted({turn for _, turn, _ in chart.arcs})
    steps = sorted({*chart.results, *turns})
    low, high = steps[0], max(steps[-1], steps[0] + 1)
    base = 150

    def across(step: int) -> float:
        return 16 + (step - low) / (high - low) * (width - 32)

    parts = []
    for start, end, many in chart.arcs:
        a, b = across(start), across(end)
        rise = min(max(abs(b - a) * 0.85, 24), 180)
        thick = min(1 + many * 0.5, 4)
        parts.append(
            f'<path d="M{a:.4g} {base}C{a:.4g} {base - rise:.4g} {b:.4g} {base - rise:.4g} {b:.4g} {base}" class="lr" stroke-width="{thick:g}"/>'
        )
    parts.append(_line(16, base, width - 16, base, "ax"))
    parts += [_rect(across(step) - 4, base - 4, 8, 8, "fi") for step in chart.results]
    parts += [shape(across(turn), base, "rejected", 6) for turn in turns]
    sources = {start for start, _, _ in chart.arcs}
    labels = [(across(step), step, "r") for step in turns] + [
        (across(step), step, "m") for step in sorted(sources)
    ]
    taken: list[float] = []
    for x, step, look in labels:
        half = width_of(str(step)) / 2 + 5
        if all(abs(x - other) > half * 2 for other in taken):
            parts.append(_text(x, base + 24, str(step), look, "middle"))
            taken.append(x)
    parts.append(_text(16, base + 46, "step", "m"))
    return _svg(width, base + 50, chart.alt, parts)


_DRAWN: dict[type, Callable[[Any, int], str]] = {
    Scatter: _scatter, Interval: _interval, Shares: _shares, Histogram: _histogram,
    Gauge: _gauge, Bars: _bars, Sweep: _sweep, Arcs: _arcs,
}  # fmt: skip

__all__ = ["FILL", "Label", "safe", "shape", "svg", "ticks"]
