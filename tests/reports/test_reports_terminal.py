"""The report on a terminal: it fits the width, breaks no number, and says what to ship first."""

from __future__ import annotations

import re

import msgspec
import pytest
from compared import comparison, unmeasured
from rich.cells import cell_len

from bench.model import Comparison
from bench.reports import REPLAY_LIMIT, build_blocks, rendered, sections
from bench.reports.blocks import MOST_CASES, Cases, Cell, Column, Fold, Prose, Table
from bench.reports.figures import scenarios_blocks
from bench.reports.text import drawn, heading, terminal_text

WIDTHS = (60, 80, 100, 140)
NARROW = "\u202f"


def _table(columns: int, text: str = "cell", rows: int = 2) -> Table:
    heads = (Column("strategy"), *(Column(f"number {at}", align="right") for at in range(columns - 1)))
    row = (Cell(text), *(Cell(f"{at}{NARROW}234{NARROW}567") for at in range(columns - 1)))
    return Table(heads, (row,) * rows)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["cut", "建物の要素を数える" * 3, "a rather long name of a strategy " * 2])
def test_every_line_fits_the_terminal(width: int, name: str) -> None:
    for compared in (comparison(name=name), unmeasured()):
        lines = terminal_text(compared, width=width).splitlines()
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_scenarios_fits_the_terminal(width: int) -> None:
    named = [("a long title of a scenario, with what it is about " * 3, comparison()), ("two", unmeasured())]
    assert max(map(cell_len, drawn(scenarios_blocks(named), width))) <= width


@pytest.mark.parametrize("columns", range(1, 14))
@pytest.mark.parametrize("width", WIDTHS)
def test_no_number_is_broken_and_none_is_left_out(columns: int, width: int) -> None:
    lines = drawn([_table(columns, "a_name_without_any_blank_in_it")], width)
    text = "\n".join(lines)
    assert max(map(cell_len, lines)) <= width
    for at in range(columns - 1):
        assert text.count(f"{at}{NARROW}234{NARROW}567") >= 2


def test_a_table_that_does_not_fit_goes_on_below_with_the_first_column() -> None:
    text = "\n".join(drawn([_table(12)], 60))
    assert text.count("strategy") == text.count("\n\nstrategy") + 1 > 1


def test_what_is_said_stands_before_what_is_judged_and_compared() -> None:
    text = terminal_text(comparison())
    places = [text.index(said) for said in ("Of 4 gates, 1 fails", "Ship mask: ", "What was compared")]
    assert places == sorted(places)
    assert " ".join(REPLAY_LIMIT.split()) in " ".join(text.split())


def test_one_of_several_is_the_answer_and_what_needs_somebody_to_look() -> None:
    text = terminal_text(comparison(), brief=True)
    assert "Ship mask: " in text
    assert "Of 4 gates, 1 fails" in text
    assert "The rule: " not in text
    quiet = terminal_text(_all_pass(comparison()), brief=True)
    assert "Ship mask: " in quiet
    assert "gates hold" not in quiet
    assert "raised on" in terminal_text(unmeasured(), brief=True)


def test_gates_are_counted_in_words() -> None:
    assert "All 4 gates hold." in terminal_text(_all_pass(comparison()))
    assert "Of 4 gates, 1 fails, 1 cannot be judged, 1 is skipped and 1 holds." in terminal_text(comparison())


def _all_pass(compared: Comparison) -> Comparison:
    verdicts = tuple(msgspec.structs.replace(item, outcome="pass") for item in compared.verdicts)
    return msgspec.structs.replace(compared, verdicts=verdicts)


def test_colours_are_asked_for_and_say_nothing_that_words_do_not() -> None:
    blocks = [Prose("2 gates fail", "bad"), _table(3)]
    plain, coloured = "\n".join(drawn(blocks, 80)), "\n".join(drawn(blocks, 80, colour=True))
    assert "\x1b" not in plain
    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_long_table_of_cases_shows_the_first_and_says_how_many_more() -> None:
    cases = Cases(_table(3, rows=1_000), ())
    for lines in (drawn([cases], 100), drawn([Cases(_table(3, rows=MOST_CASES), ())], 100)):
        assert sum("cell" in line for line in lines) == MOST_CASES
    assert "And 990 more rows." in drawn([cases], 100)


def test_headings_are_as_wide_as_what_they_head() -> None:
    assert heading("建物", "-") == ["建物", "----"]


def test_empty_panels_are_one_line_without_a_heading() -> None:
    for name in ("text", "markdown"):
        text = rendered([comparison()], name)
        assert len(re.findall(r"Nothing to say about: ", text)) == 1
        assert "The rest" not in text
    (section,) = sections([comparison()])
    assert section.panels[-1].blocks[0].text.startswith("Nothing to say about: ")
    assert all(panel.blocks for panel in section.panels)


def test_terminal_folds_are_left_out() -> None:
    folds = [block for block in build_blocks(comparison(), ["trust"])[0].blocks if isinstance(block, Fold)]
    assert len(folds) == 3
    assert all(fold.title in rendered([comparison()], "text") for fold in folds)
    assert all(fold.title not in terminal_text(comparison()) for fold in folds)
