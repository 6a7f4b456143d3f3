"""Which strategy wins: the table of what each costs and loses, the rule, and the chart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...model import Comparison, Verdict
from ...text.wording import listed, quantity
from .. import brackets, contenders, panel
from ..blocks import Beside, Block, Cell, Chart, Column, Fold, Point, Prose, Table, change, measured

COST = "cost.prompt_tokens"
DOLLARS = "cost.cost_usd"
KEPT = ("needed.recall", "loss.fact_recall.end", "loss.leaf_recall.end")
ENOUGH = 0.95
MAX_MORE = 2
MORE = (
    (DOLLARS, "cost"),
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
    """The strategies by prompt tokens, with differences against keep_all, gate marks, the Pareto front, and who wins by which rule."""
    kept = _kept_metric(comparison)
    places = {name: _place(comparison, name, kept) for name in comparison.everyone}
    declared = sorted((places[name] for name in contenders(comparison)), key=_by_tokens)
    around = sorted((places[name] for name in brackets(comparison)), key=_by_tokens)
    front = _front(declared)
    table = _table(comparison, kept, declared + around, places, front)
    named = f"On the Pareto front (no declared strategy is both cheaper and better by {kept}): {listed(front)}."
    said: list[Block] = [
        _winner(comparison, kept, declared),
        Prose(" ".join([_rule(kept), *([named] if front else [])]), "muted"),
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


def _failing(comparison: Comparison) -> set[str]:
    failed = {verdict.strategy for verdict in comparison.verdicts if verdict.outcome == "fail"}
    return failed | {name for name in comparison.everyone if comparison.failed(name)}


def _winner(comparison: Comparison, kept: str | None, declared: list[_Place]) -> Prose:
    """Who wins, in one sentence."""
    if kept is None:
        return Prose("No winner: no strategy's loss could be measured, and cost alone decides nothing.", "warn")
    failing = _failing(comparison)
    able = [p for p in declared if p.name not in failing and p.tokens is not None and (p.kept or 0.0) >= ENOUGH]
    if not able:
        measured_places = [place for place in declared if place.kept is not None]
        best = max(measured_places, key=lambda place: (place.kept or 0.0, -(place.tokens or 0.0)), default=None)
        if best is None:
            return Prose("No winner: no declared strategy finished on every case.", "warn")
        most = f"{best.name} keeps most, {quantity(best.kept, 'fraction')}"
        against = comparison.delta(best.name, COST)
        price = (
            f", for {change(against, 'tokens').text} tokens against {against.reference}"
            if against and against.delta
            else ""
        )
        failed = f"; {listed(sorted(failing & set(contenders(comparison))))} failed" if failing else ""
        return Prose(f"No winner: {most}{price}{failed}.", "warn")
    winner = able[0]
    against = comparison.delta(winner.name, COST)
    dollars = comparison.value(winner.name, DOLLARS)
    money = f" ({quantity(dollars, 'usd')})" if dollars is not None else ""
    said = f"{winner.name} wins: {quantity(winner.tokens, 'tokens')} prompt tokens{money}"
    keeps = f"keeps {quantity(winner.kept, 'fraction')}"
    if against is None or against.delta is None:
        return Prose(f"{said}, {keeps}.", "good")
    if against.delta >= 0:
        return Prose(f"No winner: no strategy that keeps enough is cheaper than {against.reference}.", "warn")
    compared = f"{change(against, 'tokens').whole} against {against.reference}"
    doubt = "" if against.better is not None else f" (not certain: {against.reason})"
    return Prose(f"{said}, {compared}{doubt}; it {keeps}.", "good")


def _rule(kept: str | None) -> str:
    share = quantity(ENOUGH, "fraction")
    return f"The winner is the cheapest declared strategy that fails no gate and keeps at least {share} by {kept or KEPT[0]}."


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
    comparison: Comparison, kept: str | None, places: list[_Place], known: dict[str, _Place], front: tuple[str, ...]
) -> Table:
    more = [(name, title) for name, title in MORE if name != kept and _tells_apart(comparison, name)][
        :MAX_MORE
    ]  # a column that says the same of everyone, or that has no room, is in the table of all metrics
    reference = comparison.deltas[0].reference if comparison.deltas else "keep_all"
    columns = [
        Column("strategy"),
        Column("prompt tokens", align="right"),
        Column(f"against {reference}", align="right"),
    ]
    if kept:
        columns += [Column(kept, align="right"), Column(f"against {reference}", align="right")]
    columns += [Column(title, align="right") for _, title in more]
    columns += [Column("floor 0% – keep_all 100%", align="right")]
    if comparison.rules:
        columns.append(Column("gates"))
    rows = []
    for place in places:
        is_reference = place.name in brackets(comparison)
        detail = "Pareto front" if place.name in front else ""
        cells = [Cell(place.name, note="reference" if is_reference else "", strategy=place.name, detail=detail)]
        for metric in filter(None, (COST, kept)):
            unit = comparison.metrics[metric].unit if metric in comparison.metrics else "tokens"
            against = change(comparison.delta(place.name, metric), unit)
            if is_reference:  # a bracket is neither good nor bad
                against = replace(against, tone="plain", note="")
            cells += [measured(comparison.row(place.name, metric)), against]
        cells += [measured(comparison.row(place.name, name)) for name, _ in more]
        cells.append(_between(place, known))
        if comparison.rules:
            cells.append(_gate_mark(comparison, place.name))
        rows.append(tuple(cells))
    several = len(comparison.cases) > 1
    caption = (
        f"Square brackets: 95% interval over {len(comparison.cases)} cases." if several else "One case: no intervals."
    )
    return Table(tuple(columns), tuple(rows), caption)


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
