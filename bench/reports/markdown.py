"""The report as Markdown, for the summary of a CI job or a pull request: what failed and what is worst comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..model import Span
from ..text.wording import counted, visible
from . import PanelBlocks, Section, renderer
from .blocks import Beside, Block, Cell, Chart, Fold, Path, Prose, SideBySide, Table, needed_text, needs
from .scenarios_table import scenarios_sentence, scenarios_table

MAX_CHARS = 60_000
"""A pull-request comment on GitHub holds 65,536 characters (a job summary more); panels that would go beyond are named instead of shown."""

FIRST = ("gates", "changes", "ranking", "losses")
MARKS = {"good": "✅ ", "bad": "❌ ", "warn": "⚠️ ", "muted": "", "plain": ""}


@renderer("markdown", endings=(".md", ".markdown"))
def markdown(sections: Sequence[Section]) -> str:
    """Every panel as GitHub Markdown: verdicts, ranking and worst cases first, then the rest, long parts folded."""
    texts: dict[tuple[str, str], str] = {}
    left = MAX_CHARS
    for rank, section, panel in sorted(_panels(sections), key=lambda item: item[0]):
        text = f"## {panel.title}\n\n" + "\n\n".join(filter(None, map(_block, panel.blocks))) + "\n"
        if len(text) <= left or not rank:
            left -= len(text)
            texts[section.name, panel.name] = text
    first = ""
    if len(sections) > 1:
        sentence = _inline(scenarios_sentence([section.comparison for section in sections]))
        first = f"{sentence}\n\n{_table(scenarios_table([(item.name, item.comparison) for item in sections]))}\n\n"
    return first + "\n".join(part for section in sections for part in _section(section, texts))


def _section(section: Section, texts: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The panels of one section that there is room for, and a line that names the others."""
    yield f"# {_inline(section.name)}\n"
    left_out = 0
    for _, _, panel in sorted(_panels([section]), key=lambda item: item[0]):
        if (section.name, panel.name) in texts:
            yield texts[section.name, panel.name]
        else:
            left_out += 1
    if left_out:
        yield f"Too long for this summary: {counted(left_out, 'more panel')}, see the HTML report.\n"


def _panels(sections: Sequence[Section]) -> Iterator[tuple[int, Section, PanelBlocks]]:
    """Every panel with its rank: of all sections the verdicts come before anything else takes room."""
    for section in sections:
        for panel in section.panels:
            yield FIRST.index(panel.name) if panel.name in FIRST else len(FIRST), section, panel


def _inline(text: str) -> str:
    """Text from outside as Markdown that shows it and does nothing else."""
    flat = " ".join(visible(text).split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*\[\]|~$@#!]|(?<!\w)_|_(?!\w))", _escaped, flat).replace("://", ":&#47;&#47;")


def _escaped(match: re.Match[str]) -> str:
    char = match.group(1)
    return f"&#{ord(char)};" if char in "|$@" else "\\" + char


def _block(block: Block) -> str:
    if isinstance(block, Prose):
        return MARKS[block.tone] + _inline(block.text)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Chart):
        return ""  # its numbers are in the tables
    if isinstance(block, SideBySide):
        return _details(block.title, "\n\n".join(_side_by_side(block)))
    if isinstance(block, Path):
        return "\n".join([f"**{_inline(block.title)}**\n", *_wrong_turns(block)])
    if not isinstance(block, Fold | Beside):
        return ""  # what only opens on a page
    inner = "\n\n".join(filter(None, map(_block, block.blocks)))
    return _details(block.title, inner) if isinstance(block, Fold) else inner


def _details(title: str, inner: str) -> str:
    return f"<details><summary>{_inline(title)}</summary>\n\n{inner}\n\n</details>"


def _table(table: Table) -> str:
    notes = table.footnotes()
    head = [column.title + (f" ({column.unit})" if column.unit else "") for column in table.columns]
    lines = [_row([_inline(name) for name in head])]
    lines.append(_row(["---:" if column.align == "right" else "---" for column in table.columns]))
    lines += [_row([_cell(cell, notes) for cell in row]) for row in table.rows]
    below = [f"<sup>{number}</sup> {_inline(note)}" for number, note in enumerate(notes, 1)]
    if table.caption:
        below.append(_inline(table.caption))
    return "\n".join(lines) + ("\n\n" + "<br>\n".join(below) if below else "")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell, notes: tuple[str, ...]) -> str:
    mark = f"<sup>{notes.index(cell.note) + 1}</sup>" if cell.note else ""
    return _inline(cell.whole) + mark


def _side_by_side(block: SideBySide) -> Iterator[str]:
    yield "Untruncated:"
    yield _fenced(block.result.untruncated)
    for kept in block.result.kept:
        yield f"**{_inline(kept.strategy)}**, {_inline(kept.where)}:"
        yield _fenced(kept.text)
        if kept.lost_total:
            yield f"Lost {kept.lost_total}: {_inline(', '.join(kept.lost))}"
        told = [*kept.said, *(needed_text(step, facts) for step, facts in needs(kept))]
        if told:
            yield "\n".join(f"- {_inline(sentence)}" for sentence in told)


def _wrong_turns(block: Path) -> Iterator[str]:
    for turn in block.turns:
        if turn.expected is not None:
            said = f"step {turn.step}, {turn.router}: {turn.taken}, expected {turn.expected}"
            yield f"- ❌ {_inline(said)}"


def _fenced(spans: Sequence[Span]) -> str:
    text = visible("".join(span.text for span in spans))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
