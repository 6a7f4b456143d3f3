"""A report as text, for a terminal, where the answer comes last."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence

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

    Several scenarios have one line each. `verbose` prints every section first.
    """
    from . import reports

    first, *others = reports(comparisons)
    lines = [*"".join(in_full([first, *others])).splitlines(), ""] if verbose else []
    failed = [any(it.outcome in ("fail", "undecided") for it in one.gates) for one in comparisons]
    for report, bad in zip(others, failed, strict=False):
        colon = "" if report.title.endswith("?") else ":"
        text = f"{'✕' if bad else '·'} {report.title}{colon} {report.verdict}"
        lines += _wrapped(text, width, "  ")
    if others:
        lines.append("")
    elif not verbose:
        lines += short_lines(first, width)
    if failed == [True]:
        lines += _wrapped(comparisons[0].advice.sentence, width)
    style = "\x1b[1m{}\x1b[0m" if colour else "{}"
    return "\n".join([*lines, *map(style.format, _wrapped(first.verdict, width))]) + "\n"


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
    return [*_wrapped(title, width), "", *_lines(blocks, width)]


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
        case Figures() | Gallery():
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
    texts: list[list[str]] = []
    left_out, room = 0, width
    for at, column in enumerate(table.columns):
        if column.drawn:
            continue
        cells = [
            _cell(it[at], column.number, at == 0) if isinstance(it, tuple) else "" if at else it
            for it in table.rows
        ]
        widest = max(map(len, [*cells, *textwrap.wrap(column.title, _HEAD)]), default=0)
        is_kept = (at == 0 or column.number) and widest <= _NAME  # else its words may be broken
        fixed = widest if is_kept else None
        room -= (fixed or (_NAME if at == 0 else _FEWEST)) + _GAP
        if len(texts) >= 2 and (left_out or room < -_GAP):
            left_out += 1
            continue
        justify = "right" if column.number else "left"
        drawn.add_column(Text(column.title), justify=justify, overflow="fold", width=fixed)  # type: ignore[arg-type]
        texts.append(cells)
    for row in zip(*texts, strict=True):
        drawn.add_row(*map(Text, row))
    console = Console(
        file=io.StringIO(), width=width, color_system=None, legacy_windows=False, _environ={}
    )
    with console.capture() as capture:
        console.print(drawn)
    yield from (line.rstrip() for line in capture.get().splitlines())
    note = f"{counted(left_out, 'more column')} on the page (-o report.html). " if left_out else ""
    yield from _wrapped(note + table.caption, width)


def _cell(cell: Cell, number: bool, first: bool) -> str:
    """A cell as one line of text."""
    sign = f"{DOTS[cell.mark]} " if cell.mark else ""
    text, note = plain(cell.text), "" if first else cell.note
    if text and note:
        note = f" {note}" if number else f" ({note})"
    return sign + " ".join(visible(text + note).split())
