"""Which strategy to ship: the answer in one sentence, the table of what each costs and loses, and the chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...comparison.decision import FAR, KEEPS_ALL, RECALL, Decision, decide
from ...comparison.intervals import FEWEST
from ...model import Comparison, Verdict
from ...text.wording import counted, listed, quantity
from .. import brackets, contenders, panel
from ..blocks import Beside, Block, Cell, Chart, Column, Fold, Point, Prose, Table, change, measured
from ..decision_sentence import decision_notes, decision_prose

COST = "cost.prompt_tokens"
DOLLARS = "cost.cost_usd"
KEPT = (RECALL, "loss.fact_recall.end", "loss.leaf_recall.end")
MAX_MORE = 2
MORE = (
    ("loss.fact_recall.end", "facts kept to the end"),
    ("loss.leaf_recall.stored", "values kept in store"),
    ("findings.agreement", "findings that agree"),
    ("routing.accuracy", "routes as expected"),
)


@dataclass(frozen=True)
class _Place:
    """One strategy between tokens and what it keeps; None where that was not measured."""

    name: str
    tokens: float | None
    kept: float | None


@panel("ranking", order=20, title="Which strategy wins?")
def ranking(comparison: Comparison) -> list[Block]:
    """What to ship, by the one rule; the strategies with what they cost and keep, their differences to what is run today and to keeping everything,
    gate marks and the Pareto front.
    """
    decision = decide(comparison)
    kept = _kept_metric(comparison)
    places = {name: _place(comparison, name, kept) for name in comparison.everyone}
    declared = sorted((places[name] for name in contenders(comparison)), key=_by_tokens)
    around = sorted((places[name] for name in brackets(comparison)), key=_by_tokens)
    front = _front(declared)
    table = _table(comparison, decision, kept, [place.name for place in declared + around], places, front)
    named = f"On the Pareto front (no declared strategy is both cheaper and better by {kept}): {listed(front)}."
    said: list[Block] = [
        decision_prose(decision),
        Prose(" ".join([*decision_notes(decision), *([named] if front else [])]), "muted"),
    ]
    tokens = _chart(comparison, COST, kept, declared + around, front)
    if tokens is None:
        return [*said, table, Prose("No chart: no strategy has both a token count and a recall.", "muted")]
    priced = [replace(place, tokens=comparison.value(place.name, DOLLARS)) for place in declared + around]
    ours = [place for place in priced if place.name in contenders(comparison)]
    dollars = _chart(comparison, DOLLARS, kept, priced, _front(sorted(ours, key=_by_tokens)))
    return [*said, Beside((table, tokens)), *([Fold("The same in dollars", (dollars,))] if dollars else [])]


def _chart(
    comparison: Comparison, cost: str, kept: str | None, places: list[_Place], front: tuple[str, ...]
) -> Chart | None:
    """What each strategy costs against what it keeps, where both were measured; None where nothing has both."""
    points = tuple(
        Point(place.name, place.tokens, place.kept)
        for place in places
        if place.tokens is not None and place.kept is not None
    )
    if not points:
        return None
    unit = comparison.metrics[cost].unit if cost in comparison.metrics else "tokens"
    what, title = ("Dollars", "dollars") if unit == "usd" else ("Tokens", "prompt tokens")
    drawn = f" Dashed, in bold: the Pareto front, {listed(front)}." if len(front) > 1 else ""
    text = f"{what} against {kept}: up is better, left is cheaper; grey: the references, which bracket what is possible.{drawn}"
    return Chart("scatter", f"{what} against {kept}", title, str(kept), unit, "fraction", points, text, front)


def _kept_metric(comparison: Comparison) -> str | None:
    """The first recall that any declared strategy has a value of."""
    for name in KEPT:
        if any(comparison.value(strategy, name) is not None for strategy in comparison.strategies):
            return name
    return None


def _place(comparison: Comparison, strategy: str, kept: str | None) -> _Place:
    return _Place(strategy, comparison.value(strategy, COST), comparison.value(strategy, kept) if kept else None)


def _by_tokens(place: _Place) -> tuple[bool, float, str]:
    return place.tokens is None, place.tokens or 0.0, place.name


def _front(declared: list[_Place]) -> tuple[str, ...]:
    """The declared strategies that no other one beats, cheapest first; none where there is nothing to choose from."""
    known = [place for place in declared if place.tokens is not None and place.kept is not None]
    if len(known) < 2:
        return ()
    return tuple(place.name for place in known if not any(_beats(other, place) for other in known))


def _beats(other: _Place, place: _Place) -> bool:
    theirs, ours = (other.tokens or 0.0, -(other.kept or 0.0)), (place.tokens or 0.0, -(place.kept or 0.0))
    return theirs != ours and theirs[0] <= ours[0] and theirs[1] <= ours[1]


def _table(
    comparison: Comparison,
    decision: Decision,
    kept: str | None,
    names: list[str],
    known: dict[str, _Place],
    front: tuple[str, ...],
) -> Table:
    """A row a strategy: price, what it keeps, each against what is run today and against keeping everything, and the gates."""
    shown = list(_columns(comparison, decision, kept))
    columns = [Column("strategy"), *(Column(title, align="right") for title, _, _ in shown)]
    columns.append(Column("floor 0% – keep_all 100%", align="right"))
    if comparison.rules:
        columns.append(Column("gates"))
    rows = []
    for name in names:
        is_reference = name in brackets(comparison)
        detail = "Pareto front" if name in front else ""
        cells = [Cell(name, note="reference" if is_reference else "", strategy=name, detail=detail)]
        for _, metric, reference in shown:
            if reference is None:
                cells.append(measured(comparison.row(name, metric)))
                continue
            unit = comparison.metrics[metric].unit if metric in comparison.metrics else "tokens"
            against = change(comparison.delta(name, metric, reference), unit)
            if is_reference:  # a bracket is neither good nor bad
                against = replace(against, tone="plain", note="")
            cells.append(against)
        cells.append(_between(known[name], known))
        if comparison.rules:
            cells.append(_gate_mark(comparison, name))
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows), _caption(comparison))


def _columns(comparison: Comparison, decision: Decision, kept: str | None) -> Iterator[tuple[str, str, str | None]]:
    """The columns of numbers: title, metric, and for a difference the reference that it is stated against."""
    against = [
        name
        for name in dict.fromkeys(item.reference for item in comparison.deltas)
        if not (name == KEEPS_ALL and decision.impossible)
    ]
    price = "cost" if decision.unit == "usd" else "tokens"
    title = price if decision.unit == "usd" else "prompt tokens"
    yield f"{title} with refetches", decision.metric, None
    for reference in against:
        yield f"{price} against {reference}", decision.metric, reference
    if kept:
        yield kept, kept, None
        for reference in against[:1]:  # what keeping everything keeps is the yardstick: all of it
            yield f"kept against {reference}", kept, reference
    if any(comparison.value(name, FAR) is not None for name in comparison.everyone):
        yield FAR, FAR, None
    if decision.metric != COST:
        yield "prompt tokens", COST, None
    more = [(title, name) for name, title in MORE if name != kept and _tells_apart(comparison, name)]
    for title, name in more[
        :MAX_MORE
    ]:  # one that says the same of everyone, or has no room, is in the table of all metrics
        yield title, name, None


def _caption(comparison: Comparison) -> str:
    cases = len(comparison.cases)
    if cases < FEWEST:
        return f"{counted(cases, 'case')}: below {FEWEST} no difference is called sure, and no interval is shown."
    return f"Square brackets: 95% interval over {counted(cases, 'case')}."


def _tells_apart(comparison: Comparison, metric: str) -> bool:
    """Whether any two of the contenders and keep_all differ by a metric."""
    rows = [comparison.row(name, metric) for name in dict.fromkeys((*contenders(comparison), "keep_all"))]
    return len({row.value for row in rows if row is not None and row.value is not None}) > 1


def _between(place: _Place, known: dict[str, _Place]) -> Cell:
    """Where a strategy's tokens lie between floor and keep_all."""
    floor, top = known.get("floor"), known.get("keep_all")
    if place.tokens is None or not floor or not top or floor.tokens is None or top.tokens is None:
        return Cell("", "muted")
    if top.tokens <= floor.tokens:
        return Cell("", "muted")
    return Cell(quantity((place.tokens - floor.tokens) / (top.tokens - floor.tokens), "fraction"))


def _gate_mark(comparison: Comparison, strategy: str) -> Cell:
    verdicts: list[Verdict] = [verdict for verdict in comparison.verdicts if verdict.strategy == strategy]
    if comparison.failed(strategy):
        return Cell("raised", "bad")
    if not verdicts:
        return Cell("none" if strategy in comparison.strategies else "", "muted")
    failed = [verdict for verdict in verdicts if verdict.outcome == "fail"]
    if failed:
        return Cell(f"✗ {len(failed)} of {len(verdicts)}", "bad")
    unsure = sum(verdict.outcome == "inconclusive" for verdict in verdicts)
    if unsure:
        return Cell(f"? {unsure} inconclusive", "warn")
    skipped = sum(verdict.outcome == "skipped" for verdict in verdicts)
    passed = len(verdicts) - skipped
    return Cell(f"✓ {passed} pass" + (f", {skipped} skipped" if skipped else ""), "good" if passed else "muted")
