"""The report as Markdown, for the summary of a CI job or a pull request: the answer and what failed first, the rest folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..text.wording import counted, listed, visible
from . import NOTHING, PanelBlocks, Section, failed, renderer
from .blocks import Block, Cell, Excerpt, Figures, Fold, Prose, Simple, Table, simple
from .figures import scenarios_sentence, scenarios_table

MAX_CHARS = 60_000
"""A pull-request comment on GitHub holds 65,536 characters (a job summary more); panels that would go beyond are named instead of shown."""

LIMIT = 65_000
"""The longest page, in characters: where the verdicts of all scenarios are longer, the last scenarios are left out."""

FIRST, FAILED = ("ranking", "gates", "changes"), ("gates", "changes", "ranking")
"""The panels that stand open, in this order, and where a gate failed; all others are behind one fold."""

ROOM = ("gates", "ranking", "changes", "losses")
"""The panels that take the room there is before others do; the first is always shown."""

MARKS = {"good": "✅ ", "bad": "❌ ", "warn": "⚠️ ", "muted": "", "plain": ""}


@renderer("markdown", endings=(".md", ".markdown"))
def markdown(sections: Sequence[Section]) -> str:
    """Every panel as GitHub Markdown: what to ship, verdicts and changes, then all else behind a fold.

    Several comparisons begin with a table of them, and each is folded unless a gate failed there.
    """
    first = _several(sections) if len(sections) > 1 else ""
    texts = _fitting(sections, MAX_CHARS - len(first))
    written = ["\n".join(_section(section, texts, len(sections) > 1)) for section in sections]
    kept = [text for at, text in enumerate(written) if len(first) + sum(map(len, written[: at + 1])) + at <= LIMIT]
    scenarios = len(written) - len(kept)
    names = [(section.name, panel.name) for section in sections[: len(kept)] for panel in section.panels]
    panels = sum(name not in texts for name in names)
    left_out = [counted(count, what) for count, what in ((panels, "more panel"), (scenarios, "more scenario")) if count]
    said = [f"No room for {listed(left_out)}: see the HTML report.\n"] if left_out else []
    return (first if len(first) < LIMIT else "") + "\n".join([*kept, *said])


def _fitting(sections: Sequence[Section], room: int) -> dict[tuple[str, str], str]:
    """The panels for which there is room, by section and name: of all sections the verdicts come before anything else takes it."""
    every = [(_place(panel, ROOM), section, panel) for section in sections for panel in section.panels]
    texts: dict[tuple[str, str], str] = {}
    for rank, section, panel in sorted(every, key=lambda item: item[0]):
        text = _blocks(panel.blocks) + "\n"
        if panel.name != NOTHING:
            text = f"## {panel.title}\n\n{text}"
        if len(text) <= room or not rank:
            room -= len(text)
            texts[section.name, panel.name] = text
    return texts


def _place(panel: PanelBlocks, order: Sequence[str]) -> int:
    return order.index(panel.name) if panel.name in order else len(order)


def _several(sections: Sequence[Section]) -> str:
    """The sentence and the table over several scenarios."""
    sentence = _inline(scenarios_sentence([section.comparison for section in sections]))
    table = _table(scenarios_table([(section.name, section.comparison) for section in sections]))
    return f"{sentence}\n\n{table}\n\n"


def _section(section: Section, texts: Mapping[tuple[str, str], str], one_of_several: bool) -> Iterator[str]:
    """The panels of one section that there is room for, and a line that names the others."""
    if one_of_several:
        red = failed(section.comparison)
        yield f"<details{' open' if red else ''}><summary><b>{_inline(section.name)}</b></summary>\n"
    else:
        yield f"# {_inline(section.name)}\n"
    shown = [panel for panel in section.panels if (section.name, panel.name) in texts]
    order = FAILED if failed(section.comparison) else FIRST
    for panel in sorted(shown, key=lambda item: _place(item, order)):
        if panel.name in FIRST:
            yield texts[section.name, panel.name]
    folded = [texts[section.name, panel.name] for panel in shown if panel.name not in (*FIRST, NOTHING)]
    if folded:
        yield "<details><summary>Details</summary>\n"
        yield from folded
        yield "</details>\n"
    yield from (texts[section.name, panel.name] for panel in shown if panel.name == NOTHING)
    if one_of_several:
        yield "</details>\n"


def _inline(text: str) -> str:
    """Text from outside as Markdown that shows it and does nothing else."""
    flat = " ".join(visible(text).split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*\[\]|~$@#!]|(?<!\w)_|_(?!\w))", _escaped, flat).replace("://", ":&#47;&#47;")


def _escaped(match: re.Match[str]) -> str:
    char = match.group(1)
    return f"&#{ord(char)};" if char in "|$@" else "\\" + char


def _blocks(blocks: Iterable[Block]) -> str:
    return "\n\n".join(filter(None, map(_block, simple(blocks))))


def _block(block: Simple) -> str:
    if isinstance(block, Prose):
        return MARKS[block.tone] + _inline(block.text)
    if isinstance(block, Figures):
        said = ((item.question, item.answer, " ".join(item.said)) for item in block.items)
        lines = (f"- {_inline(asked)} **{_inline(answer)}** {_inline(more)}" for asked, answer, more in said)
        return "\n".join(map(str.rstrip, lines))
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Fold):
        return f"<details><summary>{_inline(block.title)}</summary>\n\n{_blocks(block.blocks)}\n\n</details>"
    if isinstance(block, Excerpt):
        return f"**{_inline(block.title)}**:\n\n{_fenced(block.text)}"
    return ""  # a chart: its numbers are in the tables


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


def _fenced(text: str) -> str:
    text = visible(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
