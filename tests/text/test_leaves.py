"""Structured values leaf by leaf: what counts as a leaf, what is still held, and that the work stays bounded."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from bench.text.found_leaves import names_of, read_held
from generated import json_values
from hypothesis import given, strategies as st
from reference import leaves

from bench.text.leaves import Leaves, flatten, match, together


def kept(untruncated: Any, held: Any) -> tuple[int, int]:
    found = match(flatten(untruncated), flatten(held))
    assert len(found.lost) == found.total - found.kept
    return found.kept, found.total


ROWS = [{"id": 1, "n": "x"}, {"id": 2, "n": "x"}, {"id": 2, "n": "x"}]
LONG = [{"id": number, "kind": "wall", "x": number / 7} for number in range(100)]
GRID = [{"a": number % 20, "b": number // 20, "c": f"c{number}"} for number in range(400)]
NAN = float("nan")


@pytest.mark.parametrize(
    ("untruncated", "held", "found"),
    [
        *(({"a": one}, {"a": other}, (int(type(one) is type(other)), 1)) for one in (1, True, 1.0, "1") for other in (1, True, 1.0, "1")),
        ({"p": 1e-20}, {"p": 2e-20}, (0, 1)),
        ({"p": NAN}, {"p": NAN}, (1, 1)),
        ({"p": NAN}, {"p": None}, (0, 1)),
        ({"a": {}, "b": [], "c": ""}, {"a": {}, "b": {}}, (1, 3)),  # empty containers are leaves
        ([], [], (1, 1)),
        ({"data": json.dumps(ROWS[:2])}, {"data": ROWS[:2]}, (4, 4)),  # JSON in strings is decoded at any depth
        ([{"outer": json.dumps({"inner": json.dumps([1, 2])})}], [{"outer": {"inner": [1, 2]}}], (2, 2)),
        ({"table": {"rows": ROWS}}, [ROWS[2], ROWS[0]], (4, 6)),  # rows may move, but stay a multiset
        (ROWS, [{"id": 2, "n": "x"}] * 5, (5, 6)),  # two rows, and of the third the name alone
        # the levels are swapped: each row keeps its id, no row its level
        ([{"id": 1, "level": "a"}, {"id": 2, "level": "b"}], [{"id": 1, "level": "b"}, {"id": 2, "level": "a"}], (2, 4)),
        (LONG, [{"kind": row["kind"], "x": row["x"]} for row in LONG], (200, 300)),  # a column dropped
        (LONG, [{"kind": row["kind"]} for row in LONG], (100, 300)),
        (GRID, [{"a": row["a"], "b": row["b"]} for row in reversed(GRID)], (800, 1200)),  # two that only together tell a row
        (GRID, [{**row, "c": "x"} for row in GRID], (800, 1200)),  # near the same place
        (LONG[1:7], [{**row, "x": round(row["x"], 1)} for row in LONG[1:7]], (12, 18)),  # values changed
        ({"go": {"total": 12}}, {"summary": {"go": {"total": 12}}}, (1, 1)),  # other leaves need their last key
        ({"go": {"total": 12}}, {"kegg_total": 12}, (0, 1)),
        ({"go": {"total": 12}, "kegg": {"total": 12}}, {"kegg": {"total": 12}}, (1, 2)),  # one held leaf serves one
        ({"tags": ["a", "b", "b"]}, {"tags": ["b", "a"]}, (2, 3)),
        ([1, 2, 3], {"first": [1, 2]}, (2, 3)),  # a value under no key needs none
        ([{"id": 7, "size": {"x": 2}}], {"first": {"id": 7, "size": {"x": 2}}}, (2, 2)),  # out of a row, the whole path
        ([{"id": 7, "size": {"x": 2}}], {"id": 7, "x": 2}, (1, 2)),
    ],
)  # fmt: skip
def test_by_hand(untruncated: Any, held: Any, found: tuple[int, int]) -> None:
    assert kept(untruncated, held) == found


def test_the_longest_common_end_of_a_path_is_served_first() -> None:
    lost = match(flatten({"a": {"x": {"n": 1}}, "b": {"x": {"n": 1}}}), flatten({"q": {"b": {"x": {"n": 1}}}})).lost
    assert lost == [(("a", "x", "n"), (int, 1))]


def test_of_a_path_the_last_eight_keys_tell_leaves_apart() -> None:
    for keys, lost in (("abcdefg", "p"), ("abcdefgh", "r")):
        inner: Any = 1
        for key in reversed(keys):
            inner = {key: inner}
        ((path, _),) = match(flatten({"p": inner, "r": inner}), flatten({"z": {"r": inner}})).lost
        assert path[0] == lost


def test_cut_text_is_read_as_far_as_it_goes() -> None:
    value = {"rows": [{"id": number, "name": f"n{number}"} for number in range(3)]}
    whole = json.dumps(value)

    def read_leaves(text: str) -> Leaves | None:
        return read_held(text, names_of(flatten(value)))

    everything = read_leaves(whole)
    assert everything is not None
    assert match(flatten(value), everything).kept == 6
    cut = read_leaves(whole[: whole.index('"n1"') + 3])  # … {"id": 1, "name": "n1 — without its closing quote
    assert cut is not None
    assert match(flatten(value), cut).kept == 4  # the cut name is kept as cut, which is n1
    python = read_leaves(str(value)[: str(value).index("'n1'")])  # … {'id': 1, 'name': and no name
    assert python is not None
    assert match(flatten(value), python).kept == 3
    assert read_leaves("Showing 5 of 36 rows") is None
    assert read_leaves("") is None


def test_several_texts_count_together() -> None:
    parts = together([flatten([{"id": 1}]), flatten({"n": 2})])
    assert match(flatten({"n": 2, "rows": [{"id": 1}]}), parts).kept == 2


def test_deeply_nested_values_are_read() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = {"a": deep}
    assert flatten(deep).total == 1


small_rows = st.lists(
    st.dictionaries(
        st.sampled_from("abc"), st.sampled_from([0, 1, True, 1.0, "1", None]) | st.just({"x": 1}), max_size=3
    ),
    max_size=6,
)
tables = st.fixed_dictionaries({"t": small_rows, "a": st.sampled_from([0, 1, "1"])}) | small_rows


@given(untruncated=tables, held=tables)
def test_small_tables_match_as_the_obvious_way_does(untruncated: Any, held: Any) -> None:
    expected = leaves.kept(*leaves.taken_apart(untruncated), *leaves.taken_apart(held))
    assert kept(untruncated, held)[0] == expected


@given(value=json_values)
def test_everything_holds_itself_and_nothing_holds_more(value: Any) -> None:
    own, total = kept(value, copy.deepcopy(value))
    assert own == total
    assert kept(value, [value, value]) <= (total, total)


@given(
    value=st.lists(st.dictionaries(st.sampled_from("ab"), st.integers(0, 3), min_size=1), min_size=1, max_size=8),
    data=st.data(),
)
def test_fewer_rows_never_hold_more(value: list[Any], data: st.DataObject) -> None:
    some = data.draw(st.integers(0, len(value)))
    assert kept(value, value[:some])[0] <= kept(value, value)[0]
    assert kept(value, value[:some])[0] == sum(map(len, value[:some]))


@pytest.mark.slow
def test_a_hundred_thousand_leaves() -> None:
    chance = random.Random(1)
    rows = [
        {"id": n, "kind": f"k{n % 50}", "level": n % 7, "x": chance.random(), "ok": n % 2 == 0}
        | {c: c for c in "abcde"}
        for n in range(10_000)
    ]
    whole = flatten(rows)
    assert whole.total == 100_000
    variants: dict[str, tuple[list[Any], int]] = {
        "identical": (rows, 100_000),
        "shuffled": (chance.sample(rows, len(rows)), 100_000),
        "rounded": ([{**row, "x": round(row["x"], 3)} for row in rows], 90_000),
        "one common value": ([{"a": "a", "z": n} for n in range(10_000)], 10_000),
    }
    for name, (held, expected) in variants.items():
        assert match(whole, flatten(held)).kept == expected, name  # seconds; quadratic work would not end
