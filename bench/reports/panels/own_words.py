"""The own words of strategies, those that they altered, instructions that their prompts lack, and the notes that they left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...model import RunShown
from ...text.wording import quantity
from .. import panel
from ..answered import Answered
from ..blocks import MOST_ROWS, Block, Cell, Prose, Tone, number, strategy, table_of

Said = Iterable[tuple[str, int, int]]
"""Texts of a run, each with its count and the step where it stands first (-1: not known)."""

SAID: tuple[tuple[str, str, str, Tone, Callable[[RunShown], Said]], ...] = (
    ("sentence", "messages", "Sentences that no tool, user or model said, and how many messages have them.", "plain",
     lambda run: ((text, count, -1) for text, count in run.own_words)),
    ("instruction", "prompts", "Standing instructions of the user or the system that prompts no longer hold.", "warn",
     lambda run: ((rule, 1, call.step) for call in run.window.curve for rule in call.rules_missing)),
    ("note", "times", "Notes of the strategies: a rule that fell through, a trigger that fired.", "plain",
     lambda run: ((f"{note.slot}: {note.text}", note.count, note.step) for note in run.notes)),
)  # fmt: skip
"""Kinds of text, each with the unit of its count, the sentence above it, and where a run holds it."""


@panel("own_words", order=33, title="What does a strategy say of its own?", detail=True)
def own_words(comparison: Answered) -> list[Block]:
    """The sentences, lost instructions and notes of each strategy with counts, and user and system messages in other words."""
    return [block for item in SAID for block in _counted(comparison, *item)] + list(_altered(comparison))


def _counted(
    comparison: Answered, text: str, unit: str, said: str, tone: Tone, items: Callable[[RunShown], Said]
) -> Iterator[Block]:
    """Texts by strategy with their counts over all cases, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for name, case, run in comparison.runs(comparison.strategies if text == "note" else comparison.contenders):
        for found, count, step in items(run):
            counts[name, found] += count
            first.setdefault((name, found), f"{case.id}, step {step}" if step >= 0 else case.id)
    if counts:
        yield Prose(said, tone)
        yield table_of(
            sorted(counts, key=lambda key: (-counts[key], key)),
            {
                "strategy": lambda key: strategy(key[0]),
                text: lambda key: key[1],
                number(unit): lambda key: quantity(counts[key], unit),
                "first at": lambda key: first[key],
            },
            most=MOST_ROWS,
            more=f"The {MOST_ROWS} most frequent; {{}} more.",
        )


def _altered(comparison: Answered) -> Iterator[Block]:
    found = [(name, case.id, item) for name, case, run in comparison.runs(comparison.contenders) for item in run.altered_words]  # fmt: skip
    columns: dict[Any, Callable[[Any], Any]] = {
        "strategy": lambda row: strategy(row[0]),
        "message": lambda row: Cell(f"{row[2].origin}, {row[1]}, step {row[2].step}", case=row[1], step=row[2].step),
        "said": lambda row: row[2].was,
        "shown": lambda row: row[2].shown,
    }
    if found:
        yield Prose("Messages of the user or the system that are shown in other words.", "warn")
        yield table_of(found, columns, most=MOST_ROWS, more=f"The first {MOST_ROWS}; {{}} more.")
