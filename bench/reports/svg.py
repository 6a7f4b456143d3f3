"""Charts as SVG, drawn at one width: text never scales."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .blocks import Arcs, Bars, Chart, Gauge, Histogram, Interval, Mark, Scatter, Shares, Sweep
from .drawing import (
    FILL,
    LONGEST,
    STROKE,
    TEXT,
    clamped,
    frame,
    line_at,
    rect_at,
    shape,
    text_at,
    ticks,
)
from .numbers import change, percent, quantity
from .places import width_of
from .scatter import scatter


def svg(chart: Chart, width: int) -> str:
    """A chart at a width in pixels."""
    return _DRAWN[type(chart)](chart, width)


def _interval(chart: Interval, width: int) -> str:
    low, high = chart.scale
    span, pad = (high - low) or 1.0, 8.0

    def across(value: float) -> float:
        return pad + (min(max(value, low), high) - low) / span * (width - 2 * pad)

    parts = [line_at(across(0), 0, across(0), 22, "now")]
    if chart.low != chart.high:
        parts.append(
            f'<path d="M{across(chart.low):.4g} 11H{across(chart.high):.4g}" stroke-width="2" class="{STROKE[chart.mark]}"/>'
        )
    return frame(width, 22, chart.alt, [*parts, shape(across(chart.value), 11, chart.mark, 4.5)])


def _shares(chart: Shares, width: int) -> str:
    total, x, parts = chart.better + chart.same + chart.worse, 0.0, []
    for number, look in ((chart.better, "fa"), (chart.same, "fl"), (chart.worse, "fw")):
        part = width * number / total if total else 0.0
        parts += [rect_at(x, 2, part, 10, look)] if part else []
        x += part
    return frame(width, 14, chart.alt, parts)


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
            parts.append(rect_at(place * wide + gap / 2, base - high, wide - gap, high, look))
            text = quantity(number, chart.unit)
            if (number == largest and chart.counts.index(number) == place) or (not small and wide > width_of(text)):
                parts.append(
                    text_at(
                        clamped((place + 0.5) * wide, text, width),
                        base - high - 6,
                        text,
                        "m",
                        "middle",
                    )
                )
    parts.append(line_at(0, base, width, base, "ax"))
    if chart.now is not None and 0 <= chart.now <= bins:
        parts.append(line_at(chart.now * wide, 8, chart.now * wide, base + 4, "now"))
    for place, text in enumerate(chart.labels):
        if text:
            x = place * wide if edges else (place + 0.5) * wide
            half = width_of(text) / 2
            parts.append(text_at(min(max(x, half), width - half), base + 20, text, "m", "middle"))
    return frame(width, height if small else 176, chart.alt, parts)


def _gauge(chart: Gauge, width: int) -> str:
    shown = [value for value in (chart.before, chart.value, chart.limit) if value is not None and math.isfinite(value)]
    low, high = min(shown), max(shown)
    pad = (high - low) * 0.22 or abs(high) * 0.2 or 1.0
    low, high = low - pad, high + pad

    def across(value: float) -> float:
        return 8 + (value - low) / (high - low) * (width - 16)

    parts = []
    if chart.limit is not None:
        at = across(chart.limit)
        start, end = (at, width - 8.0) if chart.bad == "above" else (8.0, at)
        parts.append(rect_at(start, 24, end - start, 30, "zone"))
        words = f"limit {quantity(chart.limit, chart.unit)}"
        half = width_of(words) / 2
        parts += [
            line_at(at, 20, at, 58, "lim"),
            text_at(min(max(at, half), width - half), 74, words, "r", "middle"),
        ]
    parts.insert(1 if parts else 0, line_at(8, 39, width - 8, 39, "ax"))
    now = across(chart.value)
    mark: Mark = "rejected" if chart.failed else "advised"
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
        parts.append(text_at(clamped(then - move, before, width), 16, before, "m", "middle"))
        now_text = clamped(now + move, text, width)
    else:
        now_text = clamped(now, text, width)
    parts += [
        shape(now, 39, mark),
        text_at(now_text, 16, text, "r" if chart.failed else "a", "middle"),
    ]
    return frame(width, 80, chart.alt, parts)


def _bars(chart: Bars, width: int) -> str:
    """Names beside the bars, on a narrow chart above them."""
    names = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name, *_ in chart.items]
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
        look = "s" if mark in ("advised", "today") else TEXT[mark]
        parts.append(text_at(0, y - 6, name, look) if narrow else text_at(left - 8, y + 14, name, look, "end"))
        parts.append(rect_at(left, y, max(bar, 1.5), 18, "fw" if mark == "rejected" else FILL[mark]))
        parts.append(text_at(left + bar + 8, y + 14, text, "m"))
    return frame(width, len(chart.items) * tall + 8, chart.alt, parts)


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
        parts.append(text_at(0, start - 2, line.title, "s"))
        for value in ticks(low, high, 3):
            parts += [
                line_at(left, down(value), width - right, down(value), "ax"),
                text_at(left - 8, down(value) + 5, write(value), "m", "end"),
            ]
        ends_at: list[tuple[float, str, str]] = []
        if line.limit is not None:
            now = line.unit == "change"
            parts.append(line_at(left, down(line.limit), width - right, down(line.limit), "now" if now else "lim"))
            ends_at.append(
                (
                    down(line.limit),
                    "today" if now else f"limit {percent(line.limit)}",
                    "m" if now else "r",
                )
            )
        for dashed, series in ((True, line.dashed), (False, line.values)):
            spots = [(across(place), down(value), value) for place, value in enumerate(series) if value is not None]
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
    every = max(1, math.ceil(max(map(width_of, chart.settings)) * 1.3 / ((width - left - right) / many)))
    for place, text in enumerate(chart.settings):
        if place % every == 0:
            parts.append(text_at(across(place), base, text, "m", "middle"))
    parts.append(text_at(0, base + 20, chart.axis, "m"))
    return frame(width, base + 26, chart.alt, parts)


def _beside(labels: list[tuple[float, str, str]], x: float) -> list[str]:
    """Texts beside the ends of lines, pushed apart where lines end close together."""
    parts, last = [], -math.inf
    for y, text, look in sorted(labels):
        last = max(y, last + 17)
        parts.append(text_at(x, last + 5, text, look))
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
    parts.append(line_at(16, base, width - 16, base, "ax"))
    parts += [rect_at(across(step) - 4, base - 4, 8, 8, "fi") for step in chart.results]
    parts += [shape(across(turn), base, "rejected", 6) for turn in turns]
    sources = {start for start, _, _ in chart.arcs}
    labels = [(across(step), step, "r") for step in turns] + [(across(step), step, "m") for step in sorted(sources)]
    taken: list[float] = []
    for x, step, look in labels:
        half = width_of(str(step)) / 2 + 5
        if all(abs(x - other) > half * 2 for other in taken):
            parts.append(text_at(x, base + 24, str(step), look, "middle"))
            taken.append(x)
    parts.append(text_at(16, base + 46, "step", "m"))
    return frame(width, base + 50, chart.alt, parts)


_DRAWN: dict[type, Callable[[Any, int], str]] = {
    Scatter: scatter, Interval: _interval, Shares: _shares, Histogram: _histogram,
    Gauge: _gauge, Bars: _bars, Sweep: _sweep, Arcs: _arcs,
}  # fmt: skip
