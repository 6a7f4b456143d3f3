"""Changes: the gates, and everything that moved against the baseline, before → after."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...model.compared import GateResult, Move
from ..blocks import (
    Block,
    Cell,
    Code,
    Column,
    Figure,
    Figures,
    Fold,
    Gate,
    Gates,
    Gauge,
    Heading,
    Line,
    Pair,
    Prose,
    Row,
    Section,
    Sentence,
    Shares,
    SideBySide,
    Span,
    Table,
    Tone,
)
from ..gates import bad_side, condition, failed_sentence
from ..labels import label, sentence_case
from ..numbers import change, count, difference, listed, of, quantity
from ..reading import Reading
from ..worse_runs import worse_runs

ORDER = 20
_MOVES = 20


def order(reading: Reading) -> int:
    """First where a gate failed or a baseline exists."""
    return 0 if reading.failed or reading.compared.against else ORDER


def sections(reading: Reading) -> Iterator[Section]:
    """Nothing where there are neither gates nor a baseline."""
    compared = reading.compared
    if not reading.decided and not compared.moves and not compared.against:
        return
    yield Section("gates", "Gates", "Gates" if not reading.failed else "", tuple(_gates(reading)))
    if compared.moves:
        yield Section("moved", "Changes", "Everything that moved", tuple(_moved(reading)))
    elif compared.against:
        yield Section(
            "moved",
            "Changes",
            "Everything that moved",
            (Prose(f"Nothing moved against {compared.against}."),),
        )
    if worse := worse_runs(reading):
        yield Section("worse", "Runs", "Runs that got worse", tuple(worse))
    if reading.failed:
        yield Section("next", "Next", "Next", (_next(reading),))


# ---------------------------------------------------------------- gates


def _gates(reading: Reading) -> Iterator[Block]:
    failed, passed = reading.failed, [gate for gate in reading.decided if gate.outcome == "pass"]
    if failed:
        head, rest = failed_sentence(reading)
        yield Sentence((Span(head, "bad", strong=True), f" {rest}"))
        yield _figures(reading)
    elif reading.decided:
        yield Prose(
            (
                Span("✓ ", "good", strong=True),
                f"All {of(len(passed), 'gate')} {'pass' if len(passed) != 1 else 'passes'}.",
            )
        )
    yield from _changed_lines(reading)
    if failed:
        yield Heading(
            "Failed gates, baseline → now" if any(gate.before is not None for gate in failed) else "Failed gates"
        )
        yield Gates(tuple(_gate(reading, gate) for gate in failed))
    if passed:
        rows = tuple(_passed(reading, gate) for gate in passed)
        columns = (Column("strategy"), Column("metric"), Column("gate"), Column("value", True))
        yield Fold(
            f"{of(len(passed), 'gate')} passed",
            (Table("Gates that passed", columns, rows, "cards"),),
        )


def _passed(reading: Reading, gate: GateResult) -> Row:
    unit = reading.unit(gate.rule.metric)
    value = quantity(gate.value, unit)
    if gate.before is not None:
        value = "unchanged" if gate.before == gate.value else f"{quantity(gate.before, unit)} → {value}"
    return Row(
        (
            Cell((Span("✓ ", "good", strong=True), gate.strategy)),
            Cell((Span(gate.rule.metric, code=True),)),
            Cell(condition(gate, unit)),
            Cell(value),
        )
    )


def _gate(reading: Reading, gate: GateResult) -> Gate:
    unit, metric = reading.unit(gate.rule.metric), gate.rule.metric
    move = reading.move(gate.strategy, metric)
    moved = difference(gate.before, gate.value, unit) or quantity(gate.value, unit)
    counts = (
        _counts(reading, move)
        if move
        else ", ".join(filter(None, [gate.basis, f"worst run {reading.name(gate.run)}" if gate.run else ""]))
    )
    words = f"{condition(gate, unit)}, strategy {gate.strategy}"
    gauge = None
    if gate.value is not None and math.isfinite(gate.value) and (gate.before is not None or gate.limit is not None):
        alt = ", ".join(
            f"{quantity(value, unit)} {name}" for name, value in (("before", gate.before), ("now", gate.value)) if value is not None
        ) + (f", limit {quantity(gate.limit, unit)}" if gate.limit is not None else "")  # fmt: skip
        gauge = Gauge(
            alt,
            gate.value,
            unit,
            gate.before,
            gate.limit,
            bad_side(reading, gate),
            gate.outcome != "pass",
        )
    else:
        counts = gate.reason or counts
    return Gate(
        sentence_case(label(metric, reading.info(metric))),
        metric,
        words,
        moved,
        counts,
        gate.outcome == "pass",
        gauge,
    )


def _counts(reading: Reading, move: Move) -> str:
    same = len(reading.compared.runs) - move.improved_runs - move.regressed_runs
    return (
        f"{of(move.regressed_runs, 'run')} worse, {count(move.improved_runs)} better, {count(max(0, same))} unchanged"
    )


def _figures(reading: Reading) -> Figures:
    items = []
    for gate in reading.failed[:2]:
        unit, metric = reading.unit(gate.rule.metric), gate.rule.metric
        value = quantity(gate.value, unit)
        before = (
            ""
            if gate.before is None
            else f"{quantity(gate.before, unit).removesuffix('%' if value.endswith('%') else '')} → "
        )
        items.append(
            Figure(
                sentence_case(label(metric, reading.info(metric))),
                before + value,
                "bad",
                condition(gate, unit),
                f"strategy {gate.strategy}",
            )
        )
    first = reading.failed[0]
    move = reading.move(first.strategy, first.rule.metric)
    if move is not None and len(items) < 3:
        same = max(0, len(reading.compared.runs) - move.improved_runs - move.regressed_runs)
        runs = Figure(
            "Runs",
            f"{count(move.regressed_runs)} worse",
            "bad",
            f"{count(same)} unchanged, {count(move.improved_runs)} better",
            f"strategy {first.strategy}",
        )
        items = [items[0], runs, *items[1:]]
    price = reading.move(first.strategy, "cost.usd") or reading.move(first.strategy, "cost.prompt_tokens")
    if price is not None and len(items) < 3 and price.before and price.after is not None:
        name = "Price with cache" if price.metric == "cost.usd" else "Prompt tokens"
        value, tone = (
            difference(price.before, price.after, reading.unit(price.metric)),
            "good" if price.better else "bad",
        )
        unit = reading.unit(price.metric)
        line = f"{quantity(price.before, unit)} → {quantity(price.after, unit)}, {reading.size}"
        items.append(Figure(name, value, tone, line, f"strategy {first.strategy}"))  # type: ignore[arg-type]
    if len(items) < 3:
        passed = len(reading.decided) - len(reading.failed)
        items.append(
            Figure(
                "Gates that pass",
                f"{count(passed)} of {count(len(reading.decided))}",
                "",
                reading.size,
            )
        )
    return Figures(tuple(items[:3]))


def _changed_lines(reading: Reading) -> Iterator[Block]:
    now, before = reading.compared.specs, reading.compared.specs_before
    if not before:
        return
    lines = []
    for name in dict.fromkeys((*before, *now)):
        if before.get(name) != now.get(name):
            lines += [Line("-", "", f'{name} = "{before[name]}"')] if name in before else []
            lines += [Line("+", "", f'{name} = "{now[name]}"')] if name in now else []
    if lines:
        yield Heading("The change")
        yield SideBySide("strategies", tuple(lines))


# ---------------------------------------------------------------- moves


def _moved(reading: Reading) -> Iterator[Block]:
    moves = [*reading.compared.moves]
    names = list(dict.fromkeys(move.strategy for move in moves))
    rest = [reading.shown(name) for name in reading.compared.strategies if name not in names]
    better, worse = (
        sum(move.better is True for move in moves),
        sum(move.better is False for move in moves),
    )
    text = f"{of(len(moves), 'number')} of {listed(names)} moved: {count(better)} improved, {count(worse)} regressed."
    text += f" {listed(rest)} {'has' if len(rest) == 1 else 'have'} the same values as in the baseline." if rest else ""
    yield Prose(text)
    moves.sort(
        key=lambda move: (
            move.better is not False,
            move.better is None,
            -move.regressed_runs,
            names.index(move.strategy),
        )
    )
    yield _moves(reading, moves[:_MOVES])
    if moves[_MOVES:]:
        yield Fold(f"{of(len(moves) - _MOVES, 'more number')}", (_moves(reading, moves[_MOVES:]),))


def _moves(reading: Reading, moves: Sequence[Move]) -> Table:
    several = len({move.strategy for move in reading.compared.moves}) > 1
    runs, rows = len(reading.compared.runs), []
    for move in moves:
        unit, tone = reading.unit(move.metric), _tone(move.better)
        same = max(0, runs - move.improved_runs - move.regressed_runs)
        alt = f"{of(move.improved_runs, 'run')} better, {count(same)} unchanged, {count(move.regressed_runs)} worse"
        rows.append(Row((
            Cell(sentence_case(label(move.metric, reading.info(move.metric))), move.strategy if several else move.metric),
            Cell(quantity(move.before, unit)), Cell(quantity(move.after, unit)),
            Cell((Span(difference(move.before, move.after, unit) or "–", tone, strong=True),)),
            Cell((Span(count(move.improved_runs), "good" if move.improved_runs else ""),)),
            Cell((Span(count(move.regressed_runs), "bad" if move.regressed_runs else ""),)),
            Cell(alt, chart=Shares(alt, move.improved_runs, same, move.regressed_runs)),
        )))  # fmt: skip
    columns = (Column("number"), Column("before", True), Column("now", True), Column("change", True), Column("runs better", True),
               Column("runs worse", True), Column("better · unchanged · worse", card="-"))  # fmt: skip
    return Table("Everything that moved", columns, tuple(rows), "cards")


def _tone(better: bool | None) -> Tone:
    return "" if better is None else "good" if better else "bad"


def _next(reading: Reading) -> Pair:
    """What to do now: keep the gate or accept the loss."""
    failed = list(dict.fromkeys(gate.strategy for gate in reading.failed))
    clean = [item for item in reading.ranked if item.strategy not in failed and item.strategy != reading.compared.today]
    advised = reading.by_name.get(reading.advice.advised or "")
    good = advised if advised and advised in clean else None
    keep = "Take the change back, or change the strategy until every gate passes."
    if good is not None:
        price = reading.price(good)
        keep = f"Take the change back, or take {good.strategy}: it passes every gate" + (
            f" and costs {change(price.ratio)} against today." if price and price.ratio else "."
        )
    accept = (
        Heading("Accept the loss"),
        Prose("Raise the limits in the scenario, then store the new values:"),
        Code("", "bench run SCENARIO --update-baseline"),
    )
    return Pair((Heading("Keep the gate"), Prose(keep)), accept)
