"""Blocks of data that panels return and renderers show, and the short ways to build tables of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from ..model import Comparison, Delta, NeededAt, ResultShown, RoutesShown, RouteTurn, Row, Span
from ..text.wording import NOT_MEASURED, counted, percent, quantity, signed, to_width

MOST_CASES = 10  # the most cases that a format without a click shows; a page, CSV and JSON have all
MOST_ROWS = 10  # the most rows of a table of the worst things

Tone = Literal["plain", "good", "bad", "warn", "muted"]
"""The judgement in a piece of a report; a renderer may colour it, but never by colour alone."""

OUTCOMES: dict[str, Tone] = {"fail": "bad", "inconclusive": "warn", "skipped": "muted", "pass": "good"}
"""The outcomes of gates, the one to look at first in front."""

T = TypeVar("T")


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

    `strategy` names the strategy it stands for, `case` (with `step`) the place that a page can open for it. A page colours a cell by `lost`, the
    share that was lost, and draws the share `bar`; `sorts` are the values by which its row can be sorted, one for each of the table's `sorts`.
    """

    text: str
    tone: Tone = "plain"
    note: str = ""
    strategy: str | None = None
    detail: str = ""
    case: str | None = None
    step: int | None = None
    lost: float | None = None
    bar: float | None = None
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
class Figure:
    """One large figure: the question, its answer in a word or number, and what belongs beside it, a sentence each."""

    question: str
    answer: str
    said: tuple[str, ...] = ()
    tone: Tone = "plain"


@dataclass(frozen=True)
class Figures:
    """The large figures at the head of a report, in order."""

    items: tuple[Figure, ...]


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
    """Points by series on two axes, as data: a scatter of labelled points, or one line a series. `units` decide how axes read.

    `text` is the chart in one sentence, for who cannot see it. A scatter labels the series of `named` alone, each with its words (none: all by
    name), and draws a line at `limit`; what lies beyond `edges` (right, top) stands at the edge. `case` is the case whose steps the points are.
    """

    kind: Literal["scatter", "line"]
    title: str
    x_title: str
    y_title: str
    x_unit: str
    y_unit: str
    points: tuple[Point, ...]
    text: str
    named: tuple[tuple[str, str], ...] = ()
    limit: float | None = None
    edges: tuple[float, float] = (math.inf, math.inf)
    case: str | None = None

    @property
    def series(self) -> list[str]:
        """The names of the series, in the order of their first points."""
        return list(dict.fromkeys(point.series for point in self.points))


@dataclass(frozen=True)
class SideBySide:
    """One tool result of a case untruncated, beside what each strategy kept of it."""

    case: str
    result: ResultShown

    @property
    def title(self) -> str:
        """The place of the result: case, step, function and size."""
        shown = self.result
        return f"{self.case}, step {shown.step}: {shown.function}, {counted(shown.characters, 'character')}"


def needed(items: Iterable[NeededAt]) -> list[tuple[int, tuple[str, ...]]]:
    """The later steps that needed what a strategy had lost, each with the facts; in the order in which they needed them."""
    by_turn: dict[int, dict[str, None]] = {}
    for item in items:
        by_turn.setdefault(item.turn, {})[item.fact] = None
    return [(turn, tuple(facts)) for turn, facts in by_turn.items()]


@dataclass(frozen=True)
class Path:
    """The decisions of one run in order, the wrong turns marked."""

    title: str
    turns: tuple[RouteTurn, ...]

    @classmethod
    def of(cls, title: str, routes: RoutesShown) -> Path:
        """The path of one run; the title says how many turns are wrong."""
        total = sum(item.count for item in routes.counts)
        wrong = sum(item.count for item in routes.counts if item.taken != item.expected)
        more = f", the first {len(routes.path)} stretches shown" if routes.left_out else ""
        return cls(f"{title}: {counted(wrong, 'wrong turn')} of {counted(total, 'decision')}{more}", routes.path)


@dataclass(frozen=True)
class PromptBrowser:
    """The prompts of every model call of a case by strategy, from which a page shows any one beside any other (`prompt_data`)."""

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


@dataclass(frozen=True)
class Excerpt:
    """A piece of a text under a title. `whole`: no line of it may be left out, because it is there to be copied."""

    title: str
    text: str
    whole: bool = False


Block = Prose | Figures | Table | Chart | SideBySide | Fold | Beside | Path | PromptBrowser | Cases | Excerpt
Simple = Prose | Figures | Table | Chart | Fold | Excerpt
"""The blocks that a format of lines has to show; `simple` makes them of all others."""


def simple(blocks: Iterable[Block]) -> Iterator[Simple]:
    """Blocks for a format without clicks: the first cases of a table, results and paths in sentences, no prompts.

    The blocks inside a fold are left as they are.

    >>> [type(block).__name__ for block in simple([Beside((Prose("a"), Table((), ())))])]
    ['Prose', 'Table']
    """
    for block in blocks:
        if isinstance(block, Beside):
            yield from simple(block.blocks)
        elif isinstance(block, Cases):
            yield block.table.first(MOST_CASES)
        elif isinstance(block, SideBySide):
            yield Fold(block.title, tuple(_sides(block.result)))
        elif isinstance(block, Path):
            wrong = [turn for turn in block.turns if turn.expected is not None]
            said = [f"step {turn.step}, {turn.router}: {turn.taken}, expected {turn.expected}" for turn in wrong]
            yield Fold(block.title, tuple(Prose(text, "bad") for text in said))
        elif not isinstance(block, PromptBrowser):
            yield block


def _sides(result: ResultShown) -> Iterator[Block]:
    def text(spans: Iterable[Span]) -> str:
        return "".join(span.text for span in spans)

    yield Excerpt("untruncated", text(result.untruncated))
    for kept in result.kept:
        yield Excerpt(f"{kept.strategy}, {kept.where}", text(kept.text))
        if kept.lost_total:
            yield Prose(f"lost {kept.lost_total}: {', '.join(kept.lost)}", "bad")
        yield from (Prose(sentence) for sentence in kept.said)
        yield from (Prose(f"step {step} needed {', '.join(facts)}") for step, facts in needed(kept.needed_at))


# ---------------------------------------------------------------- tables


def number(title: str, explained: str = "", *, strategy: str | None = None) -> Column:
    """A column of numbers."""
    return Column(title, align="right", strategy=strategy, explained=explained)


def strategy(name: str) -> Cell:
    """The cell that names a strategy."""
    return Cell(name, strategy=name)


def table_of(
    items: Iterable[T],
    columns: Mapping[str | Column, Callable[[T], Cell | str]],
    caption: str = "",
    *,
    most: int | None = None,
    more: str = "",
) -> Table:
    """A row for each item: each column with what makes its cell. Of more than `most` items the first, and `more` with the number of the others.

    >>> table_of([1, 2, 3], {"n": str, number("square"): lambda n: str(n * n)}, most=2, more="{} more.").caption
    '1 more.'
    """
    items = list(items)
    left = 0 if most is None else max(0, len(items) - most)
    rows = tuple(
        tuple(made if isinstance(made := make(item), Cell) else Cell(made) for make in columns.values())
        for item in items[: len(items) - left]
    )
    heads = tuple(Column(column) if isinstance(column, str) else column for column in columns)
    return Table(heads, rows, " ".join(filter(None, [caption, more.format(left) if left else ""])))


def by_strategy(
    comparison: Comparison, names: Iterable[str], columns: Iterable[tuple[str, str]], caption: str = ""
) -> Table:
    """A row for each strategy, a column for each metric with its title, if any strategy has a value of it."""
    names = tuple(names)
    known = [item for item in columns if any(comparison.value(name, item[0]) is not None for name in comparison.everyone)]  # fmt: skip
    rows = tuple((strategy(name), *(measured(comparison.row(name, metric)) for metric, _ in known)) for name in names)
    return Table((Column("strategy"), *(number(title) for _, title in known)), rows, caption)


def by_metric(comparison: Comparison, heads: Mapping[str, Cell], case: str | None = None) -> Table:
    """A row for each metric with its head, a column for each strategy: over all cases, or of one."""
    rows = tuple(
        (head, *(measured(comparison.row(name, metric, case)) for name in comparison.everyone))
        for metric, head in heads.items()
    )
    return Table((Column("metric"), *(number(name, strategy=name) for name in comparison.everyone)), rows)


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
    if row is None or row.value is None:
        why = "this metric was not computed" if row is None else row.reason or ""
        return Cell(NOT_MEASURED, "muted", why)
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
