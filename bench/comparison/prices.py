"""Prices: the cost of a run under each strategy, with and without the cache, against today."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from ..model.advice import NOISE, REFUSED, TODAY, Basis, Price, Ranked
from .certainty import ALPHA, corrected_for_tries, leave_one_out, ratio_of_totals
from .rules import slots_in_spec
from .totals import Runs

METRICS: Mapping[Basis, Mapping[str, str]] = {
    "cached": {"cached": "cost.usd", "uncached": "cost.usd_uncached"},
    "tokens": {"cached": "cost.prompt_tokens"},
}
"""The metrics of each basis by the prices of `Ranked`; the one without the cache never decides."""


def basis_of(runs: Runs) -> Basis:
    """Dollars, if all of today's runs have a price; else tokens."""
    todays = runs.by_task(TODAY, METRICS["cached"]["cached"])
    return "cached" if math.fsum(todays or ()) > 0 else "tokens"


def prices_of(runs: Runs, names: Sequence[str], metric: str) -> dict[str, Price]:
    """The prices of today's and of each strategy, with p-values corrected over all that were tried.

    Strategies that cost the same on every task are one try, and those that cost what today's does
    are none: they cannot save by chance. A strategy that raised, or whose runs have no prices, is
    left out.
    """
    unit: Literal["usd", "tokens"] = "usd" if "usd" in metric else "tokens"
    totals = ((name, runs.by_task(name, metric)) for name in (TODAY, *names))
    costs = {name: own for name, own in totals if own is not None}
    prices = {
        name: Price(unit=unit, per_run=math.fsum(own) / max(1, len(runs.all)))
        for name, own in costs.items()
    }
    today = costs.pop(TODAY, ())
    found = ((name, ratio_of_totals(today, own) if today else None) for name, own in costs.items())
    ratios = {name: ratio for name, ratio in found if ratio is not None}
    tries = {it: (tuple(costs[it]), ratio.p) for it, ratio in ratios.items() if costs[it] != today}
    corrected = corrected_for_tries(tries)
    for name, ratio in ratios.items():
        p = corrected.get(name, 1.0)
        prices[name] = replace(
            prices[name],
            ratio=ratio.value,
            high=ratio.end,
            p=p,
            certain=ratio.value < 1 - NOISE and p <= ALPHA,
        )
    return prices


def preference(item: Ranked) -> tuple[float, int, str]:
    """The sort key among equally cheap strategies: fewer missed turns first, then the simpler
    spec."""
    return item.missed_turns or 0.0, len(slots_in_spec(item.spec)), item.strategy


# ---------------------------------------------------------------- the best of many


def honest_ratios(ranked: Iterable[Ranked], runs: Runs, basis: Basis) -> dict[str, float]:
    """The price of a run, against today's, if each task used what is cheapest on all other tasks,
    among the strategies that could be shipped; without those where it is not known.

    The best of many was chosen on the tasks that it is judged on, so its own price looks too good.
    """
    others = (item for item in ranked if item.strategy != TODAY and not item.marks)
    usable = sorted((item for item in others if item.verdict not in REFUSED), key=preference)
    ratios: dict[str, float] = {}
    for field, metric in METRICS[basis].items():
        costs = [runs.by_task(item.strategy, metric) for item in usable]
        today = runs.by_task(TODAY, metric) or ()
        ratio = leave_one_out([own for own in costs if own is not None], today)
        ratios |= {} if ratio is None else {field: ratio}
    return ratios


def at_honest_price(item: Ranked, today: Ranked, honest: Mapping[str, float]) -> Ranked:
    """A strategy that was chosen among many with the prices that are stated of it."""
    for field, left_out in honest.items():
        price, before = getattr(item, field), getattr(today, field)
        if price is not None and price.ratio and before is not None:
            ratio = honest_ratio(price, left_out)
            stated = replace(price, ratio=ratio, per_run=before.per_run * ratio)
            item = replace(item, **{field: stated})
    return item


def honest_ratio(price: Price, left_out: float) -> float:
    """The leave-one-task-out ratio (`left_out`) of a strategy that was chosen among many, within
    the interval of its own price: the other choices may be better or worse than it.

    >>> price = Price(unit="usd", per_run=8, ratio=0.8, high=0.9)
    >>> honest_ratio(price, 0.83), honest_ratio(price, 0.75), honest_ratio(price, 1.1)
    (0.83, 0.8, 0.9)
    """
    return min(max(left_out, price.ratio or 0.0), price.high or math.inf)
