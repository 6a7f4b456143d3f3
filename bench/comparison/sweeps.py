"""One strategy at several settings: what each costs and keeps, and which no other one beats; and all strategies ranked within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..model import Comparison
from ..plugins.spec import RawValue, format_value, parse_spec, parse_value, split_top

RECALL = "needed.recall"
COST = "cost.prompt_tokens"
Settings = dict[str, RawValue]


@dataclass(frozen=True)
class Setting:
    """One strategy of a sweep: `values` as `keep_last=5`, what it costs and keeps (None: not measured), and whether it is on the front."""

    strategy: str
    values: str
    cost: float | None
    kept: float | None
    on_front: bool


@dataclass(frozen=True)
class Sweep:
    """Declared strategies that differ in nothing but settings. `plugin` is what they have in common, `settings` in the order of their values."""

    plugin: str
    names: tuple[str, ...]
    settings: tuple[Setting, ...]


def sweeps(comparison: Comparison, cost: str) -> tuple[Sweep, ...]:
    """The sweeps of a comparison, in the order declared; one at several budgets is one too. `cost` is the metric of the price. `()` for none.

    >>> from bench.metrics import example
    >>> from bench.run.verbs import compare
    >>> (found,) = sweeps(compare([example().trace], ["cut=summarizer=truncate:limit=80|200"]), "cost.prompt_tokens")
    >>> found.plugin, found.names, [setting.values for setting in found.settings]
    ('summarizer=truncate', ('limit',), ['limit=80', 'limit=200'])
    """
    groups: dict[tuple[str, tuple[str, ...]], dict[str, Settings]] = {}
    for name in comparison.strategies:
        spec = comparison.signature.strategies.get(name, "")[len(name) + 1 :]
        plugins, settings = _apart(spec)
        groups.setdefault((plugins, tuple(settings)), {})[name] = settings
    found = []
    for (plugins, keys), members in groups.items():
        moved = [key for key in keys if len({settings[key] for settings in members.values()}) > 1]
        if moved:
            found.append(_sweep(comparison, cost, plugins, moved, members))
    return tuple(found)


def _sweep(
    comparison: Comparison, cost: str, plugins: str, moved: Sequence[str], members: dict[str, Settings]
) -> Sweep:
    points = [(name, comparison.value(name, cost), comparison.value(name, RECALL)) for name in members]
    best = pareto_front(points)
    values = {name: [f"{_short(key)}={format_value(of[key])}" for key in moved] for name, of in members.items()}
    settings = [Setting(name, ", ".join(values[name]), price, kept, name in best) for name, price, kept in points]
    order = {name: tuple(_number(members[name][key]) for key in moved) for name in members}
    return Sweep(plugins, tuple(map(_short, moved)), tuple(sorted(settings, key=lambda item: order[item.strategy])))


def pareto_front(points: Sequence[tuple[str, float | None, float | None]]) -> tuple[str, ...]:
    """The names of those that no other one beats in cost and in what it keeps, cheapest first; `()` where fewer than two have both.

    >>> pareto_front([("a", 1.0, 0.5), ("b", 2.0, 0.4), ("c", 3.0, 0.9), ("d", None, 1.0)])
    ('a', 'c')
    """
    known = sorted((cost, -kept, name) for name, cost, kept in points if cost is not None and kept is not None)
    if len(known) < 2:
        return ()
    return tuple(
        name
        for cost, lost, name in known
        if not any((c, k) != (cost, lost) and c <= cost and k <= lost for c, k, _ in known)
    )


def _apart(spec: str) -> tuple[str, Settings]:
    """A strategy's spec without its settings, and the settings by slot and name.

    >>> _apart("compactor=summarize_old:max_tokens=900,writer=empty+store=full")
    ('compactor=summarize_old + store=full', {'compactor.max_tokens': '900', 'compactor.writer': 'empty'})
    """
    plugins, settings = [], {}
    for slot, written in _slots(spec):
        found = parse_spec(written)
        plugins.append(f"{slot.partition('[')[0]}={found.target}" + (f":{found.attribute}" if found.attribute else ""))
        settings.update({f"{slot}.{key}": value for key, value in found.params})
    return " + ".join(plugins), settings


def _slots(spec: str) -> Iterator[tuple[str, str]]:
    for part in split_top(spec, "+") if spec else []:
        slot, _, written = part.partition("=")
        value = parse_value(written, spec) if written.startswith("[") else written
        several = ((f"{slot}[{n}]", text) for n, text in enumerate(value))
        yield from [(slot, value)] if isinstance(value, str) else several


def _short(key: str) -> str:
    return key.rpartition(".")[2]


def _number(value: RawValue) -> tuple[bool, float, str]:
    """The sort key of a setting: numbers by value, then words."""
    try:
        return False, float(str(value)), ""
    except ValueError:
        return True, 0.0, str(value)


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
    rest = [item for item in found if item.reason]
    return (*ranked, *sorted(rest, key=lambda item: (item.over, item.largest_tokens, item.strategy)))


def _order(item: BudgetRank) -> tuple[float, float, str]:
    return -(item.recall or 0.0), item.prompt_tokens or 0.0, item.strategy


def _standing(comparison: Comparison, strategy: str, budget: int) -> BudgetRank:
    windows = [case.runs[strategy].window for case in comparison.cases if strategy in case.runs]
    prompts, over = sum(item.calls for item in windows), sum(item.over_budget.get(budget, 0) for item in windows)
    recall, cost = (comparison.value(strategy, name) for name in (RECALL, COST))
    failed, missing = comparison.failed(strategy), f"{RECALL} was not measured" if recall is None else ""
    reason = f"{over} of {prompts} prompts above the budget" if over else missing
    reason = f"raised on {failed[0]}" if failed is not None else reason
    largest = max((item.largest_tokens for item in windows), default=0)
    return BudgetRank(strategy, budget, None, recall, cost, largest, over, prompts, reason)
