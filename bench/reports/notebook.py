"""A comparison in a notebook: its sentence, its figures and its table."""

from __future__ import annotations

from ..model.compared import Compared
from . import first_line
from .blocks import Figures, Table, plain
from .drawing import safe
from .panels.answer import sections
from .reading import Reading


def html_repr(compared: Compared) -> str:
    """The first screen without a style sheet: the sentence, the three figures, the table."""
    blocks = next(sections(Reading(compared))).blocks
    parts = [f"<p><b>{safe(first_line(compared))}</b></p>"]
    for block in blocks:
        if isinstance(block, Figures):
            items = "".join(
                f"<div>{safe(item.name)}<br><b>{safe(item.value)}</b><br>{safe('; '.join(filter(None, [item.line, item.note])))}</div>"
                for item in block.items
            )
            parts.append(f'<div style="display:flex;gap:2em">{items}</div>')
        elif isinstance(block, Table):
            keep = [place for place, column in enumerate(block.columns) if column.card != "-"]
            heads = "".join(f"<th>{safe(block.columns[place].title)}</th>" for place in keep)
            rows = "".join(
                "<tr>"
                + "".join(
                    f"<td>{safe(' '.join(filter(None, [plain(row.cells[place].text), row.cells[place].note])))}</td>"
                    for place in keep
                )
                + "</tr>"
                for row in block.rows
            )
            parts.append(f"<table><tr>{heads}</tr>{rows}</table>")
    return "".join(parts)
