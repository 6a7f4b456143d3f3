"""A report as Markdown, for a pull request or a job summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

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
    Span,
    Table,
    Text,
    plain,
)  # fmt: skip

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_DOT = {"advised": "● ", "today": "■ ", "rejected": "○ ", "other": "· "}


def render(reports: Sequence[Report]) -> Iterator[str]:
    """Headings, sentences and tables; charts as the sentence that describes them."""
    for report in reports:
        yield (
            f"# {escape(report.title)}\n\n{escape(report.about)}\n\n"
            if report.about
            else f"# {escape(report.title)}\n\n"
        )
        for section in report.sections:
            if section.heading:
                yield f"## {escape(section.heading)}\n\n"
            yield "".join(f"{text}\n\n" for text in _all(section.blocks))
        if report.footer and report is reports[0]:
            yield f"{escape(report.footer)}\n\n"


def escape(text: str) -> str:
    """A text with nothing in it that Markdown or HTML would read.

    >>> escape("a_b|<c>")
    'a\\\\_b\\\\|\\\\<c\\\\>'
    """
    return _SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))


def _rich(text: Text) -> str:
    if isinstance(text, str):
        return escape(text)
    return "".join(escape_inside(item) if isinstance(item, str) else _span(item) for item in text)


def escape_inside(text: str) -> str:
    """A part of a text, escaped, with the blanks at its ends."""
    return " " * text.startswith(" ") + escape(text) + " " * (text.endswith(" ") and bool(text.strip()))


def _span(span: Span) -> str:
    if span.code:
        return code(span.text)
    return (
        f"**{escape(span.text)}**{' ' if span.text.endswith(' ') else ''}"
        if span.strong and span.text.strip()
        else escape_inside(span.text)
    )


def code(text: str) -> str:
    """A text as code, whatever backticks it holds; it may stand in a table.

    >>> code("a`b|c")
    '``a`b\\\\|c``'
    """
    flat = " ".join(visible(text).split()).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat or ' '}{pad}{fence}"


def _all(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Sentence(text) | Prose(text):
            yield _rich(text)
        case Heading(text):
            yield f"### {_rich(text)}"
        case Figures(items, _, chart):
            yield "\n".join(
                f"- {escape(item.name)}: **{escape(item.value)}** {escape('; '.join(filter(None, [item.line, item.note])))}".rstrip()
                for item in items
            )
            if chart is not None:
                yield escape(chart.alt)
        case Table():
            yield _table(block)
        case Drawing(chart, title, note):
            yield from filter(None, [f"### {escape(title)}" if title else "", escape(chart.alt), escape(note)])
        case Gallery(items):
            yield "\n".join(f"- {_DOT[mark]}{escape(name)}: {escape(line)}" for mark, name, line, _ in items)
        case SideBySide(left_title, left, right_title, right):
            for title, lines in ((left_title, left), (right_title, right)):
                if title:
                    shown = "\n".join(
                        f"{line.sign or ' '} {' '.join(visible(f'{line.who} {plain(line.text)}').split())}"
                        for line in lines
                    )
                    fence = "`" * max(3, max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
                    yield f"{escape(title)}\n\n{fence}diff\n{shown}\n{fence}"
        case Gates(items):
            yield "\n".join(
                f"- {'✓' if gate.passed else '✕'} **{escape(gate.name)}** {code(gate.metric)} {escape(gate.condition)}: {escape(gate.gauge.alt if gate.gauge else gate.change)}. {escape(gate.counts)}"
                for gate in items
            )
        case Code(label, text):
            yield f"{escape(label)} {code(text)}".strip()
        case Fold(title, blocks):
            inner = "\n\n".join(_all(blocks))
            yield f"<details><summary>{escape(title)}</summary>\n\n{inner}\n\n</details>"
        case Pair(left, right):
            yield from _all((*left, *right))


def _table(table: Table) -> str:
    columns = [column for column in table.columns if column.card != "-"]
    keep = [place for place, column in enumerate(table.columns) if column.card != "-"]
    lines = [
        " | ".join(escape(column.title) or " " for column in columns),
        " | ".join("---:" if column.number else "---" for column in columns),
    ]
    for row in table.rows:
        if row.group:
            lines.append(" | ".join([f"**{escape(row.group)}**", *[" "] * (len(columns) - 1)]))
        lines.append(" | ".join(_cell(row.cells[place]) for place in keep if place < len(row.cells)))
    shown = "\n".join(f"| {line} |" for line in lines)
    return f"{shown}\n\n{escape(table.caption)}" if table.caption else shown


def _cell(cell: Cell) -> str:
    sign = _DOT[cell.mark] if cell.mark else ""
    note = f"<br>{escape(cell.note)}" if cell.note else ""
    return f"{sign}{_rich(cell.text)}{note}".strip() or " "
