"""What a report is made of: blocks of data that panels return and every renderer shows, and how numbers become text.

Numbers become text here and nowhere else, so that no two reports of one comparison can disagree. Percent exists only here.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..model import Delta, Row

Tone = Literal["plain", "good", "bad", "warn", "muted"]
"""What a piece of a report says about itself; a renderer may colour it, but never by colour alone."""

NARROW_SPACE = "\u202f"
MINUS = "\u2212"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Prose:
    """One paragraph."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Column:
    """One column of a table; `unit` is shown beside the title, numbers are aligned right; `strategy` names whose values it holds."""

    title: str
    unit: str = ""
    align: Literal["left", "right"] = "left"
    strategy: str | None = None


@dataclass(frozen=True)
class Cell:
    """One cell. `detail` goes on after the text (an interval), `note` says why (a footnote).

    `strategy` names the strategy it stands for, `case` (with `step`) the place that a page can open for it.
    """

    text: str
    tone: Tone = "plain"
    note: str = ""
    strategy: str | None = None
    detail: str = ""
    case: str | None = None
    step: int | None = None

    @property
    def whole(self) -> str:
        """The text with its detail, for formats that have one line."""
        return f"{self.text} {self.detail}" if self.detail else self.text


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns, each row as long as the columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def footnotes(self) -> tuple[str, ...]:
        """The distinct notes of the cells, in order; a renderer numbers them from 1."""
        return tuple(dict.fromkeys(cell.note for row in self.rows for cell in row if cell.note))


@dataclass(frozen=True)
class Point:
    """One point of a chart. `mark` names what happened there ("" for nothing); marked points are drawn apart.

    `note` says more of it, `step` is the step of the trace that it stands for.
    """

    series: str
    x: float
    y: float
    mark: str = ""
    note: str = ""
    step: int | None = None


@dataclass(frozen=True)
class Chart:
    """Points by series on two axes, as data: a scatter of labelled points, or one line a series. `units` decide how axes read."""

    kind: Literal["scatter", "line"]
    title: str
    x_title: str
    y_title: str
    x_unit: str
    y_unit: str
    points: tuple[Point, ...]
    text: str
    """The chart in one sentence, for who cannot see it."""

    front: tuple[str, ...] = ()
    """The series on the Pareto front, cheapest first; a scatter draws the front through them."""

    case: str | None = None
    """The case whose steps the points are, where they are steps."""


@dataclass(frozen=True)
class Span:
    """A piece of text: `plain`, a fact that was `lost`, one that was lost and `needed` later, or a `gap` left out here."""

    text: str
    kind: Literal["plain", "lost", "needed", "gap"] = "plain"


@dataclass(frozen=True)
class Rows:
    """Some rows of a table that a tool result held, with the cells that are gone as (row, column)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    gone: frozenset[tuple[int, int]]
    caption: str

    def column_gone(self, number: int) -> bool:
        """Whether nothing of a column is left."""
        return bool(self.rows) and all((row, number) in self.gone for row in range(len(self.rows)))

    def row_gone(self, number: int) -> bool:
        """Whether nothing of a row is left."""
        return bool(self.columns) and all((number, column) in self.gone for column in range(len(self.columns)))


@dataclass(frozen=True)
class Need:
    """A later step that needed facts which were gone; `step` None: a count of further steps, in words."""

    step: int | None
    facts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The need in words."""
        return f"step {self.step} needed {', '.join(self.facts)}" if self.step is not None else ", ".join(self.facts)


@dataclass(frozen=True)
class Kept:
    """What one strategy kept of a tool result: where that was looked for, the text, and what was lost and needed later.

    `tiers` says of lost facts whether they could still be had (derivable, retrievable), where a metric knows; `rows` is the table in it.
    """

    strategy: str
    where: str
    text: tuple[Span, ...]
    lost: tuple[str, ...]
    lost_total: int
    needed_later: tuple[Need, ...]
    tiers: Mapping[str, str]
    rows: Rows | None = None


@dataclass(frozen=True)
class SideBySide:
    """One tool result untruncated, beside what each strategy kept of it."""

    title: str
    untruncated: tuple[Span, ...]
    kept: tuple[Kept, ...]
    case: str
    step: int
    rows: Rows | None = None


@dataclass(frozen=True)
class Turn:
    """One routing decision of a run: `expected` is None where the route taken was the expected one. `count` decisions in a row look the same."""

    step: int
    router: str
    taken: str
    expected: str | None = None
    count: int = 1


@dataclass(frozen=True)
class Path:
    """The decisions of one run in order, the wrong turns marked."""

    title: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Prompts:
    """What every model call of a case was given, by strategy: what a page needs to show any prompt beside any other.

    `data` is plain (mappings, lists, texts, numbers): `messages` holds each distinct message once, `strategies` the prompts as edits.
    """

    case: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Detail:
    """One case in full, made when it is asked for: 1,000 of them would be far too much to make and show at once."""

    case: str
    make: Callable[[], tuple[Block, ...]]


@dataclass(frozen=True)
class Cases:
    """A table of cases, each of which a page can open."""

    table: Table
    details: tuple[Detail, ...]


@dataclass(frozen=True)
class Fold:
    """Blocks behind a title that opens them."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Beside:
    """Blocks that belong beside each other where the page is wide enough."""

    blocks: tuple[Block, ...]


Block = Prose | Table | Chart | SideBySide | Fold | Beside | Path | Prompts | Cases


# ---------------------------------------------------------------- numbers as text


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit as people read it: fractions as percent, dollars, counts with narrow spaces; None is "not measured".

    A share that is not whole never reads 100%, and one that is not nothing never 0%.

    >>> quantity(0.9996, "fraction"), quantity(1.0, "fraction"), quantity(0.5, "usd"), quantity(None, "tokens")
    ('>99.9%', '100%', '$0.50', 'not measured')
    >>> quantity(1234567, "tokens").replace(NARROW_SPACE, " ")
    '1 234 567'
    """
    if value is None or not math.isfinite(value):
        return NOT_MEASURED
    if unit == "fraction":
        return _percent(value)
    if unit == "usd":
        return ("-" if value < 0 else "") + "$" + _dollars(abs(value))
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", NARROW_SPACE).replace("-", MINUS)
    return f"{value:.4g}".replace("-", MINUS)


def _percent(value: float) -> str:
    if 0 < value < 0.001:
        return "<0.1%"
    if 0.999 < value < 1:
        return ">99.9%"
    return f"{value * 100:.1f}%".replace(".0%", "%").replace("-", MINUS)


def _dollars(value: float) -> str:
    if value == 0 or value >= 0.1:
        return f"{value:,.2f}".replace(",", NARROW_SPACE)
    return f"{value:.{3 - math.floor(math.log10(value)) - 1}f}"


def signed(value: float, text: str) -> str:
    """A text of a magnitude with the sign of a value: `−3`, `±0`, `+3`."""
    return ("±" if value == 0 else "+" if value > 0 else MINUS) + text


def change(delta: Delta | None, unit: str) -> Cell:
    """A difference against the reference: relative where it can be, in points for fractions, with its interval and how sure it is.

    >>> half = Delta(strategy="a", reference="b", metric="m", delta=-5, relative=-0.5, low=-6, high=-4, relative_low=-0.6,
    ...     relative_high=-0.4, n=3, better=True)
    >>> change(half, "tokens").whole, change(half, "tokens").tone
    ('−50% [−60%, −40%]', 'good')
    """
    if delta is None or delta.delta is None:
        return Cell("", "muted", delta.reason or "" if delta else "")
    if unit == "fraction":
        text, interval = f"{_points(delta.delta)} points", _interval(delta.low, delta.high, _points)
    elif delta.relative is not None and delta.delta:
        text, interval = _relative(delta.relative), _interval(delta.relative_low, delta.relative_high, _relative)
    else:
        text, interval = signed(delta.delta, quantity(abs(delta.delta), unit)), ""
    tone: Tone = "plain" if delta.better is None else "good" if delta.better else "bad"
    doubt = f"no sure difference: {delta.reason}" if delta.delta and delta.n > 1 and delta.better is None else ""
    return Cell(text, tone, doubt, detail=interval)


def _interval(low: float | None, high: float | None, shown: Callable[[float], str]) -> str:
    return "" if low is None or high is None or low == high else f"[{shown(low)}, {shown(high)}]"


def _points(value: float) -> str:
    return signed(round(value, 4), f"{abs(value) * 100:.1f}".removesuffix(".0"))


def _relative(value: float) -> str:
    return signed(value, "99.9%" if 0.999 < abs(value) < 1 else _percent(abs(value)))


def measured(row: Row | None) -> Cell:
    """A row's value as a cell; one that was not measured says why in its note, and so does one that is an upper bound."""
    if row is None:
        return Cell(NOT_MEASURED, "muted", "this metric was not computed")
    if row.value is None:
        return Cell(NOT_MEASURED, "muted", row.reason or "")
    bound = next((mark for mark in row.marks if mark.startswith("upper bound")), "")
    return Cell(("≤ " if bound else "") + quantity(row.value, row.unit), note=bound)


def counted(count: float, singular: str, plural: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "case"), counted(2, "case"), counted(2, "summary", "summaries")
    ('1 case', '2 cases', '2 summaries')
    """
    return f"{quantity(count, 'count')} {singular if count == 1 else plural or singular + 's'}"


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "none"


# ---------------------------------------------------------------- text from outside


def visible(text: str) -> str:
    """Text from outside made safe to look at: control, direction and invisible characters become `⟨U+XXXX⟩`; tabs and line breaks stay.

    >>> visible("a\\x1b[31m\\u202eb")
    'a⟨U+001B⟩[31m⟨U+202E⟩b'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _harmless(char) else f"⟨U+{ord(char):04X}⟩" for char in text.replace("\r\n", "\n"))


def _harmless(char: str) -> bool:
    if char in "\n\t" or char.isascii():
        return char in "\n\t" or char.isprintable()
    return unicodedata.category(char) not in _HIDDEN and char not in _BLANK


_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_BLANK = "\u115f\u1160\u3164\uffa0"  # letters by category, nothing to the eye
