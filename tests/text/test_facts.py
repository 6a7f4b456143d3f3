"""Facts: what they are, and when a text still holds one, against a reference that looks at every position."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st
from reference import facts as reference, present
from reference.numbers import number_value as slow_value, numbers_in as slow_numbers

from bench.text.decode import decoded
from bench.text.facts import anchor, find_facts, words_of
from bench.text.numbers import number_value, numbers_at, numbers_in
from bench.text.places import occurs, places_of
from bench.text.texts import FactSearch, Texts

KINDS = ("number", "name", "proper", "path", "url", "quoted", "date", "error")
alphabet = "aZ1 205.e+-_/\\\"'@:~%,\n()<>é値[]{}"
texts = st.text(alphabet, max_size=24)
needles = st.text(alphabet, min_size=1, max_size=5).filter(lambda fact: re.search(r"\w", fact))
pieces = st.sampled_from(
    ["Pietro Murano", "World", "Bank", "the", "of", "Jean-Luc", "O'Neil", "NASA", "Step 3", "Room 12", "May 22, 2024", "1,250.50", "$12", "12,34",
     "1,2345", ".5", "1e-9", "-125", "1.2.3", "1.2.3/24", "2024-05-22", "10.1038/abc", "a/b.csv", "/data/x/", "~/r", ".git", "'22'", "'Base Offset'",
     '"is .5 ok"', "https://x.org/a(b)c)", "x_1", "abC", "a.bcd", "me@home", "\nValueError: no rows", "1250.5mm", "36.5 mm", "Value", "is", " ", ".",
     ", ", ": ", "(", ")", "-", '"', "'", "&", "and", "e5", "..", "#7", "é"]
)  # fmt: skip
lines = st.lists(pieces, max_size=8).map(" ".join) | st.lists(pieces, max_size=8).map("".join)


def holds(text: str, fact: str) -> bool:
    return fact in FactSearch([fact], Texts()).in_text(text)


def facts_of(text, lower=frozenset()):
    return Texts(lower).facts(text)


LOWER = frozenset({"value", "the", "world", "bank", "nasa"})


@given(lines | st.text(alphabet, max_size=60), st.sampled_from([frozenset(), LOWER]))
def test_facts_are_those_found_by_trying_every_kind_at_every_character(text, lower):
    assert facts_of(text, lower) == reference.facts_of(text, lower)


@given(lines)
def test_numbers_are_those_found_at_every_character(text):
    assert numbers_in(text) == slow_numbers(text)


@given(texts, needles, texts, st.booleans())
def test_occurs_equals_a_search_at_every_position(before, fact, after, put_in):
    text = before + fact * put_in + after
    assert occurs(text, fact) == present.verbatim(text, fact)
    assert not occurs(text, fact) or anchor(fact) in re.findall(r"\w+", text)


@given(st.text(alphabet, max_size=60) | lines)
def test_a_text_has_each_of_its_facts(text):
    assert [fact for fact in facts_of(text) if not holds(text, fact)] == []


@given(lines, lines)
def test_shared_facts_of_two_texts_equal_those_of_the_slow_reference(text, other):
    for fact in facts_of(other):
        assert holds(text, fact) == present.present(fact, [text])
        assert any(True for _ in places_of(decoded(text), fact)) == holds(text, fact)


@given(st.text())
def test_any_text_has_facts_of_known_kinds(text):
    assert {kind for kind, _ in find_facts(text)} <= {*KINDS}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("plain words are prose, even well-known ones", []),
        ("see https://example.org/a?b=1#c.", [("url", "https://example.org/a?b=1#c")]),
        ("(https://en.org/wiki/a_(b))", [("url", "https://en.org/wiki/a_(b)")]),  # brackets that it does not open are not its own
        ("doi 10.1038/s41586-020.", [("url", "10.1038/s41586-020")]),
        ("the 'base offset' of \"it all\"", [("quoted", "base offset"), ("quoted", "it all")]),
        ("'22' and '471' and 'run_7 of it'", [("number", "471"), ("name", "run_7")]),  # what is finer than the quote
        ('"x" is too short', []),
        ('"' + "x " * 41 + '" is too long', []),
        ("/etc/hosts, ~/run and ./here", [("path", "/etc/hosts"), ("path", "~/run"), ("path", "./here")]),
        ("a/b/c has three segments, a/b has two", [("path", "a/b/c")]),
        ("src/main.py:12: here", [("path", "src/main.py")]),
        ("12 of 345 and 6.7 and -8.9e-10", [("number", "345"), ("number", "6.7"), ("number", "8.9e-10")]),
        ("1,250.50 is $1250.5, and 007 is 7", [("number", "1250.5"), ("number", "1250.5"), ("number", "7")]),
        ("on 2024-05-22", [("date", "2024-05-22")]),
        ("x_1 abcD ab1 abc1 a.bcd me@home", [("name", "abcD"), ("name", "abc1"), ("name", "a.bcd"), ("name", "me@home")]),
        ("ValueError: 36 rows, not 35.", [("name", "ValueError"), ("error", "36 rows, not 35")]),
        ("fatal: not a git repository", [("error", "not a git repository")]),
        ("it said error: nothing", []),
        ("v1.2.3 and 1.2.3", [("name", "v1.2.3"), ("name", "1.2.3")]),
        ("it is by Pietro Murano.", [("proper", "Pietro Murano")]),
        ("take World Bank Open Data", [("proper", "World Bank Open Data")]),
        ("Results were good. However, nothing", []),  # capitalised because a sentence begins
        ("meet in Room 12 on May 22, 2024", [("proper", "Room"), ("proper", "Room 12"), ("proper", "May 22, 2024")]),
        ("Step 3 of it", []),
    ],
)  # fmt: skip
def test_facts_are_found_by_kind(text, found):
    kinds = [item for item in find_facts(text) if item != ("number", "2024")]  # the year of a date, too
    assert kinds == found


def test_a_word_in_small_letters_elsewhere_is_not_a_name():
    assert facts_of("send NASA the Report") == {"NASA": "name", "Report": "proper"}
    assert facts_of("send NASA the Report", {"nasa", "report"}) == {}


@pytest.mark.parametrize(
    ("text", "fact", "present"),
    [
        ("", "125", False),
        ("a,Level 1,b", "Level 1", True),
        ("Level 12", "Level 1", False),
        ("Level: 1 room, level: 10", "Level 1", False),  # it counts rooms
        ("0.125", "125", False),
        ("125.5", "125", False),
        ("it is 125.", "125", True),
        ("1250", "125", False),
        ("-125", "125", True),  # a sign does not change which number it is
        ("$125.00", "125", True),
        ("12,500", "12500", True),
        ("12,500", "500", True),  # it may be a list
        ("2020-125", "125", True),
        ("1e-125", "125", False),
        ("125mm", "125", False),
        ("125.5mm", "125", False),
        ("1.125.2", "1.125", False),
        ("Bottom of the\nMarianas Trench!", "marianas trench", True),
        ("LEVEL 1", "Level 1", True),
        ("run_7.csv", "run_7", True),
        ("+2nd_row", "2nd_row", True),
        ('{"a": "x\\n125"}', "125", True),  # an escape inside a JSON string is not part of a word
        ('{"p": "\\u00e9125"}', "125", False),
        ("{'a': 'x\\n125'", "125", True),
    ],
)
def test_a_fact_occurs_only_as_a_complete_word_or_number(text, fact, present):
    assert holds(text, fact) is present


def test_facts_are_found_in_decoded_text_each_once_in_order():
    text = '{"note": "see 4711 and\\n/data/x.csv", "again": 4711}'
    assert facts_of(text) == {"4711": "number", "/data/x.csv": "path"}
    assert facts_of("") == {}
    assert words_of("") == frozenset()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1e-99999999", "2e-99999999", False),
        ("1e-99999999", "0.0", False),
        ("1.0e-99999999", "1e-99999999", True),
        ("1.0e99999999", "1e99999999", True),
        ("123456789012345678901234567890123451", "123456789012345678901234567890123452", False),
        ("0.1234567890123456789012345678901234510", "0.123456789012345678901234567890123451", True),
        ("0.0", "0e5", True),
    ],
)
def test_two_numbers_are_one_fact_only_if_they_are_equal(one: str, other: str, same: bool) -> None:
    assert (number_value(one) == number_value(other)) == same
    assert slow_value(one) == number_value(one)


@given(
    st.decimals(allow_nan=False, allow_infinity=False).map(
        lambda value: str(abs(value)).replace("E", "e").replace("e+", "e")
    )
)
def test_a_number_has_the_spelling_of_the_slow_reference(text: str) -> None:
    assert number_value(text) == slow_value(text)


@given(lines)
def test_numbers_with_their_places_are_all_numbers(text: str) -> None:
    found = list(numbers_at(text))
    assert {value for value, _ in found} == numbers_in(text)
    assert all(value in numbers_in(text[start:end]) for value, (start, end) in found)
    assert found == sorted(found, key=lambda item: item[1])
    assert len(found) == sum(
        1 + len(part.split(",")) * ("," in part) for part in {span: text[slice(*span)] for _, span in found}.values()
    )


def test_a_quoted_word_of_two_letters_is_not_a_fact() -> None:
    quoted = [fact for kind, fact in find_facts("'ab', 'a1b', 'abc' and 'a-b-c'") if kind == "quoted"]
    assert quoted == ["abc", "a-b-c"]
