"""Numbers that can be computed from others in the same sentence or record."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice

_MOST_TERMS = 12
_MOST_DIGITS = 30
_MOST_FACTOR = 20
_UNITS = tuple(Decimal(base) ** power for base in (1000, 1024) for power in (1, 2, 3))


def worked_out(number: str, others: Sequence[str], *, percent: bool = False) -> bool:
    """True if a number is the sum or difference of two others, the sum of all, one times a small
    whole number, or one in thousands, millions or billions.

    With `percent` also the share of one in another, or their relative difference. It may be
    rounded; only the first twelve others are tried.

    >>> worked_out("150", ["100", "50"]), worked_out("151", ["100", "50"])
    (True, False)
    >>> worked_out("25", ["1", "4"], percent=True), worked_out("20.0", ["60", "50"], percent=True)
    (True, True)
    >>> worked_out("1590.6", ["1590563176"]), worked_out("1590.7", ["1590563176"])
    (True, False)
    >>> worked_out("375", ["125", "3"]), worked_out("60.5", ["10", "20.5", "30"]), worked_out("9", [])
    (True, True, False)
    """
    try:
        wanted = Decimal(number)
        distinct = (other for other in dict.fromkeys(others) if other != number)
        terms = [*map(Decimal, islice(distinct, _MOST_TERMS))]
    except InvalidOperation:
        return False
    if any(abs(term.adjusted()) > _MOST_DIGITS for term in (*terms, wanted)):
        return False
    exponent = wanted.as_tuple().exponent
    half = Decimal(5).scaleb(min(0, exponent if isinstance(exponent, int) else 0) - 1)

    def fits(result: Decimal) -> bool:
        """True if a result rounds to the wanted number."""
        return abs(result - wanted) <= half

    for at, one in enumerate(terms):
        if any(fits(one / unit) for unit in _UNITS):
            return True
        for other in terms[at + 1 :]:
            if fits(one + other) or fits(abs(one - other)):
                return True
            for a, b in ((one, other), (other, one)):
                if (
                    a == a.to_integral_value()
                    and 1 < a <= _MOST_FACTOR
                    and (fits(a * b) or fits(b / a))
                ):
                    return True
                if percent and b and (fits(a / b * 100) or fits(abs(a - b) / b * 100)):
                    return True
    return len(terms) > 2 and fits(sum(terms, Decimal(0)))
