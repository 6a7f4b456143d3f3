"""Several scenarios at one glance: a row each with the advice, and one sentence over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..model import Comparison
from ..text.wording import listed, percent
from .answered import Answered
from .blocks import OUTCOMES, Block, Cell, Prose, Table, number, table_of
from .decision_sentence import advice_text, asked_text, price_text
from .figures import TONES

SAID = {"ship": "something better to ship", "keep": "keep what you run", "nobody": "nobody qualifies"}


def scenarios_table(named: Sequence[tuple[str, Comparison]]) -> Table:
    """A row a scenario: what it asks answered, the advice, the best price as a share of today's, the worst loss, and what the gates say.

    `named` are the comparisons with their names in the report, in order; none: a table without rows.
    """
    return table_of(
        [(name, Answered.of(comparison)) for name, comparison in named],
        {
            "scenario": lambda item: item[0],
            "answer": lambda item: _answer(item[1]),
            number("best of today's price"): lambda item: _best(item[1]),
            number("worst loss"): lambda item: _loss(item[1]),
            "gates": lambda item: _gates(item[1]),
        },
        "Best: the cheapest that qualifies, sure or not. Worst loss: turns of one run that would have missed something, under what is advised.",
    )


def scenarios_blocks(named: Sequence[tuple[str, Comparison]]) -> tuple[Block, ...]:
    """The table of several scenarios and the sentence over all of them; none for fewer than two."""
    if len(named) < 2:
        return ()
    return scenarios_table(named), Prose(scenarios_sentence([comparison for _, comparison in named]))


def scenarios_sentence(comparisons: Sequence[Comparison]) -> str:
    """The number of scenarios with each advice, in one sentence; `""` for fewer than two."""
    if len(comparisons) < 2:
        return ""
    counts = Counter[str](Answered.of(item).advice.outcome for item in comparisons)
    failed = sum(any(verdict.outcome == "fail" for verdict in item.verdicts) for item in comparisons)
    gates = f"Gates fail in {failed}." if failed else "No gate fails."
    if len(counts) == 1:
        every = "Both" if len(comparisons) == 2 else f"All {len(comparisons)}"
        return f"{every} scenarios: {SAID[next(iter(counts))]}. {gates}"
    said = [f"{text} in {counts[action]}" for action, text in SAID.items() if counts[action]]
    return f"Of {len(comparisons)} scenarios: {listed(said)}. {gates}"


def _answer(item: Answered) -> Cell:
    """The answer to what the scenario asks, then the advice."""
    return Cell(f"{asked_text(item)} {advice_text(item)}".strip(), TONES[item.advice.outcome])


def _best(item: Answered) -> Cell:
    """The price of a run with the cheapest strategy that qualifies, as a share of today's; both prices beside it."""
    unit, today, best = item.choice.unit, item.today, item.choice.cheapest
    if best is None or today is None or not today.price_a_run or best.price_a_run is None:
        return Cell("" if item.advice.subject is None else price_text(item.advice.unit, item.advice.subject))
    share = best.price_a_run / today.price_a_run
    least, most = price_text(unit, best), price_text(unit, today)
    beside = least if best == today else f"{least.removesuffix(' tokens')} of {most}"
    return Cell(percent(share), detail=beside, bar=min(share, 1.0))


def _loss(item: Answered) -> str:
    worst = None if item.advice.subject is None else item.advice.subject.worst_fault_rate
    return "" if worst is None else percent(worst) if worst > 0 else "nothing"


def _gates(item: Answered) -> Cell:
    counts = Counter[str](verdict.outcome for verdict in item.verdicts)
    worst = next((outcome for outcome in OUTCOMES if counts[outcome] and outcome != "skipped"), None)
    if worst is None:
        return Cell(f"{counts['skipped']} skipped" if counts else "none", "muted")
    return Cell(f"{counts[worst]} {worst}", OUTCOMES[worst])
