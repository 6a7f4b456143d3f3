"""Several scenarios at one glance: a row each with the answer, and one sentence over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..comparison.decision import RUN_TODAY, Decision, decide
from ..model import Comparison
from ..text.wording import listed, percent, rough
from .blocks import Block, Cell, Column, Prose, Table, Tone

TONES: dict[str, Tone] = {"ship": "good", "keep_what_you_run": "plain", "nobody": "bad"}
SAID = {"ship": "something better to ship", "keep_what_you_run": "keep what you run", "nobody": "nobody qualifies"}
OUTCOMES: dict[str, Tone] = {"fail": "bad", "inconclusive": "warn", "skipped": "muted", "pass": "good"}
COLUMNS = (
    Column("scenario"),
    Column("answer"),
    Column("cost a run", align="right"),
    Column("worst loss", align="right"),
    Column("gates"),
)


def scenarios_table(named: Sequence[tuple[str, Comparison]]) -> Table:
    """A row a scenario: what to ship, what that costs a run, what it loses of what was needed on its worst case, and what the gates say.

    `named` are the comparisons with their names in the report, in order; none: a table without rows.
    """
    decided = [(name, comparison, _decision(comparison)) for name, comparison in named]
    rows = tuple(
        (Cell(name), _answer(decision), Cell(_price(decision)), Cell(_loss(decision)), _gates(comparison))
        for name, comparison, decision in decided
    )
    priced = any(decision.won is not None for _, _, decision in decided)
    fetched = "Costs include fetching again what was missing. " if priced else ""
    return Table(
        COLUMNS, rows, f"{fetched}Worst loss: how much of what later turns needed was gone, on the worst case."
    )


def scenarios_blocks(named: Sequence[tuple[str, Comparison]]) -> tuple[Block, ...]:
    """The table of several scenarios and the sentence over all of them; none for fewer than two."""
    if len(named) < 2:
        return ()
    return scenarios_table(named), Prose(scenarios_sentence([comparison for _, comparison in named]))


def scenarios_sentence(comparisons: Sequence[Comparison]) -> str:
    """How many scenarios say what, in one sentence; `""` for fewer than two."""
    if len(comparisons) < 2:
        return ""
    counts: Counter[str] = Counter(_advice(_decision(item)) for item in comparisons)
    failed = sum(any(verdict.outcome == "fail" for verdict in item.verdicts) for item in comparisons)
    gates = f"Gates fail in {failed}." if failed else "No gate fails."
    if len(counts) == 1:
        every = "Both" if len(comparisons) == 2 else f"All {len(comparisons)}"
        return f"{every} scenarios: {SAID[next(iter(counts))]}. {gates}"
    said = [f"{text} in {counts[outcome]}" for outcome, text in SAID.items() if counts[outcome]]
    return f"Of {len(comparisons)} scenarios: {listed(said)}. {gates}"


def _decision(comparison: Comparison) -> Decision:
    return decide(comparison)


def _answer(decision: Decision) -> Cell:
    advised = decision.advised
    shipped = f"ship {advised.strategy}" if advised is not None else ""
    said = {"ship": shipped, "keep_what_you_run": "keep what you run", "nobody": "nobody qualifies"}
    advice = _advice(decision)
    return Cell(said[advice], TONES[advice])


def _advice(decision: Decision) -> str:
    """What the sentence says to do: a winner that surely beats nothing, where nothing else does, is no reason to change what is run."""
    if decision.advised is not None and decision.advised.strategy == RUN_TODAY:
        return "keep_what_you_run"
    return decision.outcome


def _price(decision: Decision) -> str:
    won = decision.advised
    if won is None or won.price_a_run is None:
        return ""
    least = "≥ " if won.at_least else ""
    unit = "" if decision.unit == "usd" else f" {decision.unit}"
    return f"{least}{rough(won.price_a_run, decision.unit)}{unit}"


def _loss(decision: Decision) -> str:
    won = decision.advised
    if won is None or won.worst_kept is None:
        return ""
    return "nothing" if won.worst_kept >= 1 else percent(1 - won.worst_kept)


def _gates(comparison: Comparison) -> Cell:
    counts: Counter[str] = Counter(verdict.outcome for verdict in comparison.verdicts)
    worst = next((outcome for outcome in OUTCOMES if counts[outcome] and outcome != "skipped"), None)
    if worst is None:
        return Cell(f"{counts['skipped']} skipped" if counts else "none", "muted")
    return Cell(f"{counts[worst]} {worst}", OUTCOMES[worst])
