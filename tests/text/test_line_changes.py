"""Lines of a result with another word in them, each case beside its neighbour that is no alteration."""

from __future__ import annotations

import pytest

from bench.text.line_changes import ResultLines

WALL, STOCK, STATUS = "wall W1 is 12.5 mm thick and not painted", "the stock of W2 fell by 40%", "status: pending"
LINES = ResultLines([WALL, STOCK, STATUS, '"owner": "Ada",', "total: 1,250.50"])
SAME = (
    WALL, "wall W1 is 12.50 mm thick and not painted", "WALL W1 IS 12.5 MM THICK AND NOT PAINTED", f"12: {WALL}",
    "wall W1 is 12.5 mm thick", "wall W1 is 12.5 mm thick and not pai", "all W1 is 12.5 mm thick and not painted",
    "wall W1 is exactly 12.5 mm thick and not painted", f"{WALL} yet", f"a {WALL}", "wall W9 of gold",
    "stock fell 40%", "the stock of W2 ... 3 lines omitted", "Status = pending", "state: shipped", "owner: 'Ada'",
    "total: 1250.5",
)  # fmt: skip
"""Other spellings, fewer words, a word cut to three letters, another line of words, other keys."""
ALTERED = {
    "wall W1 is 12.5 m thick and not painted": WALL,
    "wall W1 is 13.5 mm thick and not painted": WALL,
    "- wall W1 is 12.5 m thick and not painted": WALL,
    "wall W1 is thick and 12.5 mm not painted": WALL,
    "wall W1 is 12.5 mm thick and painted": WALL,
    "wall W1 is never 12.5 mm thick and not painted": WALL,
    "the stock of W2 fell by 41%": STOCK,
    "status: shipped": STATUS,
    "owner: Bob": '"owner": "Ada",',
}
"""Another unit, number, order, a denial less or more, another value."""
CUT = {"wall W1 is 12.5 mm thick and not pa": WALL, "the stock of W2 fell by 40": STOCK, "status: p": STATUS}


@pytest.mark.parametrize("text", SAME)
def test_what_says_the_same_is_no_alteration(text: str) -> None:
    assert LINES.altered(text) == ""


@pytest.mark.parametrize("text", ALTERED)
def test_another_word_is_one(text: str) -> None:
    assert LINES.altered(text) == ALTERED[text]


@pytest.mark.parametrize("text", CUT)
def test_a_word_that_breaks_off_is_one_only_where_the_text_goes_on(text: str) -> None:
    assert (LINES.altered(text), LINES.altered(text, cut=True)) == (CUT[text], "")


def test_where_a_text_begins_or_ends_in_a_word_other_words_are_still_altered() -> None:
    begun = "ll W1 is 12.5 mm thick and not painted"
    assert (LINES.altered(begun), LINES.altered(begun, begun=True)) == (WALL, "")
    assert LINES.altered("ll W1 is 12.5 mm thick and not gold", begun=True) == WALL
    assert LINES.altered("wall W1 is 12.5 mm thick and not gold", cut=True) == WALL
