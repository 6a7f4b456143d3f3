"""Changes, values, prices and samples in words, for the sentence and for reports."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..model.advice import NOISE, Advice, Price, Ranked
from ..text.wording import MINUS, count, counted, dollars, percent
from .certainty import cannot_rule_out


def change(ratio: float | None) -> str:
    """A ratio to today as a signed percentage; "" for None.

    >>> change(0.921), change(1.019), change(1.0), change(0.9999), change(None)
    ('−7.9%', '+1.9%', '0%', '≈0%', '')
    """
    if ratio is None or not math.isfinite(ratio):
        return ""
    text = percent(abs(ratio - 1))
    if ratio == 1 or text == "0%":
        return text
    if text.startswith("<"):
        return "≈0%"
    return f"{'+' if ratio > 1 else MINUS}{text}"


def costs(price: Price) -> str:
    """The change of a price against today in words. Tokens are not called a cost: the provider's
    cache may make fewer of them dearer.

    >>> costs(Price(unit="usd", per_run=1, ratio=0.64)), costs(Price(unit="usd", per_run=1, ratio=1.03))
    ('costs 36% less', 'costs 3% more')
    >>> costs(Price(unit="tokens", per_run=1, ratio=0.64)), costs(Price(unit="tokens", per_run=1, ratio=1))
    ('uses 36% fewer tokens', 'uses as many tokens')
    """
    less, more, same = "costs {} less", "costs {} more", "costs as much"
    if price.unit == "tokens":
        less, more, same = "uses {} fewer tokens", "uses {} more tokens", "uses as many tokens"
    if price.saves:
        return less.format(percent(1 - (price.ratio or 0)))
    is_more = price.ratio and price.ratio > 1 + NOISE
    return more.format(percent((price.ratio or 0) - 1)) if is_more else same


def against_reported(ratio: float) -> str:
    """The counted prompt tokens against the reported ones, in words.

    >>> against_reported(0.8), against_reported(1.0)
    ('20% fewer prompt tokens than reported', 'as many prompt tokens as reported')
    """
    if ratio == 1:
        return "as many prompt tokens as reported"
    return (
        f"{percent(abs(ratio - 1))} {'more' if ratio > 1 else 'fewer'} prompt tokens than reported"
    )


def expected_in_words(item: Ranked | None, advice: Advice) -> str:
    """The change of price to expect of the best of many; "" if it is the measured one."""
    price = item.price if item else None
    expected = change(price.expected) if price else ""
    if price is None or expected in ("", change(price.ratio)):
        return ""
    return f"expect {expected}, as it was chosen among {count(len(advice.tried))}"


def tries_of(advice: Advice) -> int:
    """The number of strategies with prices of their own. Those that cost the same on every task are
    one try, and those that cost what today's does none, as they are when p-values are corrected.

    >>> prices = [Price(unit="usd", per_run=cost, ratio=cost / 9, high=1.0) for cost in (9, 8, 8, 7)]
    >>> names = "recorded", "mine", "same", "other"
    >>> ranked = [Ranked(strategy=it, verdict="ship", price=price) for it, price in zip(names, prices)]
    >>> tries_of(Advice(advised=None, sentence="", unit="usd", tasks=9, runs=9, ranked=tuple(ranked)))
    2
    """
    prices = (item.price for item in advice.tried)
    own = {(it.per_run, it.high) for it in prices if it and (it.ratio, it.high) != (1.0, 1.0)}
    return len(own)


_CHEAP = 0.1
"""The price of a run, in dollars, below which prices are stated per 1,000 runs."""


class Pricing(NamedTuple):
    """How a comparison states prices: for a number of runs, in a unit ("a run", "per 1,000 runs",
    "tokens a run")."""

    runs: int
    unit: str

    def money(self, price: Price | None) -> str:
        """A price without its unit.

        >>> Pricing(1000, "per 1,000 runs").money(Price(unit="usd", per_run=0.0042))
        '$4.20'
        """
        if price is None:
            return "not priced"
        if price.unit == "usd":
            return dollars(price.per_run * self.runs)
        return count(round(price.per_run) if math.isfinite(price.per_run) else None)


def pricing_of(advice: Advice) -> Pricing:
    """How to state the prices of an advice, by the size of today's price, else of the first one."""
    prices = (advice.todays_price, *(item.price for item in advice.ranked))
    first = next(filter(None, prices), None)
    if advice.unit == "tokens":
        return Pricing(1, "tokens a run")
    is_cheap = first is not None and first.per_run < _CHEAP
    return Pricing(1000, "per 1,000 runs") if is_cheap else Pricing(1, "a run")


def sample(advice: Advice, many: int | None = None) -> str:
    """A number of tasks, or of runs if each run is its own task; by default those of the advice."""
    unit = "task" if advice.tasks != advice.runs else "run"
    return counted(advice.tasks if many is None else many, unit)


def means(advice: Advice) -> str:
    """The words "means over runs", or "means over tasks" if there are several runs of a task."""
    return f"means over {sample(advice, 2).partition(' ')[2]}"


def bases(advice: Advice) -> str:
    """The bases of the numbers in a table of metrics, as a sentence."""
    return f"Prices and tokens are per run, other counts totals, shares {means(advice)}."


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit: shares as percent, dollars, anything else as a count.

    >>> quantity(0.5, "share"), quantity(0.5, "usd"), quantity(1500, "tokens")
    ('50%', '$0.500', '1,500')
    """
    return percent(value) if unit == "share" else dollars(value) if unit == "usd" else count(value)


def difference(before: float | None, after: float | None, unit: str) -> str:
    """A change between two values: points for shares, percent for dollars and tokens, else a count.

    Points are those between the shares as they are printed.

    >>> difference(0.013, 0.069, "share"), difference(65.71, 59.73, "usd"), difference(37, 156, "turns")
    ('+5.6 points', '−9.1%', '+119')
    >>> difference(0.02471, 0.15934, "share"), percent(0.02471), percent(0.15934)
    ('+13.4 points', '2.5%', '15.9%')
    """
    if before is None or after is None or not (math.isfinite(before) and math.isfinite(after)):
        return ""
    if before == after:
        return "unchanged"
    sign = "+" if after > before else MINUS
    if unit == "share":
        printed = abs(round(after, 3) - round(before, 3))
        points = percent(printed or abs(after - before)).removesuffix("%")
        return f"{sign}{points} {'point' if points == '1' else 'points'}"
    if before and unit in ("usd", "tokens"):
        return sign + percent(abs(after / before - 1))
    return sign + quantity(abs(after - before), unit)


def unseen(advice: Advice) -> str:
    """A clause that says which losses the tasks of an advice are too few to show; "" without tasks.

    >>> few = [Advice(advised=None, sentence="", unit="tokens", tasks=tasks, runs=12) for tasks in (12, 3)]
    >>> [unseen(advice) for advice in few]
    ['a problem in fewer than 1 of 4 runs may not show in 12 runs', '3 tasks say little about others']
    """
    size, share = sample(advice), cannot_rule_out(advice.tasks)
    if not share:
        return ""
    number, _, unit = size.partition(" ")
    one_in = math.floor(1 / share)  # rounded down, since 12 tasks often miss a problem in 1 of 5
    if one_in > 1:
        return f"a problem in fewer than 1 of {count(one_in)} {unit} may not show in {size}"
    return f"{size} {'says' if number == '1' else 'say'} little about others"
