"""What every prompt must hold, as the recording told it: facts, words, and the turns that count as instructions."""

from __future__ import annotations

import pytest
from handmade import trace

from bench.evidence.validity import Recorded
from bench.text.texts import Texts

RECORDED = Recorded(trace(), Texts())


@pytest.mark.parametrize(
    ("told", "text", "held"),
    [
        ("use run_1, run_2, run_3, run_4 and run_5", "run_1 run_2 run_3 run_4", True),  # four of five facts
        ("use run_1, run_2, run_3, run_4 and run_5", "use run_1 and run_2 and run_3", False),
        ("sort every wall", "wall every sort", True),  # no facts: its words
        ("sort every wall", "every second is red", False),
        ("sort rows", "rows", False),  # a word of four letters counts
        ("sort the row now", "it was sorted: sort", True),  # one of three does not
        ("do it", "anything", True),  # nothing that could be lost
        ("do it", " ", False),
        ("sort rows", "Sort, ROWS", True),
    ],
)
def test_a_text_stands_for_an_instruction_whose_facts_or_words_it_keeps(told: str, text: str, held: bool) -> None:
    assert RECORDED.holds(told, text) is held
