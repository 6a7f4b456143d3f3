"""The audit of one run by hand: the results that its model saw in part."""

from __future__ import annotations

from bench.evidence.session_audit import audit_of
from bench.model import ModelTurn, Source, ToolResult, Trace, UserTurn
from bench.model.audit import CutResult
from bench.run.measuring import Measuring, RunSession


def test_a_result_seen_in_part_is_listed_with_what_was_needed_of_it() -> None:
    steps = (
        ToolResult(index=0, call_id="a", function="f", seen="order W4417"),
        ToolResult(index=1, call_id="b", function="f", seen="order W4417", full="order W4417, order W9981"),
        ToolResult(index=2, call_id="c", function="f", seen="order W5 [cut]"),
        ToolResult(index=3, call_id="d", function="f", seen="order W6", truncated_at_source=True),
        UserTurn(index=4, content="And W9981?"),
        ModelTurn(index=5, content="W9981 is open."),
    )
    session = RunSession(Trace(id="t", source=Source(format="native"), steps=steps), Measuring(()))
    audit = audit_of(session.recorded, None, lambda text: "[cut]" if "[cut]" in text else "")
    assert audit.cuts == (
        CutResult(step=1, function="f", seen_characters=11, characters=24, needed=1),
        CutResult(step=2, function="f", seen_characters=14, marker="[cut]"),
        CutResult(step=3, function="f", seen_characters=8),
    )
