"""The audit of one run by hand: results that its model saw in part, and a compaction with what it lost."""

from __future__ import annotations

import pytest
from handmade import shell, trace

from bench.evidence.session_audit import audit_of
from bench.model import AnyStep, ContextReset, ModelTurn, Source, ToolCall, ToolResult, Trace, UserTurn
from bench.model.audit import CutResult, SessionAudit
from bench.run.audits import audit as audit_of_all, audited as audit_of_trace
from bench.run.measuring import Measuring, RunSession


def audit(*steps: AnyStep) -> SessionAudit:
    session = RunSession(Trace(id="t", source=Source(format="native"), steps=steps), Measuring(()))
    return audit_of(session.recorded, None, lambda text: "[cut]" if "[cut]" in text else "", {})


def test_a_result_seen_in_part_is_listed_with_what_was_needed_of_it() -> None:
    found = audit(
        ToolResult(index=0, call_id="a", function="f", seen="order W4417"),
        ToolResult(index=1, call_id="b", function="f", seen="order W4417", full="order W4417, order W9981"),
        ToolResult(index=2, call_id="c", function="f", seen="order W5 [cut]"),
        ToolResult(index=3, call_id="d", function="f", seen="order W6", truncated_at_source=True),
        UserTurn(index=4, content="And W9981?"),
        ModelTurn(index=5, content="W9981 is open."),
    )
    assert found.cuts == (
        CutResult(step=1, function="f", seen_characters=11, characters=24, needed=1),
        CutResult(step=2, function="f", seen_characters=14, marker="[cut]"),
        CutResult(step=3, function="f", seen_characters=8),
    )


def test_a_repeated_reading_is_listed_with_the_reading_before_and_the_reason() -> None:
    text = "\n".join(f"line {number} of the file" for number in range(5))
    steps: list[AnyStep] = [UserTurn(index=0, content="Go.")]
    for at, seen in enumerate(("line 0...", "line 0 of...", text, text, None, text)):
        call = ToolCall(id=f"c{at}", name="read", arguments={"path": "a.py"})
        if seen is None:
            steps.append(ContextReset(index=len(steps), summary="So far."))
            continue
        other = ToolCall(id=f"o{at}", name="read", arguments={"path": f"b{at}.py"})
        steps.append(ModelTurn(index=len(steps), tool_calls=(call, other)))
        steps.append(ToolResult(index=len(steps), call_id=f"c{at}", function="read", seen=seen, full=text))
        steps.append(ToolResult(index=len(steps), call_id=f"o{at}", function="read", seen=text))
    again = audit(*steps, ModelTurn(index=len(steps), content="Done.")).rereads
    assert [(item.step, item.earlier_step, item.why) for item in again] == [
        (8, 5, "cut"),
        (11, 8, "in prompt"),
        (15, 11, "dropped"),
    ]
    assert {(item.asked, item.lines_same, item.lines) for item in again} == {("a.py", 5, 5)}


def test_a_compaction_is_listed_with_what_later_turns_lacked() -> None:
    last = ModelTurn(index=5, content="W9981 is open.")
    steps = (
        UserTurn(index=0, content="Never close an order. List mine."),
        ModelTurn(index=1, content="I look."),
        ToolResult(index=2, call_id="a", function="f", seen="order W4417, order W9981"),
        ModelTurn(index=3, content="W4417 is open."),
        ContextReset(index=4, summary="The user has orders."),
    )
    (found,) = audit(*steps, last).shortenings
    assert (found.step, found.kind, found.turn, found.results_dropped) == (4, "compaction", 3, (2,))
    assert found.facts_lost == ("W4417", "W9981")
    assert found.rules_dropped == ("Never close an order.",)
    assert found.tokens_before is not None
    assert found.tokens_after is not None
    again = (
        ContextReset(index=6, summary="a"),
        ModelTurn(index=7),
        ContextReset(index=8, summary="b"),
        ModelTurn(index=9),
    )
    assert [item.rules_dropped for item in audit(*steps, last, *again).shortenings][1:] == [(), ()]
    (at_end,) = audit(*steps).shortenings
    assert (at_end.turn, at_end.tokens_after, at_end.results_dropped, at_end.facts_lost) == (None, None, (), ())


@pytest.mark.parametrize(("cost", "stated"), [(0.0, 0.0), (1.25, 1.25), (7, 7), ("much", None)])
def test_a_reported_cost_is_listed_and_does_not_change_the_computed_one(cost: object, stated: float | None) -> None:
    silent, stating = (
        audit_of_trace(trace(*shell(4), meta=meta), "claude-sonnet-4-5") for meta in ({}, {"cost_usd": cost})
    )
    assert (silent.stated_usd, stating.stated_usd) == (None, stated)
    assert stating.charges == silent.charges
    assert stating.charges.usd is not None


def test_a_copy_of_a_recording_is_counted_once() -> None:
    steps = UserTurn(index=0, content="Go."), ModelTurn(index=1, content="Done.")
    found = audit_of_all([trace(*steps, id=name) for name in "ab"])
    assert [one.id for one in found.sessions] == ["a"]
    assert found.skipped == (("b", "a copy of a, counted there"),)
