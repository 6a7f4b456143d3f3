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
LARGE = {
    "rows": "\n".join(f"a | b | {n}" for n in range(15_000)),
    "numbers in a line": " ".join(str(n * 37) for n in range(45_000)),
    "names in a line": " ".join(f"w{n}" for n in range(40_000)),
    "commas": "1," * 300_000,
    "blanks": " " * 1_500_000 + "x",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [*(it * (CHARS // len(it)) for it in REPEATED), *LARGE.values()], ids=[*REPEATED, *LARGE]
)
def test_a_long_own_text_is_checked_in_seconds(text: str) -> None:
    """Slow: so many characters of each that a second pass over the text from each place takes minutes."""
    assert_quick('{"rows": 4711, "at": "/data/1.csv"}', text)


@pytest.mark.slow
def test_a_long_line_of_names_with_a_notice_is_checked_in_seconds() -> None:
    """Slow: each of 15,000 names was searched in all of the line."""
    line = "barcode {" + ", ".join(f"'AACAACCTAA{n}-1': 1" for n in range(15_000)) + "}"
    assert_quick(f"start\n{line}\nend", f"type: console\ntruncated_lines: {line}\nlast_line: end")


def assert_quick(full: str, text: str) -> None:
    """Assert that a text in place of a result is measured within seconds."""
    steps = [result(full, index=2), ModelTurn(index=3, content="it is 4711 in /data/1.csv")]
    began = time.process_time()
    RunSession(conversation_of(steps), Measuring((compose("own", {"summarizer": lambda request: text}),))).measured()
    assert time.process_time() - began < 5
