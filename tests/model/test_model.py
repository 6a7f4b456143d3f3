"""The values that flow: frozen, exact as JSON, one way to become text, and the small questions they answer."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from dataclasses import is_dataclass
from types import SimpleNamespace

import msgspec
import pytest
from generated import json_values, traces
from hypothesis import given, strategies as st

from bench.metrics.routing import expected_routes
from bench.model import (
    Decision,
    ModelTurn,
    RouteDecision,
    Source,
    SystemTurn,
    ToolResult,
    Trace,
    UserTurn,
    as_text,
    compact_json,
    lines_of,
)
from bench.model.errors import debugging, own_error
from bench.model.replay import Replay


@given(json_values)
def test_compact_json_equals_that_of_the_standard_library(value):
    assert json.loads(compact_json(value)) == value
    assert compact_json(value) == compact_json(json.loads(compact_json(value)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", '"x"'),
        (None, "null"),
        ({"b": [1, 2.0], "a": "é"}, '{"b":[1,2.0],"a":"é"}'),
        ([math.nan, math.inf, -math.inf], "[null,null,null]"),
        (["\ud800", math.nan, (1,)], '["\\ud800",null,[1]]'),
        ([], "[]"),
    ],
)
def test_compact_json_has_no_blanks_and_null_in_place_of_nan(value, text):
    assert compact_json(value) == text


def test_the_text_of_a_string_is_the_string():
    assert as_text("[1]") == "[1]"
    assert as_text("") == ""
    assert as_text([1, "a"]) == '[1,"a"]'


def test_lines_are_split_everywhere_and_blank_ones_left_out():
    assert lines_of("a\r\n\n b \u2028c\x0bd\n") == ["a", " b ", "c", "d"]
    assert lines_of("") == []
    assert lines_of(" \n\t\n") == []


# ---------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("fields", "text", "value", "shown"),
    [
        ({}, "", "", ""),
        ({"seen": "cut"}, "cut", "cut", "cut"),
        ({"seen": "cut", "full": "whole"}, "whole", "whole", "cut"),
        ({"full": "whole"}, "whole", "whole", "whole"),
        ({"data": {"a": 1}}, '{"a":1}', {"a": 1}, '{"a":1}'),
        ({"data": {"a": 1}, "seen": "a is 1"}, "a is 1", {"a": 1}, "a is 1"),
        ({"seen": "", "full": "whole"}, "whole", "whole", ""),
        ({"data": 0}, "0", 0, "0"),
    ],
)
def test_a_truncated_result_also_has_its_full_text(fields, text, value, shown):
    result = ToolResult(index=0, call_id="c", function="f", **fields)
    assert (result.text, result.value, result.recorded_text) == (text, value, shown)


# ---------------------------------------------------------------- traces and runs


@pytest.mark.slow
@given(traces(extras=True))
def test_a_trace_is_unchanged_by_json(trace):
    assert msgspec.json.decode(msgspec.json.encode(trace), type=Trace) == trace


@given(traces(extras=True))
def test_the_hash_depends_on_the_steps_and_not_on_the_source(trace):
    elsewhere = Source(format="openai", path="elsewhere.json", sha256="f" * 64)
    moved = msgspec.structs.replace(trace, id=trace.id + "x", source=elsewhere)
    assert moved.sha256 == trace.sha256
    others = [
        msgspec.structs.replace(trace, labels={"routes": {"0": "abort"}}),
        msgspec.structs.replace(trace, meta={"other": 1}),
        msgspec.structs.replace(trace, steps=(*trace.steps, UserTurn(index=10_000, content=""))),
    ]
    assert trace.sha256 not in {other.sha256 for other in others}


def test_a_trace_with_lone_surrogates_has_a_hash():
    trace = Trace(id="t", source=Source(format="native"), steps=(UserTurn(index=0, content="\ud800"),))
    other = Trace(id="t", source=Source(format="native"), steps=(UserTurn(index=0, content="\ud801"),))
    assert trace.sha256 != other.sha256


def test_a_trace_gives_its_steps_by_kind():
    steps = (
        SystemTurn(index=0, content="s"),
        ModelTurn(index=1),
        ToolResult(index=2, call_id="c", function="f"),
        ModelTurn(index=3, model="gpt-4o"),
        ModelTurn(index=4, model="gpt-4"),
    )
    trace = Trace(id="t", source=Source(format="native"), steps=steps)
    assert trace.results == (steps[2],)
    assert trace.model_turns == (steps[1], steps[3], steps[4])
    assert trace.model == "gpt-4o"
    empty = Trace(id="t", source=Source(format="native"), steps=())
    assert (empty.results, empty.model_turns, empty.model) == ((), (), None)


def test_values_are_frozen_and_unknown_fields_refused():
    turn = UserTurn(index=0, content="x")
    with pytest.raises(AttributeError):
        turn.content = "y"
    with pytest.raises(msgspec.ValidationError, match="unknown field `colour`"):
        msgspec.json.decode(b'{"kind":"user","index":0,"content":"x","colour":1}', type=UserTurn)


# ---------------------------------------------------------------- decisions and rows


@given(*[st.none() | st.sampled_from(("next", "abort"))] * 2)
def test_a_decision_is_compared_with_its_label_else_the_record(labelled, recorded):
    made = Decision(step=0, router="r", at="end", route="next", untruncated="stop")
    steps = (RouteDecision(index=0, at="end", taken=recorded),) if recorded else ()
    labels = {"routes": {"0": labelled}} if labelled else {}
    assert expected(made, steps, labels) == (labelled or recorded or None)


def test_a_selection_is_right_if_it_is_one_of_the_labelled_scripts():
    chosen = [Decision(step=3, router="r", at="", route=name, untruncated="x", detail={"ranked": []}) for name in "bc"]
    assert [expected(one, (), {"scripts": {"3": ["a", "b"]}}) for one in chosen] == ["b", "a"]


def expected(decision, steps, labels):
    trace = Trace(id="t", source=Source(format="native"), steps=steps, labels=labels)
    evidence = SimpleNamespace(trace=trace, replay=Replay(strategy="s", spec="", decisions=(decision,)))
    return next((route for _, route in expected_routes(evidence)), None)


@pytest.mark.parametrize("room", ["model", "metrics", "comparison"])
def test_values_of_the_model_metrics_and_comparison_are_frozen(room):
    """A value that can be set again would let one strategy's judge change another's row."""
    package = importlib.import_module(f"bench.{room}")
    names = [package.__name__, *(found.name for found in pkgutil.iter_modules(package.__path__, f"bench.{room}."))]
    classes = [
        item
        for name in names
        for item in vars(importlib.import_module(name)).values()
        if isinstance(item, type) and item.__module__ == name and not item.__name__.startswith("_")  # private sums grow
    ]
    thawed = {item.__name__ for item in classes if is_dataclass(item) and not item.__dataclass_params__.frozen}
    thawed |= {
        item.__name__ for item in classes if issubclass(item, msgspec.Struct) and not item.__struct_config__.frozen
    }
    assert not thawed


@pytest.mark.parametrize(("debug", "printed"), [(True, ["ValueError: no rows"]), (False, [])])
def test_debug_prints_the_traceback_of_an_error(debug, printed, capsys):
    with debugging(debug):
        assert own_error(ValueError("no rows")) == "ValueError: no rows"
    assert own_error(KeyError("later")) == "KeyError: 'later'"
    assert capsys.readouterr().err.splitlines() == printed
