"""Answers to questions: when a value is the answer and when texts say it, by the type that the answer has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from ..model import AnswerType
from .facts import flat, number_value, occurs, places_of
from .leaves import flatten, same, tokens_of

_SPACE_AND_SIGNS = " \t\n$€£"


def type_problem(answer: Any, type: AnswerType) -> str | None:
    """Why an answer cannot be of a type; None where it can.

    >>> type_problem([1, "1,250.0"], "number"), type_problem("many", "number"), type_problem(7, "text"), type_problem("!", "text")
    (None, "'many' is no number", '7 is no text', "'!' holds no word")
    """
    for _, (_, value) in flatten(answer):
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
    if type == "number":
        return same(value, answer, lambda one, other: _number(one) is not None and _number(one) == _number(other))
    if type == "text":
        return same(value, answer, lambda one, other: isinstance(one, str) and flat(one) == flat(other))
    return same(value, answer)


def said(plain: Sequence[str], answer: Any, type: AnswerType) -> bool:
    """True if every value of an answer stands whole in one of the decoded texts.

    >>> said(["in all 14,122,787.0 rows"], 14122787, "number"), said(["it was -5"], 5, "number"), said(["5"], -5, "number")
    (True, True, False)
    >>> said(["Built by Pietro\\nMurano."], "pietro murano", "text"), said(["n=470"], 47, "exact")
    (True, False)
    """
    if type == "number":
        return _each(plain, answer, _says_number)
    if type == "text":
        words = [flat(text) for text in plain]
        return _each(words, answer, lambda text, value: flat(value) in text)
    ways = [tokens_of(typed) for _, typed in flatten(answer)]
    return bool(plain) and all(any(occurs(text, token) for text in plain for token in tokens) for tokens in ways)


def _each(texts: Sequence[str], answer: Any, says: Callable[[str, Any], bool]) -> bool:
    return bool(texts) and all(any(says(text, value) for text in texts) for _, (_, value) in flatten(answer))


def _says_number(plain: str, value: Any) -> bool:
    negative = (_number(value) or 0) < 0
    spans = places_of(plain, number_value(str(value).strip(_SPACE_AND_SIGNS)))
    before = (plain[max(0, start - 2) : start].rstrip("$€£") for start, _ in spans)
    return any(not negative or text.endswith(("-", "\u2212")) for text in before)


def _number(value: Any) -> Decimal | None:
    """A number, or a text that is one, by value; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        found = Decimal(str(value).strip(_SPACE_AND_SIGNS).replace(",", "").replace("\u2212", "-"))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
