"""What reports show of a recording: its worst cuts and resets first, and what it counted and cost."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.recording import recording_shown, stated_usd, usage_usd
from bench.tokens.calibration import Calibration
from handmade import result, trace

from bench.model import (
    AnyStep,
    ContextReset,
    ImagePart,
    ModelTurn,
    RecordedCut,
    RecordingShown,
    TextPart,
    Trace,
    Usage,
    UserTurn,
)
from bench.tokens.counting import TokenCounter

COUNT = TokenCounter()


def shown(*steps: AnyStep) -> RecordingShown:
    return recording_shown(TraceEvidence(trace(*steps)), COUNT, Calibration())


def cut(index: int, *facts: str) -> AnyStep:
    """A result of which the recorded model saw nothing."""
    return result("[cut]", index=index, full=" ".join(facts))


def test_cuts_stand_by_what_was_needed_of_them_then_by_what_they_lost_then_in_order() -> None:
    found = shown(
        cut(0, "aa_1", "aa_2"), cut(1, "bb_1"), cut(2, "cc_1", "cc_2", "cc_3"), cut(3, "dd_1", "dd_2"),
        ModelTurn(index=4, content="bb_1"),
    )  # fmt: skip
    assert [(item.step, item.lost) for item in found.cuts] == [(1, 1), (2, 3), (0, 2), (3, 2)]
    assert (found.cuts_total, found.cuts_needed) == (4, 1)


def test_twenty_cuts_are_shown_and_all_are_counted() -> None:
    found = shown(*(cut(index, f"aa_{index}") for index in range(21)))
    assert ([item.step for item in found.cuts], found.cuts_total) == ([*range(20)], 21)


def test_a_cut_names_four_turns_and_four_facts_and_counts_all() -> None:
    names = [f"aa_{number}" for number in range(10)]
    turns = [" ".join(names[:5]), *names[5:9]]
    said = (ModelTurn(index=number, content=text) for number, text in enumerate(turns, 1))
    (found,) = shown(cut(0, *names), *said, result("aa_9 again", index=6)).cuts
    assert found == RecordedCut(
        step=0, function="run_script", untruncated_chars=49, seen_chars=5, facts=10, lost=10, asked_again=((6, 1),),
        said=((1, ("aa_0", "aa_1", "aa_2", "aa_3")), (2, ("aa_5",)), (3, ("aa_6",)), (4, ("aa_7",))), said_total=9,
    )  # fmt: skip


def test_resets_stand_by_what_they_lost_then_in_order() -> None:
    steps: list[AnyStep] = []
    for at, facts in ((0, "aa_1"), (2, "bb_1 bb_2"), (4, "cc_1")):
        steps += [result(facts, index=at), ContextReset(index=at + 1)]
    found = shown(*steps)
    assert [(item.step, item.lost) for item in found.resets] == [(3, 2), (1, 1), (5, 1)]
    assert found.resets_total == 3
    many = (step for at in range(0, 42, 2) for step in (result(f"aa_{at}", index=at), ContextReset(index=at + 1)))
    assert (len((found := shown(*many)).resets), found.resets_total) == (20, 21)


def test_what_a_recording_consists_of_is_counted() -> None:
    image = ImagePart(media_type="image/png", size_bytes=3, sha256="0" * 64)
    found = shown(
        UserTurn(index=0, content=(TextPart(text="see"), image)),
        ModelTurn(index=1),
        result("a", index=2, truncated_at_source=True, non_text=2),
        result("b", index=3, thread="critic"),
    )
    assert (found.calls, found.results, found.threads, found.cut_at_source, found.non_text) == (1, 2, 2, 1, 3)


def used(index: int, prompt: int, completion: int = 0, **fields: Any) -> ModelTurn:
    usage = Usage(prompt_tokens=prompt, completion_tokens=completion, **fields)
    return ModelTurn(index=index, content="", model="claude-sonnet-4-5", usage=usage)


def test_errors_add_up_whatever_their_sign() -> None:
    """Three tokens of framing and nothing said: the provider counted four more at the first turn and two fewer at the second."""
    steps = used(0, 7), used(1, 4)
    found = shown(*steps)
    assert (found.counted_tokens, found.reported_tokens) == (3 + 6, 11)
    assert (found.error_tokens, found.error_tokens_plain) == (6, 6)
    thought = recording_shown(TraceEvidence(trace(*steps)), COUNT, Calibration(sizes={0: 5}))
    assert (thought.error_tokens, thought.error_tokens_plain) == (11, 6)


def test_usage_costs_what_was_read_written_plain_and_answered() -> None:
    """claude-sonnet-4-5: $3 in, $0.30 read, $3.75 written, $15 out a million."""

    def usd(*turns: ModelTurn) -> float | None:
        return usage_usd(TraceEvidence(trace(*turns)))

    assert usd(used(0, 1000, 100)) is None  # it does not say what the cache served
    assert usd(used(0, 1000, 100, cached_prompt_tokens=0)) == pytest.approx((1000 * 3 + 100 * 15) / 1e6, rel=1e-12)
    cached = used(1, 1000, cached_prompt_tokens=600, cache_write_tokens=300)
    expected = (100 * 3 + 600 * 0.3 + 300 * 3.75) / 1e6
    assert usd(cached) == pytest.approx(expected, rel=1e-12)
    assert usd(used(0, 1000), cached) == pytest.approx(0.003 + expected, rel=1e-12)
    assert usd(used(0, 1000), ModelTurn(index=1, model="claude-sonnet-4-5")) is None
    assert usd(used(0, 1000), msgspec.structs.replace(cached, model="no-such-model")) is None
    assert usd() is None


@pytest.mark.parametrize(
    ("meta", "usd"),
    [
        ({"cost": 1, "cost_usd": 2, "instance_cost": 3, "model_stats": {"instance_cost": 4}}, 4.0),
        ({"cost": 1, "cost_usd": 2, "instance_cost": 3}, 3.0),
        ({"cost": 1, "cost_usd": 2}, 2.0),
        ({"cost": 0.25, "cost_usd": 0}, 0.25),  # nothing but zero is not said
        ({"cost": -1}, None),
        ({"cost": True}, None),
        ({"cost": "3"}, None),
        ({}, None),
    ],
)
def test_what_a_recording_states_is_looked_for_where_recorders_write_it(
    meta: dict[str, Any], usd: float | None
) -> None:
    recording: Trace = trace(meta=meta)
    assert stated_usd(recording) == usd
