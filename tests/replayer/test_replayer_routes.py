"""Both sides judged alike: evaluators and routers on the stored and on the untruncated records, at their decision points."""

from __future__ import annotations

from pathlib import Path

import msgspec
from handmade import opened, result, trace

from bench.model import Approval, ModelTurn, RouteDecision, Run, Trace, UserTurn
from bench.replayer.loop import replay
from bench.strategies import DECISION_POINTS, compose

DATA = {"rows": [{"a": 471}] * 20}
RECORDED = opened([result("seen, cut", index=2, full="the whole text", role="user"), result(None, index=3, data=DATA)])


JUDGE = """
def long(record, history, *, limit: int = 100):
    return {"long": len(str(record.value)) > limit, "judged_before": len(history)}


def abort_when_short(state):
    judged = state["last_step_evaluation"]
    return ("continue" if judged["long"] else "abort"), {"records": len(state["execution_history"])}


abort_when_short.at = "after_evaluation"
"""


def judged(recording: Trace, folder: Path, **slots: str) -> Run:
    (folder / "judge.py").write_text(JUDGE)
    slots |= {"evaluator": "judge.py:long", "routers": "judge.py:abort_when_short"}
    return replay(recording, compose("s", slots, folder))


def test_evaluators_and_routers_see_the_stored_and_the_untruncated_records(tmp_path):
    run = judged(RECORDED, tmp_path, store="truncate:limit=9")
    second = run.results[1]
    assert second.evaluation == {"long": False, "judged_before": 1}
    assert second.evaluation_untruncated == {"long": True, "judged_before": 1}
    assert [(made.route, made.untruncated) for made in run.decisions] == [("abort", "abort"), ("abort", "continue")]
    assert [made.detail for made in run.decisions] == [{"records": 1}, {"records": 2}]


def test_a_divergence_is_recorded_and_not_followed(tmp_path):
    recorded = opened(
        [
            result("short", index=2),
            RouteDecision(index=3, at="after_evaluation", taken="continue", state={"current_step_index": 1}),
            result("short again", index=4),
            RouteDecision(index=5, at="after_evaluation", taken="abort"),
        ]
    )
    run = judged(recorded, tmp_path)
    assert [(made.step, made.route, made.recorded, made.expected_from) for made in run.decisions] == [
        (3, "abort", "continue", "recorded"),
        (5, "abort", "abort", "recorded"),
    ]
    assert len(run.results) == 2


def test_a_label_goes_before_what_was_recorded(tmp_path):
    recorded = msgspec.structs.replace(
        opened([result("short", index=2), RouteDecision(index=3, at="after_evaluation", taken="continue")]),
        labels={"routes": {"3": "abort"}},
    )
    (made,) = judged(recorded, tmp_path).decisions
    assert (made.expected, made.expected_from) == ("abort", "labelled")


def test_a_recorded_decision_of_another_router_is_not_this_ones(tmp_path):
    recorded = opened(
        [result("short", index=2), RouteDecision(index=3, at="after_evaluation", taken="x", router="someone_else")]
    )
    (made,) = judged(recorded, tmp_path).decisions
    # it falls at its natural point, the result, and nothing was recorded of it
    assert (made.step, made.recorded) == (2, None)


EVERYWHERE = "".join(
    f"\n\ndef {point}(state):\n    return '{point}'\n\n\n{point}.at = '{point}'\n" for point in DECISION_POINTS
)


def test_routers_decide_at_their_points_in_the_order_of_the_run(tmp_path):
    (tmp_path / "all.py").write_text(EVERYWHERE)
    recorded = trace(
        UserTurn(index=0, content="go"),
        ModelTurn(index=1),
        Approval(index=2, call_id="c", approved=True),
        result("done", index=3),
    )
    run = replay(recorded, compose("s", {"routers": [f"all.py:{point}" for point in DECISION_POINTS]}, tmp_path))
    assert [(made.step, made.at) for made in run.decisions] == [
        (0, "user_turn"),
        (1, "before_model"),
        (1, "after_model"),
        (2, "approval"),
        (3, "after_result"),
        (3, "after_evaluation"),
        (3, "end"),
    ]
