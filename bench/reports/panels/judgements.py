"""Judgements: evaluations, questions, routes and selections, where a strategy feeds any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.scores import Finding, Rule
from ..blocks import Block, Prose, Section, Table, code, columns, table
from ..metric_table import metric_tables
from ..reading import Reading

_FAMILIES = ("findings", "probes", "routing")
_RULES: tuple[Rule, ...] = ("stored", "judged", "routed")
_MOST = 12


def sections(reading: Reading) -> Iterator[Section]:
    """The numbers of judgements by strategy, then those that changed; nothing where all judge the
    same.
    """
    metrics = [*_metrics(reading)]
    differ = any(len(reading.values(name)) > 1 for name in metrics)
    changed = list(_changed(reading))
    blocks: list[Block] = []
    if metrics and (differ or changed or reading.compared.answers != "savings"):
        blocks += metric_tables(reading, "Evaluations, routes and selections", metrics)
    if changed:
        blocks += [Prose("Judgements that changed", "heading"), _changes(reading, changed)]
    if blocks:
        yield Section(
            "judgements", "Judgements", "Evaluations, routes and selections", tuple(blocks)
        )


def _metrics(reading: Reading) -> Iterator[str]:
    """Yields the metrics of judgements that were measured and do not stand in the answer already."""
    answered = () if reading.compared.answers == "savings" else reading.measures
    for name in reading.compared.metrics:
        if name.split(".")[0] in _FAMILIES and name not in answered and reading.values(name):
            yield name


def _changed(reading: Reading) -> Iterator[tuple[str, str, Finding]]:
    for run in reading.runs:
        for score in run.scores:
            for rule in _RULES:
                check = score.checks.get(rule)
                for finding in check.findings if check else ():
                    yield run.id, score.strategy, finding


def _changes(reading: Reading, changed: Sequence[tuple[str, str, Finding]]) -> Table:
    rows = [
        (
            reading.name(run),
            name,
            "" if values.step is None else f"step {values.step}",
            code(values.was[:300]),
            code(values.text[:300], "bad"),
        )
        for run, name, values in changed
    ]
    heads = columns("run", "strategy", "step", "before", "now")
    return table("Judgements that changed", heads, rows, most=_MOST, noun="judgement")
