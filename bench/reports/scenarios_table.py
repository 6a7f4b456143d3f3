"""Several scenarios at one glance: a row each with the answer, and one sentence over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..comparison.decision import Decision, decide
from ..model import Comparison
from ..text.wording import counted, listed, percent, quantity
from .blocks import Cell, Column, Table, Tone

TONES: dict[str, Tone] = {"ship": "good", "keep_what_you_run": "plain", "nobody": "bad"}
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
    where = ", refetches included" if any(decision.won is not None for _, _, decision in decided) else ""
    return Table(COLUMNS, rows, f"Cost{where}. Worst loss: of what later turns needed, on the worst case.")


def scenarios_sentence(comparisons: Sequence[Comparison]) -> str:
    """How many scenarios say what, in one sentence; `""` for fewer than two."""
    if len(comparisons) < 2:
        return ""
    counts = Counter(_decision(item).outcome for item in comparisons)
    failed = sum(any(verdict.outcome == "fail" for verdict in item.verdicts) for item in comparisons)
    said = [
        text
        for text in (
            f"{counts['ship']} with something to ship" if counts["ship"] else "",
            f"{counts['keep_what_you_run']} where what runs today stays" if counts["keep_what_you_run"] else "",
            f"{counts['nobody']} where nobody qualifies" if counts["nobody"] else "",
        )
        if text
    ]
    gates = f"gates fail in {failed}" if failed else "no gate fails"
    return f"{counted(len(comparisons), 'scenario')}: {listed(said)}; {gates}."


def _decision(comparison: Comparison) -> Decision:
    return decide(comparison)


def _answer(decision: Decision) -> Cell:
    said = {"ship": f"ship {decision.winner}", "keep_what_you_run": "keep what you run", "nobody": "nobody qualifies"}
    return Cell(said[decision.outcome], TONES[decision.outcome])


def _price(decision: Decision) -> str:
    won = decision.won
    if won is None or won.price_a_run is None:
        return ""
    least = "≥ " if won.at_least else ""
    if decision.unit == "usd":
        return f"{least}{quantity(won.price_a_run, 'usd')}"
    return f"{least}{quantity(round(won.price_a_run), decision.unit)} {decision.unit}"


def _loss(decision: Decision) -> str:
    won = decision.won
    if won is None or won.worst_kept is None:
        return ""
    return "nothing" if won.worst_kept >= 1 else percent(1 - won.worst_kept)


def _gates(comparison: Comparison) -> Cell:
    counts: Counter[str] = Counter(verdict.outcome for verdict in comparison.verdicts)
    worst = next((outcome for outcome in OUTCOMES if counts[outcome] and outcome != "skipped"), None)
    if worst is None:
        return Cell(f"{counts['skipped']} skipped" if counts else "none", "muted")
    return Cell(f"{counts[worst]} {worst}", OUTCOMES[worst])
