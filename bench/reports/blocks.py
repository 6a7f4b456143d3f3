"""The content of a report, independent of any format: panels make blocks, each format shows
them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..model.base import grouped
from ..text.wording import counted, shortened
from .charts import Chart, Mark, Range

Tone = Literal["", "good", "bad", "muted"]
Role = Literal["", "lead", "heading", "next", "use", "code", "unread"]
Look = Literal["cards", "grid", "numbers", "texts"]

DOTS: dict[Mark, str] = {
    "advised": "●", "acceptable": "•", "today": "■", "rejected": "○", "other": "·",
}  # fmt: skip
"""The sign of each mark in a text."""

TONE_OF: dict[Mark, Tone] = {
    "advised": "good", "acceptable": "good", "today": "", "rejected": "bad", "other": "",
}  # fmt: skip
"""The tone of a text about a strategy, by its mark."""


@dataclass(frozen=True)
class Span:
    """Some words of a text with their own style; `lost` marks a missing value, `title` is what a
    page shows on demand."""

    text: str
    tone: Tone = ""
    strong: bool = False
    code: bool = False
    href: str = ""
    lost: bool = False
    title: str = ""


Text = str | tuple[str | Span, ...]
"""A text: a plain string, or strings and spans in order."""

CODE = re.compile(r"`([^`]+)`")
"""Matches what is code in a string of a report that is not a title."""


def plain(text: Text) -> str:
    """A text without its styles.

    >>> plain((Span("Ship csv.", "good"), " It costs less."))
    'Ship csv. It costs less.'
    """
    if isinstance(text, str):
        return text
    return "".join(item if isinstance(item, str) else item.text for item in text)


def code(text: str, tone: Tone = "") -> Text:
    """A text styled as code; "–" for an empty one."""
    return (Span(text, tone, code=True),) if text else "–"


def brief(names: Collection[str]) -> dict[str, Text]:
    """Names as texts; long ones without their middle, as far as they still differ, and with the full
    name on demand.

    >>> [plain(text) for text in brief([f"{run} of the airline agent with a question" for run in "ab"]).values()]
    ['a of the airline … with a question', 'b of the airline … with a question']
    """
    for most in range(_BRIEF, max(map(len, names), default=0), 12):
        short = {name: shortened(name, most) for name in names}
        if len({*short.values()}) == len(short):
            return {
                name: name if text == name else (Span(text, title=name),)
                for name, text in short.items()
            }
    return {name: name for name in names}


_BRIEF = 36  # letters of a name that needs no second line


@dataclass(frozen=True)
class Prose:
    """A paragraph. By `role` it is the answer, a heading inside a section, a next step, how to
    use what is advised, lines of code, or what was not read."""

    text: Text
    role: Role = ""


def muted(text: str) -> Prose:
    """A paragraph in the second colour."""
    return Prose((Span(text, "muted"),))


@dataclass(frozen=True)
class Drawing:
    """A chart with a title and a note."""

    chart: Chart
    title: str = ""
    note: str = ""


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
    """Figures side by side, or one under the other beside a chart."""

    items: tuple[Figure, ...]
    drawing: Drawing | None = None

    @property
    def texts(self) -> Iterator[Text]:
        """Yield each figure as a text; the chart is left out, since a table has its values."""
        for item in self.items:
            rest = "; ".join(filter(None, (item.line, item.note)))
            yield f"{item.name}: ", Span(item.value, strong=True), f" ({rest})" if rest else ""


@dataclass(frozen=True)
class Fold:
    """Blocks that a page shows on request, under their title."""

    title: str
    blocks: tuple[Block, ...]


# ---------------------------------------------------------------- tables


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
        """True if there is nothing to see, or only a dash."""
        return not self.chart and not self.note and plain(self.text) in ("", "–")

    @property
    def is_number(self) -> bool:
        """True for an amount, or a dash or words in its place; False for code.

        >>> Cell("−7.9%").is_number, Cell("not measured").is_number, Cell("step 3").is_number
        (True, True, False)
        """
        if not isinstance(self.text, str) and any(
            isinstance(it, Span) and it.code for it in self.text
        ):
            return False
        return not self.chart and bool(_NUMBER.match(plain(self.text)))


_NUMBER = re.compile(r"[−+≈≥<>$✓✕ ]*\d|–|none$|not |unchanged|$")

Row = tuple[Cell, ...] | str
"""The cells of a row; a text alone is the heading of the rows below it."""


@dataclass(frozen=True)
class Column:
    """A column of a table: of numbers, of charts (which only wide pages show), or of words.

    `card` is its name on a phone's card.
    """

    title: str
    card: str
    number: bool
    drawn: bool


@dataclass(frozen=True)
class Table:
    """A table with a name. The row of the advised strategy is tinted.

    The `look` is one of: rows that become cards on a phone, a grid of tinted counts, many numbers
    that scroll, long texts side by side.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    look: Look = "cards"
    caption: str = ""


Cells = Sequence[Cell | Text] | str
"""A row before it is built: a text becomes a cell; a text alone is a heading."""


def table(
    name: str,
    heads: Sequence[str | tuple[str, str]],
    rows: Iterable[Cells],
    *,
    look: Look = "cards",
    most: int = 1_000,
    noun: str = "row",
    note: str = "",
    under: Sequence[str] = (),
) -> Table:
    """A table of texts and cells, without empty columns. A head is a title, or a title and a short
    one for phones. Rows come together `under` their headings, one for each, if it is given.

    Three rows and more above `most` are counted in the caption, before the note.

    >>> sizes = table("Sizes", ["run", "size"], [["a", "1"], *[["b", "2"]] * 3], most=1, noun="run")
    >>> sizes.caption, [column.number for column in sizes.columns]
    ('3 more runs.', [False, True])
    """
    built: list[Row] = [
        row
        if isinstance(row, str)
        else tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row)
        for row in rows
    ]
    of_cells = [row for row in built if not isinstance(row, str)]
    columns: dict[int, Column] = {}
    for at, head in enumerate(heads):
        title, card = (head, head) if isinstance(head, str) else head
        cells = [row[at] for row in of_cells]
        if at == 0 or not all(cell.is_empty for cell in cells):
            has_digits = re.search(r"\d|unchanged", "".join(plain(cell.text) for cell in cells))
            is_number = at > 0 and bool(has_digits) and all(cell.is_number for cell in cells)
            columns[at] = Column(title, card, is_number, any(cell.chart for cell in cells))
    most = most if len(built) > most + 2 else len(built)
    kept = [it if isinstance(it, str) else tuple(it[at] for at in columns) for it in built[:most]]
    rest = sum(not isinstance(row, str) for row in built[most:])
    groups = grouped(zip(under, kept, strict=False))
    kept = [it for name, some in groups.items() for it in (name, *some)] if under else kept
    caption = " ".join(filter(None, [f"{counted(rest, f'more {noun}')}." if rest else "", note]))
    return Table(name, tuple(columns.values()), tuple(kept), look, caption)


Block = Prose | Figures | Table | Drawing | Fold


def headed(content: Table) -> tuple[Block, ...]:
    """A table under its name as a heading; nothing for one without rows."""
    return (Prose(content.name, "heading"), content) if content.rows else ()


@dataclass(frozen=True)
class Section:
    """One part of a report; the name of the first is not shown as a heading."""

    anchor: str
    name: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """One comparison or audit: heading, subject in a line, verdict, sections in order; the verdict
    in a few words, and whether gates failed."""

    title: str
    about: str
    verdict: str
    sections: tuple[Section, ...]
    short: str = ""
    failed: bool = False
