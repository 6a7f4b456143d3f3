"""Lines of a result with another word in them, each case beside its neighbour that is no alteration."""

from __future__ import annotations

import pytest

from bench.text.line_changes import ResultLines

WALL, STOCK, STATUS = "wall W1 is 12.5 mm thick and not painted", "the stock of W2 fell by 40%", "status: pending"
LINES = ResultLines([WALL, STOCK, STATUS, '"owner": "Ada",', "total: 1,250.50"])
SAME = (
    WALL, "wall W1 is 12.50 mm thick and not painted", "WALL W1 IS 12.5 MM THICK AND NOT PAINTED", f"12: {WALL}",
    "wall W1 is 12.5 mm thick", "wall W1 is 12.5 mm thick and not p", "all W1 is 12.5 mm thick and not painted",
    "wall W1 is exactly 12.5 mm thick and not painted", f"{WALL} yet", f"a {WALL}", "wall W9 of gold",
    "stock fell 40%", "the stock of W2 ... 3 lines omitted", "Status = pending", "state: shipped", "owner: 'Ada'",
    "total: 1250.5", f"old wall of {WALL}", "status: shipped",
)  # fmt: skip
"""Other spellings, fewer words, a word cut to a letter, another line of words, other keys."""
ALTERED = {
    "wall W1 is 12.5 m thick and not painted": WALL,
    "wall W1 is 13.5 mm thick and not painted": WALL,
    "- wall W1 is 12.5 m thick and not painted": WALL,
    "wall W1 is thick and 12.5 mm not painted": WALL,
    "wall W1 is 12.5 mm thick and painted": WALL,
    "wall W1 is never 12.5 mm thick and not painted": WALL,
    "the stock of W2 fell by 41%": STOCK,
    "the wall W1 is 12.5 mm thick and not p": WALL,
    "the stock of W2 fell by 40": STOCK,
}
"""Another unit, number or order, a denial less or more, other words before a word cut to a letter."""


@pytest.mark.parametrize("text", SAME)
def test_another_spelling_of_a_line_is_not_an_alteration(text: str) -> None:
    assert LINES.altered(text) == ""


@pytest.mark.parametrize("text", ALTERED)
def test_another_word_in_a_line_is_an_alteration(text: str) -> None:
    assert LINES.altered(text) == ALTERED[text]
