"""Losses.

The runs that lose most, then for a few of them what was needed, when, and what stood there instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.detail import MissedFact, RecordChange, ReplayDetail
from ...model.scores import Finding, Rule
from ..blocks import (
    Arcs,
    Block,
    Cell,
    Column,
    Drawing,
    Fold,
    Heading,
    Prose,
    Row,
    Section,
    Span,
    Table,
)
from ..numbers import count, listed, of
from ..prompts import marked, prompts_of
from ..reading import MISSED, Reading

ORDER = 30
_RUNS, _STRATEGIES, _VALUES, _OPEN = 12, 10, 15, 2
_HEAT = (0.0, 0.15, 0.35)
_FOUND: dict[Rule, str] = {
    "valid": "prompts that a provider would refuse",
    "instructed": "instructions that went",
    "changed": "values that changed",
    "misattributed": "values under another record",
    "invented": "texts with something new",
    "hidden": "failures that are hidden",
}


def sections(reading: Reading) -> Iterator[Section]:
    """Nothing where no turn needed anything and no rule found anything."""
    blocks = [*_heat(reading), *_failures(reading), *_findings(reading), *_details(reading)]
    if blocks:
        yield Section("losses", "Losses", "Losses", tuple(blocks))


# ---------------------------------------------------------------- by run


def _heat(reading: Reading) -> Iterator[Block]:
    names = [item.strategy for item in reading.ranked if item.strategy != reading.compared.today]
    missed = {
        run.id: {name: value for name in names if (value := reading.at(run.id, name, MISSED)) is not None}
        for run in reading.compared.runs
    }
    if not any(missed.values()):
        return
    total = {name: sum(values.get(name, 0) for values in missed.values()) for name in names}
    losing, safe = (
        [name for name in names if total[name]],
        [name for name in names if not total[name]],
    )
    if not losing:
        yield Prose("With every strategy each turn would still have had everything that it used.")
        return
    lead = f"{listed(safe)} {'loses' if len(safe) == 1 else 'lose'} nothing that a turn used. " if safe else ""
    worst = max(losing, key=lambda name: total[name])
    runs = sum(bool(values.get(worst)) for values in missed.values())
    lead += f"{worst} leaves {of(int(total[worst]), 'turn')} of {of(runs, 'run')} without something that they used."
    yield Prose(lead)
    shown = [*[name for name in names if name in safe][: max(0, 3)], *losing][:_STRATEGIES]
    if len(safe) + len(losing) > _STRATEGIES:
        shown = [
            name
            for name in names
            if name in {*safe[:2], *sorted(losing, key=lambda one: -total[one])[: _STRATEGIES - 2]}
        ]
    yield Heading(
        f"The {of(min(_RUNS, runs_any := sum(any(values.values()) for values in missed.values())), 'run')} that {'loses' if runs_any == 1 else 'lose'} most"
    )
    yield Prose(
        (
            Span(
                "Turns that would have missed something. Darker: above 15% and above 35% of the turns of the run.",
                "muted",
            ),
        )
    )
    yield _heat_table(reading, missed, shown)


def _heat_table(reading: Reading, missed: dict[str, dict[str, float]], names: Sequence[str]) -> Table:
    turns = {run.id: run.facts.turns for run in reading.compared.runs}
    order = sorted(
        (run for run, values in missed.items() if any(values.values())),
        key=lambda run: (-sum(missed[run].get(name, 0) for name in names), run),
    )
    rows = []
    for run in order[:_RUNS]:
        cells = [
            Cell(reading.name(run)),
            *(_heat_cell(missed[run].get(name), turns[run]) for name in names),
        ]
        rows.append(Row((*cells, Cell(count(turns[run]), heat=0))))
    sums = (sum(bool(values.get(name)) for values in missed.values()) for name in names)
    rows.append(
        Row(
            (
                Cell("runs that miss any"),
                *(Cell(count(value), heat=0) for value in sums),
                Cell(count(len(missed)), heat=0),
            )
        )
    )
    columns = (Column("run"), *(Column(name) for name in names), Column("turns"))
    more = (
        f"{of(len(order) - _RUNS, 'more run')} {'misses' if len(order) - _RUNS == 1 else 'miss'} something."
        if len(order) > _RUNS
        else ""
    )
    return Table("Missed turns by run and strategy", columns, tuple(rows), "grid", more)


def _heat_cell(value: float | None, turns: int) -> Cell:
    if value is None:
        return Cell("–", heat=0)
    share = value / turns if turns else float(bool(value))
    return Cell(count(value), heat=sum(share > edge for edge in _HEAT))


# ---------------------------------------------------------------- what rules found


def _failures(reading: Reading) -> Iterator[Block]:
    rows = []
    for run in reading.compared.runs:
        for score in run.scores:
            if score.failure is not None:
                rows.append(
                    Row(
                        (
                            Cell(score.strategy),
                            Cell(reading.name(run.id)),
                            Cell((Span(score.failure.said[:300], "bad", code=True),)),
                        )
                    )
                )
            elif score.unstable_at is not None:
                rows.append(
                    Row(
                        (
                            Cell(score.strategy),
                            Cell(reading.name(run.id)),
                            Cell(f"another result when replayed again, from step {score.unstable_at}"),
                        )
                    )
                )
    if rows:
        more = f"{of(len(rows) - _RUNS, 'more run')}." if len(rows) > _RUNS else ""
        yield Heading("Runs that failed")
        yield Table(
            "Runs that failed",
            (Column("strategy"), Column("run"), Column("error")),
            tuple(rows[:_RUNS]),
            "cards",
            more,
        )


def _findings(reading: Reading) -> Iterator[Block]:
    """What the rules refuse, with the words.

    The findings of the advice, one table by rule in one fold.
    """
    rows: list[tuple[Rule, str, str, Finding]] = []
    for item in reading.ranked:
        for result in item.rules:
            if not result.passed and result.rule in _FOUND:
                rows += [(result.rule, item.strategy, result.worst_run, finding) for finding in result.findings[:3]]
    if not rows:
        return
    cells = tuple(
        Row((Cell(_FOUND[rule]), Cell(name, reading.name(run)), Cell((Span(found.was[:240], code=True),) if found.was else "–"),
             Cell((Span(found.text[:240], "bad", code=True),))))
        for rule, name, run, found in rows[:_VALUES]
    )  # fmt: skip
    more = f"{of(len(rows) - _VALUES, 'more example')}." if len(rows) > _VALUES else ""
    yield Heading("What the rules found")
    yield Table(
        "What the rules found",
        (Column("found"), Column("strategy"), Column("before"), Column("with the strategy")),
        cells,
        "cards",
        more,
    )


# ---------------------------------------------------------------- one run in detail


def _details(reading: Reading) -> Iterator[Block]:
    today = {item.run: item for item in reading.compared.details if item.strategy == reading.compared.today}
    shown = [item for item in reading.compared.details if item.strategy != reading.compared.today]
    shown.sort(key=lambda item: -len(item.missed))
    for number, item in enumerate(shown):
        blocks = tuple(_detail(reading, item, today.get(item.run)))
        if number < _OPEN and item.missed:
            yield from blocks
        else:
            yield Fold(_title(reading, item), blocks)


def _title(reading: Reading, item: ReplayDetail) -> str:
    turns = len({fact.turn for fact in item.missed})
    lost = f"{of(turns, 'turn')} would miss {of(len(item.missed), 'value')}" if turns else "nothing is missed"
    return f"{reading.name(item.run)} with {item.strategy}: {lost}"


def _detail(reading: Reading, item: ReplayDetail, today: ReplayDetail | None) -> Iterator[Block]:
    yield Heading(_title(reading, item))
    results = sorted(
        {message.step for message in (today or item).messages if message.kind == "result" and message.step is not None}
    )
    if item.missed:
        yield Drawing(
            _arcs(item.missed, results),
            note="Each arc leads from what gave a value (square) to the turn that needed it (circle). By then the value was no longer in the prompt.",
        )
    step = _worst_turn(item)
    if step is not None:
        side = prompts_of(item, today, step, today_name=reading.shown(reading.compared.today))
        if side is not None:
            yield Heading(f"Prompt of step {step}")
            yield side
    if item.missed:
        yield _missing(item.missed)
    if item.changes:
        yield Heading("Records that changed")
        yield _changes(item.changes)
    if item.compactions:
        yield Prose(
            (
                Span(
                    f"The strategy rewrote its history at step {listed([str(at) for at in item.compactions], 12)}.",
                    "muted",
                ),
            )
        )


def _worst_turn(item: ReplayDetail) -> int | None:
    by_turn: dict[int, int] = {}
    for fact in item.missed:
        by_turn[fact.turn] = by_turn.get(fact.turn, 0) + 1
    if by_turn:
        return min(by_turn, key=lambda turn: (-by_turn[turn], turn))
    edited = [call for call in item.calls if call.tokens]
    return edited[-1].step if edited else None


def _arcs(missed: Sequence[MissedFact], results: Sequence[int]) -> Arcs:
    weights: dict[tuple[int, int], int] = {}
    for fact in missed:
        weights[fact.origin_step, fact.turn] = weights.get((fact.origin_step, fact.turn), 0) + 1
    turns = sorted({turn for _, turn in weights})
    alt = f"Arcs from results to the later turns that needed a value of them: {of(len(turns), 'turn')}, steps {listed([str(turn) for turn in turns], 8)}."
    used = {start for start, _ in weights}
    return Arcs(
        alt,
        tuple(sorted({*results, *used})),
        tuple((start, end, many) for (start, end), many in sorted(weights.items())),
    )


def _missing(missed: Sequence[MissedFact]) -> Table:
    rows = tuple(
        Row((Cell((Span(fact.fact[:120], "bad", code=True),)), Cell(fact.origin), Cell(f"step {fact.origin_step}"),
             Cell(f"step {fact.turn}"), Cell(of(fact.distance, "turn"), f"behind the handle {fact.handle}" if fact.handle else "")))
        for fact in missed[:_VALUES]
    )  # fmt: skip
    more = f"{of(len(missed) - _VALUES, 'more value')}." if len(missed) > _VALUES else ""
    columns = (
        Column("value"),
        Column("from"),
        Column("returned at", True),
        Column("needed at", True),
        Column("later", True),
    )
    return Table("Values that are gone", columns, rows, "cards", more)


def _changes(changes: Sequence[RecordChange]) -> Table:
    rows = tuple(
        Row((Cell(f"step {one.step}"), Cell((Span(one.path, code=True),)), Cell(marked(one.before[:160], (), "")),
             Cell((Span("gone" if one.after is None else one.after[:160], "bad", code=one.after is not None),))))
        for one in changes[:_VALUES]
    )  # fmt: skip
    more = f"{of(len(changes) - _VALUES, 'more value')}." if len(changes) > _VALUES else ""
    columns = (Column("result"), Column("path"), Column("before"), Column("with the strategy"))
    return Table("Records that changed", columns, rows, "cards", more)
