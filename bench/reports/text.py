"""A report as text, for a terminal, where the answer comes last."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ..model.compared import Compared
from ..model.errors import visible
from .blocks import DOTS, Block, Cell, Drawing, Figures, Fold, Gallery, Prose, Report, Table, plain
from .charts import Histogram
from .numbers import of

WIDTH = 100
_HEAD = 9  # columns of a line of a head, where its cells are shorter
_GAP = 3  # columns between two columns of a table
_FEWEST = 12  # columns of a word that may be broken
_NAME = 30  # columns of a name or a number that is never broken


def in_full(reports: Sequence[Report]) -> Iterator[str]:
    """Yields every section in order, 100 columns wide."""
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

    Of several scenarios one line each. `verbose` prints every section before it.
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
    """The title, the tables and lines to copy of the first parts, and what an audit left out."""
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
    """Blocks as lines, each part with an empty line after it."""
    out: list[str] = []
    for block in blocks:
        lines = list(_block(block, width))
        out += [*lines, ""] if lines else []
    return out


def _block(block: Block, width: int) -> Iterator[str]:
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
    flat = " ".join(visible(text).split())
    return (
        textwrap.wrap(flat, width, subsequent_indent=indent, break_on_hyphens=False) if flat else []
    )


# ---------------------------------------------------------------- tables


class _Column(NamedTuple):
    """A column as text. `width` is that in which nothing in it is broken, None where it may be."""

    title: str
    number: bool
    texts: list[str]
    width: int | None
    least: int


def _table(table: Table, width: int) -> Iterator[str]:
    """The table as rich lays it out, without the columns that only a page draws or has room for."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    fitting = [_column(table, at) for at in table.in_texts]
    more = 0
    while len(fitting) > 2 and sum(column.least + _GAP for column in fitting) - _GAP > width:
        fitting.pop()
        more += 1
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in fitting:
        justify: Literal["left", "right"] = "right" if column.number else "left"
        title = RichText(column.title)
        drawn.add_column(title, justify=justify, overflow="fold", width=column.width)
    for cells in zip(*(column.texts for column in fitting), strict=True):
        drawn.add_row(*map(RichText, cells))
    console = Console(
        file=io.StringIO(), width=width, color_system=None, legacy_windows=False, _environ={}
    )
    with console.capture() as capture:
        console.print(drawn)
    yield from (line.rstrip() for line in capture.get().splitlines())
    note = f"{of(more, 'more column')} on the page (-o report.html). " if more else ""
    yield from _wrapped(note + table.caption, width)


def _column(table: Table, at: int) -> _Column:
    """A column of a table: names and numbers of a usual length are not broken, words are."""
    title, number, first = table.columns[at].title, table.columns[at].number, at == 0
    texts = [
        (row if first else "") if isinstance(row, str) else _cell(row[at], number, first)
        for row in table.rows
    ]
    widest = max(map(len, [*texts, *textwrap.wrap(title, _HEAD)]), default=0)
    width = widest if (first or number) and widest <= _NAME else None
    return _Column(title, number, texts, width, width or (_NAME if first else _FEWEST))


def _cell(cell: Cell, number: bool, first: bool) -> str:
    sign = f"{DOTS[cell.mark]} " if cell.mark else ""
    text = plain(cell.text)
    note = "" if first else cell.note
    if text and note:
        note = f" {note}" if number else f": {note}"
    return sign + " ".join(visible(text + note).split())
