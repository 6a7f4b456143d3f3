"""Judgements: evaluations, questions, routes and selections, where a strategy feeds any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.scores import Finding, Rule
from ..blocks import Block, Prose, Section, Table, code, columns, table
from ..labels import label
from ..numbers import quantity
from ..reading import Reading
from ..strategies import measured, strategies

ORDER = 40
_FAMILIES = ("findings", "probes", "routing")
_RULES: tuple[Rule, ...] = ("stored", "judged", "routed")
_MOST = 12
_COLUMNS = 6


def sections(reading: Reading) -> Iterator[Section]:
    """The judgements by strategy, then those that changed; nothing where all judge the same."""
    answered = () if reading.compared.answers == "savings" else reading.measures
    values = {name: _values(reading, name) for name in _metrics(reading) if name not in answered}
    moved = [name for name, distinct in values.items() if len(distinct) > 1]
    still = [name for name, distinct in values.items() if len(distinct) == 1]
    changed = list(_changed(reading))
    if not moved and not changed and reading.compared.answers == "savings":
        return
    blocks: list[Block] = []
    for at in range(0, len(moved), _COLUMNS):
        numbers = measured(reading, moved[at : at + _COLUMNS])
        blocks += strategies(reading, "Evaluations, routes and selections", numbers, verdicts=False)
    if still:
        same = (f"{label(name)} {quantity(values[name].pop(), reading.unit(name))}" for name in still)
        blocks.append(Prose(f"The same with every strategy: {'; '.join(same)}."))
    if changed:
        blocks += [Prose("Judgements that changed", "heading"), _changes(reading, changed)]
    if blocks:
        yield Section("judgements", "Judgements", "Evaluations, routes and selections", tuple(blocks))


def _metrics(reading: Reading) -> list[str]:
    names = dict.fromkeys(name for totals in reading.compared.totals.values() for name in totals)
    selected = [name for name in names if name.split(".")[0] in _FAMILIES]
    return sorted(selected, key=lambda name: _FAMILIES.index(name.split(".")[0]))


def _values(reading: Reading, metric: str) -> set[float]:
    return {value for name in reading.everyone if (value := reading.value(name, metric)) is not None}


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
