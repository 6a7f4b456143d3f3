"""The content of a report, free of any format: sections of blocks.

Panels make them, renderers show them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mark = Literal["advised", "today", "rejected", "other"]
"""The sign of a strategy, a shape and a colour.

Filled circle, filled square, hollow circle, grey dot.
"""

Tone = Literal["", "good", "bad", "muted"]

TONE_OF: dict[Mark, Tone] = {"advised": "good", "today": "", "rejected": "bad", "other": ""}
"""The tone of what is said of a strategy, by its mark."""


@dataclass(frozen=True)
class Span:
    """Some words of a text with a look of their own; `lost` marks a value that is gone."""

    text: str
    tone: Tone = ""
    strong: bool = False
    code: bool = False
    href: str = ""
    lost: bool = False


Text = str | tuple[str | Span, ...]
"""A text: plain, or words and spans in order."""


def plain(text: Text) -> str:
    """The words of a text without their looks.

    >>> plain((Span("Ship csv.", "good"), " It costs less."))
    'Ship csv. It costs less.'
    """
    return text if isinstance(text, str) else "".join(item if isinstance(item, str) else item.text for item in text)


# ---------------------------------------------------------------- charts


@dataclass(frozen=True)
class Point:
    """One strategy on a scatter chart."""

    name: str
    x: float
    y: float
    mark: Mark
    title: str = ""


@dataclass(frozen=True)
class Scatter:
    """Price (x) against missed turns (y).

    Above `limit` is forbidden; `lines` join the settings of a sweep.
    """

    alt: str
    points: tuple[Point, ...]
    x_unit: str
    x_title: str
    y_title: str
    limit: float | None = None
    lines: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Interval:
    """A change with its bounds on a scale that all rows of a table share; `today` is 0."""

    alt: str
    low: float
    value: float
    high: float
    scale: tuple[float, float]
    mark: Mark


@dataclass(frozen=True)
class Histogram:
    """Counts (or values of `unit`) by bin.

    `labels` are by bin or edge, "" for none; `now` is the edge where nothing changes.
    """

    alt: str
    counts: tuple[float, ...]
    labels: tuple[str, ...]
    marks: tuple[Mark, ...]
    now: int | None = None
    unit: str = "count"


@dataclass(frozen=True)
class SweepLine:
    """One measure over the settings of a sweep; `limit` and the side that it forbids."""

    title: str
    unit: str
    values: tuple[float | None, ...]
    limit: float | None = None
    bad: Literal["above", "below"] = "above"
    dashed: tuple[float | None, ...] = ()
    names: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Sweep:
    """Some measures over one setting, one panel above the other."""

    alt: str
    settings: tuple[str, ...]
    axis: str
    lines: tuple[SweepLine, ...]


@dataclass(frozen=True)
class Arcs:
    """Arcs from the result that gave a value to the turn that needed it: (result, turn, values)."""

    alt: str
    results: tuple[int, ...]
    arcs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Gauge:
    """A value before and now beside its limit; `bad` is the forbidden side."""

    alt: str
    value: float
    unit: str
    before: float | None = None
    limit: float | None = None
    bad: Literal["above", "below"] = "above"
    failed: bool = True


@dataclass(frozen=True)
class Shares:
    """Parts of a whole as one bar: better, the same, worse."""

    alt: str
    better: int
    same: int
    worse: int


@dataclass(frozen=True)
class Bars:
    """A bar by item: name, value from 0 to 1 (of the longest), its text, the mark."""

    alt: str
    items: tuple[tuple[str, float, str, Mark], ...]


Chart = Scatter | Interval | Histogram | Sweep | Arcs | Gauge | Shares | Bars

# ---------------------------------------------------------------- blocks


@dataclass(frozen=True)
class Sentence:
    """The one sentence that answers."""

    text: Text


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: Text


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: Text


@dataclass(frozen=True)
class Figure:
    """One large figure: its name, its value, a line and a secondary line."""

    name: str
    value: str
    tone: Tone = ""
    line: str = ""
    note: str = ""


@dataclass(frozen=True)
class Figures:
    """Three figures side by side.

    With a `chart`, it stands beside them under `title`, explained by `caption`.
    """

    items: tuple[Figure, ...]
    title: str = ""
    chart: Chart | None = None
    caption: str = ""


@dataclass(frozen=True)
class Column:
    """A column: its title, and whether numbers stand in it.

    `card`: its name on a phone's card ("" : the title).
    """

    title: str
    number: bool = False
    card: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell: a text, a smaller note under it, a mark before it, a chart in its place.

    `heat` tints it, 0 to 3.
    """

    text: Text = ""
    note: str = ""
    tone: Tone = ""
    mark: Mark | None = None
    chart: Interval | Shares | None = None
    heat: int | None = None


@dataclass(frozen=True)
class Row:
    """The cells of a row.

    `chosen` rows are tinted, `group` starts a group of that name above the row.
    """

    cells: tuple[Cell, ...]
    chosen: bool = False
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a name.

    On a phone `cards` turn rows into cards, `grid` and `numbers` scroll beside the first column.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    look: Literal["cards", "grid", "numbers", "plain"] = "plain"
    caption: str = ""


@dataclass(frozen=True)
class Drawing:
    """A chart with a title and a note beside it."""

    chart: Chart
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Gallery:
    """Small charts side by side, each with the mark and the name of what it is about, and a line.."""

    items: tuple[tuple[Mark, str, str, Histogram], ...]


@dataclass(frozen=True)
class Line:
    """One line of a side: `sign` "-" (gone), "+" (new) or "" (kept), who said it, the text."""

    sign: Literal["", "-", "+"]
    who: str
    text: Text


@dataclass(frozen=True)
class SideBySide:
    """Two texts compared; only `left` where there is no other side."""

    left_title: str
    left: tuple[Line, ...]
    right_title: str = ""
    right: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Gate:
    """One gate: its name in words, the metric, the condition, what changed."""

    name: str
    metric: str
    condition: str
    change: str
    counts: str
    passed: bool
    gauge: Gauge | None = None


@dataclass(frozen=True)
class Gates:
    """Gates, one under the other."""

    items: tuple[Gate, ...]


@dataclass(frozen=True)
class Code:
    """A line to copy, and what it is for."""

    label: str
    text: str


@dataclass(frozen=True)
class Fold:
    """Blocks that a page shows on request, under a line that says what they are."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Pair:
    """Two columns of blocks."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]


Block = Sentence | Prose | Heading | Figures | Table | Drawing | Gallery | SideBySide | Gates | Code | Fold | Pair


@dataclass(frozen=True)
class Section:
    """One part of a report: its anchor, its short name, its heading ("" .

    None is shown), its blocks.
    """

    anchor: str
    name: str
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """One comparison (or audit) as a report.

    A heading, what it is about, the verdict, the sections in order.
    """

    title: str
    about: str
    verdict: str
    sections: tuple[Section, ...]
    footer: str = ""
