"""Equal budgets: every strategy at the same windows, so that they are ranked at equal cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from ..errors import SpecError
from ..model import Comparison, GateRule, Run
from ..plugins.registry import build
from ..plugins.spec import Spec
from ..strategies import Strategy

WINDOW = "max_tokens"
"""The compactor's parameter that a budget sets."""

RECALL = "needed.recall"
COST = "cost.prompt_tokens"


def parse_budgets(text: str) -> tuple[int, ...]:
    """Windows as they are written on the command line, in tokens, each once. Raises SpecError for anything else.

    >>> parse_budgets("8000, 16000,8000")
    (8000, 16000)
    """
    found = []
    for item in text.split(","):
        number = item.strip().replace("_", "")
        if not (number.isascii() and number.isdigit() and int(number)):
            raise SpecError(f"budget {item.strip()!r} is no number of tokens — write --budget 8000,16000,32000")
        found.append(int(number))
    return tuple(dict.fromkeys(found))


def at_budgets(
    strategies: Sequence[Strategy], budgets: Sequence[int], base: Path | None = None
) -> tuple[Strategy, ...]:
    """The strategies with each one whose compactor has a window (`max_tokens`) at every budget instead, called `name@budget`.

    One without such a compactor runs once, as it is; without budgets all do. Raises SpecError for a declared name that a budget would make.

    >>> from bench.strategies import parse_strategy
    >>> [str(item) for item in at_budgets([parse_strategy("old=compactor=summarize_old"), parse_strategy("keep_all")], [8000])]
    ['old@8000=compactor=summarize_old:max_tokens=8000', 'keep_all']
    """
    if not budgets:
        return tuple(strategies)
    found: list[Strategy] = []
    for strategy in strategies:
        found.extend([_at(strategy, budget, base) for budget in budgets] if has_window(strategy) else [strategy])
    names = [strategy.name for strategy in found]
    taken = next((name for name in names if names.count(name) > 1), None)
    if taken is not None:
        raise SpecError(f"two strategies are called {taken!r} once budgets are set — rename the declared one")
    return tuple(found)


def has_window(strategy: Strategy) -> bool:
    """Whether a strategy's compactor has a window that a budget can set. A reference is never changed."""
    compactors = () if strategy.reference else strategy.plugins.get("compactor", ())
    return any(item.name == WINDOW for plugin in compactors for item in plugin.entry.parameters)


def _at(strategy: Strategy, budget: int, base: Path | None) -> Strategy:
    """The strategy with its window set to one budget."""
    spec = strategy.plugins["compactor"][0].spec
    others = tuple((key, value) for key, value in spec.params if key != WINDOW)
    plugin = build("compactor", Spec(spec.target, spec.attribute, (*others, (WINDOW, str(budget)))), base)
    return replace(strategy, name=f"{strategy.name}@{budget}", plugins={**strategy.plugins, "compactor": (plugin,)})


def rules_at_budgets(
    rules: Sequence[GateRule], declared: Sequence[Strategy], budgets: Sequence[int]
) -> tuple[GateRule, ...]:
    """The gates with each one on a strategy that now runs at several budgets applied to every one of them."""
    if not budgets:
        return tuple(rules)
    windowed = [strategy.name for strategy in declared if has_window(strategy)]
    found: list[GateRule] = []
    for rule in rules:
        patterns = [rule.strategy]
        if any(fnmatchcase(name, rule.strategy) for name in windowed):
            made = [f"{name}@{budget}" for name in windowed if fnmatchcase(name, rule.strategy) for budget in budgets]
            missed = [name for name in made if not fnmatchcase(name, rule.strategy)]
            others = [
                item.name for item in declared if item.name not in windowed and fnmatchcase(item.name, rule.strategy)
            ]
            patterns = ([rule.strategy] if others or not missed else []) + missed
        found.extend(msgspec.structs.replace(rule, strategy=pattern) for pattern in patterns)
    return tuple(found)


@dataclass(frozen=True)
class Standing:
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


def standings(comparison: Comparison) -> dict[int, tuple[Standing, ...]]:
    """Who keeps most of what was needed within each budget: by `needed.recall`, then by prompt tokens; those without a rank last.

    Every prompt is measured, tool definitions included; one above the budget is enough to leave the ranking. A strategy whose window a budget
    sets stands at that budget alone, any other at all of them. `{}` for a comparison without budgets.
    """
    return {budget: _ranked(comparison, budget) for budget in comparison.budgets}


def _ranked(comparison: Comparison, budget: int) -> tuple[Standing, ...]:
    others = {f"@{other}" for other in comparison.budgets if other != budget}
    names = [name for name in comparison.strategies if not any(name.endswith(other) for other in others)]
    found = [_standing(comparison, name, budget) for name in names]
    able = sorted((item for item in found if not item.reason), key=_order)
    ranked: list[Standing] = []
    for item in able:
        before = ranked[-1] if ranked else None
        level = before is not None and _order(before)[:2] == _order(item)[:2]
        ranked.append(replace(item, rank=before.rank if level and before else len(ranked) + 1))
    rest = sorted(
        (item for item in found if item.reason), key=lambda item: (item.over, item.largest_tokens, item.strategy)
    )
    return (*ranked, *rest)


def _order(item: Standing) -> tuple[float, float, str]:
    return -(item.recall or 0.0), item.prompt_tokens or 0.0, item.strategy


def _standing(comparison: Comparison, strategy: str, budget: int) -> Standing:
    runs: Mapping[str, Run] = {case: comparison.runs[strategy, case] for case in comparison.cases}
    tokens = [prompt.tokens for run in runs.values() for prompt in run.prompts]
    over = sum(count > budget for count in tokens)
    recall, cost = (row.value if (row := comparison.row(strategy, name)) else None for name in (RECALL, COST))
    failed = next((case for case, run in runs.items() if run.failure is not None), None)
    reason = ""
    if failed is not None:
        reason = f"raised on {failed}"
    elif over:
        reason = f"{over} of {len(tokens)} prompts above the budget"
    elif recall is None:
        reason = f"{RECALL} was not measured"
    return Standing(strategy, budget, None, recall, cost, max(tokens, default=0), over, len(tokens), reason)
