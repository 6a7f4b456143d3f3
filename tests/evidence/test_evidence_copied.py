"""Copied spans: where a run says enough, which paragraph it is followed in, and how much is read in vain."""

from __future__ import annotations

import pytest
from handmade import result, trace

from bench.evidence import copied
from bench.evidence.copied import copied_spans, ends_of_enough
from bench.evidence.step_texts import parts_by_turn
from bench.model import ModelTurn
from bench.text.texts import Texts


def spans(said: str | dict[str, object], *turns: str) -> list[tuple[str, ...]]:
    """The copied spans of each turn."""
    recording = trace(
        result(str(said), index=0, data=said if isinstance(said, dict) else None),
        *(ModelTurn(index=number, content=text) for number, text in enumerate(turns, 1)),
    )
    return [*copied_spans(recording, Texts(), parts_by_turn(recording)).values()]


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("copper beam of the steel frame", [3, 5, 6, 6, 0, 0]),  # two words that say something, three words in all
        ("copper copper beam of", [3, 4, 0, 0]),  # the same word counts once
        ("xy copper zq beam", [4, 4, 0, 0]),  # two letters say nothing
        ("copper of", [0, 0]),
        ("", []),
    ],
)
def test_a_run_counts_only_with_enough_words(words: str, ends: list[int]) -> None:
    assert ends_of_enough(words.split()) == ends


@pytest.mark.parametrize(("between", "end"), [(998, 1000), (999, 0)])
def test_two_words_a_thousand_words_apart_are_not_one_run(between: int, end: int) -> None:
    assert ends_of_enough(["copper", *["of"] * between, "beam", "of", "of"])[0] == end


def test_the_longest_run_is_copied_and_the_next_one_begins_behind_it() -> None:
    for length in range(3, 20):
        words = [f"word{letter}" for letter in "abcdefghijklmnopqrst"[:length]]
        said = " ".join(words)
        assert spans(f"{said} end", f"{said} other") == [(said,)]
    assert spans("copper beam frame\n\nsteel glass wood", "copper beam frame steel glass wood") == [
        ("copper beam frame", "steel glass wood")
    ]


def test_a_run_ends_with_its_sentence() -> None:
    assert spans("copper beam frame steel glass wood", "copper beam frame. Steel glass wood") == [
        ("copper beam frame", "steel glass wood")
    ]
    assert spans("copper beam frame steel glass wood", "copper beam. Frame steel") == [()]


def test_in_data_each_value_is_a_paragraph_and_a_value_of_two_words_is_a_span() -> None:
    said = {"name": "NK cell", "economy": 88, "title": "copper beam frame", "note": "T cell count", "of": "the end"}
    turns = "nk cell", "88 title copper beam frame note", "t cell", "the end", "economy 88 title"
    assert spans(said, *turns) == [("nk cell",), ("copper beam frame",), (), (), ()]


def test_a_copied_run_is_sought_first_in_the_earliest_message_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing has to be read in vain, whatever stands before it: words, paragraphs, other messages."""
    monkeypatch.setattr(copied, "_SPARE", 0)
    said = "a wall of copper beam frame one\n\nof it\n\nnext steel glass wood two\n\nin marble brick slate roofs"
    assert spans(said, "beam frame one", "steel glass wood two and marble brick slate roofs") == [
        ("beam frame one",),
        ("steel glass wood two", "marble brick slate roofs"),
    ]


def test_a_copied_run_is_sought_in_other_places_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    said, turn = "copper beam frame one\n\ncopper beam frame two", "copper beam frame two"
    short, whole = ("copper beam frame",), (turn,)
    assert spans(said, turn) == [whole]
    monkeypatch.setattr(copied, "_SPARE", 0)
    assert spans(said, turn) == [short]
    # found 24 characters on: " copper beam frame one ", a line break, and the run
    for spare, found in ((1, [whole, short]), (23, [whole, short]), (24, [whole, short]), (25, [whole, whole])):
        monkeypatch.setattr(copied, "_SPARE", spare)
        recording = trace(
            result(said, index=0),
            result(said, index=1, thread="other"),
            ModelTurn(index=2, content=turn),
            ModelTurn(index=3, thread="other", content=turn),
        )
        assert [*copied_spans(recording, Texts(), parts_by_turn(recording)).values()] == found, spare


def test_a_fruitless_search_ends_the_search_in_that_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied, "_SPARE", 10)
    found = copied._Search()
    flat = " copper beam of steel "
    assert not found._has(flat, " of glass ", len(flat) - 9)  # nine characters
    assert found._has(flat, " of steel ", 0)  # one is left
    assert not found._has(flat, " of steel ", 0)
