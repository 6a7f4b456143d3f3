"""Decoding: never an exception whatever the text, and what is read from a cut text is a part of what the whole one holds."""

from __future__ import annotations

import ast
import json
import math
import re

import pytest
from hypothesis import given, strategies as st
from reference import reading

from bench.text.decode import NothingParsed, decode_strings, decoded, parse_json, parse_prefix, plain_lines
from bench.text.escapes import unescape
from bench.text.texts import FactSearch, Texts

keys = st.text(max_size=6)
scalars = (
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | keys
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=10
)
containers = st.lists(values, min_size=1, max_size=4) | st.dictionaries(keys, values, min_size=1, max_size=4)
written = st.one_of(
    containers.map(json.dumps),
    containers.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1)),
    containers.map(lambda value: json.dumps(value, separators=(",", ":"))),
    containers.map(repr),
)


def leaves(value, path=()):
    """Every leaf with its path; an empty container is a leaf."""
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for at, item in enumerate(value) for leaf in leaves(item, (*path, at))]
    return [(path, value)]


def read(text):
    """The value at the start of a text; an empty list without one."""
    try:
        return parse_prefix(text)[0]
    except NothingParsed:
        return []


def at(value, path):
    for key in path:
        value = value[key]
    return value


def test_only_an_ellipsis_may_follow_a_value():
    cut = json.dumps({"a": "x\ny"})
    assert [decoded(cut + rest) for rest in ("...", " abc")] == ["a:\nx\ny"] * 2
    assert decoded(cut + "....") == '{"a": "x\ny"}....'


@given(st.text() | st.text("{}[]\"'\\,: \n1eE.-+aNntrue\u00e9\ud83d", max_size=40))
def test_any_text_is_decoded_without_an_error(text):
    assert isinstance(decoded(text), str)
    read(text)


@given(containers)
def test_a_complete_value_is_read_exactly(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        assert parse_json(text) == value
        assert parse_prefix(text) == (json.loads(text), len(text)) or not value
    assert repr(parse_prefix(repr(value))[0]) == repr(ast.literal_eval(repr(value)))


@given(written)
def test_a_longer_prefix_never_gives_fewer_values(text):
    whole, shorter = read(text), 0
    for end in range(len(text) + 1):
        part = leaves(read(text[:end]))
        if part == [((), [])]:
            part = []
        for path, leaf in part[:-1]:
            assert at(whole, path) == leaf, "what comes before the cut is exact"
        for path, leaf in part[-1:]:  # the leaf at the cut: exact, a string's beginning, or a container not yet filled
            full = at(whole, path)
            beginning = isinstance(leaf, str) and isinstance(full, str) and full.startswith(leaf.rstrip("\\\ufffd"))
            cut_in_an_escape = isinstance(leaf, str) and isinstance(full, str) and "\\" in text
            unfilled = leaf in ({}, []) and type(leaf) is type(full)
            assert leaf == full or beginning or unfilled or cut_in_an_escape
        assert len(part) >= shorter
        shorter = len(part)


def test_the_value_at_the_start_of_a_text_is_read():
    assert parse_prefix('["it\'s", "\\u00b3 \\ud83d\\ude42"]') == (["it's", "³ 🙂"], 31)
    assert parse_prefix("{1: 'one'} and so on") == ({"1": "one"}, 10)


@pytest.mark.parametrize(
    "text", ["", "   ", "plain", "12", '"text"', "{", "[", "[]", "{}", '{"a', "[12", "(1, 2)", "[<x>]"]
)
def test_a_text_that_begins_with_no_container_is_not_parsed(text):
    with pytest.raises(NothingParsed):
        parse_prefix(text)


@pytest.mark.parametrize("text", ["", "plain", "12", '"text"', "[1", "{'a': 1}", "[1] more", "[" * 100_000])
def test_text_that_is_not_a_json_container_is_not_parsed(text):
    with pytest.raises(NothingParsed):
        parse_json(text)


def test_a_byte_order_mark_and_rare_json_are_read():
    assert parse_json('\ufeff {"a": 1}') == {"a": 1}
    assert math.isnan(parse_json('{"a": NaN}')["a"])
    assert parse_json('{"a": "\\ud800"}') == {"a": "\ud800"}


def test_deep_and_long_values_are_decoded():
    assert isinstance(decoded("[" * 100_000), str)
    assert isinstance(decoded('{"a":' * 50_000 + "1" + "}" * 50_000), str)
    assert isinstance(decoded("[" + "9" * 10_000 + "]"), str)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", ""),
        ('[{"a": 1, "b": "x"}, {"a": 2}]', "a: 1, b: x\na: 2"),
        ('{"a": {"b": {"c": true}}, "d": null}', "a:\nb:\nc: true\nd: null"),
        ("{'a': 'x\\ny', 'b': 1.5}", "a:\nx\ny\nb: 1.5"),
        ('{"a": "x\\ny" and then it stops being JSON', '{"a": "x\ny" and then it stops being JSON'),
        ("[1, 2.0, 1e-20]", "1, 2.0, 1e-20"),
        ('see {"a": "x\\ny", "b": [1]} in C:\\new', 'see {"a": "x\ny", "b": [1]} in C:\\new'),
        ('[12 of 40] {"a": "x\\ny', '[12 of 40] {"a": "x\ny'),
        ('<ref> {"a": "x\\ny", ... "b": "x\\ny"} {"c": "\\u0041"}', '<ref> {"a": "x\ny", ... "b": "x\\ny"} {"c": "A"}'),
        ("f{'a':1} {'b':'x\\ty'}", "f{'a':1} {'b':'x\ty'}"),
        ("C:\\new {no: 'x\\ny'}", "C:\\new {no: 'x\\ny'}"),
    ],
)
def test_structured_text_is_decoded_to_lines_of_keys_and_values(text, plain):
    assert decoded(text) == plain


def test_strings_that_are_json_are_decoded_at_any_depth():
    inner = json.dumps({"b": json.dumps([1, 2])})
    assert decode_strings({"a": [inner, "[x", 1, None]}) == {"a": [{"b": [1, 2]}, "[x", 1, None]}
    assert decode_strings((1, "2")) == [1, "2"]
    assert decode_strings("") == ""


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", ""),
        ("a\\tb\\\\n\\/\\'", "a\tb\\n/'"),
        ("\\x41\\u00e9\\q", "Aéq"),
        ("ends in \\", "ends in \\"),
        ("\\ud83d\\ude42", "🙂"),
    ],
)
def test_escapes_are_decoded(text, plain):
    assert unescape(text) == plain


@given(st.text())
def test_escaped_text_decodes_to_the_original(text):
    assert unescape(json.dumps(text)[1:-1]) == text


@given(containers)
def test_plain_lines_show_every_number_as_a_word(value):
    shown = plain_lines(value)
    for _, leaf in leaves(decode_strings(value)):
        if isinstance(leaf, int) and not isinstance(leaf, bool):
            assert re.search(rf"(?<![\w.]){leaf}(?![\w.])", shown)


heads = st.sampled_from(["", "<ref> ", "cut: ", "[3 of 4] ", "[as ref] ", "C:\\new ", "x{y} "])


@given(
    heads,
    st.lists(
        st.one_of(containers.map(json.dumps), containers.map(repr), st.text("{}\"'\\:n a", max_size=9)), max_size=3
    ),
    st.integers(0, 60),
)
def test_mappings_after_other_text_equal_those_of_the_slow_reference(head, pieces, cut):
    text = head + " ".join(pieces)
    for shown in (text, text[:cut]):
        assert decoded(shown) == reading.decoded(shown)


def test_a_line_before_a_truncated_result_does_not_prevent_reading_it():
    whole = json.dumps({"returncode": 1, "output": "first line\nKeyError: 'age'\nlast"})
    facts = Texts().facts(whole)
    for head in ("", "<obj_1> ", "[2409 characters] ", "[kept as mem://5f: 12] ", "Output of step 3:\n\n", "result="):
        for cut in (len(whole), len(whole) - 8):
            assert "KeyError" in facts
            assert "KeyError" in FactSearch(facts, Texts()).in_text(head + whole[:cut]), (head, cut)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Result(ok=True, output='a\\nKeyError: 5', n=3)", "Result(ok=True, output='a\nKeyError: 5', n=3)"),
        ("content='a\\nKeyErr", "content='a\nKeyErr"),
        ('print("a\\tb")', 'print("a\tb")'),
        ('PATH="C:\\new\\table"', 'PATH="C:\\new\\table"'),
        ("re(r'\\d\\n')", "re(r'\\d\\n')"),
        ("f('\\d\\n')", "f('\\d\\n')"),
        ("don't say 'a\\nb'", "don't say 'a\\nb'"),
        ("x='a\\n\nb'", "x='a\\n\nb'"),
    ],
)
def test_quoted_fields_of_an_object_are_decoded(text, plain):
    assert decoded(text) == plain
    assert reading.decoded(text) == plain


@given(st.text("='(\"\\nCx:{d\n", max_size=30))
def test_texts_with_quotes_equal_those_of_the_slow_reference(text):
    assert decoded(text) == reading.decoded(text)
