"""The report as plain text for a terminal or a log: aligned tables that fit 100 columns, no colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ..model import Comparison, Span
from ..text.wording import quantity, visible
from . import Section, renderer
from .blocks import Beside, Block, Cell, Chart, Fold, Path, Prose, SideBySide, Table, needed_text, needs
from .scenarios_table import scenarios_sentence, scenarios_table

WIDTH = 100
MAX_CELL = 48
MAX_NAME = 36
MAX_LINES = 12
_BARS = "▁▂▃▄▅▆▇█"


@renderer("text", endings=(".txt",))
def text(sections: Sequence[Section]) -> str:
    """Every panel as text: headings, sentences, aligned tables, a sparkline for each line of a chart."""
    lines = scenarios_text([(section.name, section.comparison) for section in sections]).splitlines()
    for section in sections:
        name = _flat(section.name)
        lines += [name, "=" * _width(name), ""]
        for panel in section.panels:
            lines += [panel.title, "-" * _width(panel.title)]
            for block in panel.blocks:
                lines += [*_block(block), ""]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def scenarios_text(named: Sequence[tuple[str, Comparison]]) -> str:
    """Several scenarios, by name, as one table and one sentence; `""` for fewer than two."""
    if len(named) < 2:
        return ""
    sentence = scenarios_sentence([comparison for _, comparison in named])
    table = scenarios_table([(_clip_to(_flat(name), MAX_NAME), comparison) for name, comparison in named])
    lines = [*_table(table), "", *textwrap.wrap(sentence, WIDTH), ""]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _flat(text: str) -> str:
    return visible(" ".join(text.split()))


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Prose):
        yield from textwrap.wrap(_flat(block.text), WIDTH, break_long_words=False, break_on_hyphens=False)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Chart):
        yield from _chart(block)
    elif isinstance(block, SideBySide):
        yield from _side_by_side(block)
    elif isinstance(block, Path):
        yield from _path(block)
    elif isinstance(block, Fold | Beside):
        if isinstance(block, Fold):
            yield f"{_flat(block.title)}:"
        for inner in block.blocks:
            yield from _block(inner)


def _table(table: Table) -> Iterator[str]:
    notes = table.footnotes()
    heads = [_clip(column.title + (f" ({column.unit})" if column.unit else "")) for column in table.columns]
    wraps = table.columns[-1].align == "left"
    rows = [[_cell(cell, notes, wraps and at == len(row) - 1) for at, cell in enumerate(row)] for row in table.rows]
    widths = [max(map(_width, column)) for column in zip(heads, *rows, strict=True)]
    if wraps and sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        widths[-1] = min(widths[-1], max(24, WIDTH - sum(widths[:-1]) - 2 * (len(widths) - 1)))
    for group in _groups(widths):
        yield from _line(heads, group, widths, table)
        yield "  ".join("-" * widths[at] for at in group)
        for row in rows:
            yield from _line(row, group, widths, table)
        if group[-1] != len(widths) - 1:
            yield ""
    for number, note in enumerate(notes, 1):
        yield from textwrap.wrap(f"[{number}] {_flat(note)}", WIDTH, subsequent_indent="    ")
    if table.caption:
        yield from textwrap.wrap(_flat(table.caption), WIDTH)


def _line(row: Sequence[str], group: Sequence[int], widths: Sequence[int], table: Table) -> Iterator[str]:
    """One row of a table; a last cell that is too long goes on below itself."""
    parts = [textwrap.wrap(row[at], widths[at]) if _width(row[at]) > widths[at] else [row[at]] for at in group]
    for number in range(max(map(len, parts))):
        cells = [part[number] if number < len(part) else "" for part in parts]
        yield "  ".join(
            _pad(cell, widths[at], table.columns[at].align == "right") for cell, at in zip(cells, group, strict=True)
        )


def _groups(widths: Sequence[int]) -> list[list[int]]:
    """Columns that fit beside each other, the first one repeated in front of every group."""
    groups, used = [[0]], widths[0]
    for at in range(1, len(widths)):
        if used + 2 + widths[at] > WIDTH and len(groups[-1]) > 1:
            groups.append([0])
            used = widths[0]
        groups[-1].append(at)
        used += 2 + widths[at]
    return groups


def _clip(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= MAX_CELL else flat[: MAX_CELL - 1] + "…"


def _cell(cell: Cell, notes: tuple[str, ...], whole: bool) -> str:
    mark = f" [{notes.index(cell.note) + 1}]" if cell.note else ""
    return (_flat(cell.whole) if whole else _clip(cell.whole)) + mark


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * max(0, width - _width(text))
    return space + text if right else text + space


def _chart(chart: Chart) -> Iterator[str]:
    if chart.kind == "scatter":  # the table beside it holds the same numbers
        return
    yield _flat(chart.title)
    top = max(point.y for point in chart.points) or 1.0
    names = list(dict.fromkeys(point.series for point in chart.points))
    width = max(_width(_clip(name)) for name in names)
    for name in names:
        values = list({point.x: point.y for point in chart.points if point.series == name}.values())
        every = -(-len(values) // 60)
        peaks = [max(values[at : at + every]) for at in range(0, len(values), every)]
        line = "".join(_BARS[min(7, int(8 * value / top))] for value in peaks)
        yield f"  {_pad(_clip(name), width, False)}  {line}  {quantity(max(values), chart.y_unit)} at most"


def _side_by_side(block: SideBySide) -> Iterator[str]:
    yield _flat(block.title)
    yield from _excerpt("untruncated", block.result.untruncated)
    for kept in block.result.kept:
        yield from _excerpt(f"{kept.strategy}, {kept.where}", kept.text)
        if kept.lost_total:
            yield f"    lost {kept.lost_total}: " + _clip_to(", ".join(kept.lost), 80)
        for sentence in kept.said:
            yield f"    {_clip_to(sentence, 94)}"
        for step, facts in needs(kept):
            yield f"    needed: {_clip_to(needed_text(step, facts), 80)}"


def _path(block: Path) -> Iterator[str]:
    yield _flat(block.title)
    for turn in block.turns:
        if turn.expected is not None:
            yield _clip_to(f"  ✗ step {turn.step}, {turn.router}: {turn.taken}, expected {turn.expected}", WIDTH)


def _excerpt(title: str, spans: Sequence[Span]) -> Iterator[str]:
    yield f"  {_flat(title)}:"
    lines = "".join(span.text for span in spans).splitlines()
    for line in lines[:MAX_LINES]:
        yield "    | " + _clip_to(line, WIDTH - 6)
    if len(lines) > MAX_LINES:
        yield f"    | … {len(lines) - MAX_LINES} more lines in the HTML report"


def _clip_to(text: str, width: int) -> str:
    shown = visible(text.replace("\t", " ").replace("\n", " "))
    return shown if len(shown) <= width else shown[: width - 1] + "…"
