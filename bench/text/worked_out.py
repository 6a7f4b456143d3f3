"""Numbers that are worked out of others in the same sentence."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

_MOST_TERMS = 12
_MOST_DIGITS = 30


def worked_out(number: str, others: Sequence[str]) -> bool:
    """True if a number is the sum, difference, product, quotient or percentage of two others, rounded as it is written.

    Three others or more may also be summed. Only the first twelve are looked at.

    >>> worked_out("150", ["100", "50"]), worked_out("25", ["1", "4"]), worked_out("151", ["100", "50"])
    (True, True, False)
    """
    try:
        wanted = Decimal(number)
        terms = [Decimal(other) for other in dict.fromkeys(others) if other != number][:_MOST_TERMS]
    except InvalidOperation:
        return False
    if any(abs(term.adjusted()) > _MOST_DIGITS for term in (*terms, wanted)):
        return False
    exponent = wanted.as_tuple().exponent
    half = Decimal(5).scaleb(min(0, exponent if isinstance(exponent, int) else 0) - 1)
    for at, one in enumerate(terms):
        for other in terms[at + 1 :]:
            results = [one + other, abs(one - other), one * other]
            for a, b in ((one, other), (other, one)):
                if b:
                    results += [a / b, a / b * 100, abs(a - b) / b * 100]
            if any(abs(result - wanted) <= half for result in results):
                return True
    return len(terms) > 2 and abs(sum(terms, Decimal(0)) - wanted) <= half
