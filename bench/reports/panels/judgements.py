"""Judgements: evaluations, answers, routes and selections that a strategy changed."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scores import Rule
from ..blocks import Cells, Heads, Section, code, table
from ..reading import Reading

_RULES: tuple[Rule, ...] = ("stored", "judged", "routed")
_MOST = 12


def sections(reading: Reading) -> Iterator[Section]:
    """A section with the changed judgements; none if every strategy keeps the recorded ones."""
    if rows := list(_changed_decisions(reading)):
        heads: Heads = ["run", "strategy", "step", "before", "now"]
        changes = table("Judgements that changed", heads, rows, most=_MOST, noun="judgement")
        yield Section("judgements", "Judgements", "Judgements that changed", (changes,))


def _changed_decisions(reading: Reading) -> Iterator[Cells]:
    """Yield the cells of each changed evaluation or route."""
    for run in reading.runs:
        for score in run.scores:
            for rule in _RULES:
                check = score.checks.get(rule)
                for item in check.findings if check else ():
                    step = "" if item.step is None else f"step {item.step}"
                    before, now = code(item.was[:300]), code(item.text[:300], "bad")
                    yield reading.name(run.id), score.strategy, step, before, now
