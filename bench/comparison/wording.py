"""Changes and prices in words, and quotations."""

from __future__ import annotations

import math

from ..model.advice import Price
from ..text.wording import MINUS, PriceBasis, count, dollars, per_run, percent

NOISE = 0.001
"""A ratio that differs from 1 by less than this is not a saving."""


def change(ratio: float | None) -> str:
    """A ratio to today as a signed percentage; "" where there is none.

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


def less_or_more(price: Price) -> str:
    """The change of a price against today in words.

    >>> less_or_more(Price(unit="usd", per_run=1, ratio=0.64)), less_or_more(Price(unit="usd", per_run=1, ratio=1.03))
    ('36% less', '3% more')
    """
    ratio = 1.0 if price.ratio is None else price.ratio
    if abs(ratio - 1) < NOISE:
        return "as much"
    return f"{percent(abs(1 - ratio))} {'less' if ratio < 1 else 'more'}"


def price_basis(today: Price) -> PriceBasis:
    """The basis to state prices on, by the price of a run today.

    >>> price_basis(Price(unit="usd", per_run=0.0042)).words, price_basis(Price(unit="tokens", per_run=9)).words
    ('per 1,000 runs', 'tokens a run')
    """
    return PriceBasis(1, "tokens a run") if today.unit == "tokens" else per_run(today.per_run)


def money(price: Price, runs: int) -> str:
    """The price of a number of runs; without the unit where that is tokens.

    >>> money(Price(unit="usd", per_run=0.0042), 1000), money(Price(unit="tokens", per_run=18250.4), 1)
    ('$4.20', '18,250')
    """
    if price.unit == "usd":
        return dollars(price.per_run * runs)
    return count(round(price.per_run) if math.isfinite(price.per_run) else None)


def shortened(text: str, most: int = 70) -> str:
    """A text on one line, without its middle if it is long.

    >>> shortened("cat  a_long_path.txt", 10)
    'cat a … h.txt'
    """
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return f"{flat[: most // 2].rstrip()} … {flat[-most // 2 :].lstrip()}"


def quoted(text: str) -> str:
    """A text in quotation marks, without the middle of a long one.

    >>> quoted("so  far")
    '"so far"'
    """
    return f'"{shortened(text, 60)}"'
