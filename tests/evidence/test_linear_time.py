"""Texts of a strategy that repeat one thing are checked in time that grows with them, not with their square."""

from __future__ import annotations

import time

import pytest
from handmade import compose, conversation_of, result

from bench.model import ModelTurn
from bench.run.measuring import Measuring, RunSession

CHARS = 60_000
REPEATED = [
    "[",
    '{"a":',
    '{"a":[',
    '{"a":[\n',
    '"{\\"a\\": ',
    "<a>",
    "<rows>",
    "<a>\n",
    "a: ",
    "- ",
    "x",
    "a.b",
    "a-",
    "_",
    "a; " + " " * 5000,
    "total: 1 ",
    "rows: 1 ",
]


@pytest.mark.slow
@pytest.mark.parametrize("repeated", REPEATED)
def test_a_long_own_text_is_checked_in_seconds(repeated: str) -> None:
    """Slow: 60,000 characters of each, where a second pass over the text from each place takes minutes."""
    text = repeated * (CHARS // len(repeated))
    steps = [
        result('{"rows": 4711, "at": "/data/1.csv"}', index=2),
        ModelTurn(index=3, content="it is 4711 in /data/1.csv"),
    ]
    began = time.process_time()
    RunSession(conversation_of(steps), Measuring((compose("own", {"summarizer": lambda request: text}),))).measured()
    assert time.process_time() - began < 5
