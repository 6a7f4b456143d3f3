"""Values of a result that a text shows otherwise, and what is no change."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from bench.evidence.changed import Returned
from bench.evidence.meaning import _identifies

from bench.model import ToolResult

ROWS = [{"order": f"W{n}", "gate": f"G{n}", "price": n * 10.5, "note": "fine"} for n in range(1, 9)]
REPORT = "The door of hall seven is open today\nNobody was seen near gate five\n"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (ROWS[:3], []),
        ([{**ROWS[0], "price": 11.5}], [("price", "10.5", "11.5")]),
        ([{**ROWS[0], "price": 11.5}, {**ROWS[1], "gate": "G1"}], [("price", "10.5", "11.5"), ("gate", "G2", "G1")]),
        ({**ROWS[0], "gate": "G7"}, [("gate", "G1", "G7")]),
        ({"order": "W1", "price": 21.0}, [("price", "10.5", "21.0")]),
        ({"order": "W1", "price": 10.5, "own": 1, "mine": 2}, []),
        ({"order": "W1", "price": 21.0, "own": 1, "mine": 2}, [("price", "10.5", "21.0")]),  # half of it is known
        ({"order": "W1", "own": 1, "other": 2, "more": 3}, []),  # a mapping of its own
        ({"order": "W99", "own": 1, "other": 2}, []),
        ({"order": "W99", "gate": "G1"}, [("order", "W1", "W99")]),
        ("order: W1, gate: G2", [("gate", "G1", "G2")]),
        ("order: W1, gate: G1", []),
        ([[1, 2]], []),
    ],
)
def test_a_value_that_stands_otherwise_in_its_record_is_a_change(text, changed):
    returned = Returned(ToolResult(index=0, call_id="a", function="f", seen=json.dumps(ROWS)))
    found = returned.changes(text if isinstance(text, str) else json.dumps(text))
    assert [(item.key, item.was, item.shown) for item in found] == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("The door of hall seven is open today", []),
        ("The door of hall nine is open today", [("seven", "nine")]),
        ("The door of hall seven is not open today", [("", "not")]),
        ("Nobody was seen near gate nine", [("five", "nine")]),
        ("seven", []),
        ("Something else", []),
    ],
)
def test_a_line_that_is_otherwise_alike_is_a_change(text, changed):
    returned = Returned(ToolResult(index=0, call_id="a", function="f", seen=REPORT))
    assert [(item.was, item.shown) for item in returned.changes(text)] == changed


def test_a_word_of_four_letters_that_comes_once_tells_its_record():
    column = Counter(["abc", "abcd", "twice", "twice", "1234.5"])
    assert [text for text in column if _identifies("note", text, column)] == ["abcd"]
    assert not _identifies("note", "abcd", Counter(["abcd"]))
    assert [_identifies("id", text, Counter([text])) for text in ("a", "ab", "a" * 80, "a" * 81)] == [
        False,
        True,
        True,
        False,
    ]
