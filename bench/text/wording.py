"""Numbers and names as text for people. They are formatted here and nowhere else, so that no two reports can disagree. Percent exists only here."""

from __future__ import annotations

import math

from ..model.errors import visible as visible

NARROW_SPACE = "\u202f"
MINUS = "\u2212"
NOT_MEASURED = "not measured"


def exact(value: float) -> str:
    """A value to be checked against a limit: whole numbers whole, others to six digits.

    >>> exact(1234567.0), exact(0.98765432)
    ('1234567', '0.987654')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def moved(before: float | None, after: float | None) -> str:
    """A change between two values: relative, or absolute where there was nothing; `""` where one is missing.

    >>> moved(100.0, 110.0), moved(0.0, 3.0), moved(None, 3.0)
    ('+10.0%', '+3', '')
    """
    if before is None or after is None:
        return ""
    return f"{(after - before) / abs(before):+.1%}" if before else f"{after - before:+g}"


def to_width(low: float, high: float) -> tuple[float, float]:
    """The ends of an interval with the digits that they deserve: two of its width, the same places for both.

    >>> to_width(-0.12345, -0.05312), to_width(1234.5, 8765.4), to_width(2.0, 2.0)
    ((-0.123, -0.053), (1200.0, 8800.0), (2.0, 2.0))
    """
    width = high - low
    if not 0 < width < math.inf:
        return low, high
    places = 1 - math.floor(math.log10(width))
    return round(low, places), round(high, places)


def interval(low: float | None, high: float | None) -> tuple[str, str] | None:
    """The ends of an interval as text; None where there is none, or no width to show.

    >>> interval(-123.45, 56.78), interval(None, None), interval(3.0, 3.0)
    (('-120', '60'), None, None)
    """
    if low is None or high is None:
        return None
    one, other = (exact(end) for end in to_width(low, high))
    return None if one == other else (one, other)


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit as people read it: fractions as percent, dollars, counts with narrow spaces; None is "not measured".

    A share that is not whole never reads 100%, and one that is not nothing never 0%.

    >>> quantity(0.9996, "fraction"), quantity(1.0, "fraction"), quantity(0.5, "usd"), quantity(None, "tokens")
    ('>99.9%', '100%', '$0.50', 'not measured')
    >>> quantity(1234567, "tokens").replace(NARROW_SPACE, " ")
    '1 234 567'
    >>> [quantity(value, "turns") for value in (999.96, 1000.5, -1000.0, 7.25)]
    ['1000', '1\u202f000', '−1\u202f000', '7.25']
    """
    if value is None or not math.isfinite(value):
        return NOT_MEASURED
    if unit == "fraction":
        return percent(value)
    if unit == "usd":
        return ("-" if value < 0 else "") + "$" + _dollars(abs(value))
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", NARROW_SPACE).replace("-", MINUS)
    return f"{value:.4g}".replace("-", MINUS)


def rough(value: float | None, unit: str) -> str:
    """A value with the three digits that people compare by; dollars and fractions have no more anyway.

    >>> rough(61582.0, "tokens").replace(NARROW_SPACE, " "), rough(0.8784, "fraction"), rough(7.5514, "usd")
    ('61 600', '87.8%', '$7.55')
    """
    if value is None or not math.isfinite(value) or unit == "fraction" or abs(value) < 1000:
        return quantity(value, unit)
    return quantity(float(f"{value:.3g}"), unit).removesuffix(".00")


def percent(value: float) -> str:
    """A fraction as percent with at most one decimal, none above 100%; never a whole 0% or 100% that it is not.

    >>> percent(0.5), percent(0.9999), percent(3.1928)
    ('50%', '>99.9%', '319%')
    """
    if 0 < value < 0.001:
        return "<0.1%"
    if 0.999 < value < 1:
        return ">99.9%"
    if abs(value) > 1:
        return f"{value * 100:,.0f}%".replace(",", NARROW_SPACE).replace("-", MINUS)
    return f"{value * 100:.1f}%".replace(".0%", "%").replace("-", MINUS)


def _dollars(value: float) -> str:
    if value == 0 or value >= 0.1:
        return f"{value:,.2f}".replace(",", NARROW_SPACE)
    return f"{value:.{3 - math.floor(math.log10(value)) - 1}f}"


def signed(value: float, text: str) -> str:
    """A text of a magnitude with the sign of a value: `−3`, `±0`, `+3`."""
    return ("±", "+", MINUS)[(value > 0) - (value < 0)] + text


def counted(count: float, singular: str, plural: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "case"), counted(2, "case"), counted(2, "summary", "summaries")
    ('1 case', '2 cases', '2 summaries')
    """
    return f"{quantity(count, 'count')} {singular if count == 1 else plural or singular + 's'}"


def cut(text: str, most: int) -> str:
    """A text of at most so many characters; `…` stands for an end that is left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "none"
