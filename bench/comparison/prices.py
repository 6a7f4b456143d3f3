"""Prices: the cost of a run under each strategy, with and without the cache, against today."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from ..model.advice import NOISE, REFUSED, TODAY, Price, Ranked
from .certainty import FEWEST, certain, corrected_for_tries, leave_one_out, ratio_of_totals
from .rules import slots_in_spec
from .totals import Runs

Economy = Literal["cached", "uncached", "tokens"]

METRICS: Mapping[Economy, str] = {
    "cached": "cost.usd",
    "uncached": "cost.usd_uncached",
    "tokens": "cost.prompt_tokens",
}
"""The metric of each economy."""


def economies_of(runs: Runs) -> tuple[Economy, ...]:
    """Dollars with and without cache, if all of today's runs have these prices; else tokens."""
    dollars: tuple[Economy, ...] = ("cached", "uncached")
    costs = {economy: runs.by_task(TODAY, METRICS[economy]) for economy in dollars}
    return tuple(name for name in dollars if math.fsum(costs[name] or ()) > 0) or ("tokens",)


def prices_of(runs: Runs, names: Sequence[str], economy: Economy) -> dict[str, Price]:
    """The prices of today's and of each strategy, with p-values corrected over all that were tried.

    Strategies that cost the same on every task are one try, and those that cost what today's does
    are none: they cannot save by chance. A strategy that raised, or whose runs have no prices, is
    left out.
    """
    metric, count = METRICS[economy], max(1, len(runs.all))
    unit: Literal["usd", "tokens"] = "tokens" if economy == "tokens" else "usd"
    totals = ((name, runs.by_task(name, metric)) for name in (TODAY, *names))
    costs = {name: own for name, own in totals if own is not None}
    prices = {name: Price(unit=unit, per_run=math.fsum(own) / count) for name, own in costs.items()}
    today, enough = costs.pop(TODAY, None), len(runs.tasks) >= FEWEST
    found = ((name, ratio_of_totals(today, own) if today else None) for name, own in costs.items())
    ratios = {name: ratio for name, ratio in found if ratio is not None}
    tries = {it: (tuple(costs[it]), ratio.p) for it, ratio in ratios.items() if costs[it] != today}
    corrected = corrected_for_tries(tries)
    for name, ratio in ratios.items():
        p = corrected.get(name, 1.0)
        prices[name] = replace(
            prices[name],
            ratio=ratio.ratio,
            high=ratio.high if math.isfinite(ratio.high) and enough else None,
            p=p,
            certain=ratio.ratio < 1 - NOISE and certain(p, len(runs.tasks)),
        )
    return prices


def leave_one_out_ratio(ranked: Sequence[Ranked], runs: Runs, economy: Economy) -> float | None:
    """The ratio of the price to today's if each task used what is cheapest on all other tasks, among
    the strategies that could be shipped; None where it is not known."""
    others = (item for item in ranked if item.strategy != TODAY and not item.marks)
    candidates = [item for item in others if item.verdict not in REFUSED]
    names = [item.strategy for item in sorted(candidates, key=preference)]
    today = runs.by_task(TODAY, METRICS[economy])
    totals = [runs.by_task(name, METRICS[economy]) for name in names]
    costs = [values for values in totals if values is not None]
    return None if today is None else leave_one_out(costs, today)


def with_leave_one_out_price(
    ranked: Sequence[Ranked], advised: str, runs: Runs
) -> tuple[Ranked, ...]:
    """The table with the leave-one-task-out price of the advised strategy.

    It was chosen among many on these tasks, so its own price looks too good. The price stated
    instead is that of choosing the cheapest strategy without the task that it is judged on.
    """
    by_name = {item.strategy: item for item in ranked}
    prices: dict[str, Price] = {}
    for economy in economies_of(runs):
        ratio = leave_one_out_ratio(ranked, runs, economy)
        price, base = by_name[advised].price(economy), by_name[TODAY].price(economy)
        if ratio is not None and price is not None and price.ratio and base is not None:
            ratio = honest_ratio(price, ratio)
            stated = replace(price, ratio=ratio, per_run=base.per_run * ratio)
            prices["uncached" if economy == "uncached" else "cached"] = stated
    return tuple(replace(item, **prices) if item.strategy == advised else item for item in ranked)


def honest_ratio(price: Price, left_out: float) -> float:
    """The leave-one-task-out ratio (`left_out`) of a strategy that was chosen among many, within
    the interval of its own price: the other choices may be better or worse than it.

    >>> price = Price(unit="usd", per_run=8, ratio=0.8, high=0.9)
    >>> honest_ratio(price, 0.83), honest_ratio(price, 0.75), honest_ratio(price, 1.1)
    (0.83, 0.8, 0.9)
    """
    return min(max(left_out, price.ratio or 0.0), price.high or math.inf)


def preference(item: Ranked) -> tuple[float, int, str]:
    """The sort key among equally cheap strategies: fewer missed turns first, then the simpler
    spec."""
    return item.missed_turns or 0.0, len(slots_in_spec(item.spec)), item.strategy
