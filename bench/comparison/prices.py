"""Prices: what a run costs under each strategy, with and without the cache, compared with today."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ..model.advice import NOISE, REFUSED, TODAY, Price, Ranked, Unit
from ..text.wording import count, counted
from .certainty import ALPHA, Estimate, corrected_for_tries, leave_one_out, ratio_of_totals
from .rules import slots_in_spec
from .totals import Runs, value_of

PRICES: Mapping[Unit, Sequence[str]] = {
    "usd": ["cost.usd"],
    "tokens": ["cost.prompt_tokens", "cost.strategy_call_tokens"],
}
"""The metrics whose sum is the price that decides, for each unit."""
UNCACHED = ["cost.usd_uncached"]
"""The metric of the price without the cache."""


def unit_of(runs: Runs) -> Unit:
    """Dollars, if all of today's runs have a price; else tokens, for all runs."""
    todays = runs.by_task(TODAY, PRICES["usd"])
    return "usd" if math.fsum(todays or ()) > 0 else "tokens"


def unpriced_in_words(runs: Runs) -> str:
    """For how many of today's runs no price is known, and why not for the first; "" for none, and
    for all."""
    (metric,) = PRICES["usd"]
    numbers = [(run, runs.number(run, TODAY, metric)) for run in runs.all]
    unpriced = [(run, it.reason) for run, it in numbers if it and value_of(it) is None]
    if not 0 < len(unpriced) < len(runs.all):
        return ""
    run, reason = unpriced[0]
    why = reason if run.facts.model else "no model is named: `--model` sets one"
    return (
        f"no price is known for {count(len(unpriced))} of {counted(len(runs.all), 'run')} ({why})"
    )


def prices_of(
    runs: Runs, names: Sequence[str], unit: Unit, metrics: Sequence[str]
) -> dict[str, Price]:
    """The price of each strategy and of today's, with p-values corrected over all that were tried.

    Strategies that cost the same on every task count as one try, and those that cost what today's
    does as none: they cannot save by chance. A strategy that raised, or whose runs have no prices,
    is left out.
    """
    by_name = ((name, runs.by_task(name, metrics)) for name in (TODAY, *names))
    costs = {name: by_task for name, by_task in by_name if by_task is not None}
    prices = {
        name: Price(unit=unit, per_run=math.fsum(by_task) / max(1, len(runs.all)))
        for name, by_task in costs.items()
    }
    today = costs.pop(TODAY, [])
    ratios: dict[str, Estimate] = {}
    tries: dict[str, tuple[tuple[float, ...], float]] = {}
    for name, by_task in costs.items() if today else ():
        if ratio := ratio_of_totals(today, by_task):
            ratios[name] = ratio
            if by_task != today:
                tries[name] = tuple(by_task), ratio.p
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


SLOT = 0.01
"""What a strategy has to save for each of its slots, as a share of today's price."""


def burden(item: Ranked) -> float:
    """What speaks against a strategy, as a share of today's price: its slots, and its missed turns,
    each of which may have to be made again."""
    slots = {*slots_in_spec(item.spec)} - {"says"}
    return SLOT * max(1, len(slots)) + (item.missed_turns or 0.0)


def preference(item: Ranked) -> tuple[float, float, str]:
    """The sort key among equally good strategies: fewer missed turns, then fewer slots."""
    return item.missed_turns or 0.0, burden(item), item.strategy


# ---------------------------------------------------------------- the best of many


def expected_ratio(ranked: Iterable[Ranked], runs: Runs, unit: Unit) -> float | None:
    """The price of a run compared with today's if each task used the strategy that is best on all
    other tasks, among those that could be shipped; None if that is not known.

    The best of many was chosen on the tasks that it is judged on, so its own price looks too good.
    """
    others = (item for item in ranked if item.strategy != TODAY and not item.marks)
    usable = sorted((item for item in others if item.verdict not in REFUSED), key=preference)
    costs = [(runs.by_task(item.strategy, PRICES[unit]), burden(item)) for item in usable]
    known = [(by_task, share) for by_task, share in costs if by_task is not None]
    today = runs.by_task(TODAY, PRICES[unit]) or ()
    return leave_one_out([one for one, _ in known], today, [share for _, share in known])


def as_best_of_many(price: Price, expected: float | None) -> Price:
    """The price of a strategy that was chosen among many, with the ratio to expect: `expected`, but
    not lower than its own ratio, nor higher than its interval.

    >>> price = Price(unit="usd", per_run=8, ratio=0.8, high=0.9)
    >>> [as_best_of_many(price, it).expected for it in (0.83, 0.75, 1.1, None)]
    [0.83, 0.8, 0.9, None]
    """
    if not price.ratio or expected is None:
        return price
    return replace(price, expected=min(max(expected, price.ratio), price.high or math.inf))
