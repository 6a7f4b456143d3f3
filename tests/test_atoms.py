"""Facts: what they are, and when a text still holds one, against a reference that looks at every position."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from bench.text.facts import anchor, facts_of, find_facts, holds, occurs, words_of

alphabet = "aZ1 205.e+-_/\\\"'@:~%,\n()<>é値[]{}"
texts = st.text(alphabet, max_size=24)
needles = st.text(alphabet, min_size=1, max_size=5).filter(lambda fact: re.search(r"\w", fact))


def slow_occurs(text: str, fact: str) -> bool:
    """Every position, each rule as one pattern on what stands left and right of it."""
    for start in range(len(text) - len(fact) + 1):
        left, middle, right = text[:start], text[start : start + len(fact)], text[start + len(fact) :]
        if middle != fact:
            continue
        word_goes_on = re.match(r"\w", fact) and re.search(r"\w\Z", left)
        fraction_of_another = re.match(r"\d", fact) and re.search(r"\d\.\Z", left)
        is_number = re.fullmatch(r"[\d.]+([eE][-+]?\d+)?", fact) and fact[0].isdigit()
        its_sign = is_number and re.search(r"(\A|[^\w+)\]-])[+-]\Z", left)
        its_mantissa = fact[0].isdigit() and re.search(r"\d[eE][+-]\Z", left)
        word_went_on = re.search(r"\w\Z", fact) and re.match(r"\w", right)
        fraction_follows = re.search(r"\d\Z", fact) and re.match(r"\.\d", right)
        reasons = (word_goes_on, fraction_of_another, its_sign, its_mantissa, word_went_on, fraction_follows)
        if not any(reasons):
            return True
    return False


@settings(max_examples=500)
@given(texts, needles)
def test_occurs_agrees_with_looking_at_every_position(text, fact):
    assert occurs(text, fact) == slow_occurs(text, fact)


@settings(max_examples=500)
@given(texts, needles, texts)
def test_occurs_agrees_where_the_fact_is_in_the_text(before, fact, after):
    text = before + fact + after
    assert occurs(text, fact) == slow_occurs(text, fact)


@settings(max_examples=500)
@given(st.text(alphabet, max_size=60))
def test_every_fact_of_a_text_is_present_in_it(text):
    missing = [fact for _, fact in find_facts(text) if not occurs(text, fact)]
    assert missing == []


@given(st.text(alphabet, max_size=60))
def test_every_fact_of_a_decoded_text_is_held_by_it(text):
    assert [fact for fact in facts_of(text) if not holds(text, fact)] == []


@given(texts, needles)
def test_an_anchor_is_a_word_of_every_text_that_holds_the_fact(text, fact):
    assert not occurs(text, fact) or anchor(fact) in re.findall(r"\w+", text)


@given(st.text())
def test_any_text_has_facts_in_order_without_overlap(text):
    position = 0
    for kind, fact in find_facts(text):
        found = text.find(fact, position)
        assert kind in ("url", "quoted", "path", "number", "name", "error")
        assert found >= position
        position = found + len(fact)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("plain words are prose, even well-known ones", []),
        ("see https://example.org/a?b=1#c.", [("url", "https://example.org/a?b=1#c")]),
        ('the "Base Offset" of it', [("quoted", "Base Offset")]),
        ("the 'Base Offset' of it", [("quoted", "Base Offset")]),
        ('"x" is too short', []),
        ('"' + "x " * 41 + '" is too long', []),
        ("/etc/hosts, ~/run and ./here", [("path", "/etc/hosts"), ("path", "~/run"), ("path", "./here")]),
        ("a/b/c has three segments, a/b has two", [("path", "a/b/c")]),
        ("src/main.py:12: here", [("path", "src/main.py")]),
        ("12 of 345 and 6.7 and -8.9e-10", [("number", "345"), ("number", "6.7"), ("number", "-8.9e-10")]),
        ("x_1 Abcd abcD ab1 abc1 a.bcd me@home", [("name", "abcD"), ("name", "abc1"), ("name", "a.bcd"), ("name", "me@home")]),
        ("ValueError: 36 rows, not 35.", [("name", "ValueError"), ("error", "36 rows, not 35")]),
        ("fatal: not a git repository", [("error", "not a git repository")]),
        ("it said error: nothing", []),
        ("v1.2.3 and 1.2.3", [("name", "v1.2.3"), ("number", "1.2.3")]),
    ],
)  # fmt: skip
def test_what_an_fact_is(text, found):
    assert find_facts(text) == found


@pytest.mark.parametrize(
    ("text", "fact", "present"),
    [
        ("", "125", False),
        ("a,Level 1,b", "Level 1", True),
        ("Level 12", "Level 1", False),
        ("0.125", "125", False),
        ("125.5", "125", False),
        ("it is 125.", "125", True),
        ("1250", "125", False),
        ("-125", "125", False),
        ("-125", "-125", True),
        ("2020-125", "125", True),
        ("1e-125", "125", False),
        ("run_7.csv", "run_7", True),
        ("+2nd_row", "2nd_row", True),
        ('{"a": "x\\n125"}', "125", True),  # an escape inside a JSON string is not part of a word
        ('{"p": "\\u00e9125"}', "125", False),
        ("{'a': 'x\\n125'", "125", True),
    ],
)
def test_when_a_text_holds_an_fact(text, fact, present):
    assert holds(text, fact) is present


def test_facts_are_found_in_decoded_text_each_once_in_order():
    text = '{"note": "see 4711 and\\n/data/x.csv", "again": 4711}'
    assert facts_of(text) == {"4711": "number", "/data/x.csv": "path"}
    assert facts_of("") == {}
    assert words_of('{"a": "b\\nc"}') == {"a", "b", "c"}
    assert words_of("") == frozenset()


# ---------------------------------------------------------------- the index of a changing set of texts

few = st.lists(st.sampled_from(["a 125", '{"k": "x_1 4711"}', "x_1, 0.125", "", "/a/b 125"]), max_size=12)


@pytest.mark.parametrize("folder", ["scbench", "mini-swe-agent", "rap"])
def test_every_fact_of_every_recorded_result_is_held_by_it(shared_traces, folder):
    import bench

    results = [result for trace in bench.load([str(shared_traces / folder)]).traces for result in trace.results]
    lost = {fact for result in results for fact in facts_of(result.text) if not holds(result.text, fact)}
    assert results
    assert lost == set()
