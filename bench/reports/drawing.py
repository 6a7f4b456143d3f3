"""The parts that every chart is drawn of: texts, lines, marks, ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from ..model.errors import visible
from .blocks import Mark
from .places import width_of

FILL: dict[Mark, str] = {"advised": "fa", "today": "fi", "rejected": "fr", "other": "fd"}
STROKE: dict[Mark, str] = {"advised": "la", "today": "li", "rejected": "lr", "other": "ld"}
TEXT: dict[Mark, str] = {"advised": "a", "today": "s", "rejected": "r", "other": ""}
"""The classes of a mark: its shape, its lines, its words."""

LONGEST = 26
"""The letters of a name that a chart shows."""


def frame(width: float, height: float, alt: str, parts: Iterable[str], extra: str = "") -> str:
    """A drawing of some parts, named for those who cannot see it."""
    named = f'role="img" aria-label="{safe(alt)}"' if alt else 'aria-hidden="true"'
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f"<svg {extra}{size} {named}>{''.join(parts)}</svg>"


def safe(text: str) -> str:
    """A text made visible and escaped for HTML."""
    return escape(visible(text))


def text_at(x: float, y: float, text: str, look: str = "", anchor: str = "") -> str:
    """A text at its baseline."""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.4g}" y="{y:.4g}"{anchored}{_class(look)}>{safe(text)}</text>'


def line_at(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    """A straight line."""
    return f'<line x1="{x1:.4g}" y1="{y1:.4g}" x2="{x2:.4g}" y2="{y2:.4g}"{_class(look)}/>'


def rect_at(x: float, y: float, width: float, height: float, look: str) -> str:
    """A rectangle; never of a negative size."""
    return (
        f'<rect x="{x:.4g}" y="{y:.4g}" width="{max(0.0, width):.4g}" height="{max(0.0, height):.4g}"{_class(look)}/>'
    )


def _class(look: str) -> str:
    return f' class="{look}"' if look else ""


def shape(x: float, y: float, mark: Mark, size: float = 5.5, title: str = "") -> str:
    """The sign of a strategy.

    A square for today, a circle for any other, hollow for a rejected one.
    """
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


def clamped(x: float, text: str, width: float) -> float:
    """The middle of a text that stays within a width."""
    half = width_of(text) / 2
    return min(max(x, half), width - half)
