"""Answers in texts, by type, each beside a text that nearly says it."""

from __future__ import annotations

from typing import Any

import pytest

from bench.model import AnswerType
from bench.text.answers import says_answer

SAYS: list[tuple[AnswerType, Any, tuple[str, ...], tuple[str, ...]]] = [
    ("number", -5, ("-5", "it was -5", "\u22125", "-$5"), ("5", "- 5", "-55", "x5")),
    ("number", 5, ("5", "-5", "n=5", "5.0"), ("55", "5.5")),
    ("number", 1250, ("1,250.0 rows", "1250", "1.25e3"), ("12500", "1,251")),
    ("number", [5, 6], ("5 6", "5\n6"), ("5", "56")),
    ("text", "level 1", ("The Level  1", "LEVEL\n1"), ("level 12", "level")),
    ("exact", "level 1", ("level 1",), ("Level 1", "level 12")),
    ("exact", True, ("true", "True"), ("untrue", "yes")),
    ("exact", None, ("null", "None"), ("nothing",)),
    ("exact", "", ('a ""', "''"), ("", "a")),
    ("exact", float("nan"), ("NaN", "nan", "null"), ("0",)),
]


@pytest.mark.parametrize(("type", "answer", "right", "wrong"), SAYS)
def test_an_answer_is_found_in_its_spellings_only(
    type: AnswerType, answer: Any, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    assert [text for text in right if not says_answer([text], answer, type)] == []
    assert [text for text in wrong if says_answer([text], answer, type)] == []


def test_parts_of_an_answer_may_be_in_several_texts() -> None:
    assert says_answer(["5", "6"], [5, 6], "number")
    assert not says_answer([], 5, "number")
