"""Repeated patterns: every stage gets through them, and what makes them linear changes no answer. How long they take: benchmarks/linear.py."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from bench.text.found_leaves import LabelsOf
from hypothesis import given, strategies as st

from bench.evidence import copied, spoken
from bench.evidence.copied import SPAN_CONTENT, SPAN_WORDS, Spans
from bench.evidence.spoken import parts_by_turn
from bench.model import ModelTurn, Source, Trace, UserTurn
from bench.text import facts, notices, tables
from bench.text.common_words import COMMON_WORDS
from bench.text.leaves import Leaves
from bench.text.texts import Texts
from bench.traces.commands import commands_in
from bench.traces.redaction import Redactor, any_of

ROOT = Path(__file__).parents[2]


def linear() -> ModuleType:
    spec = importlib.util.spec_from_file_location("linear_benchmark", ROOT / "benchmarks" / "linear.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LINEAR = linear()


@pytest.mark.slow
@pytest.mark.parametrize("name", LINEAR.PATTERNS)
def test_every_stage_gets_through_a_repeated_pattern(name):
    text, texts = LINEAR.repeated(name, 3_000), Texts()
    for stage in LINEAR.STAGES.values():
        stage(text, texts)


def test_a_pattern_may_scan_so_far_and_no_further():
    unbounded = re.compile(r"[^)]\*\+[^?)]*(?:://|/)|\(\?=\[[^]]*\]\*")
    assert not unbounded.search(facts._PATTERN.pattern.replace("{{", "{"))
    slug = "-".join(["word"] * 20)
    assert Texts().facts(f"{slug}-2023") == {f"{slug}-2023": "name"}, "a slug of a hundred characters is one name"
    folders = "/".join(["x" * 250] * 3)
    assert Texts().facts(f"/{folders} {folders}.csv") == {f"/{folders}": "path", f"{folders}.csv": "path"}


def test_a_header_wider_than_ten_thousand_characters_is_read():
    header = "a" + " " * 12_000 + "b"
    row = "1" + " " * 12_000 + "2"
    rows, rest = tables.find_tables(f"{header}\n{row}\n{row}", {"a": ("a",), "b": ("b",)})
    assert rows == [{"a": 1, "b": 2}] * 2
    assert rest == ""


def test_tables_looked_for_in_vain_are_given_up_and_others_still_found(monkeypatch):
    names = {"a": ("a",), "b": ("b",)}
    text = "a b\n" * 3 + "a b x\n\na  b\n1  2"
    assert tables.find_tables(text, names)[0][-1] == {"a": 1, "b": 2}
    monkeypatch.setattr(tables, "_CHARS_IN_VAIN", 0)
    monkeypatch.setattr(tables, "_TIMES_IN_VAIN", 0)
    assert tables.find_tables(text, names) == ([], text)


def test_keys_without_a_word_and_keys_of_several_are_found_beside_their_value():
    leaves = [
        Leaves(others=[(("--",), (int, 471)), (("go.id",), (int, 471)), (("id",), (int, 471)), (("-x",), (int, 7))])
    ]
    found = LabelsOf(leaves)("go.id: 471 --\nid: 471\n-x 7")
    assert sorted(found) == ["--\x00471", "go.id\x00471", "id\x00471", "id\x00471"]


def test_a_fence_that_is_not_closed_reaches_to_the_end():
    assert spoken._fences("a ```sh\nls\n``` b ```py\n1") == ("a   b  ", ["ls\n", "1"])
    assert spoken._fences("a ``` b") == ("a ``` b", [])
    assert commands_in("```bash\nls\n```\n```bash\npwd") == ("ls",)


def slow_spans(words: list[str], flat: str) -> list[str]:
    """The copied spans of some words, every length tried."""
    found, at = [], 0
    while at + SPAN_WORDS <= len(words):
        held = [end for end in range(at + SPAN_WORDS, len(words) + 1) if f" {' '.join(words[at:end])} " in flat]
        run = words[at : max(held, default=at)]
        if len({word for word in run if word not in COMMON_WORDS and len(word) > 2}) >= SPAN_CONTENT:
            found.append(" ".join(run))
            at += len(run)
        else:
            at += 1
    return found


def spans(turn: str, said: str) -> list[str]:
    steps = (UserTurn(index=0, content=said), ModelTurn(index=1, content=turn))
    trace = Trace(id="a", source=Source(format="x"), steps=steps)
    return list(Spans(trace, Texts(), parts_by_turn(trace)).of(1))


SOME_WORDS = st.lists(st.sampled_from(["the", "of", "wall", "slab", "door", "is"]), max_size=14).map(" ".join)


@given(turn=SOME_WORDS, said=SOME_WORDS)
def test_copied_spans_are_those_of_trying_each_length(turn, said):
    assert spans(turn, said) == list(dict.fromkeys(slow_spans(turn.split(), f" {said} ")))


def test_runs_looked_for_in_vain_are_given_up_and_those_said_first_still_found(monkeypatch):
    said, turn = "the wall of the slab, and the wall of the door is oak", "the wall of the door is oak"
    assert spans(turn, said) == [turn]
    monkeypatch.setattr(copied, "_SPARE", 0)
    assert spans(turn, said) == ["of the door is oak"], (
        "what begins elsewhere than where it was said first is not looked for"
    )
    assert spans("the wall of the slab", said) == ["the wall of the slab"]


def test_a_run_that_says_little_for_long_is_no_span(monkeypatch):
    said = "wall " * 30 + "slab"
    assert spans(said, said) == [said]
    monkeypatch.setattr(copied, "_FAR", 10)
    assert spans(said, said) == ["wall " * 9 + "slab"]


def test_a_marker_that_the_whole_line_has_is_not_the_strategys_own():
    assert notices.marker("12 more rows\nx [2 lines left out]", "12 more rows\nx and y") == "left out"
    assert notices.marker("12 more rows", "12 more rows\nx") is None


def test_many_secrets_are_one_pattern_that_takes_the_longest():
    secrets = sorted(["abcdefgh1", "abcdefgh12", "abcdxyz99", "abc", "zz"], key=len, reverse=True)
    assert re.findall(any_of(secrets), "abcdefgh12 abcdefgh1 abcdxyz99 abcx zz") == [
        "abcdefgh12",
        "abcdefgh1",
        "abcdxyz99",
        "abc",
        "zz",
    ]


def test_hundreds_of_secrets_in_a_text_are_all_removed():
    keys = [f"q8Zr2LmW0xKt5V{number:04}" for number in range(300)]
    redactor = Redactor()
    clean = redactor.value(["?" + "&".join(f"key={key}" for key in keys), f"again {keys[7]}"])
    assert clean[0] == "?" + "&".join(f"key=REDACTED_URL_KEY_{number}" for number in range(1, 301))
    assert clean[1] == "again REDACTED_URL_KEY_8"
    assert redactor.removed == {"url_key": 301}
