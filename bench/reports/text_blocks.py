"""Blocks as lines of text of a given width: rich lays out tables and breaks lines, and counts wide characters as a terminal does."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..model import Span
from ..text.wording import quantity, visible
from .blocks import (
    MOST_CASES,
    Beside,
    Block,
    Cases,
    Cell,
    Chart,
    Column,
    Fold,
    Path,
    Prose,
    SideBySide,
    Table,
    Tone,
    needed_text,
    needs,
)

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2
"""Blanks between two columns."""

PROSE = 100
"""How wide a paragraph is at most: longer lines are hard to read."""

FEW, NARROW = 8, 20
"""In a table of so few columns names are broken at that width, if it then fits; else it is told in parts."""

MAX_CELL = 96
"""How many characters of a cell are shown; the last of a row is shown whole."""

MAX_LINES = 12
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_BARS = "▁▂▃▄▅▆▇█"
STYLES: dict[Tone, str] = {"good": "green", "bad": "red", "warn": "yellow", "muted": "dim", "plain": ""}


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
    for block in blocks:
        for part in _block(block, console):
            console.print(part, crop=False, width=min(width, PROSE) if isinstance(block, Prose) else None)
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


def _said(text: str, tone: Tone = "plain", indent: str = "") -> Any:
    """A paragraph; its second line and those after it stand below the first by `indent`."""
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    body = Text(_flat(text), STYLES[tone], overflow="fold")
    if not indent:
        return body
    grid = Grid.grid(padding=0)
    grid.add_column(width=len(indent), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(indent), body)
    return Padding(grid, 0, expand=False)


def _block(block: Block, console: Console) -> Iterator[Any]:
    if isinstance(block, Prose):
        yield _said(block.text, block.tone)
    elif isinstance(block, Table):
        yield from _table(block, console)
    elif isinstance(block, Cases):
        yield from _table(block.table.first(MOST_CASES), console)
    elif isinstance(block, Chart):
        yield from _chart(block)
    elif isinstance(block, SideBySide):
        yield from _side_by_side(block, console.width)
    elif isinstance(block, Path):
        yield _said(block.title)
        for turn in block.turns:
            if turn.expected is not None:
                yield _said(f"step {turn.step}, {turn.router}: {turn.taken}, expected {turn.expected}", "bad", "  ✗ ")
    elif isinstance(block, Fold | Beside):
        if isinstance(block, Fold):
            yield _said(f"{block.title}:")
        for inner in block.blocks:
            yield from _block(inner, console)


# ---------------------------------------------------------------- tables


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
            right = table.columns[at].align == "right"
            grid.add_column(Text(heads[at]), justify="right" if right else "left", overflow="fold", width=width)
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
    return (shown if whole or len(shown) <= MAX_CELL else shown[: MAX_CELL - 1] + "…") + mark


def _parts(columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> Iterator[dict[int, int]]:
    """The widths of the columns that fit beside each other, by number. What does not fit is a further part, the first column in front of it.

    Where there is no room, heads are told in several lines first, then columns of words, then those of numbers; no number is ever broken.
    """
    from rich.cells import cell_len

    words = [max(cell_len(word) for row in rows for word in row[at].split(" ")) for at in range(len(columns))]
    whole = [max(cell_len(row[at]) for row in rows) for at in range(len(columns))]
    left = [column.align == "left" for column in columns]
    calm = [  # as narrow as the column gets while only its head is told in several lines
        max([0, *(cell_len(row[at]) for row in rows[1:]), *map(cell_len, rows[0][at].split(" "))])
        for at in range(len(columns))
    ]
    levels = [[words[at] if left[at] else calm[at] for at in range(len(columns))], words]
    if len(columns) <= FEW:
        levels.append([min(words[at], NARROW) if left[at] else words[at] for at in range(len(columns))])
    least = next((ends for ends in levels if sum(ends) + GAP * (len(ends) - 1) <= room), levels[0])
    parts, used = [[0]], least[0]
    for at in range(1, len(columns)):
        if used + GAP + least[at] > room and len(parts[-1]) > 1:
            parts.append([0])
            used = least[0]
        parts[-1].append(at)
        used += GAP + least[at]
    for part in parts:
        widths = {at: whole[at] for at in part}
        for ends in (
            calm,
            [end if is_left else whole[at] for at, (end, is_left) in enumerate(zip(least, left, strict=True))],
            least,
        ):
            while sum(widths.values()) + GAP * (len(part) - 1) > room:
                wide = [at for at in part if widths[at] > ends[at]]
                if not wide:
                    break
                widths[max(wide, key=widths.__getitem__)] -= 1
        yield widths


# ---------------------------------------------------------------- what is drawn on a page


def _chart(chart: Chart) -> Iterator[Any]:
    """A line of bars a series; a scatter is left out, since the table beside it holds the same numbers."""
    from rich.table import Table as Grid
    from rich.text import Text

    if chart.kind == "scatter":
        return
    yield _said(chart.title)
    top = max(point.y for point in chart.points) or 1.0
    grid = Grid.grid(padding=(0, 2))
    for name in dict.fromkeys(point.series for point in chart.points):
        values = list({point.x: point.y for point in chart.points if point.series == name}.values())
        every = -(-len(values) // 60)
        peaks = [max(values[at : at + every]) for at in range(0, len(values), every)]
        bars = "".join(_BARS[min(7, int(8 * value / top))] for value in peaks)
        grid.add_row(
            Text("  " + _clip(name, MAX_CELL)), Text(bars), Text(f"{quantity(max(values), chart.y_unit)} at most")
        )
    yield grid


def _side_by_side(block: SideBySide, width: int) -> Iterator[Any]:
    yield _said(block.title)
    yield from _excerpt("untruncated", block.result.untruncated, width)
    for kept in block.result.kept:
        yield from _excerpt(f"{kept.strategy}, {kept.where}", kept.text, width)
        if kept.lost_total:
            yield _said(f"lost {kept.lost_total}: {_clip(', '.join(kept.lost), 80)}", "bad", "    ")
        for sentence in kept.said:
            yield _said(sentence, "plain", "    ")
        for step, facts in needs(kept):
            yield _said(f"needed: {_clip(needed_text(step, facts), 80)}", "plain", "    ")


def _excerpt(title: str, spans: Sequence[Span], width: int) -> Iterator[Any]:
    from rich.text import Text

    yield Text(f"  {_flat(title)}:")
    lines = "".join(span.text for span in spans).splitlines()
    for line in lines[:MAX_LINES]:
        yield Text("    | " + _clip(line, width - 6), no_wrap=True)
    if len(lines) > MAX_LINES:
        yield Text(f"    | … {len(lines) - MAX_LINES} more lines in the HTML report")


def _clip(text: str, width: int) -> str:
    shown = visible(text.replace("\t", " ").replace("\n", " "))
    return shown if len(shown) <= width else shown[: width - 1] + "…"
