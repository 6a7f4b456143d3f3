"""What strategies reported while they ran."""

from __future__ import annotations

from ...model import Comparison
from ...text.wording import quantity
from .. import panel
from ..blocks import Block, Cell, Column, Prose, Table

MAX_ROWS = 10


@panel("notes", order=80, title="What did strategies report?", detail=True)
def notes(comparison: Comparison) -> list[Block]:
    """Notes that strategies left (a rule that fell through, a trigger that fired), counted, with the first place of each."""
    counts: dict[tuple[str, str, str], int] = {}
    first: dict[tuple[str, str, str], str] = {}
    for strategy in comparison.strategies:
        for case in comparison.cases:
            for note in case.runs[strategy].notes:
                key = strategy, note.slot, note.text
                counts[key] = counts.get(key, 0) + note.count
                first.setdefault(key, f"{case.id}, step {note.step}")
    if not counts:
        return [Prose("Nothing: no rule fell through, and no strategy had anything else to say.", "muted")]
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    rows = tuple(
        (Cell(key[0], strategy=key[0]), Cell(key[1]), Cell(key[2]), Cell(quantity(counts[key], "times")), Cell(first[key]))
        for key in ordered[:MAX_ROWS]
    )  # fmt: skip
    left = len(ordered) - len(rows)
    columns = (Column("strategy"), Column("slot"), Column("note"), Column("times", align="right"), Column("first at"))
    return [Table(columns, rows, f"The {MAX_ROWS} most frequent; {left} more." if left else "")]
