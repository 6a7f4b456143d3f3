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
    """True if a number can be computed from others, and rounded.

    It may be the sum or difference of two of them, the sum of all, a multiple of one by a small whole
    number, or one in thousands, millions or billions; with `percent` also the share of one in another
    or their relative difference. Only the first twelve others are tried.

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
        target = Decimal(number)
        distinct = (other for other in dict.fromkeys(others) if other != number)
        terms = [*map(Decimal, islice(distinct, _MOST_TERMS))]
    except InvalidOperation:
        return False
    if any(abs(term.adjusted()) > _MOST_DIGITS for term in (*terms, target)):
        return False
    exponent = target.as_tuple().exponent
    half = Decimal(5).scaleb(min(0, exponent if isinstance(exponent, int) else 0) - 1)

    def fits(result: Decimal) -> bool:
        """True if a result rounds to the number."""
        return abs(result - target) <= half

    for number_of_term, term in enumerate(terms, 1):
        if any(fits(term / unit) for unit in _UNITS):
            return True
        for other in terms[number_of_term:]:
            if fits(term + other) or fits(abs(term - other)):
                return True
            for a, b in ((term, other), (other, term)):
                is_factor = a == a.to_integral_value() and 1 < a <= _MOST_FACTOR
                if is_factor and (fits(a * b) or fits(b / a)):
                    return True
                if percent and b and (fits(a / b * 100) or fits(abs(a - b) / b * 100)):
                    return True
    return len(terms) > 2 and fits(sum(terms, Decimal(0)))
