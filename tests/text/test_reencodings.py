"""Lossless re-encodings: what is written is read back exactly, for any value; real tables cost fewer tokens."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from generated import json_values
from hypothesis import example, given, strategies as st
from measured import COUNT, measured

from bench.model import ModelTurn, Source, ToolResult, Trace, compact_json
from bench.plugins.registry import build
from bench.replayer.loop import replay
from bench.strategies import compose
from bench.text.decode import NothingParsed, decode_strings
from bench.text.lossless import exact_json, gives_back, read_json, read_tables, write_tables
from bench.traces import load

TRACES = Path(__file__).parents[2] / "traces"
FORMATS = {
    "compact_json": SimpleNamespace(encode=exact_json, decode=read_json),
    "csv_table": SimpleNamespace(encode=write_tables, decode=read_tables),
}

tricky = st.sampled_from(
    ["1", "1.0", "-1", "1e5", "null", "true", "NaN", "-", "-3x", "", " ", " a", "a,b", '"', '""', "[", "{", "{}", "\n",
     "a\r\nb", "@table", "@table 1: 2 rows", "\u2028", "é", "😀", 1, 1.0, -0.0, 1e16, 1e300, 5e-324, 2**63, -(2**70), True, None]
)  # fmt: skip
cells = tricky | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
columns = st.sampled_from(["id", "", "a,b", "1", "@table", "[x", '"q"', " "])
tables = st.lists(st.dictionaries(columns, cells | st.lists(cells, max_size=2), min_size=1), min_size=2, max_size=6)
values = st.recursive(
    tables | json_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["@table", "@@table", "a"]), inner),
    max_leaves=6,
)


def exact(value: Any) -> str:
    """Equal only for the same value: types, order of keys and the sign of zero included."""
    return repr(value)


@pytest.mark.parametrize("name", FORMATS)
@given(value=values)
@example(value=[{"a": 1.0}, {"a": 1}, {"a": True}, {"a": "1"}])
@example(value={"@table": 1})
@example(value=[{"a": 1}, {}])
def test_what_is_written_is_read_back(name: str, value: Any) -> None:
    assert exact(FORMATS[name].decode(FORMATS[name].encode(value))) == exact(value)


@pytest.mark.parametrize("name", FORMATS)
@given(value=values.filter(lambda value: isinstance(value, dict | list)), unpack=st.booleans())
def test_a_summary_gives_its_result_back(name: str, value: Any, unpack: bool) -> None:
    result = ToolResult(index=0, call_id="c", function="f", data=value)
    shown = _shown(name, result, unpack)
    assert exact(FORMATS[name].decode(shown)) == exact(decode_strings(value) if unpack else value)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", ["", "ls -la", "12", '"a"', "null", "{'python': None}", '{"cut": [1, 2'])
def test_text_without_a_structure_is_shown_as_it_is(name: str, text: str) -> None:
    assert _shown(name, ToolResult(index=0, call_id="c", function="f", seen=text), unpack=True) == text


@pytest.mark.parametrize("name", FORMATS)
def test_json_text_is_written_again(name: str) -> None:
    text = '[\n  {"id": 1, "mark": "W1"},\n  {"id": 2, "mark": "2"},\n  {"id": 3, "mark": null}\n]'
    shown = _shown(name, ToolResult(index=0, call_id="c", function="f", seen=text), unpack=True)
    assert len(shown) < len(text)
    assert FORMATS[name].decode(shown) == [{"id": 1, "mark": "W1"}, {"id": 2, "mark": "2"}, {"id": 3, "mark": None}]


@pytest.mark.parametrize(
    "text",
    ["", "plain", "{", '{"@table":1}', '{"@table":1}\n@table 1: 2 rows\na\n1', '[1]\nmore', '{"@table":2}\n@table 1: 1 rows\na\n1',
     '{"@table":1}\n@table 1: 1 rows\na,b\n1', '{"@table":1}\n@table 1: 1 rows\na\n"open', '{"@table":1}\n@table 1: 0 rows'],
)  # fmt: skip
def test_text_of_another_format_is_refused(text: str) -> None:
    with pytest.raises(NothingParsed):
        read_tables(text)


@given(text=st.text(alphabet='{}[]"@table 1:rows\n,0', max_size=40))
def test_reading_hostile_text_never_raises_anything_else(text: str) -> None:
    for format_ in FORMATS.values():
        try:
            format_.decode(text)
        except NothingParsed:
            continue


@pytest.mark.parametrize("name", FORMATS)
@given(value=values.filter(lambda value: isinstance(value, dict | list)))
def test_the_promise_is_kept_and_a_broken_one_is_noticed(name: str, value: Any) -> None:
    decode = build("summarizer", name).attribute("decode")
    result = ToolResult(index=0, call_id="c", function="f", data=value)
    shown = _shown(name, result, unpack=True)
    assert gives_back(decode, shown, result)
    assert not gives_back(decode, shown, ToolResult(index=0, call_id="c", function="f", data=[value, "more"]))
    assert not gives_back(decode, "not " + shown, result)


def test_a_replay_knows_what_was_decoded_back() -> None:
    rows = [{"id": 7, "p": 1e-9, "note": 'a "b"\nc', "mark": "1"}, {"id": 8, "p": 2.0, "note": "", "mark": None}]
    result = ToolResult(index=1, call_id="c", function="f", data={"rows": compact_json(rows)})
    steps = (ModelTurn(index=0), result, ModelTurn(index=2))
    trace = Trace(id="t", source=Source(format="native"), steps=steps)
    for name in FORMATS:
        run = replay(trace, compose("s", {"summarizer": name}))
        assert run.decoded == {run.results[0].shown: compact_json(result.data)}
        assert [(s.numerator, s.denominator) for s in measured("loss.leaf_recall.shown", trace, run)] == [(8, 8)]
    assert replay(trace, compose("s", {"summarizer": "truncate"})).decoded == {}


def test_a_table_is_written_where_it_is_shorter() -> None:
    sparse = [{f"column_{number}": number} for number in range(9)]
    assert write_tables(sparse) == compact_json(sparse)


def test_real_tables_cost_fewer_tokens_and_lose_nothing() -> None:
    spent = dict.fromkeys(["raw", *FORMATS], 0)
    for trace in load([str(TRACES / "building_model")]).traces:
        for result in _with_tables(trace):
            spent["raw"] += COUNT.text(compact_json(result.data))
            for name, format_ in FORMATS.items():
                shown = _shown(name, result, unpack=True)
                assert exact(format_.decode(shown)) == exact(decode_strings(result.data))
                spent[name] += COUNT.text(shown)
    assert spent["csv_table"] < spent["compact_json"] < 0.6 * spent["raw"]


def _with_tables(trace: Trace) -> list[ToolResult]:
    return [result for result in trace.results if isinstance(result.data, dict) and result.data["structured_output"]]


def _shown(name: str, result: ToolResult, unpack: bool) -> str:
    shown = build("summarizer", f"{name}:unpack={unpack}").start()[1](result)
    return str(getattr(shown, "shown", shown))
