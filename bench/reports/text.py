"""A report as text, for a terminal, where the answer comes last."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ..model.compared import Compared
from ..model.errors import visible
from .blocks import DOTS, Block, Cell, Drawing, Figures, Fold, Gallery, Prose, Report, Table, plain
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
        yield "\n".join(
            [*_wrapped(report.title, WIDTH), rule, *_wrapped(report.about, WIDTH), "", ""]
        )
        for section in report.sections:
            is_first = section is report.sections[0]
            head = [] if is_first else [section.heading, "-" * len(section.heading), ""]
            yield "\n".join([*head, *lines_of(section.blocks, WIDTH), ""])


def terminal_text(
    comparisons: Sequence[Compared],
    *,
    verbose: bool = False,
    width: int = WIDTH,
    colour: bool = False,
) -> str:
    """The output of `bench run`: the table, then the answer, which stays on the screen.

    Several scenarios have one line each. `verbose` prints every section first.
    """
    from . import reports

    all_reports = reports(comparisons)
    lines = [*"".join(in_full(all_reports)).splitlines(), ""] if verbose else []
    if len(comparisons) > 1:
        for compared, report in zip(comparisons, all_reports[1:], strict=True):
            sign = "✕" if _failed(compared) else "·"
            colon = "" if report.title.endswith("?") else ":"
            lines += _wrapped(f"{sign} {report.title}{colon} {report.verdict}", width, "  ")
        lines.append("")
    elif not verbose:
        lines += short_lines(all_reports[0], width)
    if len(comparisons) == 1 and _failed(comparisons[0]):
        lines += _wrapped(comparisons[0].advice.sentence, width)
    answer = _wrapped(all_reports[0].verdict, width)
    return (
        "\n".join([*lines, *(f"\x1b[1m{line}\x1b[0m" if colour else line for line in answer)])
        + "\n"
    )


def _failed(compared: Compared) -> bool:
    return any(gate.outcome in ("fail", "undecided") for gate in compared.gates)


def short_lines(report: Report, width: int) -> list[str]:
    """The title, the first sections' tables and lines to copy, and the trust section of an
    audit."""
    sections = {section.anchor: section.blocks for section in report.sections}
    blocks: list[Block] = [
        one
        for name in ("answer", "cost", "gates")
        for one in sections.get(name, ())
        if isinstance(one, Table) or (isinstance(one, Prose) and one.role == "use")
    ]
    blocks += sections.get("trust", ()) if "cost" in sections else ()
    title = f"{report.title} ({report.about})" if report.about else report.title
    return [*_wrapped(title, width), "", *lines_of(blocks, width)]


def lines_of(blocks: Iterable[Block], width: int) -> list[str]:
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
        case Figures() | Gallery():
            for text in block.texts:
                yield from _wrapped(plain(text), width, "  ")
        case Table():
            yield from _table(block, width)
        case Drawing(Histogram(alt)):  # of any other chart a table has the values
            yield from _wrapped(alt, width)
        case Fold(title, blocks):
            yield from [*_wrapped(title, width), *lines_of(blocks, width)[:-1]]


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The lines of a text, wrapped to the width."""
    flat = " ".join(visible(text).split())
    return (
        textwrap.wrap(flat, width, subsequent_indent=indent, break_on_hyphens=False) if flat else []
    )


# ---------------------------------------------------------------- tables


def _table(table: Table, width: int) -> Iterator[str]:
    """Yield the lines of a table, laid out by rich, without the columns that do not fit."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    columns: list[list[str]] = []
    room = width
    for at in table.in_texts:
        column, texts = table.columns[at], _texts(table, at)
        widest = max(map(len, [*texts, *textwrap.wrap(column.title, _HEAD)]), default=0)
        is_kept = (at == 0 or column.number) and widest <= _NAME  # else its words may be broken
        fixed = widest if is_kept else None
        room -= (fixed or (_NAME if at == 0 else _FEWEST)) + _GAP
        if len(columns) >= 2 and room < -_GAP:
            break
        justify: Literal["left", "right"] = "right" if column.number else "left"
        drawn.add_column(RichText(column.title), justify=justify, overflow="fold", width=fixed)
        columns.append(texts)
    for cells in zip(*columns, strict=True):
        drawn.add_row(*map(RichText, cells))
    console = Console(
        file=io.StringIO(), width=width, color_system=None, legacy_windows=False, _environ={}
    )
    with console.capture() as capture:
        console.print(drawn)
    yield from (line.rstrip() for line in capture.get().splitlines())
    more = len(table.in_texts) - len(columns)
    note = f"{counted(more, 'more column')} on the page (-o report.html). " if more else ""
    yield from _wrapped(note + table.caption, width)


def _texts(table: Table, at: int) -> list[str]:
    """The cells of a column as texts; the first column also has the headings of groups of rows."""
    first, number = at == 0, table.columns[at].number
    return [
        (row if first else "") if isinstance(row, str) else _cell(row[at], number, first)
        for row in table.rows
    ]


def _cell(cell: Cell, number: bool, first: bool) -> str:
    """A cell as one line of text."""
    sign = f"{DOTS[cell.mark]} " if cell.mark else ""
    text = plain(cell.text)
    note = "" if first else cell.note
    if text and note:
        note = f" {note}" if number else f": {note}"
    return sign + " ".join(visible(text + note).split())
