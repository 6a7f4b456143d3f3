"""What a report is made of: blocks of data that panels return and every renderer shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..model import Delta, Kept, ResultShown, RoutesShown, Row, Turn
from ..text.wording import NOT_MEASURED, counted, percent, quantity, signed, to_width

MOST_CASES = 10
"""How many cases a format without a click shows; a page, CSV and JSON have all."""

Tone = Literal["plain", "good", "bad", "warn", "muted"]
"""What a piece of a report says about itself; a renderer may colour it, but never by colour alone."""


@dataclass(frozen=True)
class Prose:
    """One paragraph. `terms` are the words in it that a page explains where they stand, each with its explanation."""

    text: str
    tone: Tone = "plain"
    terms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a table; `unit` is shown beside the title, numbers are aligned right; `strategy` names whose values it holds.

    `explained` says what the title means, for whoever asks.
    """

    title: str
    unit: str = ""
    align: Literal["left", "right"] = "left"
    strategy: str | None = None
    explained: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell. `detail` goes on after the text (an interval), `note` says why (a footnote).

    `strategy` names the strategy it stands for, `case` (with `step`) the place that a page can open for it. `lost` is the share
    that was lost, by which a page colours it; `sorts` are the values by which its row can be sorted, one for each of the table's `sorts`.
    """

    text: str
    tone: Tone = "plain"
    note: str = ""
    strategy: str | None = None
    detail: str = ""
    case: str | None = None
    step: int | None = None
    lost: float | None = None
    sorts: tuple[float | None, ...] = ()

    @property
    def whole(self) -> str:
        """The text with its detail, for formats that have one line."""
        return f"{self.text} {self.detail}" if self.detail else self.text


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns, each row as long as the columns. `sorts` names what cells with several values can be sorted by."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    sorts: tuple[str, ...] = ()

    def first(self, most: int) -> Table:
        """The table with at most so many rows; the caption says how many there are more."""
        left = len(self.rows) - most
        if left <= 0:
            return self
        return replace(self, rows=self.rows[:most], caption=f"{self.caption} And {counted(left, 'more row')}.".strip())

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

    x_names: tuple[str, ...] = ()
    """The names of the places 0, 1, … on the x axis, where they are places and no measure; they are ours, never from outside."""

    front: tuple[str, ...] = ()
    """The series on the Pareto front, cheapest first; a scatter draws the front through them."""

    curve: tuple[str, ...] = ()
    """The series that a scatter joins by a thin line, in order: one strategy at several settings."""

    case: str | None = None
    """The case whose steps the points are, where they are steps."""


@dataclass(frozen=True)
class SideBySide:
    """One tool result of a case untruncated, beside what each strategy kept of it."""

    case: str
    result: ResultShown

    @property
    def title(self) -> str:
        """Where it is: case, step, function and size."""
        shown = self.result
        return f"{self.case}, step {shown.step}: {shown.function}, {counted(shown.characters, 'character')}"


def needs(kept: Kept) -> list[tuple[int | None, tuple[str, ...]]]:
    """The later steps that needed what a strategy had lost, each with the facts; in the order in which they needed them."""
    by_turn: dict[int, dict[str, None]] = {}
    for item in kept.needed_at:
        by_turn.setdefault(item.turn, {})[item.fact] = None
    return [(turn, tuple(facts)) for turn, facts in by_turn.items()]


def needed_text(step: int | None, facts: tuple[str, ...]) -> str:
    """A later step and the facts that it needed, in words.

    >>> needed_text(9, ("471", "a/b.csv"))
    'step 9 needed 471, a/b.csv'
    """
    return f"step {step} needed {', '.join(facts)}"


@dataclass(frozen=True)
class Path:
    """The decisions of one run in order, the wrong turns marked."""

    title: str
    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, title: str, routes: RoutesShown) -> Path:
        """The path of one run; the title says how many turns are wrong."""
        total = sum(item.count for item in routes.counts)
        wrong = sum(item.count for item in routes.counts if item.taken != item.expected)
        more = f", the first {len(routes.path)} stretches shown" if routes.left_out else ""
        return cls(f"{title}: {counted(wrong, 'wrong turn')} of {counted(total, 'decision')}{more}", routes.path)


@dataclass(frozen=True)
class Prompts:
    """What every model call of a case was given, by strategy: what a page needs to show any prompt beside any other (`prompt_data`)."""

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
    if low is None or high is None:
        return ""
    one, other = (shown(end) for end in to_width(low, high))
    return "" if one == other else f"[{one}, {other}]"


def _points(value: float) -> str:
    return signed(round(value, 4), f"{abs(value) * 100:.1f}".removesuffix(".0"))


def _relative(value: float) -> str:
    return signed(value, "99.9%" if 0.999 < abs(value) < 1 else percent(float(f"{abs(value):.3g}")))


def measured(row: Row | None) -> Cell:
    """A row's value as a cell; one that was not measured says why in its note, and so does one that is a bound or was measured in part.

    >>> bound = Row(strategy="a", metric="m", case=None, value=0.9, unit="fraction", n=2, low=0.4)
    >>> measured(bound).text, measured(bound).note
    ('≤ 90%', 'between 40% and 90%: part of it can only be bounded')
    """
    if row is None:
        return Cell(NOT_MEASURED, "muted", "this metric was not computed")
    if row.value is None:
        return Cell(NOT_MEASURED, "muted", row.reason or "")
    shown = quantity(row.value, row.unit)
    notes = []
    if row.low is not None and row.least != row.value:
        shown = f"≤ {shown}"
    elif row.high is not None and row.most != row.value:
        shown = f"≥ {shown}"
    if row.least != row.most:
        ends = f"between {quantity(row.least, row.unit)} and {quantity(row.most, row.unit)}"
        notes.append(f"{ends}: part of it can only be bounded")
    if row.partly:
        notes.append(f"measured in part: {counted(row.partly, 'sample')} left out")
    return Cell(shown, note="; ".join(notes))
