"""A report as text, for a terminal, where the answer comes last."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from unicodedata import east_asian_width

from ..model.errors import visible
from ..text.wording import beginning, counted
from .blocks import DOTS, Block, Cell, Drawing, Figures, Fold, Prose, Report, Role, Table, plain
from .charts import Histogram

WIDTH = 100  # columns where the width of the terminal is not known
_HEAD = 9  # columns of a line of a head, where its cells are shorter
_GAP = 3  # columns between two columns of a table
_FEWEST = 12  # columns of a word that may be broken
_NAME = 30  # columns of a name or a number that is never broken
_MOVES = 5  # rows of what moved against the baseline
_REASON = 50  # letters of the reason of a verdict


def in_full(reports: Sequence[Report], width: int = WIDTH) -> Iterator[str]:
    """Yield every section in order."""
    for report in reports:
        rule = "=" * min(width, max(3, len(visible(report.title))))
        about = _wrapped(report.about, width)
        yield "\n".join([*_wrapped(report.title, width), rule, *about, "", ""])
        for section in report.sections:
            is_first = section is report.sections[0]
            head = [] if is_first else [section.name, "-" * len(section.name), ""]
            yield "\n".join([*head, *_lines(section.blocks, width), ""])


def render(
    reports: Sequence[Report], *, verbose: bool = False, width: int = WIDTH, colour: bool = False
) -> Iterator[str]:
    """Yield the output of a command: the tables, then the answer, which stays on the screen.

    Several scenarios have one line each, and what was not read one. `verbose` prints every section
    first.
    """
    first, *others = reports
    lines: list[str] = []
    if verbose:
        yield from in_full(reports, width)
        lines.append("")
    for report in others:
        colon = "" if report.title.endswith("?") else ":"
        text = f"{'✕' if report.failed else '·'} {report.title}{colon} {report.short}"
        lines += _wrapped(text, width, "  ")
        lines += [
            f"  {line}" for it in _of_role(report, "next") for line in _wrapped(it, width - 2)
        ]
    if others:
        lines.append("")
    elif not verbose:
        lines += _short_lines(first, width)
    unread = [text for one in others or [first] for text in _of_role(one, "unread")]
    for text in () if verbose else dict.fromkeys(unread):
        lines += [*_wrapped(text, width), ""]
    lines += [line for text in _of_role(first, "next") for line in _wrapped(text, width)]
    style = "\x1b[1m{}\x1b[0m" if colour else "{}"
    yield "\n".join([*lines, *map(style.format, _wrapped(first.verdict, width))]) + "\n"


def _short_lines(report: Report, width: int) -> list[str]:
    """The title, the first sections' tables, then lines to copy, and the trust section of an
    audit."""
    sections = {section.anchor: section.blocks for section in report.sections}

    def tables(name: str) -> list[Table]:
        """The tables of a section."""
        return [block for block in sections.get(name, ()) if isinstance(block, Table)]

    title = f"{report.title} ({report.about})" if report.about else report.title
    lines = [*_wrapped(title, width), "", *_lines(map(_first_words, tables("answer")), width)]
    lines += _lines([*tables("cost"), *tables("gates")], width)
    lines += _lines(map(_first_moves, tables("moved")), width)
    prose = (block for block in sections.get("answer", ()) if isinstance(block, Prose))
    lines += _lines((it for it in prose if it.role in ("use", "code")), width)
    return lines + _lines(sections.get("trust", ()) if "cost" in sections else (), width)


def _first_words(strategies: Table) -> Table:
    """The table of strategies with the first words of each reason."""
    rows = tuple(
        (*row[:-1], replace(row[-1], note=beginning(row[-1].note, _REASON)))
        for row in strategies.rows
        if not isinstance(row, str)
    )
    note = "" if rows == strategies.rows else "--verbose prints the reasons in full. "
    return replace(strategies, rows=rows, caption=note + strategies.caption)


def _first_moves(moves: Table) -> Table:
    """The first rows of what moved against the baseline, and how many more the page has."""
    more = len(moves.rows) - _MOVES
    note = f"{counted(more, 'more change')} on the page (-o report.html). " if more > 0 else ""
    return replace(moves, rows=moves.rows[:_MOVES], caption=note + moves.caption)


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
        case Prose(text, "code"):
            yield from (f"    {line}".rstrip() for line in visible(plain(text)).splitlines())
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


def _wrapped(text: str, width: int, indent: str = "", *, hyphens: bool = False) -> list[str]:
    """The lines of a text, wrapped to the width, also after `hyphens`."""
    flat = _as_wide(" ".join(visible(text).split()))
    lines = _Wrapper(width, subsequent_indent=indent, break_on_hyphens=hyphens).wrap(flat)
    return [line.replace(_FILLER, "") for line in lines]


class _Wrapper(textwrap.TextWrapper):
    """Breaks a word that is longer than a line after `/` and `_`, if it has them."""

    def _split(self, text: str) -> list[str]:
        piece = re.compile(rf"\S{{0,{self.width - 1}}}[/_]|[^\s/_]+")
        words = (
            [it] if len(it) <= self.width else piece.findall(it) for it in super()._split(text)
        )
        return [*chain.from_iterable(words)]


_FILLER = "\u034f"  # the grapheme joiner, which shows nothing


def _as_wide(text: str) -> str:
    """A text as long as it is wide: a filler precedes each letter that takes two columns."""
    return "".join(f"{_FILLER * (east_asian_width(it) in 'WF')}{it}" for it in text)


def _table(table: Table, width: int) -> Iterator[str]:
    """Yield the lines of a table, without the columns that do not fit."""
    columns = _fitting(table, width)
    widths = {at: wide for at, (_, wide) in columns.items()}
    heads = [_wrapped(table.columns[at].title, wide, hyphens=True) for at, wide in widths.items()]
    most = max(map(len, heads))
    aligns = ["rjust" if table.columns[at].number else "ljust" for at in columns]

    def side_by_side(cells: Iterable[Sequence[str]]) -> Iterator[str]:
        """Yield the lines of some cells, one beside the other."""
        for lines in zip_longest(*cells, fillvalue=""):
            places = zip(map(_as_wide, lines), widths.values(), aligns, strict=True)
            line = (" " * _GAP).join(getattr(*it[::2])(it[1]) for it in places)
            yield line.rstrip().replace(_FILLER, "")

    yield from side_by_side([""] * (most - len(head)) + head for head in heads)
    yield "─" * min(width, sum(widths.values()) + _GAP * (len(widths) - 1))
    for row in zip(*(cells for cells, _ in columns.values()), strict=True):
        cells = zip(row, widths.values(), strict=True)
        yield from side_by_side(_wrapped(text, wide) for text, wide in cells)
    more = sum(not column.drawn for column in table.columns) - len(columns)
    note = f"{counted(more, 'more column')} on the page (-o report.html). " if more else ""
    yield from _wrapped(note + table.caption, width)


def _fitting(table: Table, width: int) -> dict[int, tuple[list[str], int]]:
    """The columns that fit, each with its cells and its width: the first two, the last one if it is
    of words, then from left to right. Columns of words share what the others leave.
    """
    shown = [at for at, column in enumerate(table.columns) if not column.drawn]
    words = [at for at in shown[-1:] if not table.columns[at].number]
    columns: dict[int, tuple[list[str], int]] = {}
    flexible: dict[int, int] = {}
    room = width + _GAP
    for at in dict.fromkeys([*shown[:2], *words, *shown]):
        is_first, column = at == 0, table.columns[at]
        cells = [
            _cell(row[at], column.number, is_first)
            if isinstance(row, tuple)
            else (row if is_first else "")
            for row in table.rows
        ]
        heads = _wrapped(column.title, _NAME if words == [at] else _HEAD, hyphens=True)
        widest = max((len(_as_wide(text)) for text in (*cells, *heads)), default=0)
        is_fixed = (is_first or column.number) and widest <= _NAME
        least = widest if is_fixed else min(widest, _NAME if is_first else _FEWEST)
        if len(columns) >= 2 and room < least + _GAP:
            break
        room -= least + _GAP
        columns[at] = cells, widest
        flexible |= {} if is_fixed else {at: least}
    room += sum(flexible.values())
    for at in sorted(flexible, key=lambda at: columns[at][1]):
        cells, widest = columns[at]
        columns[at] = cells, min(widest, room // len(flexible))
        room -= columns[at][1]
        del flexible[at]
    for at, (cells, widest) in sorted(columns.items()):
        more = len(_as_wide(table.columns[at].title)) - widest
        if 0 < more <= room:  # the head needs no second line
            columns[at] = cells, widest + more
            room -= more
    return dict(sorted(columns.items()))


def _cell(cell: Cell, number: bool, first: bool) -> str:
    """A cell as one line of text."""
    sign = f"{DOTS[cell.mark]} " if cell.mark else ""
    text, note = plain(cell.text), "" if first else cell.note
    if text and note:
        note = f" {note}" if number else f" ({note})"
    return sign + " ".join(visible(text + note).split())
