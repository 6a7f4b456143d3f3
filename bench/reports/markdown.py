"""A report as Markdown, for a pull request or a job summary."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from ..model.errors import visible
from .blocks import (
    CODE,
    DOTS,
    Block,
    Cell,
    Drawing,
    Figures,
    Fold,
    Prose,
    Report,
    Span,
    Table,
    Text,
    plain,
)
from .charts import Histogram

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")


def render(reports: Sequence[Report]) -> Iterator[str]:
    """Headings, sentences and tables; a chart is shown as its description."""
    for report in reports:
        head = [f"# {escape(report.title)}", *filter(None, [escape(report.about)])]
        yield "\n\n".join(head) + "\n\n"
        for section in report.sections:
            heading = "" if section is report.sections[0] else f"## {escape(section.name)}\n\n"
            yield heading + markdown(section.blocks) + "\n\n"


def markdown(blocks: Iterable[Block]) -> str:
    """Some blocks as Markdown."""
    return "\n\n".join(filter(None, map(_block, blocks)))


def escape(text: str) -> str:
    """A text with every character escaped that means something in Markdown or HTML, and no person
    mentioned.

    >>> escape("a_b|<c>")
    'a\\\\_b\\\\|\\\\<c\\\\>'
    """
    flat = re.sub(r"\s+", " ", visible(text))
    return _SPECIAL.sub(r"\\\1", flat).replace("@", "@&#8203;")


def prose(text: str) -> str:
    """A text escaped, but for the code in it.

    >>> prose("Ship `a_b`: a_b")
    'Ship `a_b`: a\\\\_b'
    """
    return "".join(code(it) if at % 2 else escape(it) for at, it in enumerate(CODE.split(text)))


def code(text: str) -> str:
    """A text as code; it may contain backticks.

    >>> code("a`b|c")
    '``a`b|c``'
    """
    flat = " ".join(visible(text).split())
    fence = "`" * max([1, *(len(run) + 1 for run in re.findall("`+", flat))])
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat or ' '}{pad}{fence}"


def _rich(text: Text) -> str:
    return "".join(map(_span, (text,) if isinstance(text, str) else text)).strip()


def _span(item: str | Span) -> str:
    """A piece of a text as Markdown. Outer blanks stay outside the stars, else Markdown does not
    read them as bold."""
    span = Span(item) if isinstance(item, str) else item
    if span.code:
        return code(span.text)
    inner = prose(span.text).strip()
    before = " " if span.text.startswith(" ") else ""
    after = " " if span.text.endswith(" ") and inner else ""
    return before + (f"**{inner}**" if span.strong and inner else inner) + after


def _block(block: Block) -> str:
    """A block as Markdown."""
    match block:
        case Prose(text, "heading"):
            return f"### {_rich(text)}"
        case Prose(text, "code"):
            return f"```python\n{visible(plain(text))}\n```"
        case Prose(text):
            return _rich(text)
        case Figures():
            return "\n".join(f"- {_rich(text)}" for text in block.texts)
        case Table():
            return _table(block)
        case Drawing(Histogram(alt)):  # of any other chart a table has the values
            return escape(alt)
        case Fold(title, blocks):
            summary = CODE.sub(r"<code>\1</code>", html.escape(visible(title)))  # HTML here
            start = f"<details><summary>{summary.replace('@', '@&#8203;')}</summary>"
            return f"{start}\n\n{markdown(blocks)}\n\n</details>"
    return ""


def _table(table: Table) -> str:
    """A table as Markdown, without the columns of charts."""
    columns = [(at, column) for at, column in enumerate(table.columns) if not column.drawn]
    lines = [[escape(column.title) or " " for _, column in columns]]
    lines.append(["---:" if column.number else "---" for _, column in columns])
    for row in table.rows:
        if isinstance(row, str):
            lines.append([f"**{escape(row)}**", *[" "] * (len(columns) - 1)])
        else:
            lines.append([_cell(row[at]) for at, _ in columns])
    caption = f"\n\n{prose(table.caption)}" if table.caption else ""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + caption


_BAR = re.compile(r"(?<!\\)\|")
"""Matches a bar in code, where nothing is escaped."""


def _cell(cell: Cell) -> str:
    sign = f"{DOTS[cell.mark]} " if cell.mark else ""
    note = f"<br>{prose(cell.note)}" if cell.note else ""
    text = f"{sign}{_rich(cell.text)}{note}".strip() or " "
    return _BAR.sub(r"\\|", text)
