"""The report as lines of text, for a file or a terminal: rich lays out tables, breaks lines and counts wide characters as a terminal does."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..model import Comparison
from ..text.wording import cut, quantity, visible
from . import NOTHING, PanelBlocks, Section, build_blocks, failed, renderer
from .blocks import Block, Cell, Chart, Column, Excerpt, Figures, Fold, Prose, Simple, Table, Tone, simple
from .figures import scenarios_blocks

if TYPE_CHECKING:
    from rich.console import Console

TERMINAL_PANELS = ("ranking", "gates", "changes", "trust")
"""The panels of the short report, in its order: the answer comes first."""

WIDTH = 100  # the columns of a line of text where no terminal says otherwise
GAP = 2  # blanks between two columns
PROSE = 100  # the widest that a paragraph is: longer lines are hard to read

FEW, NARROW = 8, 20
"""In a table of so few columns names are broken at that width, if it then fits; else it is shown in parts."""

MAX_CELL = 240  # the most characters of a cell that are shown; the last of a row is shown whole
MAX_LINES = 12
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_BARS = "▁▂▃▄▅▆▇█"
STYLES: dict[Tone, str] = {"good": "green", "bad": "red", "warn": "yellow", "muted": "dim", "plain": ""}


@renderer("text", endings=(".txt",))
def text(sections: Sequence[Section]) -> str:
    """Every panel as text: headings, sentences, aligned tables, a sparkline for each line of a chart."""
    lines = drawn(scenarios_blocks([(section.name, section.comparison) for section in sections]), WIDTH)
    for section in sections:
        lines += heading(section.name, "=")
        for panel in section.panels:
            titled = [] if panel.name == NOTHING else heading(panel.title, "-")
            lines += [*titled, *drawn(panel.blocks, WIDTH)]
    return "\n".join(lines).rstrip() + "\n"


def terminal_text(
    comparison: Comparison,
    panels: Sequence[str] = TERMINAL_PANELS,
    *,
    width: int = WIDTH,
    colour: bool = False,
    brief: bool = False,
) -> str:
    """The short report for a terminal of some width: the answer, the gates, and what was compared. What a page keeps folded is left out.

    `brief`, for one of several: only the answer, and what needs somebody to look at it.
    """
    lines = heading(comparison.title or "Comparison", "=")
    if failed(comparison) and "gates" in panels:
        panels = ("gates", *(name for name in panels if name != "gates"))
    for shown in sorted(build_blocks(comparison, panels), key=lambda item: panels.index(item.name)):
        blocks: list[Block] = [block for block in simple(shown.blocks) if not isinstance(block, Fold)]
        if brief:
            blocks = [_bare(block) for block in blocks if not _quiet(shown, block)]
        if blocks:
            titled = [] if shown.name == panels[0] else heading(shown.title, "-")
            lines += [*titled, *drawn(blocks, width, colour=colour)]
    return "\n".join(lines).rstrip() + "\n"


def _bare(block: Block) -> Block:
    """A table without notes and caption."""
    if not isinstance(block, Table):
        return block
    rows = tuple(tuple(replace(cell, note="") for cell in row) for row in block.rows)
    return replace(block, rows=rows, caption="")


def _quiet(shown: PanelBlocks, block: Block) -> bool:
    """True if nobody has to look at this block of one of several scenarios: it explains, or says that all is well."""
    if shown.name == "ranking":
        return isinstance(block, Prose) and block.tone == "muted"
    if shown.name == "trust":
        return not (isinstance(block, Prose) and block.tone == "bad")
    return not {found.tone for found in shown.blocks if isinstance(found, Prose)} & {"bad", "warn"}


def drawn(blocks: Iterable[Block], width: int, *, colour: bool = False) -> list[str]:
    """The lines of some blocks, none wider than `width` columns but for words that are, an empty line after each block.

    `colour`: with the escape codes of a terminal; what a colour says, a word says too.

    >>> drawn([Prose("kept all of it"), Table((Column("a"), Column("n", align="right")), ((Cell("x"), Cell("12")),))], 9)
    ['kept all', 'of it', '', 'a   n', '─────', 'x  12', '']
    """
    from rich.console import Console

    written = io.StringIO()
    console = Console(file=written, width=width, height=25, force_terminal=colour, color_system="standard" if colour else None,
                      no_color=not colour, highlight=False, markup=False, emoji=False, legacy_windows=False)  # fmt: skip
    for block in simple(blocks):
        parts = list(_block(block, console))
        for part in parts:
            console.print(part, crop=False, width=min(width, PROSE) if isinstance(block, Prose) else None)
        if parts:
            console.print()
    return [line.rstrip() for line in written.getvalue().splitlines()]


def heading(text: str, line: str) -> list[str]:
    """A heading with a line below it, both of the width that the text takes on a terminal."""
    from rich.cells import cell_len

    flat = _flat(text)
    return [flat, line * cell_len(flat), *([""] if line == "=" else [])]


def _flat(text: str) -> str:
    """A text in one line. The narrow spaces inside numbers stay: a number is not to be broken there."""
    return visible(" ".join(_BLANKS.split(text)).strip(" "))


def _clip(text: str, width: int) -> str:
    return cut(visible(text.replace("\t", " ").replace("\n", " ")), width)


def _said(text: str, tone: Tone = "plain", before: str = "") -> Any:
    """A paragraph; its second line and those after it stand below the first, to the right of `before`."""
    from rich.table import Table as Grid
    from rich.text import Text

    body = Text(_flat(text), STYLES[tone], overflow="fold")
    if not before:
        return body
    grid = Grid.grid(padding=0)
    grid.add_column(width=len(before), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(before), body)
    return grid


def _block(block: Simple, console: Console) -> Iterator[Any]:
    if isinstance(block, Prose):
        yield _said(block.text, block.tone)
    elif isinstance(block, Figures):
        yield _figures(block)
    elif isinstance(block, Table):
        yield from _table(block, console)
    elif isinstance(block, Chart):
        yield from _chart(block)
    elif isinstance(block, Excerpt):
        yield from _excerpt(block, console.width)
    else:
        yield _said(f"{block.title}:")
        for inner in simple(block.blocks):
            if isinstance(inner, Prose):
                yield _said(inner.text, inner.tone, "  ")
            else:
                yield from _block(inner, console)


def _figures(block: Figures) -> Any:
    """A line a figure: the question, its answer, and what belongs beside it."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2))
    for item in block.items:
        answer = Text(_flat(item.answer), f"bold {STYLES[item.tone]}".strip(), overflow="fold")
        grid.add_row(Text(item.question), answer, Text(_flat(" ".join(item.said)), STYLES["muted"], overflow="fold"))
    return grid


def _excerpt(block: Excerpt, width: int) -> Iterator[Any]:
    from rich.text import Text

    yield Text(f"  {_flat(block.title)}:")
    lines = block.text.splitlines()
    if block.whole:
        yield from (Text(visible(line), no_wrap=True, overflow="ignore") for line in lines)
        return
    for line in lines[:MAX_LINES]:
        yield Text("    | " + _clip(line, width - 6), no_wrap=True)
    if len(lines) > MAX_LINES:
        yield Text(f"    | … {len(lines) - MAX_LINES} more lines in the HTML report")


def _chart(chart: Chart) -> Iterator[Any]:
    """A line of bars a series; a scatter is left out, since the table beside it holds the same numbers."""
    from rich.table import Table as Grid
    from rich.text import Text

    if chart.kind == "scatter":
        return
    yield _said(chart.title)
    top = max(point.y for point in chart.points) or 1.0
    grid = Grid.grid(padding=(0, 2))
    for name in chart.series:
        values = list({point.x: point.y for point in chart.points if point.series == name}.values())
        every = -(-len(values) // 60)
        peaks = [max(values[at : at + every]) for at in range(0, len(values), every)]
        bars = "".join(_BARS[min(7, int(8 * value / top))] for value in peaks)
        at_most = f"{quantity(max(values), chart.y_unit)} at most"
        grid.add_row(Text("  " + _clip(name, MAX_CELL)), Text(bars), Text(at_most))
    yield grid


def _table(table: Table, console: Console) -> Iterator[Any]:
    """The table, in as many parts as its columns need, the first column in front of each; then its notes."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    notes = table.footnotes()
    heads = [_flat(column.title + (f" ({column.unit})" if column.unit else "")) for column in table.columns]
    rows = [[_cell(cell, notes, at == len(row) - 1) for at, cell in enumerate(row)] for row in table.rows]
    for number, widths in enumerate(_parts(table.columns, [heads, *rows], console.width)):
        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="")
        for at, width in widths.items():
            grid.add_column(Text(heads[at]), justify=table.columns[at].align, overflow="fold", width=width)
        for row, cells in zip(rows, table.rows, strict=True):
            grid.add_row(*(Text(row[at], STYLES[cells[at].tone]) for at in widths))
        if number:
            yield ""
        yield grid
    for number, note in enumerate(notes, 1):
        yield _said(note, "muted", f"[{number}] ")
    if table.caption:
        yield _said(table.caption, "muted")


def _cell(cell: Cell, notes: tuple[str, ...], whole: bool) -> str:
    mark = f" [{notes.index(cell.note) + 1}]" if cell.note else ""
    shown = _flat(cell.whole)
    return (shown if whole else cut(shown, MAX_CELL)) + mark


def _parts(columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> Iterator[dict[int, int]]:
    """The widths of the columns that fit beside each other, by number. What does not fit is a further part, the first column in front of it.

    Where there is no room, heads and words take several lines before columns go to a further part; no number is ever broken.
    """
    from rich.cells import cell_len

    every = range(len(columns))
    left = [column.align == "left" for column in columns]
    whole = [max(cell_len(row[at]) for row in rows) for at in every]
    words = [max(cell_len(word) for row in rows for word in row[at].split(" ")) for at in every]
    calm = [  # numbers in one line, their heads in several
        words[at] if left[at] else max(*(cell_len(row[at]) for row in rows[1:]), words[at], 0) for at in every
    ]
    levels = [calm, words]
    if len(columns) <= FEW:
        levels.append([min(words[at], NARROW) if left[at] else words[at] for at in every])
    least = next((ends for ends in levels if sum(ends) + GAP * (len(ends) - 1) <= room), calm)
    parts, used = [[0]], least[0]
    for at in every[1:]:
        if used + GAP + least[at] > room and len(parts[-1]) > 1:
            parts.append([0])
            used = least[0]
        parts[-1].append(at)
        used += GAP + least[at]
    for part in parts:
        widths = {at: whole[at] for at in part}
        for ends in ([whole[at] if left[at] else calm[at] for at in every], least):  # heads of numbers give way first
            while sum(widths.values()) + GAP * (len(part) - 1) > room:
                wide = [at for at in part if widths[at] > ends[at]]
                if not wide:
                    break
                widths[max(wide, key=widths.__getitem__)] -= 1
        yield widths
