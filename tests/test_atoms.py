"""Atoms: what they are, and when a text still holds one, against a reference that looks at every position."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from bench.facts.atoms import anchor, atoms_of, find_atoms, holds, occurs, words_of

alphabet = "aZ1 205.e+-_/\\\"'@:~%,\n()<>é値[]{}"
texts = st.text(alphabet, max_size=24)
needles = st.text(alphabet, min_size=1, max_size=5).filter(lambda atom: re.search(r"\w", atom))


def slow_occurs(text: str, atom: str) -> bool:
    """Every position, each rule as one pattern on what stands left and right of it."""
    for start in range(len(text) - len(atom) + 1):
        left, middle, right = text[:start], text[start : start + len(atom)], text[start + len(atom) :]
        if middle != atom:
            continue
        word_goes_on = re.match(r"\w", atom) and re.search(r"\w\Z", left)
        fraction_of_another = re.match(r"\d", atom) and re.search(r"\d\.\Z", left)
        is_number = re.fullmatch(r"[\d.]+([eE][-+]?\d+)?", atom) and atom[0].isdigit()
        its_sign = is_number and re.search(r"(\A|[^\w+)\]-])[+-]\Z", left)
        its_mantissa = atom[0].isdigit() and re.search(r"\d[eE][+-]\Z", left)
        word_went_on = re.search(r"\w\Z", atom) and re.match(r"\w", right)
        fraction_follows = re.search(r"\d\Z", atom) and re.match(r"\.\d", right)
        reasons = (word_goes_on, fraction_of_another, its_sign, its_mantissa, word_went_on, fraction_follows)
        if not any(reasons):
            return True
    return False


@settings(max_examples=500)
@given(texts, needles)
def test_occurs_agrees_with_looking_at_every_position(text, atom):
    assert occurs(text, atom) == slow_occurs(text, atom)


@settings(max_examples=500)
@given(texts, needles, texts)
def test_occurs_agrees_where_the_atom_is_in_the_text(before, atom, after):
    text = before + atom + after
    assert occurs(text, atom) == slow_occurs(text, atom)


@settings(max_examples=500)
@given(st.text(alphabet, max_size=60))
def test_every_atom_of_a_text_is_present_in_it(text):
    missing = [atom for _, atom in find_atoms(text) if not occurs(text, atom)]
    assert missing == []


@given(st.text(alphabet, max_size=60))
def test_every_atom_of_a_decoded_text_is_held_by_it(text):
    assert [atom for atom in atoms_of(text) if not holds(text, atom)] == []


@given(texts, needles)
def test_an_anchor_is_a_word_of_every_text_that_holds_the_atom(text, atom):
    assert not occurs(text, atom) or anchor(atom) in re.findall(r"\w+", text)


@given(st.text())
def test_any_text_has_atoms_in_order_without_overlap(text):
    position = 0
    for kind, atom in find_atoms(text):
        found = text.find(atom, position)
        assert kind in ("url", "quoted", "path", "number", "name", "error")
        assert found >= position
        position = found + len(atom)


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
def test_what_an_atom_is(text, found):
    assert find_atoms(text) == found


@pytest.mark.parametrize(
    ("text", "atom", "present"),
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
def test_when_a_text_holds_an_atom(text, atom, present):
    assert holds(text, atom) is present


def test_atoms_are_found_in_decoded_text_each_once_in_order():
    text = '{"note": "see 4711 and\\n/data/x.csv", "again": 4711}'
    assert atoms_of(text) == {"4711": "number", "/data/x.csv": "path"}
    assert atoms_of("") == {}
    assert words_of('{"a": "b\\nc"}') == {"a", "b", "c"}
    assert words_of("") == frozenset()


# ---------------------------------------------------------------- the index of a changing set of texts

few = st.lists(st.sampled_from(["a 125", '{"k": "x_1 4711"}', "x_1, 0.125", "", "/a/b 125"]), max_size=12)


@pytest.mark.parametrize("folder", ["scbench", "mini-swe-agent", "rap"])
def test_every_atom_of_every_recorded_result_is_held_by_it(shared_traces, folder):
    import bench

    results = [result for trace in bench.load([str(shared_traces / folder)]).traces for result in trace.results]
    lost = {atom for result in results for atom in atoms_of(result.text) if not holds(result.text, atom)}
    assert results
    assert lost == set()
