"""Values written in other layouts, read back; beside each the nearest text that is none."""

from __future__ import annotations

import json

import pytest
from bench.text.layouts import keys_in, read_layout, spelled_out

from bench.text.decode import NothingParsed

NAMES = {"id", "n", "paid", "items", "note", "o"}
ROWS = [{"id": "W1", "n": 2}, {"id": "W2", "n": 3}]
LONG = 'id,note\nW1,"two\nlines"\nW2,x'
READ = [
    # assignments, sections, dotted keys, quotes, comments
    ("id = W1\nn = 2", {"id": "W1", "n": 2}),
    ("# about\nid=W1\n; more\n\nn=2", {"id": "W1", "n": 2}),
    ('[o]\nid = "W1"\n[o.items]\nn = [1, 2]', {"o": {"id": "W1", "items": {"n": [1, 2]}}}),
    ("[[o]]\nid = 'W1'", {"o": {"id": "W1"}}),
    ('o.id = "W1"\no."a.b" = 2\no.n = 3', {"o": {"id": "W1", "a.b": 2, "n": 3}}),
    ("id = \nn = true", {"id": "", "n": True}),
    # XML and HTML
    ("<o><id>W1</id><n>2</n></o>", {"o": {"id": "W1", "n": 2}}),
    ('<o id="W1"><n>2</n><n>3</n><note/></o>', {"o": {"id": "W1", "n": [2, 3], "note": ""}}),
    ("<table><tr><th>id</th><th>n</th></tr><tr><td>W1</td><td>2</td><td>x</td></tr><tr><td>W2</td><td>3</td></tr></table>", ROWS),
    ("<table><tr><th>id</th><th>n</th></tr><tr><td>W<b>1</b></td><td>2</td></tr><tr><td>W2</td><td>3</td></tr></table>", ROWS),
    # CSV with cells of several lines
    (LONG, [{"id": "W1", "note": "two\nlines"}, {"id": "W2", "note": "x"}]),
    # names and rows apart
    ('{"columns": ["id", "n"], "rows": [["W1", 2], ["W2", 3]]}', ROWS),
    ('{"columns": ["id", "n"], "rows": [["W1", 2]], "more": [], "count": 1}', ROWS[:1]),
    # YAML
    ("id: W1\nn: 2", {"id": "W1", "n": 2}),
    ("id: '2'\nn: 2.5\npaid: yes", {"id": "2", "n": 2.5, "paid": "yes"}),
    ("- id: W1\n  n: 2\n- id: W2\n  n: 3", ROWS),
    ("id: W1\nn: 2\nid: W2\nn: 3", ROWS),
    ("o.id: W1\no.n: 2", {"o": {"id": "W1", "n": 2}}),
    ("id: W1\na (b.c): 2", {"id": "W1", "a (b.c)": 2}),
    ("items:\n- 1\n- 2\nx: 1", {"items": [1, 2], "x": 1}),
    ("o:\n  id: W1\nx: 1", {"o": {"id": "W1"}, "x": 1}),
    ("\n id: W1\n", {"id": "W1"}),
    ("1: x\nid: W1", {"1": "x", "id": "W1"}),
]  # fmt: skip
NONE = [
    "", "prose", "x: 1\ny: 2\nid: 3", "x = 1\ny = 2\nid = 3", "id == 1", "[o]", "id: W1\n n: {", "1: x\n2: y",
    "o = 1\no.id = 2", "<o><id>W1</o>", "<!DOCTYPE x><o><id>W1</id></o>", "a <o><id>W1</id></o>",
    '{"columns": ["id", "n"], "rows": [["W1"]]}', '{"columns": ["id"], "rows": [["W1"]], "x": ["id"]}', '["id", "n"]',
    LONG.replace("\nlines", " lines"), LONG.replace("W2,x", "W2,x,y"), 'id\n"two\nlines"', 'id,note\n"', "- 1\n- 2",
    "id: W1 " + "x" * 200_000,
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ)
def test_what_is_read(text, value):
    assert json.dumps(read_layout(text, NAMES)) == json.dumps(value)


@pytest.mark.parametrize("text", NONE)
def test_what_is_none(text):
    with pytest.raises(NothingParsed):
        read_layout(text, NAMES)


def test_half_of_the_keys_must_be_known():
    assert read_layout("id: 1\nx: 2", {"id"}) == {"id": 1, "x": 2}
    with pytest.raises(NothingParsed):
        read_layout("id: 1\nx: 2\ny: 3", {"id"})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Legend: a=order_id, b=price\n{'a': 1, \"b\": 2}", "{'order_id': 1, \"price\": 2}"),
        ("a: 1\nb: 2\nkeys: order_id -> a; price -> b", "order_id: 1\nprice: 2"),
        ("# Abbreviations: a: 'order_id'; x = other\na\tb\nax: 1", "order_id\tb\nax: 1"),
        ("Legend: a=order_id\na: 1", None),  # one is none
        ("Legend: a=order_id, x=other, y=more\na: 1", None),  # most are not known
        ("Legend: a=order_id, b=price\nnothing of it", None),
        ("a=order_id, b=price\na: 1", None),
        ("x" * 4_000 + "\nLegend: a=order_id, b=price\na: 1", None),
    ],
)
def test_short_keys_are_written_out(text, written):
    assert spelled_out(text, {"order_id", "price"}) == (text if written is None else written)


def test_keys():
    assert keys_in({"a": [{"b": 1}], "c": '{"d": 2}'}) == {"a", "b", "c", "d"}
    assert keys_in([{"a": 1}, 7]) == {"a"}
    assert keys_in("a") == frozenset()
