"""Statements about the columns of a result: their sums, means and extremes, and the order of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import mean, median

from .fields import FieldTable
from .instructions import is_unit
from .numbers import NUMBER_TEXT
from .small_words import is_small
from .text_records import TextRecord, plain_key

_TOKEN = re.compile(rf"(?<![\w.])-?{NUMBER_TEXT}(?![\w%])|[^\W\d][\w.-]*(?<![.-])|\d[\w.]*%?")
_SORTED = re.compile(r"\b(?:sorted|ordered) by ([\w.-]*\w)\W+(.*)", re.IGNORECASE)

_AVERAGE = "average", "avg", "mean"
_LEAST = frozenset(
    {
        "ascending",
        "cheapest",
        "earliest",
        "least",
        "lowest",
        "min",
        "minimum",
        "oldest",
        "shortest",
        "smallest",
    }
)
_MOST = frozenset(
    {
        "biggest",
        "descending",
        "highest",
        "largest",
        "latest",
        "longest",
        "max",
        "maximum",
        "most",
        "newest",
    }
)
_OF: dict[str, Callable[[Iterable[Decimal]], Decimal]] = {
    **dict.fromkeys(("sum", "total"), lambda values: sum(values, Decimal(0))),
    **dict.fromkeys(_AVERAGE, mean),
    **dict.fromkeys(_LEAST, min),
    **dict.fromkeys(_MOST, max),
    "median": median,
}


def holds(sentence: str, table: FieldTable, rows: Sequence[TextRecord]) -> bool:
    """True if a sentence states nothing but sums, means and extremes of columns that it names, or
    the order of `rows` by one of them, and all of that is right.

    >>> table = FieldTable({"rows": [{"id": "A1", "price": 3, "n": 1}, {"id": "A2", "price": 4.5, "n": 2}]})
    >>> texts = "price: sum 7.50, lowest 3, highest 4.5", "average price 3.75", "total price: 8", "lowest 3"
    >>> [holds(text, table, ()) for text in texts]
    [True, True, False, False]
    >>> rows = [TextRecord((("id", "A2"), ("price", "4.5")), frozenset(), frozenset()),
    ...     TextRecord((("id", "A1"), ("price", "3")), frozenset(), frozenset())]
    >>> [holds(f"sorted by price, {order} first", table, rows) for order in ("highest", "lowest")]
    [True, False]
    """
    if order := _SORTED.search(sentence):
        return _is_in_order(order[1], order[2].casefold().split(), rows)
    column: list[str] = []
    wanted, stated = "", 0
    for token in _TOKEN.findall(sentence):
        number = _decimal(token)
        if number is not None:
            values = [value for text in column if (value := _decimal(text)) is not None]
            if not wanted or not values or not _rounds_to(_OF[wanted](values), number):
                return False
            stated, wanted = stated + 1, ""
        elif token.casefold() in _OF:
            wanted = token.casefold()
        elif table.has_key(token.rpartition(".")[2]):
            column = table.column_at(token.split("."))
        elif not is_small(token.casefold()) and not is_unit(token.casefold()):
            return False
    return stated > 0 and not wanted


def _is_in_order(key: str, words: Sequence[str], rows: Sequence[TextRecord]) -> bool:
    """True if rows are sorted by a key, in the order that some words say."""
    name = plain_key(key.rpartition(".")[2])
    of_rows = [[text for other, text in row.pairs if plain_key(other) == name] for row in rows]
    texts = [values[0] for values in of_rows if len(values) == 1]
    is_up = [word in _LEAST for word in words if word in _LEAST or word in _MOST]
    if len(texts) < 2 or not is_up or len(texts) < sum(map(bool, of_rows)):
        return False
    numbers = [*map(_decimal, texts)]
    keys: Sequence[tuple[Decimal, str]] = [
        (Decimal(0), text) if None in numbers else (number or Decimal(0), "")
        for number, text in zip(numbers, texts, strict=True)
    ]
    return all(one <= other if is_up[0] else one >= other for one, other in pairwise(keys))


def _decimal(text: str) -> Decimal | None:
    """The number that a text is; None for any other text."""
    plain = text.strip().lstrip("$€£")
    is_number = re.fullmatch(rf"-?{NUMBER_TEXT}", plain) and len(plain) <= _MOST_CHARS
    return Decimal(plain.replace(",", "")) if is_number else None


_MOST_CHARS = 30


def _rounds_to(value: Decimal, stated: Decimal) -> bool:
    """True if a value is the stated one, or has more decimals and rounds to it."""
    exponent = stated.as_tuple().exponent
    has_decimals = isinstance(exponent, int) and exponent < 0
    half = Decimal(5).scaleb(int(exponent) - 1) if has_decimals else 0
    return abs(value - stated) <= half
