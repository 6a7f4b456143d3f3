"""Statements about the order of the rows in a text: sorted by a column, up or down."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .numbers import is_number, number_value
from .text_records import Pair, plain_key

_ORDER = re.compile(
    r"\W*(?:(?:rows|sorted|ordered|arranged)\W{1,2})+(?:by|on)\W+(?P<column>\w[\w .-]*?)"
    r"(?:\W{1,3}(?:(?P<up>ascending|asc|(?:lowest|smallest|least|earliest|oldest|cheapest)(?: \w+)? first)"
    r"|(?P<down>descending|desc|(?:highest|largest|most|latest|newest|dearest)(?: \w+)? first)))?\W*",
    re.IGNORECASE,
)


class Order(NamedTuple):
    """The column by which rows are sorted, and the direction."""

    column: str
    is_descending: bool


def stated_order(line: str) -> Order | None:
    """The order that a line states; None if it states none.

    >>> stated_order("(sorted by price, lowest first)"), stated_order("price of all")
    (Order(column='price', is_descending=False), None)
    """
    match = _ORDER.fullmatch(line)
    return Order(match["column"], bool(match["down"])) if match else None


def is_in_order(rows: Iterable[Iterable[Pair]], order: Order) -> bool:
    """True if two or more rows have a column, and are in order by it.

    >>> rows = [[("price", price)] for price in ("9", "10", "10.5")]
    >>> [is_in_order(rows, Order("price", is_descending)) for is_descending in (False, True)]
    [True, False]
    """
    key = plain_key(order.column)
    values = [text for row in rows for name, text in row if plain_key(name) == key]
    numbers = [float(number_value(text)) for text in values if is_number(number_value(text))]
    if len(numbers) == len(values):
        return len(values) > 1 and numbers == sorted(numbers, reverse=order.is_descending)
    small = [text.casefold() for text in values]
    return small == sorted(small, reverse=order.is_descending)
