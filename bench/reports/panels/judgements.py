"""Judgements: evaluations, answers, routes and selections that a strategy changed."""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import Section, code, table
from ..reading import Reading

_MOST = 12


def sections(reading: Reading) -> Iterator[Section]:
    """A section with the changed judgements; none if every strategy keeps the recorded ones."""
    rows = [
        (
            reading.name(run.id),
            score.strategy,
            "" if item.step is None else f"step {item.step}",
            code(item.was[:300]),
            code(item.text[:300], "bad"),
        )
        for run in reading.runs
        for score in run.scores
        for rule in ("stored", "judged", "routed")
        if (check := score.checks.get(rule))
        for item in check.findings
    ]
    if rows:
        heads = ["run", "strategy", "step", "before", "now"]
        changes = table("Judgements that changed", heads, rows, most=_MOST, noun="judgement")
        yield Section("judgements", "Judgements", "Judgements that changed", (changes,))
