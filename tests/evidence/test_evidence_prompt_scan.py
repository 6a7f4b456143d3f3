"""What one walk through the prompts finds: how results stand, and whether turns had what they needed."""

from __future__ import annotations

from bench.evidence.tiers import ResultHeld
from handmade import opened, result, run_of, trace
from measured import evidence_of

from bench.metrics import example
from bench.model import ModelTurn, UserTurn

MASK = "mask=compactor=mask_observations:keep_last=1"
RECORDING = opened(
    [
        result("471 rows", index=2, call_id="a"),
        ModelTurn(index=3, content="ok"),
        result("472 rows", index=4, call_id="b"),
        ModelTurn(index=5, content="471 and 472"),
    ]
)


def test_a_result_stands_whole_where_its_text_is_shown_and_else_lacks_what_no_message_holds() -> None:
    scan = evidence_of(RECORDING, run_of(RECORDING, MASK)).prompts.scan
    first, second = RECORDING.results
    assert scan.results["shown"] == [ResultHeld(first, True), ResultHeld(second, True)]
    masked, kept = scan.results["end"]
    assert (masked.result, masked.whole, masked.gone, len(masked.texts), masked.written) == (first, False, (), 1, ())
    assert kept == ResultHeld(second, True)  # the last turn had said 471 itself, so that it is not gone


def test_results_stand_in_their_order_whichever_thread_is_prompted_first() -> None:
    recording = trace(
        UserTurn(index=0, content="a"),
        UserTurn(index=1, thread="critic", content="b"),
        ModelTurn(index=2, content="so"),
        result(index=3, data={"rows": 471}),
        ModelTurn(index=4, thread="critic", content="so"),
        result(index=5, thread="critic", data={"rows": 472}),
        ModelTurn(index=6, thread="critic", content="done"),
        ModelTurn(index=7, content="done"),
    )
    prompts = evidence_of(recording, run_of(recording, "keep_all")).prompts
    for place in ("shown", "end"):
        assert [item.result.index for item in prompts.scan.results[place]] == [3, 5]
        assert [item.result.index for item in prompts.leaves[place]] == [3, 5]


def test_what_a_strategy_wrote_is_shown_where_nothing_shows_the_result() -> None:
    scan = evidence_of(RECORDING, run_of(RECORDING, "drop_all")).prompts.scan
    assert [(item.whole, item.texts, item.written) for item in scan.results["shown"]] == [(False, (), ())] * 2
    old = "old=compactor=summarize_old:keep_last=1,max_tokens=5"
    scan = evidence_of(RECORDING, run_of(RECORDING, old)).prompts.scan
    assert any(item.written and not item.texts for item in scan.results["end"])


def test_a_turn_is_served_by_what_it_finds_and_by_what_was_left_as_it_was() -> None:
    judged = evidence_of(RECORDING, run_of(RECORDING, MASK)).prompts.scan.judged
    assert [(item.dependency.fact, item.present, item.original) for item in judged] == [
        ("471", False, False),
        ("472", True, True),
    ]
    cut = example().prompts.scan.judged  # the strategy rewrote the only result: it shows the number and not the path
    assert [(item.dependency.fact, item.present, item.original) for item in cut] == [
        ("471", True, False),
        ("a/b.csv", False, False),
    ]
