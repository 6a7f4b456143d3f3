"""Uses: what later turns took from tool results, against a reference that looks through everything said before."""

from __future__ import annotations

import pytest
from bench.evidence.uses import Use, turn_text, uses
from generated import traces
from handmade import SMALL, opened, result, trace
from hypothesis import given
from measured import dependencies_of

from bench.model import ModelTurn, SystemTurn, ToolCall, ToolResult, UserTurn, text_of
from bench.text.decode import decoded
from bench.text.facts import find_facts, occurs


def slow_uses(trace):
    """Every fact of every model turn, looked for in every earlier text of the thread, in order."""
    found = []
    for position, turn in enumerate(trace.steps):
        if not isinstance(turn, ModelTurn):
            continue
        said = []  # (text, the result or None, model turns of the thread before it)
        turns = 0
        for step in trace.steps[:position]:
            if step.thread != turn.thread:
                continue
            if isinstance(step, ToolResult):
                said.append((step.text if step.seen is None else step.seen, step, turns))
            elif isinstance(step, ModelTurn):
                said.append((turn_text(step), None, turns))
                turns += 1
            elif isinstance(step, SystemTurn | UserTurn):
                said.append((text_of(step.content), None, turns))
        in_turn = {}
        for kind, fact in find_facts(decoded(turn_text(turn))):
            in_turn.setdefault(fact, kind)
        for fact, kind in in_turn.items():
            holders = [(source, before) for text, source, before in said if occurs(decoded(text), fact)]
            if not holders or holders[0][0] is None:
                continue
            source, source_turn = holders[0]
            found.append(
                Use(
                    fact=fact, kind=kind, turn=turn.index, source=source.index, thread=turn.thread, turn_number=turns,
                    source_turn=source_turn, first=all(holder is not None for holder, _ in holders),
                    recorded_only=not occurs(decoded(source.text), fact),
                )
            )  # fmt: skip
    return tuple(found)


@given(traces(extras=True))
def test_uses_agree_with_looking_through_everything(trace):
    assert dependencies_of(trace) == slow_uses(trace)


@pytest.mark.parametrize("name", SMALL)
def test_uses_agree_on_traces_written_by_hand(name):
    assert uses(SMALL[name]) == slow_uses(SMALL[name])


@pytest.mark.parametrize("folder", ["rap", "mini-swe-agent"])
def test_uses_agree_on_recorded_traces(shared_traces, folder):
    import bench

    recorded = bench.load([str(shared_traces / folder)]).traces
    assert all(uses(item) == slow_uses(item) for item in recorded)
    assert sum(len(uses(item)) for item in recorded) > 0


def said(index, text, **fields):
    return ModelTurn(index=index, content=text, **fields)


def in_short(found):
    return [(use.fact, use.turn, use.source, use.first) for use in found]


def test_the_first_use_and_the_reuse():
    recorded = trace(
        UserTurn(index=0, content="look at /data/a.csv"),
        result("/data/a.csv has 471 rows", index=1),
        said(2, "There are 471 rows in /data/a.csv"),  # 471: first use; the path was the user's
        said(3, "As I said, 471"),  # a reuse: a turn held it before
    )
    assert in_short(uses(recorded)) == [("471", 2, 1, True), ("471", 3, 1, False)]
    assert [use.turn_number - use.source_turn for use in uses(recorded)] == [0, 1]


def test_the_source_is_the_first_result_that_showed_it():
    recorded = trace(result("471", index=0), result("471 again", index=1), said(2, "471"))
    assert in_short(uses(recorded)) == [("471", 2, 0, True)]


def test_what_a_turn_said_before_any_result_is_no_use():
    recorded = trace(said(0, "I expect 471"), result("471", index=1), said(2, "471 indeed"))
    assert uses(recorded) == ()


def test_arguments_of_calls_are_uses_unless_the_text_already_holds_them():
    call = ToolCall(id="c", name="query", arguments={"path": "/data/a.csv", "note": "x\n4711"})
    in_text = ToolCall(id="d", name="bash", arguments={"command": "cat /data/b.csv"}, in_text=True)
    recorded = trace(
        result("/data/a.csv /data/b.csv 4711", index=0),
        said(1, "", tool_calls=(call,)),
        said(2, "nothing here", tool_calls=(in_text,)),
    )
    assert in_short(uses(recorded)) == [("/data/a.csv", 1, 0, True), ("4711", 1, 0, True)]


def test_threads_do_not_see_each_other():
    recorded = trace(result("471", index=0, thread="a"), said(1, "471", thread="b"), said(2, "471", thread="a"))
    assert in_short(uses(recorded)) == [("471", 2, 0, True)]


def test_what_only_the_recorder_wrote_is_marked():
    recorded = trace(
        result("warning: output_cut_7 of 471", index=0, full="471 and no warning"), said(1, "output_cut_7, 471")
    )
    assert [(use.fact, use.recorded_only) for use in uses(recorded)] == [("output_cut_7", True), ("471", False)]


def test_nothing_to_use():
    assert dependencies_of(trace()) == ()
    assert uses(opened([])) == ()


def test_uses_are_found_once_for_a_trace():
    recorded = SMALL["long"]
    assert uses(recorded) is uses(recorded)
