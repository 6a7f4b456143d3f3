"""Parts of the page that are written by hand because there can be very many of them, or because they are drawn: tables and decision paths."""

from __future__ import annotations

from collections.abc import Mapping

from ...model import Turn
from ...text.wording import visible
from ..blocks import Cell, Path, Table


def shown(text: str) -> str:
    """A text from outside as HTML that shows it and does nothing else.

    >>> shown("<b>\\u202e")
    '&lt;b&gt;⟨U+202E⟩'
    """
    from markupsafe import escape

    return str(escape(visible(text)))


def place(scenario: str, case: str, strategy: str | None = None, step: int | None = None) -> str:
    """The address of a case in a page, as what follows `#`.

    >>> place("a & b", "x/1", "cut", 3)
    'scenario=a%20%26%20b&case=x%2F1&strategy=cut&step=3'
    """
    parts = (("scenario", scenario), ("case", case), ("strategy", strategy), ("step", step))
    return "&".join(f"{name}={_quoted(str(value))}" for name, value in parts if value is not None)


def _quoted(text: str) -> str:
    """A text for an address: everything but plain letters, digits and `-_.~` as percent-encoded UTF-8."""
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"-_.~" else f"%{byte:02X}"
        for byte in text.encode("utf-8", "replace")
    )


def label(name: str, classes: Mapping[str, str]) -> str:
    """The name of a strategy with its colour."""
    return f'<span class="strategy {classes.get(name, "")}">{shown(name)}</span>'


def table_html(table: Table, classes: Mapping[str, str], scenario: str) -> str:
    """A table with its footnotes and caption."""
    notes = table.footnotes()
    numbers = {note: number for number, note in enumerate(notes, 1)}
    head = "".join(
        f'<th scope="col" class="{column.align}{" " + classes.get(column.strategy or "", "")}">{shown(column.title)}'
        + (f" <small>{shown(column.unit)}</small>" if column.unit else "")
        + "</th>"
        for column in table.columns
    )
    aligned = [column.align for column in table.columns]

    def cell(item: Cell, align: str) -> str:
        if item.strategy is not None:
            text = label(item.strategy, classes)
        elif item.case is not None:
            text = f'<a href="#{shown(place(scenario, visible(item.case), step=item.step))}">{shown(item.text)}</a>'
        else:
            text = shown(item.text)
        note = f"<sup>{numbers[item.note]}</sup>" if item.note else ""
        detail = f" <small>{shown(item.detail)}</small>" if item.detail else ""
        tone = "" if item.tone == "plain" else f" {item.tone}"
        return f'<td class="{align}{tone}">{text}{note}{detail}</td>'

    rows = "\n".join(f"<tr>{''.join(map(cell, row, aligned))}</tr>" for row in table.rows)
    listed = "".join(f"<li>{shown(note)}</li>" for note in notes)
    return (
        f'<div class="table"><div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
        + (f'<ol class="notes">{listed}</ol>' if notes else "")
        + (f'<p class="caption">{shown(table.caption)}</p>' if table.caption else "")
        + "</div>\n"
    )


# ---------------------------------------------------------------- decision paths

_WIDE, _HIGH, _GAP, _A_ROW = 152, 46, 26, 7


def path_svg(path: Path) -> str:
    """The decisions as boxes joined by arrows, several rows of them; a wrong turn has the expected route beneath it, dashed."""
    rows = [path.turns[at : at + _A_ROW] for at in range(0, len(path.turns), _A_ROW)]
    drawn: list[str] = []
    top = 4
    for number, row in enumerate(rows):
        for at, turn in enumerate(row):
            left = 4 + at * (_WIDE + _GAP)
            if at or number:
                start = left - _GAP if at else left - 4
                drawn.append(_arrow(start, left, top + _HIGH // 2))
            drawn.append(_box(turn, left, top))
        top += _HIGH + (64 if any(turn.expected is not None for turn in row) else 18)
    width = 8 + min(len(path.turns), _A_ROW) * (_WIDE + _GAP) - _GAP
    size = f'viewBox="0 0 {width} {top}" width="{width}"'
    return f'<svg class="path" {size} role="img" aria-label="{shown(path.title)}">{"".join(drawn)}</svg>'


def _box(turn: Turn, left: int, top: int) -> str:
    wrong = turn.expected is not None
    said = f"{turn.count} decisions from step {turn.step}" if turn.count > 1 else f"step {turn.step} {turn.router}"
    parts = [
        f'<g class="{"wrong" if wrong else "right"}"><title>{shown(said)}: {shown(turn.taken)}</title>',
        f'<rect x="{left}" y="{top}" width="{_WIDE}" height="{_HIGH}" rx="6"/>',
        _text(left + 8, top + 17, said, "where"),
        _text(left + 8, top + 35, f"{'✗ ' if wrong else ''}{turn.taken}", "taken"),
        "</g>",
    ]
    if turn.expected is not None:
        below = top + _HIGH + 16
        middle = left + _WIDE // 2
        parts.append(
            f'<g class="expected"><title>expected: {shown(turn.expected)}</title>'
            f'<path d="M{middle} {top + _HIGH}V{below}"/><rect x="{left}" y="{below}" width="{_WIDE}" height="28" rx="6"/>'
            f"{_text(left + 8, below + 18, f'expected {turn.expected}', 'taken')}</g>"
        )
    return "".join(parts)


def _text(x: int, y: int, text: str, kind: str) -> str:
    flat = " ".join(text.split())
    return f'<text class="{kind}" x="{x}" y="{y}">{shown(flat if len(flat) <= 22 else flat[:21] + "…")}</text>'


def _arrow(start: int, end: int, y: int) -> str:
    return f'<path class="arrow" d="M{start} {y}H{end - 1}M{end - 6} {y - 4}L{end - 1} {y}L{end - 6} {y + 4}"/>'
