"""Comparison of two values as people write them: `$1,250.50` is 1250.5, and `22 May` a date."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from .dates import moment_of, with_plain_moments

_NULL = frozenset({"null", "none", "nan"})
_EMPTY = frozenset({"", "-", "n/a", "na", "[]", "{}"})
_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})
_CURRENCIES = "aud|brl|cad|chf|cny|dkk|eur|gbp|hkd|inr|jpy|krw|mxn|nok|nzd|pln|sek|sgd|usd|zar"
"""The codes of the currencies that are traded most (ISO 4217), in small letters."""

_QUANTITY = re.compile(
    rf"([-\u2212+]?)\s*([$€£]|(?:{_CURRENCIES})(?=\s))?\s*([-\u2212]?)([\d.,]*\d[\d,]*(?:[eE][-+]?\d+)?)\s*([^\d\s.,][^\d]*)?"
)
_GAP = re.compile(r"\s*(?:(?:…|\.{3,})(?:\s?\([^()]{1,60}\))?|\[[^\]]*\])\s*")
_KEPT_CHARS = 200
"""The comparison of longer values is not cached."""

_SHARES = ("%", "‰")
"""Units without which the number is another one: 60% is not 60."""

_QUOTES = "\"'` "
_CODE = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w{4,}")
"""Matches a name of letters and digits, for which case matters."""

_IDENTIFIER = re.compile(r"(?=\S*[\d_])[\w.@#-]+")
"""Matches an identifier. Its beginning may be another identifier, so it must not be truncated."""

_MOST_DIGITS = 400
"""A longer number is compared as it is written."""

_FEWEST_CHARS = 4
"""The fewest characters of a truncated value that is recognised."""


def same_value(value: str, original: str) -> bool:
    """True if a shown value is the original, perhaps in another spelling, with fewer digits, or
    truncated.

    A quantity includes its unit. An empty cell counts as left out, a null one as missing.

    >>> same_value("12.5 mm", "12.50 mm"), same_value("12.5 m", "12.5 mm"), same_value("1,250", "1250")
    (True, False, True)
    >>> same_value("3.14", "3.14159"), same_value("3.15", "3.1444"), same_value("$-5", "-5"), same_value("yes", "true")
    (True, False, True, True)
    >>> same_value("A long te… (2 more)", "A long text"), same_value("", "sent"), same_value("n/a", "0")
    (True, True, False)
    >>> same_value("2772.0", "2772.44"), same_value("2772.0", "2773"), same_value("2.0", "2.9")
    (True, False, False)
    >>> same_value("olivia_lopez", "olivia_lopez_3865"), same_value("01:00", "01:00:00+1")
    (False, False)
    >>> same_value("null", "None"), same_value("null", "false"), same_value("0", "null"), same_value("w44a", "W44A")
    (True, False, False, False)
    """
    if max(len(value), len(original)) > _KEPT_CHARS:
        return _same.__wrapped__(value, original)
    return _same(value, original)


@lru_cache(maxsize=1 << 14)
def _same(value: str, original: str) -> bool:
    """The uncached comparison of `same_value`."""
    shown, full = _plain(value), _plain(original)
    if shown == full and _CODE.fullmatch(shown) and original.strip(_QUOTES) != value.strip(_QUOTES):
        return False
    if shown in (full, "") or (shown in _EMPTY and full in _EMPTY):
        return True
    if shown in _NULL or full in _NULL:
        return full in _EMPTY or (shown in _NULL and full in _NULL)
    for words in (_TRUE, _FALSE):
        if shown in words or full in words:
            return shown in words and full in words
    if (moment := moment_of(shown)) and (full_moment := moment_of(full)):
        return full_moment == moment or full_moment.startswith(f"{moment} ")
    if _GAP.search(shown) and _GAP.sub("", shown):
        # Also as written: a truncated date is not read as a date.
        return any(
            _has_in_order(text, filter(None, _GAP.split(pieces)))
            for pieces, text in ((shown, full), (_folded(value), _folded(original)))
        )
    quantity, full_quantity = _quantity(shown), _quantity(full)
    if quantity is not None and full_quantity is not None:
        return _same_quantity(quantity, full_quantity)
    if value.lstrip()[:1] in ("[", "{"):
        return True  # a container in a cell is read on its own
    is_begun = len(shown) >= _FEWEST_CHARS and full.startswith(shown)
    if not is_begun or full[len(shown)] in "+*/":
        return False
    return moment != "" or not _IDENTIFIER.fullmatch(full)


@lru_cache(maxsize=1 << 16)
def plain_value(text: str) -> str:
    """A value in the spelling in which records are compared: a number without currency and
    separators, any other value in small letters.

    >>> plain_value("$1,250.50"), plain_value("-5"), plain_value("5 m"), plain_value("Sent")
    ('1250.5', '-5', '5 m', 'sent')
    """
    quantity = _quantity(_plain(text)) if any(map(str.isdigit, text)) else None
    if quantity is None or quantity.unit not in ("", *"$€£"):
        return text.casefold()
    number = quantity.number
    is_short = abs(number.adjusted()) <= _MOST_DIGITS and quantity.decimals <= _MOST_DIGITS
    return f"{number.normalize():f}" if is_short else text.casefold()


def unit_of(text: str) -> str:
    """The unit of a quantity; "" without one, and for any other text.

    >>> unit_of("22.01 lb"), unit_of("$5"), unit_of("22"), unit_of("2 of 3")
    ('lb', '$', '', '')
    """
    quantity = _quantity(_plain(text))
    return quantity.unit if quantity else ""


@lru_cache(maxsize=1 << 14)
def kind_of(text: str) -> str:
    """The kind of a value: "nothing", "truth", "moment" or "quantity"; else its form, with `a` for
    words and `0` for digits.

    >>> [kind_of(text) for text in ("n/a", "No", "22 May 2024", "$5", "W12", "gift card", "@1", "max 5")]
    ['nothing', 'truth', 'moment', 'quantity', 'a0', 'a', '@0', 'a 0']
    """
    plain = _plain(text)
    if plain in _NULL or plain in _EMPTY:
        return "nothing"
    if plain in _TRUE or plain in _FALSE:
        return "truth"
    if moment_of(plain):
        return "moment"
    return "quantity" if _quantity(plain) else _DIGITS.sub("0", _WORDS.sub("a", plain))


_WORDS = re.compile(r"[^\W\d_]+(?:[\s'’.-]+[^\W\d_]+)*")
_DIGITS = re.compile(r"\d+")


def _plain(text: str) -> str:
    return _folded(with_plain_moments(text))


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(_QUOTES).casefold()


class _Quantity(NamedTuple):
    """A number, its unit, and the number of its decimals as written."""

    number: Decimal
    unit: str
    decimals: int


@lru_cache(maxsize=1 << 14)
def _quantity(text: str) -> _Quantity | None:
    """A text as a quantity; None for any other text."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    sign, currency, inner_sign, digits, unit = match.groups()
    sign = sign or inner_sign
    try:
        number = Decimal(digits.replace(",", ""))
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) else 0
    is_negative = sign in ("-", "\u2212")
    unit = ((currency or "") + (unit or "")).strip()
    return _Quantity(-number if is_negative else number, unit, decimals)


def _same_quantity(shown: _Quantity, original: _Quantity) -> bool:
    """True if a shown quantity is the original, perhaps rounded or without its unit."""
    (number, unit, decimals), (full, full_unit, full_decimals) = shown, original
    if unit != full_unit and ((unit and full_unit) or (unit or full_unit)[:1] in _SHARES):
        return False
    if number == full:
        return True
    if max(number.adjusted(), full.adjusted(), decimals) > _MOST_DIGITS:
        return False
    if decimals == 1 and number == number.to_integral_value():
        decimals = 0  # a float that was rounded to a whole number
    if decimals < 0 and full_decimals <= 0:
        return False  # 1512 is not 1.51e+03: whole numbers may be names
    if decimals:
        return abs(number - full) <= Decimal(5).scaleb(-decimals - 1)
    return full != full.to_integral_value() and abs(number - full) <= Decimal("0.5")


def _has_in_order(text: str, pieces: Iterable[str]) -> bool:
    """True if a text has all pieces, one behind the other."""
    end = 0
    for piece in pieces:
        start = text.find(piece, end)
        if start < 0:
            return False
        end = start + len(piece)
    return True
