"""A report as text.

For a terminal, where the answer comes last, and for a file, where it comes first.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from ..model.compared import Compared
from ..model.errors import visible
from .blocks import (
    Block,
    Cell,
    Code,
    Drawing,
    Figures,
    Fold,
    Gallery,
    Gates,
    Heading,
    Pair,
    Prose,
    Report,
    Sentence,
    SideBySide,
    Table,
    plain,
)  # fmt: skip

WIDTH = 100
_DOT = {"advised": "●", "today": "■", "rejected": "○", "other": "·"}
_COLOURS = {"good": "\x1b[32m", "bad": "\x1b[31m", "muted": "\x1b[2m", "strong": "\x1b[1m"}


def render(reports: Sequence[Report]) -> Iterator[str]:
    """Every section in order, 100 columns wide."""
    for report in reports:
        yield (
            "\n".join(
                [
                    *_wrapped(report.title, WIDTH),
                    "=" * min(WIDTH, max(3, len(visible(report.title)))),
                    *_wrapped(report.about, WIDTH),
                    "",
                ]
            )
            + "\n"
        )
        for section in report.sections:
            head = [section.heading, "-" * len(section.heading), ""] if section.heading else []
            yield "\n".join([*head, *lines_of(section.blocks, WIDTH)]) + "\n"
        if report.footer and report is reports[0]:
            yield report.footer + "\n"


def terminal_text(
    comparisons: Sequence[Compared],
    *,
    verbose: bool = False,
    width: int = WIDTH,
    colour: bool = False,
) -> str:
    """What `bench run` prints: the table, then the answer, which stays on the screen; one line by scenario of several.

    `verbose` prints every section before it.
    """
    from . import first_line, reports

    found = reports(comparisons)
    lines: list[str] = []
    if verbose:
        lines += [*"".join(render(found)).splitlines(), ""]
    if len(comparisons) > 1:
        for compared, report in zip(comparisons, found[1:], strict=True):
            sign = "✕" if any(gate.outcome in ("fail", "undecided") for gate in compared.gates) else "·"
            lines += _wrapped(f"{sign} {report.title}: {report.verdict}", width, "  ")
        lines += ["", *_strong(_wrapped(found[0].verdict, width), colour)]
        return "\n".join(lines) + "\n"
    compared, report = comparisons[0], found[0]
    if not verbose:
        first = next((section for section in report.sections if section.anchor == "answer"), None)
        shown = [block for block in first.blocks if isinstance(block, Table | Code)] if first else []
        gates = [
            block
            for section in report.sections
            if section.anchor == "gates"
            for block in section.blocks
            if isinstance(block, Gates)
        ]
        lines += [
            *_wrapped(f"{report.title} ({report.about})", width),
            "",
            *lines_of([*shown, *gates], width),
        ]
    if any(gate.outcome in ("fail", "undecided") for gate in compared.gates) and compared.advice:
        lines += [*_wrapped(compared.advice.sentence, width)]
    return "\n".join([*lines, *_strong(_wrapped(first_line(compared), width), colour)]) + "\n"


def _strong(lines: list[str], colour: bool) -> list[str]:
    return [f"{_COLOURS['strong']}{line}\x1b[0m" for line in lines] if colour else lines


def lines_of(blocks: Iterable[Block], width: int) -> list[str]:
    """Blocks as lines, each block with an empty line after it."""
    found: list[str] = []
    for block in blocks:
        lines = list(_block(block, width))
        found += [*lines, ""] if lines else []
    return found


def _block(block: Block, width: int) -> Iterator[str]:
    match block:
        case Sentence(text) | Prose(text) | Heading(text):
            yield from _wrapped(plain(text), width)
        case Figures(items, _, chart):
            for item in items:
                rest = "; ".join(filter(None, [item.line, item.note]))
                yield from _wrapped(f"{item.name}: {item.value}" + (f" ({rest})" if rest else ""), width, "  ")
            if chart is not None:
                yield from _wrapped(chart.alt, width)
        case Table():
            yield from _table(block, width)
        case Drawing(chart, title, note):
            for text in filter(None, (title, chart.alt, note)):
                yield from _wrapped(text, width)
        case Gallery(items):
            for mark, name, line, _ in items:
                yield from _wrapped(f"{_DOT[mark]} {name}: {line}", width, "  ")
        case SideBySide(left_title, left, right_title, right):
            for title, lines in ((left_title, left), (right_title, right)):
                yield from _wrapped(title, width) if title else ()
                for one in lines:
                    yield from _wrapped(f"{one.sign or ' '} {one.who} {plain(one.text)}", width, "    ")
        case Gates(items):
            for gate in items:
                now = gate.gauge.alt if gate.gauge else gate.change
                yield from _wrapped(
                    f"{'✓' if gate.passed else '✕'} {gate.name} ({gate.condition}): {now}. {gate.counts}",
                    width,
                    "  ",
                )
        case Code(label, text):
            yield from _wrapped(f"{label} {text}".strip(), width, "  ")
        case Fold(title, blocks):
            yield from [*_wrapped(title, width), *lines_of(blocks, width)[:-1]]
        case Pair(left, right):
            yield from lines_of((*left, *right), width)[:-1]


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    flat = " ".join(visible(text).split())
    return textwrap.wrap(flat, width, subsequent_indent=indent, break_on_hyphens=False) if flat else []


def _table(table: Table, width: int) -> Iterator[str]:
    """Columns as wide as their cells.

    Where they do not fit, the first wraps, then each row becomes a list.
    """
    keep = [place for place, column in enumerate(table.columns) if column.card != "-"]
    columns = [table.columns[place] for place in keep]
    rows = [
        (
            row.group,
            [
                _cell(row.cells[place], table.columns[place].number, place == keep[0])
                for place in keep
                if place < len(row.cells)
            ],
        )
        for row in table.rows
    ]
    widths = [
        max(len(column.title), *(len(cells[at]) for _, cells in rows), 1) if rows else len(column.title)
        for at, column in enumerate(columns)
    ]
    room = width - 2 * (len(columns) - 1)
    words = [at for at, column in enumerate(columns) if not column.number]
    while (
        sum(widths) > room
        and (wide := max(words, key=lambda at: widths[at], default=None)) is not None
        and widths[wide] > 14
    ):
        widths[wide] = max(14, widths[wide] - (sum(widths) - room))
    if sum(widths) > room:
        for group, cells in rows:
            yield from [group] if group else []
            named = "; ".join(
                f"{column.title} {cell}".strip() for column, cell in zip(columns[1:], cells[1:], strict=False) if cell
            )
            yield from _wrapped(f"{cells[0]}: {named}", width, "    ")
        return
    yield from _line([column.title for column in columns], widths, columns)
    yield "  ".join("─" * size for size in widths)
    for group, cells in rows:
        yield from [group] if group else []
        yield from _line(cells, widths, columns)
    yield from _wrapped(table.caption, width) if table.caption else ()


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[object]) -> Iterator[str]:
    parts = [textwrap.wrap(cell, size) or [""] for cell, size in zip(cells, widths, strict=False)]
    for at in range(max(map(len, parts))):
        shown = [part[at] if at < len(part) else "" for part in parts]
        yield "  ".join(
            text.rjust(size) if getattr(column, "number", False) else text.ljust(size)
            for text, size, column in zip(shown, widths, columns, strict=False)
        ).rstrip()


def _cell(cell: Cell, number: bool, first: bool) -> str:
    sign = f"{_DOT[cell.mark]} " if cell.mark else ""
    text = plain(cell.text)
    note = "" if first or not cell.note else f"{' ' if number else ': '}{cell.note}" if text else cell.note
    return sign + " ".join(visible(text + note).split())
