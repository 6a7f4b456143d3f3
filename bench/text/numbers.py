"""Numbers in texts, in one spelling: `1,250.50`, `1250.5` and `1.2505e3` are equal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache
from itertools import filterfalse

NUMBER_TEXT = r"(?:\d{1,3}(?:,\d{3}){1,99}+(?:\.\d++)?|\d++(?:\.\d++)?(?:[eE][-+]?\d++)?|\.\d++(?:[eE][-+]?\d++)?)"
"""The pattern of a number as a text writes it."""

_NUMBERS = re.compile(
    r"[\d.](?<![\w.][\d.])(?:(?<=\d)(?:\d{0,2}(?:,\d{3}){1,99}+(?:\.\d++)?|\d*+(?:\.\d++)?(?:[eE][-+]?\d++)?)|(?<=\.)\d++(?:[eE][-+]?\d++)?)"
    r"(?!\w)(?!\.\d)"
)
_SHORT = re.compile(r"([0-9]{1,15})(?:\.([0-9]{0,6}))?|\.([0-9]{1,6})")
_SPELLED = re.compile(r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,5}[1-9])?")
_IS_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
_SIGNIFICANT_CHARS = 40  # of a number: longer ones are compared as they are written
# No digit is rounded away, nothing becomes 0.
_EXACT = Context(prec=_SIGNIFICANT_CHARS, Emin=MIN_EMIN, Emax=MAX_EMAX)


@lru_cache(1 << 14)
def number_value(text: str) -> str:
    """The number of a text in one spelling: no separators, no sign, no trailing zeros.

    >>> number_value("1,250.50"), number_value("1e-09"), number_value("007")
    ('1250.5', '1e-9', '7')
    >>> [number_value(text) for text in ("1e15", "1.5e16", "1e-6", "1e-7", "12e9999999999999999999", "1.0e-99999999")]
    ['1000000000000000', '1.5e16', '0.000001', '1e-7', '12e9999999999999999999', '1e-99999999']
    """
    if _SPELLED.fullmatch(text):
        return text
    plain = text.replace(",", "").lstrip("+-$€£")
    if len(plain) > _SIGNIFICANT_CHARS:
        return plain
    if short := _SHORT.fullmatch(plain):  # nearly every number: no exponent in either spelling
        return spelled(short[1] or "", short[2] or short[3] or "")
    try:
        value = Decimal(plain).normalize(_EXACT)
    except ArithmeticError:  # an exponent that no number has, as in a hash: 12e9999999999
        return plain
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent > -7 and value.adjusted() < 16:
        return f"{value:f}"
    return f"{value:e}".replace("e+", "e")


def is_spelled(text: str) -> bool:
    """True for a number that is already spelled as `number_value` spells it, as nearly every one is."""
    return _SPELLED.fullmatch(text) is not None


def spelled(integer: str, decimals: str) -> str:
    """The spelling of a number from its digits before and after the point."""
    decimals = decimals.rstrip("0")
    integer = integer.lstrip("0") or "0"
    return f"{integer}.{decimals}" if decimals else integer


def numbers_in(plain: str) -> set[str]:
    """The numbers of a decoded text by value. Since `12,500` may be a list, 12 and 500 are too."""
    numbers = set(_NUMBERS.findall(plain))
    if not numbers:
        return numbers
    others = [*filterfalse(_SPELLED.fullmatch, numbers)]
    numbers.difference_update(others)
    numbers.update(number_value(part) for text in others for part in {text, *text.split(",")})
    return numbers


def numbers_at(plain: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each number in a text with its (start, end), in order."""
    for match in _NUMBERS.finditer(plain):
        text = match.group()
        for part in (text, *text.split(",")) if "," in text else (text,):
            yield number_value(part), match.span()


@lru_cache(maxsize=65536)
def is_number(fact: str) -> bool:
    """True if a fact is a number as `number_value` writes it."""
    return fact[:1].isdigit() and _IS_NUMBER.fullmatch(fact) is not None
