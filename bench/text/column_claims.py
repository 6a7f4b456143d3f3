"""Statements about the columns of a result: their sums, means and extremes, and the order of rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import mean, median

from .fields import FieldTable
from .instructions import is_unit
from .numbers import NUMBER_TEXT
from .places import occurs
from .small_words import is_small
from .text_records import TextRecord, plain_key

_TOKEN = re.compile(rf"(?<![\w.])-?{NUMBER_TEXT}(?![\w%])|[^\W\d][\w.-]*(?<![.-])|\d[\w.]*%?")
_SORTED = re.compile(r"\b(?:sorted|ordered) by [%#]?([\w.-]*\w)\W+(.*)", re.IGNORECASE)

_UNIT = re.compile(r"(?<=\d)(?:\s?%|\s.*)$")
"""Matches what follows a number in a cell."""

_COUNT = re.compile(
    r"\b(?:(?:across|for|in|of|over) )?(?:all )?(?:the )?\d+ (?:entries|lines|records|rows|values)\b"
)
"""Matches of how many rows a statement is."""

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


def has_right_sums(sentence: str, table: FieldTable) -> bool:
    """True if a sentence states nothing but sums, means and extremes of columns that it names, and
    all are right.

    >>> table = FieldTable({"rows": [{"id": "A1", "price": 3}, {"id": "A2", "price": 4.5}]})
    >>> texts = "price: sum 7.50, lowest 3, highest 4.5", "average price 3.75", "total price: 8", "lowest 3"
    >>> [has_right_sums(text, table) for text in texts]
    [True, True, False, False]
    """
    column: list[str] = []
    wanted, stated = "", 0
    for token in _TOKEN.findall(_COUNT.sub("", sentence)):
        number = _decimal(token)
        if number is not None:
            values = [value for text in column if (value := _decimal(text)) is not None]
            if ("%" in token) != any("%" in text for text in column):
                return False
            if not wanted or not values or not _rounds_to(_OF[wanted](values), number):
                return False
            stated, wanted = stated + 1, ""
        elif table.has_key(token.rpartition(".")[2]):
            column = table.column_at(token.split("."))
        elif token.casefold() in _OF:
            wanted = token.casefold()
        elif not _is_empty(token):
            return False
    return stated > 0 and not wanted


def has_right_counts(sentence: str, table: FieldTable) -> bool:
    """True if a sentence states nothing but how often a column that it names has some values, and
    perhaps the number of all rows, and every count is right.

    >>> rows = [{"pod": f"a{n}", "state": state} for n, state in enumerate(["up", "up", "not up"])]
    >>> texts = "Rows by state: up 2, not up 1; 3 in all", "state: 2 up, 1 not up", "state: up 3", "up 2, not up 1"
    >>> [has_right_counts(text, FieldTable({"rows": rows})) for text in texts]
    [True, True, False, False]
    """
    rest = sentence.casefold()
    key = next((word for word in _TOKEN.findall(rest) if table.has_key(word)), None)
    counts = table.column(key) if key else Counter[str]()
    stated = 0
    for value in sorted(counts, key=len, reverse=True):
        word = re.escape(value.casefold())
        for pattern in (
            rf"(?<!\w){word}[\s:=(×x]*(\d+)(?!\w)",
            rf"(?<!\w)(\d+)[\s×x]*{word}(?!\w)",
        ):
            found = re.findall(pattern, rest)
            if any(int(number[:9]) != counts[value] for number in found):
                return False
            stated, rest = stated + len(found), re.sub(pattern, " ", rest)
    of_all = {str(counts.total()), key}
    return stated > 0 and all(_is_empty(it) or it in of_all for it in _TOKEN.findall(rest))


def has_right_constants(sentence: str, table: FieldTable) -> bool:
    """True if every column that a sentence names has one value, which the sentence states; False
    without one.

    >>> table = FieldTable([{"id": 1, "old": False, "size": 2}, {"id": 2, "old": False, "size": 3}])
    >>> texts = "old is false in every row", "every row is old", "size is 2 in every row", "every row is 2"
    >>> [has_right_constants(text, table) for text in texts]
    [True, False, False, False]
    """
    text = sentence.casefold()
    columns = [table.column(word) for word in _TOKEN.findall(text) if table.has_key(word)]
    return bool(columns) and all(
        len(values) == 1 and occurs(text, next(iter(values)).casefold()) for values in columns
    )


def has_right_order(sentence: str, rows: Sequence[TextRecord]) -> bool:
    """True if a sentence states nothing but the order of `rows` by one of their keys, and perhaps
    numbers, and the order is right.

    >>> rows = [TextRecord((("id", i), ("price", p)), frozenset(), frozenset()) for i, p in (("A2", "4.5"), ("A1", "3"))]
    >>> texts = "2 rows, sorted by price, highest first", "sorted by price, lowest first", "sorted by price, highest first; all paid"
    >>> [has_right_order(text, rows) for text in texts]
    [True, False, False]
    """
    order = _SORTED.search(sentence)
    if order is None:
        return False
    words = [*_TOKEN.findall(sentence[: order.start()]), *_TOKEN.findall(order[2].casefold())]
    others = (word for word in words if word not in _LEAST and word not in _MOST)
    is_bare = all(_is_empty(word) or _decimal(word) is not None for word in others)
    return is_bare and _is_in_order(order[1], words, rows)


def _is_empty(word: str) -> bool:
    """True for a word that states nothing about the data."""
    return is_small(word.casefold()) or is_unit(word.casefold())


def _is_in_order(key: str, words: Sequence[str], rows: Sequence[TextRecord]) -> bool:
    """True if rows are sorted by a key, in the order that some words say."""
    name = plain_key(key.rpartition(".")[2])
    of_rows = [[text for other, text in row.pairs if plain_key(other) == name] for row in rows]
    texts = [values[0] for values in of_rows if len(values) == 1]
    is_up = [word in _LEAST for word in words if word in _LEAST or word in _MOST]
    if len(texts) < 2 or not is_up or len(texts) < sum(map(bool, of_rows)):
        return False
    numbers = [_decimal(_UNIT.sub("", text)) for text in texts]
    keys: Sequence[tuple[Decimal, str]] = [
        (Decimal(0), text) if None in numbers else (number or Decimal(0), "")
        for number, text in zip(numbers, texts, strict=True)
    ]
    return all(one <= other if is_up[0] else one >= other for one, other in pairwise(keys))


def _decimal(text: str) -> Decimal | None:
    """The number that a text is; None for any other text."""
    plain = text.strip().lstrip("$€£").removesuffix("%")
    is_number = re.fullmatch(rf"[-+]?{NUMBER_TEXT}", plain) and len(plain) <= _MOST_CHARS
    return Decimal(plain.replace(",", "")) if is_number else None


_MOST_CHARS = 30


def _rounds_to(value: Decimal, stated: Decimal) -> bool:
    """True if a value is the stated one, or has more decimals and rounds to it."""
    exponent = stated.as_tuple().exponent
    has_decimals = isinstance(exponent, int) and exponent < 0
    half = Decimal(5).scaleb(int(exponent) - 1) if has_decimals else 0
    return abs(value - stated) <= half
