"""Judgements: evaluations, questions, routes and selections, where a strategy feeds any."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scores import Finding, Rule
from ..blocks import Block, Cell, Column, Heading, Prose, Row, Section, Span, Table
from ..labels import label
from ..numbers import count, of, quantity
from ..reading import Reading

ORDER = 40
_FAMILIES = ("findings", "probes", "routing")
_RULES: tuple[Rule, ...] = ("stored", "judged", "routed")
_SHOWN = 12
_COLUMNS = 6


def sections(reading: Reading) -> Iterator[Section]:
    """What was judged, by strategy, then the judgements that changed.

    Nothing where nothing was judged.
    """
    answered = () if reading.compared.answers == "savings" else reading.measures
    metrics = [
        name
        for name in _named(reading)
        if name not in answered and any(reading.value(one, name) is not None for one in reading.everyone)
    ]
    changed = list(_changed(reading))
    if not metrics and not changed:
        return
    moved = [name for name in metrics if len({reading.value(one, name) for one in reading.everyone} - {None}) > 1]
    still = [name for name in metrics if name not in moved]
    blocks: list[Block] = []
    if moved:
        blocks.append(_table(reading, moved[:_COLUMNS]))
    if moved[_COLUMNS:]:
        blocks.append(_table(reading, moved[_COLUMNS:]))
    if still:
        same = "; ".join(f"{label(name)} {_any(reading, name)}" for name in still)
        blocks.append(Prose(f"The same with every strategy: {same}."))
    if changed:
        blocks += [Heading("Judgements that changed"), _changes(reading, changed)]
    yield Section("judgements", "Judgements", "Evaluations, routes and selections", tuple(blocks))


def _named(reading: Reading) -> list[str]:
    names = dict.fromkeys(name for totals in reading.compared.totals.values() for name in totals)
    return sorted(
        (name for name in names if name.split(".")[0] in _FAMILIES),
        key=lambda name: _FAMILIES.index(name.split(".")[0]),
    )


def _any(reading: Reading, metric: str) -> str:
    values = (reading.value(name, metric) for name in reading.everyone)
    return quantity(next((value for value in values if value is not None), None), reading.unit(metric))


def _table(reading: Reading, metrics: list[str]) -> Table:
    rows = []
    for item in reading.ranked:
        cells = [Cell(reading.shown(item.strategy), mark=reading.mark(item.strategy))]
        for metric in metrics:
            number = reading.number(item.strategy, metric)
            value = reading.value(item.strategy, metric)
            weight = (
                f"of {count(number.weight)}"
                if value is not None and number and number.weight > 1 and reading.unit(metric) == "fraction"
                else ""
            )
            cells.append(Cell(quantity(value, reading.unit(metric)) if value is not None else "–", weight))
        rows.append(Row(tuple(cells), chosen=reading.mark(item.strategy) == "advised"))
    columns = (
        Column("strategy"),
        *(Column(label(name, reading.info(name)), True) for name in metrics),
    )
    return Table("Evaluations, routes and selections", columns, tuple(rows), "cards")


def _changed(reading: Reading) -> Iterator[tuple[str, str, Rule, Finding]]:
    for run in reading.compared.runs:
        for score in run.scores:
            for rule in _RULES:
                check = score.checks.get(rule)
                for finding in check.findings if check else ():
                    yield run.id, score.strategy, rule, finding


def _changes(reading: Reading, changed: list[tuple[str, str, Rule, Finding]]) -> Table:
    rows = [
        Row((Cell(reading.name(run)), Cell(name), Cell("" if found.step is None else f"step {found.step}"),
             Cell((Span(found.was[:300] or "–", code=True),)), Cell((Span(found.text[:300], "bad", code=True),))))
        for run, name, _, found in changed[:_SHOWN]
    ]  # fmt: skip
    columns = (Column("run"), Column("strategy"), Column("step"), Column("before"), Column("now"))
    more = f"{of(len(changed) - _SHOWN, 'more changed', 'more changed')}." if len(changed) > _SHOWN else ""
    return Table("Judgements that changed", columns, tuple(rows), "cards", more)
