"""The content of a report, free of any format: panels make blocks, each format shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .charts import Chart, Mark, Range
from .numbers import of

Tone = Literal["", "good", "bad", "muted"]
Role = Literal["", "lead", "heading", "use"]
Look = Literal["cards", "grid", "numbers", "plain", "texts"]

DOTS: dict[Mark, str] = {"advised": "●", "today": "■", "rejected": "○", "other": "·"}
"""The signs of marks in a text."""

TONE_OF: dict[Mark, Tone] = {"advised": "good", "today": "", "rejected": "bad", "other": ""}
"""The tone of a text about a strategy, by its mark."""


@dataclass(frozen=True)
class Span:
    """Some words of a text with a look of their own; `lost` marks a missing value."""

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
    return (
        text
        if isinstance(text, str)
        else "".join(item if isinstance(item, str) else item.text for item in text)
    )


def code(text: str, tone: Tone = "") -> Text:
    """A text in the type of code; "–" for an empty one."""
    return (Span(text, tone, code=True),) if text else "–"


@dataclass(frozen=True)
class Prose:
    """A paragraph, the sentence that answers, a heading inside a section, or a line to copy."""

    text: Text
    role: Role = ""


def muted(text: str) -> Prose:
    """A paragraph in the second colour."""
    return Prose((Span(text, "muted"),))


@dataclass(frozen=True)
class Drawing:
    """A chart with a title, the mark of the strategy that it is about, and a note."""

    chart: Chart
    title: str = ""
    note: str = ""
    mark: Mark | None = None


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
    """Three figures side by side, or one under the other beside a chart."""

    items: tuple[Figure, ...]
    drawing: Drawing | None = None

    @property
    def texts(self) -> Iterator[Text]:
        """Yields each figure as a text; the chart draws what a table has."""
        for item in self.items:
            rest = "; ".join(filter(None, (item.line, item.note)))
            yield f"{item.name}: ", Span(item.value, strong=True), f" ({rest})" if rest else ""


@dataclass(frozen=True)
class Gallery:
    """Small charts side by side."""

    items: tuple[Drawing, ...]

    @property
    def texts(self) -> Iterator[Text]:
        """Yields each chart as a text: what it is about and its note, or the words for it."""
        for item in self.items:
            about = f"{DOTS[item.mark]} {item.title}: {item.note}" if item.mark else item.chart.alt
            yield about


@dataclass(frozen=True)
class Fold:
    """Blocks that a page shows on request, under a line that says what they are."""

    title: str
    blocks: tuple[Block, ...]


# ---------------------------------------------------------------- tables


@dataclass(frozen=True)
class Column:
    """A column: its title, and whether numbers stand in it.

    `card` is its name on a phone's card ("": the title; "-": only a wide page shows the column).
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
    chart: Range | None = None
    heat: int | None = None

    @property
    def is_empty(self) -> bool:
        """True where there is nothing to see, or only a dash."""
        return not self.chart and not self.note and plain(self.text) in ("", "–")


Row = tuple[Cell, ...] | str
"""The cells of a row; a text alone is the heading of the rows below it."""


@dataclass(frozen=True)
class Table:
    """A table with a name. The row of the advised strategy is tinted.

    `look`: rows become cards on a phone, a grid of tinted counts, many numbers that scroll, words,
    long texts side by side.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    look: Look = "plain"
    caption: str = ""

    @property
    def in_texts(self) -> list[int]:
        """The places of the columns that a text shows: not those that only a page draws."""
        return [place for place, column in enumerate(self.columns) if column.card != "-"]


Cells = Sequence[Cell | Text] | str
"""A row before it is built: a text becomes a cell; a text alone is a heading."""


Heads = list[Column | str]
"""The columns of a table before it is built; a title alone is a column of words."""


def number(title: str, card: str = "") -> Column:
    """A column of numbers."""
    return Column(title, True, card)


def table(
    name: str,
    heads: Heads,
    rows: Iterable[Cells],
    *,
    look: Look = "cards",
    most: int = 1_000,
    noun: str = "row",
    note: str = "",
) -> Table:
    """A table of texts and cells, without the columns that are empty.

    Rows above `most` are counted in the caption, before the note.

    >>> table("Sizes", ["run", number("size")], [["a", "1"], ["b", "2"]], most=1, noun="run").caption
    '1 more run.'
    """
    columns = [Column(head) if isinstance(head, str) else head for head in heads]
    built = [
        row
        if isinstance(row, str)
        else tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row)
        for row in rows
    ]
    filled = {
        at
        for row in built
        if not isinstance(row, str)
        for at, cell in enumerate(row)
        if not cell.is_empty
    }
    keep = [at for at in range(len(columns)) if at == 0 or at in filled]
    kept = [row if isinstance(row, str) else tuple(row[at] for at in keep) for row in built[:most]]
    rest = sum(not isinstance(row, str) for row in built[most:])
    caption = " ".join(filter(None, [f"{of(rest, f'more {noun}')}." if rest else "", note]))
    return Table(name, tuple(columns[at] for at in keep), tuple(kept), look, caption)


Block = Prose | Figures | Table | Drawing | Gallery | Fold


def headed(content: Table) -> tuple[Prose, Table]:
    """A table under its name as a heading."""
    return Prose(content.name, "heading"), content


@dataclass(frozen=True)
class Section:
    """One part of a report; the heading of the first is not shown."""

    anchor: str
    name: str
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """One comparison or audit: heading, subject in a line, verdict, sections in order."""

    title: str
    about: str
    verdict: str
    sections: tuple[Section, ...]
