"""Framing and a factor, fitted on what a trace's provider counted: found again where there is such a rule, left alone where there is none."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import numpy as np
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.tokens.calibration import (
    CALIBRATION_VERSION,
    FEWEST_TURNS,
    Calibration,
    Constants,
    SentPrompt,
    _AsAnswered,
    _Way,
    _ways,
    calibrated,
    count_error,
)
from bench.tokens.fitting import Constant, fitted, outside_error
from handmade import trace
from hypothesis import given, strategies as st
from recorded_usage import session, with_usage, without_usage

from bench import compare, load, run_scenario
from bench.model import Counting, ModelTurn, ToolCall, Trace, Usage
from bench.model.errors import ScenarioError
from bench.replayer.loop import Replayer
from bench.run.scenario import Scenario, read_scenario
from bench.strategies import parse_strategy
from bench.tokens import calibration
from bench.tokens.counting import PROMPT_TOKENS, TokenCounter, encoding_for

PLAIN = Counting()
UNTOLD = Counting(cache_known=False)
"""The plain rule of a recording whose usage does not say what the cache served."""
OPENAI = Counting(prompt_tokens=9, message_tokens=12)
CLAUDE = Counting(prompt_tokens=560, message_tokens=8.25, factor=1.19)


def calibration_of(recording: Trace, *, fit: bool = True) -> Calibration:
    encoding, assumed = encoding_for(recording.model)
    return calibrated(recording, TokenCounter(encoding), None, assumed=assumed, fit=fit)


def error(recording: Trace, found: Calibration) -> float:
    """The share of the reported prompt tokens that our counts miss."""
    count = TokenCounter(encoding_for(recording.model)[0], found.counting)
    counted = count_error(recording, count, found.sizes)
    return sum(abs(ours - theirs) for _, ours, theirs in counted) / sum(theirs for *_, theirs in counted)


# ---------------------------------------------------------------- found again


@pytest.mark.parametrize("tools", [False, True])
def test_the_framing_of_a_known_vocabulary_is_found_again(tools: bool) -> None:
    recording = session(12, OPENAI, tools=tools)
    found = calibration_of(recording)
    assert found.counting == msgspec.structs.replace(OPENAI, calibrated=True, cache_known=False)
    assert found.problem == ""
    assert error(recording, found) < 0.001
    assert error(recording, Calibration()) > 0.02


def test_a_prompt_may_cost_less_than_its_tool_definitions_as_json() -> None:
    cheaper = Counting(prompt_tokens=-15, message_tokens=3)  # providers write definitions shorter than JSON
    found = calibration_of(session(12, cheaper, tools=True))
    assert found.counting.prompt_tokens == -15
    no_definitions = calibration_of(session(12, cheaper, tools=False))
    assert no_definitions.counting.prompt_tokens >= 0  # a prompt never costs less than nothing


def test_framing_and_factor_of_a_vocabulary_that_is_not_ours_are_found_again() -> None:
    recording = session(20, CLAUDE, model="claude-sonnet-4-5")
    found = calibration_of(recording)
    assert found.counting.calibrated
    assert found.counting.factor == pytest.approx(CLAUDE.factor, abs=0.01)
    assert found.counting.prompt_tokens == pytest.approx(CLAUDE.prompt_tokens, abs=15)
    assert found.counting.message_tokens == pytest.approx(CLAUDE.message_tokens, abs=2)
    assert error(recording, found) < 0.002 < 0.2 < error(recording, Calibration())


def test_a_known_vocabulary_has_no_factor() -> None:
    recording = session(12, Counting(factor=1.3), model="gpt-4o")
    assert calibration_of(recording).counting.factor == 1.0


def test_one_turn_that_counts_otherwise_does_not_move_the_constants() -> None:
    recording = session(14, OPENAI)
    odd = with_usage(recording, 6, prompt_tokens=90_000)  # an image, say
    assert calibration_of(odd).counting == calibration_of(recording).counting


def test_each_trace_is_fitted_alone() -> None:
    other = Counting(prompt_tokens=30, message_tokens=5)
    found = compare([session(12, OPENAI), msgspec.structs.replace(session(12, other), id="u")], "keep_all")
    assert [case.recording.counting.prompt_tokens for case in found.cases] == [9, 30]


# ---------------------------------------------------------------- left alone


def test_without_usage_the_plain_rule_stays() -> None:
    found = calibration_of(without_usage(session(12, OPENAI)))
    assert (found.counting, found.problem) == (PLAIN, "no turn reports usage")
    alone = calibration_of(without_usage(session(12, OPENAI), *range(1, 12)))
    assert (alone.counting, alone.problem) == (UNTOLD, "only one turn reports usage")
    assert (PLAIN.prompt_tokens, PLAIN.message_tokens) == (PROMPT_TOKENS, 3)


def test_on_few_turns_only_the_framing_of_a_prompt_is_fitted() -> None:
    hidden = Counting(prompt_tokens=3_500, message_tokens=4)  # instructions that were not recorded
    found = calibration_of(session(3, hidden, model="claude-sonnet-4-5"))
    assert (found.counting.message_tokens, found.counting.factor) == (3.0, 1.0)
    assert found.counting.prompt_tokens == pytest.approx(3_500, abs=20)
    assert found.counting.calibrated


@pytest.mark.parametrize("framing", [9, 50, 700])
def test_on_few_turns_messages_are_counted_as_plainly_as_ever(framing: int) -> None:
    found = calibration_of(session(3, Counting(prompt_tokens=framing, message_tokens=PLAIN.message_tokens)))
    assert found.counting.prompt_tokens == framing


@pytest.mark.parametrize(("plain", "outside"), [(0.3, 0.1), (0.1, 0.3)])
def test_a_way_of_counting_is_as_far_off_as_the_better_of_fitted_and_plain(plain: float, outside: float) -> None:
    way = _Way([SentPrompt(reported=100, tools=0, messages=2, said=90)], 0, assumed=False)
    way.plain, way.outside = plain, outside
    assert way.error == 0.1


def test_the_ways_that_are_tried_and_which_of_equal_ones_is_believed() -> None:
    plain, reported, answered = _Way, calibration._AsReported, _AsAnswered
    thought = SentPrompt(reported=100, tools=0, messages=2, said=90, reasoning=5, answered=10, answered_said=5)
    silent = thought._replace(reasoning=0)

    def names(one: SentPrompt, turns: int, *, flagged: bool = False, assumed: bool = False) -> list[type[_Way]]:
        return [type(way) for way in _ways([one] * turns, 0, flagged, assumed)]

    assert FEWEST_TURNS == 5
    assert names(thought, 4) == [plain, reported]
    assert names(thought, 4, flagged=True) == [reported, plain]
    assert names(thought, 4, assumed=True) == [plain]
    assert names(thought, 4, flagged=True, assumed=True) == [reported]
    assert names(thought, 5) == names(thought, 5, assumed=True) == [plain, reported, answered]
    assert names(silent, 4) == [plain]
    assert names(silent, 5) == [plain, answered]
    assert names(silent._replace(answered=0), 5) == [plain]


def test_constants_are_kept_to_a_token_a_hundredth_and_a_ten_thousandth() -> None:
    """9 tokens, 3.25 a message and 1.2345 for one of ours, where every product is a whole number."""
    told = [(4 * number, 20_000 * (number * 7 % 13)) for number in range(1, 13)]
    sent = [
        SentPrompt(reported=9 + 13 * messages // 4 + 12345 * said // 10_000, tools=0, messages=messages, said=said)
        for messages, said in told
    ]
    assert _Way(sent, 0, assumed=True).constants == Constants(9, 3.25, 1.2345)
    assert _Way(sent[:5], 0, assumed=True).constants == Constants(9, 3.25, 1.2345)  # five turns are enough
    fewer = _Way(sent[:4], 0, assumed=True).constants
    assert (fewer.message_tokens, fewer.factor) == (3.0, 1.0)


@pytest.mark.parametrize(("error", "verdict"), [(0.25, ""), (0.2, "not resent"), (0.5, "")])
def test_reasoning_was_not_sent_back_where_counting_it_misses_by_more_than_the_margin(
    monkeypatch: pytest.MonkeyPatch, error: float, verdict: str
) -> None:
    monkeypatch.setattr(calibration, "MARGIN", 0.125)
    sent = [SentPrompt(reported=100, tools=0, messages=2, said=90, reasoning=5)]
    without, reported = _Way(sent, 0, assumed=False), calibration._AsReported(sent, 0, assumed=False)
    without.plain = without.outside = error
    reported.plain = reported.outside = 0.375
    assert calibration._verdict([without, reported], without, sent, {}, "") == verdict
    assert calibration._verdict([without, reported], reported, sent, {}, "") == "resent"
    assert calibration._verdict([without], without, sent, {}, "resent") == "resent"


@pytest.mark.parametrize(
    ("assumed", "fewest", "lowest"), [(False, 100, -80), (False, 60, -60), (True, 100, -50), (True, 200, -80)]
)
def test_a_prompt_may_cost_less_than_its_tools_by_what_these_may_be_worth(
    assumed: bool, fewest: int, lowest: int
) -> None:
    """No less than the smallest definitions as we count them; of a vocabulary that is not known one of ours may be half a token."""
    sent = [SentPrompt(reported=-80 + 3 * n + 1000 * n + 100, tools=100, messages=n, said=1000 * n) for n in (1, 2, 3)]
    assert _Way(sent, fewest, assumed=assumed).constants == Constants(lowest, 3.0, 1.0)


def test_a_turn_that_reports_no_prompt_says_nothing_of_our_counts() -> None:
    turns = [ModelTurn(index=number, usage=Usage(prompt_tokens=number, completion_tokens=0)) for number in range(2)]
    assert count_error(trace(*turns), TokenCounter(), {}) == [(1, 3 + 3, 1)]  # the framing of the prompt and of a turn


@pytest.mark.parametrize(
    ("answered", "size", "verdict"), [(100, 32, ""), (100, 33, "resent"), (1000, 250, ""), (1000, 251, "resent")]
)
def test_a_few_tokens_that_nothing_accounts_for_are_no_hidden_reasoning(answered: int, size: int, verdict: str) -> None:
    """At least 32 a turn, and a quarter of the answers in the prompt that holds most of them."""
    sent = [SentPrompt(reported=100, tools=0, messages=2, said=90, answered=tokens) for tokens in (answered, 4)]
    without, counted = _Way(sent, 0, assumed=False), _AsAnswered(sent, 0, assumed=False)
    assert calibration._verdict([without, counted], counted, sent, {0: size}, "") == verdict


@pytest.mark.parametrize(("completion", "size"), [(2, 0), (4, 0), (5, 1), (9, 5)])
def test_what_an_answer_has_beyond_its_text_as_the_provider_counts_it_is_reasoning(completion: int, size: int) -> None:
    count = TokenCounter()
    text = "one two"  # two tokens of ours, four of a provider that takes two for one
    assert count.said(text, ()) == 2
    turn = ModelTurn(index=0, content=text, usage=Usage(prompt_tokens=9, completion_tokens=completion))
    way = _AsAnswered([SentPrompt(reported=100, tools=0, messages=2, said=90)], 0, assumed=True)
    assert way.size(turn, count, 2.0) == size
    assert way.size(msgspec.structs.replace(turn, usage=None), count, 2.0) == 0
    call = ToolCall(id="c", name="f", arguments={"a": 1})
    asking = msgspec.structs.replace(turn, tool_calls=(call,))
    assert way.size(asking, count, 1.0) == max(0, completion - count.said(text, (call,)))


def test_constants_that_do_no_better_than_the_plain_rule_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "outside_error", lambda *given: 0.0)  # as far off as the plain rule: not at all
    found = calibration_of(session(12, PLAIN))
    assert (found.counting, found.counting.calibrated) == (UNTOLD, False)


def test_usage_that_follows_no_rule_is_not_fitted() -> None:
    draw, recording = random.Random(1), session(10, PLAIN)
    for number in range(10):
        plain = recording.model_turns[number].usage
        assert plain is not None
        recording = with_usage(
            recording, number, prompt_tokens=plain.prompt_tokens + (0 if number % 2 else draw.randrange(2))
        )
    found = calibration_of(recording)
    assert found.counting == UNTOLD
    assert found.problem == "fitted constants miss turns that they were not fitted on by more than the plain rule does"


def test_calibration_can_be_switched_off() -> None:
    found = calibration_of(session(12, OPENAI), fit=False)
    assert (found.counting, found.problem) == (UNTOLD, "calibration is switched off")


# ---------------------------------------------------------------- what uses it


def test_the_recorded_strategy_costs_what_the_provider_counted() -> None:
    recording = session(12, OPENAI, tools=True)
    run = Replayer(TraceEvidence(recording)).run(parse_strategy("recorded"))
    for prompt, step in zip(run.prompts, recording.model_turns, strict=True):
        assert step.usage is not None
        assert prompt.tokens == pytest.approx(step.usage.prompt_tokens, abs=len(recording.steps) / 2)


def test_the_report_tells_the_error_before_and_after() -> None:
    shown = compare(session(12, OPENAI), "keep_all").cases[0].recording
    assert shown.error_tokens < 0.001 * shown.reported_tokens < 0.02 * shown.reported_tokens < shown.error_tokens_plain
    assert (shown.counting.calibrated, shown.not_calibrated) == (True, "")
    plain = compare(session(12, OPENAI), "keep_all", calibrate=False).cases[0].recording
    assert plain.error_tokens == plain.error_tokens_plain == shown.error_tokens_plain
    assert plain.not_calibrated == "calibration is switched off"


def test_calibration_is_part_of_the_signature() -> None:
    on, off = (compare(session(6, OPENAI), "keep_all", calibrate=value).signature for value in (True, False))
    assert (on.calibration, off.calibration) == (CALIBRATION_VERSION, "off")
    assert compare(session(6, OPENAI), "keep_all").signature == on
    named = compare(session(6, OPENAI, model=None), "keep_all", model="gpt-4o")
    assert named.signature.model == "gpt-4o"


@pytest.mark.slow
def test_a_scenario_and_the_command_line_can_switch_it_off(tmp_path: Path) -> None:
    recording = tmp_path / "t.jsonl"
    from bench.traces.formats.native import write_trace

    write_trace(session(8, OPENAI), recording)
    scenario = tmp_path / "s.toml"
    table = 'traces = ["t.jsonl"]\n[strategies.cut]\nsummarizer = "truncate:limit=40"\n'
    for line, expected in (("", True), ("calibrate = true\n", True), ("calibrate = false\n", False)):
        scenario.write_text(line + table)
        assert run_scenario(scenario).cases[0].recording.counting.calibrated is expected
    scenario.write_text('calibrate = "no"\n' + table)
    with pytest.raises(ScenarioError, match="`calibrate`: Expected `bool`, got `str`"):
        read_scenario(scenario)


def test_a_model_can_be_named_for_traces_that_name_none() -> None:
    recording = without_usage(session(3, PLAIN, model=None))
    nameless, named = compare(recording, "keep_all"), compare(recording, "keep_all", model="gpt-4-0613")
    reason = nameless.row("keep_all", "cost.cost_usd").reason
    assert reason is not None
    assert "name one with --model" in reason
    assert named.value("keep_all", "cost.cost_usd") > 0
    assert named.value("keep_all", "cost.window_overflows") == 0
    assert named.signature.encodings == ("cl100k_base",)
    assert named.cases[0].recording.model == "gpt-4-0613"
    named_already = compare(without_usage(session(3, PLAIN, model="gpt-4o")), "keep_all", model="gpt-4-0613")
    assert named_already.cases[0].recording.model == "gpt-4o"
    assert Scenario(title="t", traces=(), model="gpt-4o").model == "gpt-4o"


# ---------------------------------------------------------------- the fit itself

UNBOUND = Constant(0, -1e6, 1e6)


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 5000)), min_size=4, max_size=20, unique=True),
    st.integers(-50, 50),
    st.integers(0, 30),
)
def test_a_rule_without_noise_is_found_exactly(rows: list[tuple[int, int]], framing: int, each: int) -> None:
    matrix = [(1.0, float(messages), float(said)) for messages, said in rows]
    if np.linalg.cond(np.array(matrix)) > 1e6:
        return
    wanted = [framing + each * messages + 1.25 * said for _, messages, said in matrix]
    found = fitted(matrix, wanted, (UNBOUND, UNBOUND, UNBOUND))
    assert found == pytest.approx((framing, each, 1.25), abs=0.05)


@given(st.integers(0, 1000))
def test_the_fit_is_the_best_within_its_bounds(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = np.column_stack([np.ones(12), draw.integers(1, 60, 12), draw.integers(0, 4000, 12)])
    wanted = rows @ np.array([draw.uniform(-300, 600), draw.uniform(-20, 90), draw.uniform(0.3, 3.0)]) + draw.normal(
        0, 40, 12
    )
    bounds = (Constant(3, -100, 500), Constant(3, 0, 40), Constant(1, 0.5, 2.5))
    found = np.array(fitted(rows.tolist(), wanted.tolist(), bounds))
    assert all(item.lowest - 1e-6 <= value <= item.highest + 1e-6 for item, value in zip(bounds, found, strict=True))
    least = np.abs(rows @ found - wanted).sum()
    for _ in range(200):  # nothing near it is better by more than the weighting can tell
        near = np.array([np.clip(value + draw.normal(0, step), item.lowest, item.highest)
                         for value, item, step in zip(found, bounds, (20, 2, 0.02), strict=True)])  # fmt: skip
        assert np.abs(rows @ near - wanted).sum() > 0.93 * least


def test_rows_that_leave_a_constant_open_keep_its_plain_value() -> None:
    assert fitted([(1.0, 2.0)] * 6, [103.0] * 6, (Constant(100, 0, 200), Constant(1.5, 0, 9))) == pytest.approx(
        (100, 1.5), abs=1e-3
    )
    assert fitted([], [], (Constant(7, 0, 9),)) == (7,)


def test_the_error_outside_is_of_rows_that_were_left_out() -> None:
    rows, wanted = [(1.0,)] * 10, [10.0] * 9 + [110.0]
    assert outside_error(rows, wanted, (Constant(0, 0, 1000),), (10,)) == pytest.approx(100, abs=1)


# ---------------------------------------------------------------- recorded runs


@pytest.mark.slow
def test_recorded_usage_of_27_coding_runs(shared_traces: Path) -> None:
    """Within 1 % for OpenAI's models, within 5 % for the others; before, up to 44 %."""
    before = []
    for recording in load([f"swe:{shared_traces / 'scbench'}"]).traces:
        found = calibration_of(recording)
        assert found.counting.calibrated, recording.id
        assert error(recording, found) < (0.01 if "gpt" in str(recording.model) else 0.05), recording.id
        before.append(error(recording, Calibration()))
    assert len(before) == 27
    assert max(before) > 0.4


def test_an_empty_trace_has_nothing_to_fit() -> None:
    assert calibration_of(trace()).problem == "no turn reports usage"
