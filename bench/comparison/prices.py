"""Prices: the cost of a run under each strategy, with and without the cache, against today."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ..model.advice import TODAY, Price, Ranked
from .certainty import Ratio, certain, holm, leave_one_out, ratio_of_totals
from .rules import filled
from .sentence import NOISE, Economy, price_of
from .totals import Runs

METRICS: Mapping[Economy, str] = {
    "cached": "cost.usd",
    "uncached": "cost.usd_uncached",
    "tokens": "cost.prompt_tokens",
}
"""The metric of each economy."""


def economies_of(runs: Runs) -> tuple[Economy, ...]:
    """Dollars with and without cache, each where all runs of today have them; else tokens."""
    dollars: tuple[Economy, ...] = ("cached", "uncached")
    costs = {economy: runs.by_task(TODAY, METRICS[economy]) for economy in dollars}
    return tuple(name for name in dollars if math.fsum(costs[name] or ()) > 0) or ("tokens",)


def prices_of(runs: Runs, names: Sequence[str], economy: Economy) -> dict[str, Price]:
    """The price of today and of each strategy; the p-values are corrected over all that were tried.

    A strategy that raised, or whose runs have no prices, is left out.
    """
    here, count = runs.by_task(TODAY, METRICS[economy]), max(1, len(runs.all))
    unit: Literal["usd", "tokens"] = "tokens" if economy == "tokens" else "usd"
    costs = {
        name: values
        for name in names
        if (values := runs.by_task(name, METRICS[economy])) is not None
    }
    known = costs if here is None else {TODAY: here, **costs}
    compared = (
        {}
        if here is None
        else {name: ratio_of_totals(here, values) for name, values in costs.items()}
    )
    ratios = {name: ratio for name, ratio in compared.items() if ratio is not None}
    corrected = holm({name: ratios.get(name, Ratio(1.0)).p for name in names})
    prices = {
        name: Price(unit=unit, per_run=math.fsum(values) / count) for name, values in known.items()
    }
    return prices | {
        name: msgspec.structs.replace(
            prices[name],
            ratio=ratio.ratio,
            high=ratio.high if math.isfinite(ratio.high) else None,
            p=corrected[name],
            certain=ratio.ratio < 1 - NOISE and certain(corrected[name], len(runs.tasks)),
        )
        for name, ratio in ratios.items()
    }


def stated_apart(ranked: Sequence[Ranked], advised: str, runs: Runs) -> tuple[Ranked, ...]:
    """The table with the leave-one-task-out price of the advised strategy.

    It was chosen among many on these tasks, so its own price looks too good.
    """
    candidates = [
        item for item in ranked if item.strategy != TODAY and all(r.passed for r in item.rules[:-1])
    ]
    by_preference = [item.strategy for item in sorted(candidates, key=preference)]
    by_name = {item.strategy: item for item in ranked}
    prices: dict[str, Price] = {}
    for economy in economies_of(runs):
        ratio = _ratio_apart(by_preference, runs, METRICS[economy])
        price, base = (price_of(by_name[name], economy) for name in (advised, TODAY))
        if ratio is not None and price is not None and price.ratio and base is not None:
            fields = ("cached", "uncached") if economy == "tokens" else (economy,)
            prices |= dict.fromkeys(fields, _at_ratio(price, ratio, base))
    return tuple(
        msgspec.structs.replace(item, **prices) if item.strategy == advised else item
        for item in ranked
    )


def _ratio_apart(strategies: Sequence[str], runs: Runs, metric: str) -> float | None:
    """The ratio to today's costs when the cheapest is chosen without the task that it is judged on."""
    today = runs.by_task(TODAY, metric)
    costs = [values for name in strategies if (values := runs.by_task(name, metric)) is not None]
    return None if today is None else leave_one_out(costs, today)


def _at_ratio(price: Price, ratio: float, today: Price) -> Price:
    """A price with another ratio to today's; its upper bound moves along."""
    high = price.high * ratio / price.ratio if price.high is not None and price.ratio else None
    return msgspec.structs.replace(price, ratio=ratio, high=high, per_run=today.per_run * ratio)


def preference(item: Ranked) -> tuple[float, int, str]:
    """The place of a strategy among equally cheap ones: less lost first, then the simpler."""
    return item.missed_turns or 0.0, len(filled(item.spec)), item.strategy
