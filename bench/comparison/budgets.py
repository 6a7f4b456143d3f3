"""Strategies ranked within the same budget, by the recall of what was needed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model import Comparison

RECALL = "needed.recall"
COST = "cost.prompt_tokens"


@dataclass(frozen=True)
class BudgetRank:
    """One strategy at one budget: its rank from 1 among those that stayed within it, None for one that did not or could not be ranked.

    `over` counts the prompts above the budget, of `prompts`; `largest_tokens` is the largest; `reason` says why there is no rank.
    """

    strategy: str
    budget: int
    rank: int | None
    recall: float | None
    prompt_tokens: float | None
    largest_tokens: int
    over: int
    prompts: int
    reason: str = ""


def budget_ranks(comparison: Comparison) -> dict[int, tuple[BudgetRank, ...]]:
    """Rank the strategies within each budget: by `needed.recall`, then by prompt tokens; those without a rank last.

    Every prompt is measured, tool definitions included; one above the budget is enough to leave the ranking. A strategy whose window a budget
    sets stands at that budget alone, any other at all of them. `{}` for a comparison without budgets.
    """
    return {budget: _ranked(comparison, budget) for budget in comparison.budgets}


def _ranked(comparison: Comparison, budget: int) -> tuple[BudgetRank, ...]:
    others = {f"@{other}" for other in comparison.budgets if other != budget}
    names = [name for name in comparison.strategies if not any(name.endswith(other) for other in others)]
    found = [_standing(comparison, name, budget) for name in names]
    able = sorted((item for item in found if not item.reason), key=_order)
    scores = [_order(item)[:2] for item in able]
    ranked = [replace(item, rank=1 + scores.index(score)) for item, score in zip(able, scores, strict=True)]
    rest = sorted(
        (item for item in found if item.reason), key=lambda item: (item.over, item.largest_tokens, item.strategy)
    )
    return (*ranked, *rest)


def _order(item: BudgetRank) -> tuple[float, float, str]:
    return -(item.recall or 0.0), item.prompt_tokens or 0.0, item.strategy


def _standing(comparison: Comparison, strategy: str, budget: int) -> BudgetRank:
    windows = [case.runs[strategy].window for case in comparison.cases if strategy in case.runs]
    prompts, over = sum(item.calls for item in windows), sum(item.over_budget.get(budget, 0) for item in windows)
    recall, cost = (comparison.value(strategy, name) for name in (RECALL, COST))
    failed = comparison.failed(strategy)
    reason = ""
    if failed is not None:
        reason = f"raised on {failed[0]}"
    elif over:
        reason = f"{over} of {prompts} prompts above the budget"
    elif recall is None:
        reason = f"{RECALL} was not measured"
    largest = max((item.largest_tokens for item in windows), default=0)
    return BudgetRank(strategy, budget, None, recall, cost, largest, over, prompts, reason)
