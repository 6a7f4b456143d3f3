"""One strategy at several settings with its Pareto front, and all strategies at equal budgets."""

from __future__ import annotations

from collections.abc import Iterator

from ...comparison.decision import FAR, RECALL
from ...comparison.sweeps import COST, BudgetRank, Setting, Sweep, budget_ranks, sweeps
from ...text.wording import counted, listed, quantity
from .. import panel
from ..answered import Answered
from ..blocks import Block, Cell, Prose, Table, measured, number, strategy, table_of
from ..words import FAR as FAR_SAID, KEPT, NEEDED, obstacle_text

SAME = (
    "The setting is named by the traces that it was chosen on, and looks better on these than on others: a comparison of the portfolio judges it on traces that "
    "it did not choose on."
)
TUNED = "These are the traces that the setting is judged on; it was chosen on others."
BUDGETS = (
    f"Every strategy that has a window runs at each budget; any other runs as declared. Ranked by what was {KEPT}, then by prompt tokens. "
    "A strategy with any prompt above the budget, tool definitions included, is not ranked. A budget bounds each prompt, not what all of them cost."
)


@panel("settings", order=35, title="Which setting is best?")
def settings(comparison: Answered) -> list[Block]:
    """Price and recall of each strategy at its settings, with those that no other one beats; a table of ranks for each budget."""
    found = sweeps(comparison, comparison.choice.metric)
    blocks: list[Block] = [block for sweep in found for block in _sweep(comparison, sweep)]
    if found:
        blocks.append(Prose(SAME if comparison.tuning is None else TUNED, "muted"))
    if comparison.budgets:
        blocks.append(Prose(BUDGETS))
    return [*blocks, *(_budget(comparison, *item) for item in budget_ranks(comparison).items())]


def _sweep(comparison: Answered, sweep: Sweep) -> Iterator[Block]:
    decision = comparison.choice
    values = {setting.strategy: setting.values for setting in sweep.settings}
    best = next((values[item.strategy] for item in decision.candidates if item.qualifies and item.strategy in values), None)  # fmt: skip
    head = f"{sweep.plugin} at {counted(len(sweep.settings), 'setting')} of {listed(list(sweep.names))}"
    yield Prose(f"{head}: {best} costs least of those that qualify." if best else f"{head}: none of them qualifies.")

    def value(setting: Setting, metric: str) -> Cell:
        return measured(comparison.row(setting.strategy, metric))

    def qualifies(setting: Setting) -> Cell:
        candidate = decision.candidate(setting.strategy)
        if candidate is None:
            return Cell("", "muted")
        return Cell("yes", "good") if candidate.qualifies else Cell("no", "warn", obstacle_text(candidate.obstacles[0]))

    yield table_of(
        sweep.settings,
        {
            "setting": lambda setting: setting.values,
            "strategy": lambda setting: strategy(setting.strategy),
            number("price" if decision.unit == "usd" else "tokens"): lambda setting: value(setting, decision.metric),
            number(KEPT, NEEDED): lambda setting: value(setting, RECALL),
            number("from far back", FAR_SAID): lambda setting: value(setting, FAR),
            "Pareto front": lambda setting: Cell("on it", "good") if setting.on_front else Cell(""),
            "qualifies": qualifies,
        },
        f"On the Pareto front: no other setting is both cheaper by {decision.metric} and better by {RECALL}.",
    )


def _budget(comparison: Answered, budget: int, found: tuple[BudgetRank, ...]) -> Table:
    """Strategies by the share of needed facts that they kept within a budget; those that exceeded it are not ranked."""
    best = next((item.rank for item in found if item.rank is not None), None)

    def rank(item: BudgetRank) -> Cell:
        if item.rank is None:
            return Cell("not ranked", "warn", item.reason)
        return Cell(str(item.rank), "good" if item.rank == best else "plain")

    return table_of(
        found,
        {
            number("rank"): rank,
            "strategy": lambda item: strategy(item.strategy),
            number(KEPT, NEEDED): lambda item: measured(comparison.row(item.strategy, RECALL)),
            number("prompt tokens"): lambda item: measured(comparison.row(item.strategy, COST)),
            number("largest prompt"): lambda item: quantity(item.largest_tokens, "tokens"),
            number("prompts over"): lambda item: Cell(f"{item.over} of {item.prompts}", "bad" if item.over else "plain"),
        },
        f"Budget: {quantity(budget, 'tokens')} tokens a prompt.",
    )  # fmt: skip
