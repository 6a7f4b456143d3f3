"""The own words of strategies, whose words they altered, and which standing instructions their prompts lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ...model import Comparison, RunShown
from ...text.wording import quantity
from .. import contenders, panel
from ..blocks import MOST_ROWS, Block, Cell, Prose, number, strategy, table_of


@panel("own_words", order=33, title="What does a strategy say of its own?", detail=True)
def own_words(comparison: Comparison) -> list[Block]:
    """The constant sentences of each strategy with counts, user and system messages in other words, and rules that its prompts no longer hold."""
    runs = [(name, case.id, case.runs[name]) for name in contenders(comparison) for case in comparison.cases]
    said = _counted(runs, lambda run: iter(run.own_words))
    rules = _counted(runs, lambda run: ((rule, 1) for call in run.window.curve for rule in call.rules_missing))
    altered = [(name, case, item) for name, case, run in runs for item in run.altered_words]
    blocks: list[Block] = []
    if said:
        blocks += [
            Prose("Sentences that no tool, user or model said, and how many messages have them."),
            _table(said, "sentence", "messages"),
        ]
    if rules:
        blocks += [
            Prose("Standing instructions of the user or the system that prompts no longer hold.", "warn"),
            _table(rules, "instruction", "prompts"),
        ]
    if altered:
        columns: dict[Any, Callable[[Any], Any]] = {
            "strategy": lambda row: strategy(row[0]),
            "message": lambda row: Cell(
                f"{row[2].origin}, {row[1]}, step {row[2].step}", case=row[1], step=row[2].step
            ),
            "said": lambda row: row[2].was,
            "shown": lambda row: row[2].shown,
        }
        more = f"The first {MOST_ROWS}; {{}} more."
        blocks += [Prose("Messages of the user or the system that are shown in other words.", "warn")]
        blocks += [table_of(altered, columns, most=MOST_ROWS, more=more)]
    return blocks or [
        Prose("Nothing: no strategy put words of its own into a prompt, and none left an instruction out.", "muted")
    ]


def _counted(
    runs: list[tuple[str, str, RunShown]], items: Callable[[RunShown], Iterator[tuple[str, int]]]
) -> list[tuple[str, str, int]]:
    """Texts by strategy with their counts over all cases, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for name, _, run in runs:
        for text, count in items(run):
            counts[name, text] += count
    return sorted(((*key, count) for key, count in counts.items()), key=lambda row: (-row[2], row[:2]))


def _table(rows: list[tuple[str, str, int]], text: str, unit: str) -> Block:
    columns: dict[Any, Callable[[Any], Any]] = {
        "strategy": lambda row: strategy(row[0]),
        text: lambda row: row[1],
        number(unit): lambda row: quantity(row[2], unit),
    }
    return table_of(rows, columns, most=MOST_ROWS, more=f"The {MOST_ROWS} most frequent; {{}} more.")
