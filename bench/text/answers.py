"""Comparison of the expected answer of a question with values and texts, by the answer's type."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from ..model import AnswerType, compact_json
from .decode import NothingParsed, parse_json
from .facts import flat
from .numbers import number_value
from .places import occurs, places_of

_SPACE_AND_SIGNS = " \t\n$€£"


def type_problem(answer: Any, type: AnswerType) -> str | None:
    """The reason why an answer does not fit a type; None if it does.

    >>> type_problem([1, "1,250.0"], "number"), type_problem("many", "number")
    (None, "'many' is no number")
    >>> type_problem(7, "text"), type_problem("!", "text")
    ('7 is no text', "'!' holds no word")
    """
    for value in scalars(answer):
        if type == "number" and _number(value) is None:
            return f"{value!r} is no number"
        if type == "text" and not isinstance(value, str):
            return f"{value!r} is no text"
        if type == "text" and not flat(value).strip():
            return f"{value!r} holds no word"
    return None


def is_answer(value: Any, answer: Any, type: AnswerType) -> bool:
    """True if a value is the answer.

    >>> is_answer(47.0, 47, "exact"), is_answer("$47.00", 47, "number"), is_answer(["Level  1"], ["level 1"], "text")
    (False, True, True)
    """
    equal = {"number": _same_number, "text": _same_words, "exact": None}[type]
    return same(value, answer, equal)


def says_answer(plain: Sequence[str], answer: Any, type: AnswerType) -> bool:
    """True if decoded texts have each value of an answer as whole words.

    >>> texts = ["in all 14,122,787.0 rows", "it was -5", "Built by Pietro\\nMurano.", "n=470"]
    >>> says_answer(texts, [14122787, 5], "number"), says_answer(["5"], -5, "number")
    (True, False)
    >>> says_answer(texts, "pietro murano", "text"), says_answer(texts, 47, "exact")
    (True, False)
    """
    if type == "text":
        plain = [flat(text) for text in plain]
    say = {"number": _says_number, "text": _says_words, "exact": _says_token}[type]
    return bool(plain) and all(any(say(text, value) for text in plain) for value in scalars(answer))


def same(left: Any, right: Any, equal: Callable[[Any, Any], bool] | None = None) -> bool:
    """True if two values are the same, types included.

    A tuple equals a list, NaN equals itself, the order of keys does not matter. `equal` replaces
    the comparison of scalars.

    >>> same({"a": [1, None]}, {"a": (1, None)}), same(1, True), same(1, 1.0), same(float("nan"), float("nan"))
    (True, False, False, True)
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same(item, right[key], equal) for key, item in left.items()
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(
            same(*pair, equal) for pair in zip(left, right, strict=True)
        )
    if equal:
        return equal(left, right)
    return type(left) is type(right) and (left == right or left != left)


def _same_number(value: Any, answer: Any) -> bool:
    return _number(value) is not None and _number(value) == _number(answer)


def _same_words(value: Any, answer: Any) -> bool:
    return isinstance(value, str) and flat(value) == flat(answer)


def scalars(value: Any) -> Iterator[Any]:
    """Yield the scalars and empty containers of a value in order; strings that are JSON containers
    are decoded.

    >>> [*scalars({"n": 2, "table": '[{"id": 1}, {"id": []}]'})]
    [2, 1, []]
    """
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str) and node[:1] in tuple("{[ \t\r\n\ufeff"):
            with contextlib.suppress(NothingParsed):
                node = parse_json(node)
        if node and isinstance(node, dict | list | tuple):
            waiting.extend(reversed([*node.values()] if isinstance(node, dict) else node))
        else:
            yield node


def _says_number(plain: str, value: Any) -> bool:
    is_negative = (_number(value) or 0) < 0
    spans = places_of(plain, number_value(str(value).strip(_SPACE_AND_SIGNS)))
    before = (plain[max(0, start - 2) : start].rstrip("$€£") for start, _ in spans)
    return any(not is_negative or text.endswith(("-", "\u2212")) for text in before)


def _says_words(words: str, value: Any) -> bool:
    return flat(value) in words


def _says_token(plain: str, value: Any) -> bool:
    """True if a text has a scalar as JSON or Python writes it."""
    if isinstance(value, str) and value:
        ways: tuple[str, ...] = (value,)
    elif value == "":
        ways = '""', "''"
    elif value != value:
        ways = "NaN", "nan", "null"
    else:
        ways = compact_json(value), str(value)
    return any(occurs(plain, way) for way in ways)


def _number(value: Any) -> Decimal | None:
    """The value of a number, or of a text that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = Decimal(str(value).strip(_SPACE_AND_SIGNS).replace(",", "").replace("\u2212", "-"))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
