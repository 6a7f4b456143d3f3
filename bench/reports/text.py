"""A report as text, for a terminal, where the answer comes last."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ..model.compared import Compared
from ..model.errors import visible
from .blocks import DOTS, Block, Cell, Drawing, Figures, Fold, Prose, Report, Role, Table, plain
from .charts import Histogram
from .numbers import counted

WIDTH = 100
_HEAD = 9  # columns of a line of a head, where its cells are shorter
_GAP = 3  # columns between two columns of a table
_FEWEST = 12  # columns of a word that may be broken
_NAME = 30  # columns of a name or a number that is never broken


def in_full(reports: Sequence[Report]) -> Iterator[str]:
    """Yield every section in order, 100 columns wide."""
    for report in reports:
        rule = "=" * min(WIDTH, max(3, len(visible(report.title))))
        about = _wrapped(report.about, WIDTH)
        yield "\n".join([*_wrapped(report.title, WIDTH), rule, *about, "", ""])
        for section in report.sections:
            is_first = section is report.sections[0]
            head = [] if is_first else [section.heading, "-" * len(section.heading), ""]
            yield "\n".join([*head, *_lines(section.blocks, WIDTH), ""])


def terminal_text(
    comparisons: Sequence[Compared],
    *,
    verbose: bool = False,
    width: int = WIDTH,
    colour: bool = False,
) -> str:
    """The output of `bench run`: the table, then the answer, which stays on the screen.

    Several scenarios have one line each, and what was not read one. `verbose` prints every section
    first.
    """
    from . import reports

    first, *others = reports(comparisons)
    lines = [*"".join(in_full([first, *others])).splitlines(), ""] if verbose else []
    failed = [any(it.outcome in ("fail", "undecided") for it in one.gates) for one in comparisons]
    for report, bad in zip(others, failed, strict=False):
        colon = "" if report.title.endswith("?") else ":"
        text = f"{'✕' if bad else '·'} {report.title}{colon} {report.short}"
        lines += _wrapped(text, width, "  ")
    if others:
        lines.append("")
    elif not verbose:
        lines += short_lines(first, width)
    said = [text for one in others or [first] for text in _of_role(one, "unread")]
    for text in () if verbose else dict.fromkeys(said):
        lines += [*_wrapped(text, width), ""]
    if failed == [True]:
        lines += [line for text in _of_role(first, "next") for line in _wrapped(text, width)]
    style = "\x1b[1m{}\x1b[0m" if colour else "{}"
    return "\n".join([*lines, *map(style.format, _wrapped(first.verdict, width))]) + "\n"


def short_lines(report: Report, width: int) -> list[str]:
    """The title, the first sections' tables, then lines to copy, and the trust section of an
    audit."""
    sections = {section.anchor: section.blocks for section in report.sections}
    blocks: list[Block] = [
        one
        for name in ("answer", "cost", "gates")
        for one in sections.get(name, ())
        if isinstance(one, Table) or (isinstance(one, Prose) and one.role == "use")
    ]
    blocks.sort(key=lambda block: isinstance(block, Prose))
    blocks += sections.get("trust", ()) if "cost" in sections else ()
    title = f"{report.title} ({report.about})" if report.about else report.title
    return [*_wrapped(title, width), "", *_lines(blocks, width)]


def _of_role(report: Report, role: Role) -> Iterator[str]:
    """Yield the paragraphs of one role."""
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Prose) and block.role == role:
                yield plain(block.text)


def _lines(blocks: Iterable[Block], width: int) -> list[str]:
    """Blocks as lines, with an empty line after each block."""
    out: list[str] = []
    for block in blocks:
        lines = list(_block(block, width))
        out += [*lines, ""] if lines else []
    return out


def _block(block: Block, width: int) -> Iterator[str]:
    """A block as lines of text."""
    match block:
        case Prose(text):
            yield from _wrapped(plain(text), width)
        case Figures():
            for text in block.texts:
                yield from _wrapped(plain(text), width, "  ")
        case Table():
            yield from _table(block, width)
        case Drawing(Histogram(alt)):  # of any other chart a table has the values
            yield from _wrapped(alt, width)
        case Fold(title, blocks):
            yield from [*_wrapped(title, width), *_lines(blocks, width)[:-1]]


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The lines of a text, wrapped to the width."""
    flat = " ".join(visible(text).split())
    return textwrap.wrap(flat, width, subsequent_indent=indent, break_on_hyphens=False)


def _table(table: Table, width: int) -> Iterator[str]:
    """Yield the lines of a table, laid out by rich, without the columns that do not fit."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    columns = dict(sorted(_fitting(table, width).items()))
    for at, (_, fixed) in columns.items():
        title, is_number = Text(table.columns[at].title), table.columns[at].number
        justify: Literal["left", "right"] = "right" if is_number else "left"
        drawn.add_column(title, justify=justify, overflow="fold", width=fixed)
    for row in zip(*(cells for cells, _ in columns.values()), strict=True):
        drawn.add_row(*map(Text, row))
    console = Console(
        file=io.StringIO(), width=width, color_system=None, legacy_windows=False, _environ={}
    )
    with console.capture() as capture:
        console.print(drawn)
    yield from (line.rstrip() for line in capture.get().splitlines())
    more = sum(not column.drawn for column in table.columns) - len(columns)
    note = f"{counted(more, 'more column')} on the page (-o report.html). " if more else ""
    yield from _wrapped(note + table.caption, width)


def _fitting(table: Table, width: int) -> dict[int, tuple[list[str], int | None]]:
    """The columns that fit: the first two, the last one if it is of words, then from left to right.

    Each has its cells and its width; None where its words may be broken.
    """
    shown = [at for at, column in enumerate(table.columns) if not column.drawn]
    words = [at for at in shown[-1:] if not table.columns[at].number]
    columns: dict[int, tuple[list[str], int | None]] = {}
    room = width
    for at in dict.fromkeys([*shown[:2], *words, *shown]):
        is_first, column = at == 0, table.columns[at]
        cells = [
            _cell(row[at], column.number, is_first)
            if isinstance(row, tuple)
            else (row if is_first else "")
            for row in table.rows
        ]
        widest = max(map(len, [*cells, *textwrap.wrap(column.title, _HEAD)]), default=0)
        fixed = widest if (is_first or column.number) and widest <= _NAME else None
        room -= (fixed or (_NAME if is_first else _FEWEST)) + _GAP
        if len(columns) >= 2 and room < -_GAP:
            break
        columns[at] = cells, fixed
    return columns


def _cell(cell: Cell, number: bool, first: bool) -> str:
    """A cell as one line of text."""
    sign = f"{DOTS[cell.mark]} " if cell.mark else ""
    text, note = plain(cell.text), "" if first else cell.note
    if text and note:
        note = f" {note}" if number else f" ({note})"
    return sign + " ".join(visible(text + note).split())
